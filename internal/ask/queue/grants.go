package queue

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
)

// Grant is a session answer that is in force in the gate.
type Grant struct {
	ID      string
	Session string // Session, Server, Client and Project describe the session; the method Grants fills them in
	Server  string
	Client  string
	Project string
	Rule    policy.Rule   // the rule that led to the question
	Calls   []policy.Call // the allowed calls; redacted in the result of Grants
	Reach   string        // in words for people, what the answer allows besides Calls; "" for nothing
	Since   time.Time
	Uses    int // number of calls that the answer has allowed so far
}

// SetGrants replaces the grants that the queue shows for the session. A grant that a person has
// revoked in the meantime stays revoked.
func (p *Proxy) SetGrants(ctx context.Context, grants []Grant) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosed
	}
	if err := p.claimSession(); err != nil {
		p.mu.Unlock()
		return err
	}
	p.used, p.granted = true, len(grants) > 0
	if p.granted {
		p.startPolling()
	}
	p.mu.Unlock()
	return p.q.writeChange(context.WithoutCancel(ctx), func(ctx context.Context, t tx) error {
		keep := make([]any, 1, len(grants)+1)
		keep[0] = p.s.ID
		for _, g := range grants {
			if err := p.saveGrant(ctx, t, &g); err != nil {
				return err
			}
			keep = append(keep, g.ID)
		}
		_, err := t.exec(ctx, "DELETE FROM grants WHERE session = ? AND id NOT IN ("+
			strings.TrimSuffix(strings.Repeat("?,", len(grants)), ",")+")", keep...)
		return err
	})
}

func (p *Proxy) saveGrant(ctx context.Context, t tx, g *Grant) error {
	k := p.s.knownValues()
	calls, err := packCalls(scrubCalls(g.Calls, k))
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO grants (session, id, server, client, project,
			rule_action, rule_file, rule_line, rule_column, rule_index, rule, calls, since, uses, reach)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET uses = excluded.uses, since = excluded.since`,
		p.s.ID, g.ID, p.s.Server, p.s.Client, p.s.Project,
		g.Rule.Action.String(), g.Rule.Pos.File, g.Rule.Pos.Line, g.Rule.Pos.Column, g.Rule.Index, g.Rule.Description,
		calls, packTime(g.Since), g.Uses, k.MaskText(g.Reach))
	return err
}

// Revoked returns a channel with the ids of revoked grants. Each id comes once. Close of the Proxy
// closes the channel.
func (p *Proxy) Revoked() <-chan string { return p.revoked }

// pollGrants sends the ids of newly revoked grants to the channel of Revoked.
func (p *Proxy) pollGrants(ctx context.Context) error {
	p.mu.Lock()
	granted := p.granted
	p.mu.Unlock()
	if !granted {
		return nil
	}
	ids, err := p.q.selectTexts(ctx, "SELECT id FROM grants WHERE session = ? AND revoked = 1", p.s.ID)
	for _, id := range ids {
		if p.reported[id] {
			continue
		}
		select {
		case p.revoked <- id:
			p.reported[id] = true
		default: // the channel is full: the next poll sends this id
		}
	}
	return err
}

// Grants lists the grants of all live sessions, oldest first.
func (q *Queue) Grants(ctx context.Context) ([]Grant, error) {
	sessions, err := q.selectTexts(ctx, "SELECT DISTINCT session FROM grants")
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		if q.isAlive(s) {
			continue
		}
		if err := q.expireSession(ctx, s); err != nil {
			return nil, err
		}
	}
	return q.selectGrants(ctx, "WHERE revoked = 0 ORDER BY since, session, id")
}

func (q *Queue) selectGrants(ctx context.Context, where string, args ...any) (all []Grant, err error) {
	const fields = `session, id, server, client, project,
		rule_action, rule_file, rule_line, rule_column, rule_index, rule, calls, since, uses, reach`
	err = q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		return eachRow(ctx, conn, "SELECT "+fields+" FROM grants "+where, args, func(rows *sql.Rows) error {
			var g Grant
			var action, since string
			var calls sql.NullString
			err := rows.Scan(&g.Session, &g.ID, &g.Server, &g.Client, &g.Project,
				&action, &g.Rule.Pos.File, &g.Rule.Pos.Line, &g.Rule.Pos.Column, &g.Rule.Index, &g.Rule.Description, &calls, &since, &g.Uses, &g.Reach)
			if err != nil {
				return err
			}
			g.Rule.Action, _ = policy.ParseAction(action)
			g.Since, g.Calls = unpackTime(since), unpackCalls(calls, &err)
			if err != nil {
				g.Calls = nil // show the grant without its calls, so that a person can still revoke it
			}
			all = append(all, g)
			return nil
		})
	})
	return all, err
}

// Revoke ends a grant. id is the grant's id or at least its first 8 characters. The gate drops the
// grant when its proxy reads the queue the next time.
func (q *Queue) Revoke(ctx context.Context, id string) error {
	all, err := q.Grants(ctx)
	if err != nil {
		return err
	}
	var found []Grant
	for _, g := range all {
		if g.ID == id {
			found = []Grant{g}
			break
		}
		if len(id) >= shortest && strings.HasPrefix(g.ID, id) {
			found = append(found, g)
		}
	}
	switch len(found) {
	case 0:
		return ErrUnknown
	case 1:
	default:
		return ErrAmbiguous
	}
	err = q.writeChange(ctx, func(ctx context.Context, t tx) error {
		n, err := t.exec(ctx, "UPDATE grants SET revoked = 1 WHERE session = ? AND id = ?", found[0].Session, found[0].ID)
		if err == nil && n == 0 {
			err = ErrUnknown
		}
		return err
	})
	if err == nil {
		q.notifyProxy(found[0].Session)
	}
	return err
}
