package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

const proposalColumns = bundleColumns + ", publisher, state, decided, decided_by, votes"

func readProposal(r scanner, more ...any) (p store.Proposal, err error) {
	var publisher, votes string
	var decided int64
	p.Bundle, err = readBundle(r, append([]any{&publisher, &p.State, &decided, &p.DecidedBy, &votes}, more...)...)
	p.Decided = fromNanos(decided)
	if err == nil {
		err = json.Unmarshal([]byte(publisher), &p.Publisher)
	}
	if err == nil {
		err = json.Unmarshal([]byte(votes), &p.Votes)
	}
	return p, err
}

// lockCounter locks bundles and proposals until the transaction ends. It returns store.ErrOlder if a bundle or a
// proposal has the same counter or a higher one. It looks at both tables, because older versions of the gateway
// add bundles without a proposal.
func (t *transaction) lockCounter(org string, counter uint64) error {
	if err := t.lockAll(); err != nil {
		return err
	}
	var newest int64
	if err := t.row("SELECT coalesce(max(counter), -1) FROM (SELECT counter FROM bundle WHERE org = ? UNION ALL SELECT counter FROM proposal WHERE org = ?) AS known", org, org).Scan(&newest); err != nil {
		return err
	}
	if int64(counter) <= newest {
		return store.ErrOlder
	}
	return nil
}

// insertBundle adds a bundle that is in force from then on.
func (t *transaction) insertBundle(org string, b *store.Bundle) error {
	_, err := t.exec("INSERT INTO bundle (org, "+bundleColumns+", content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		org, int64(b.Counter), b.Digest, nanos(b.Created), nanos(b.Published), b.Key, b.By, b.Bytes)
	return err
}

// replaceWaiting ends the proposal that waits, because a newer bundle was published.
func (t *transaction) replaceWaiting(org, by string, now time.Time) error {
	_, err := t.exec("UPDATE proposal SET state = ?, decided = ?, decided_by = ? WHERE org = ? AND state = ?", store.ProposalReplaced, nanos(now), by, org, store.ProposalWaits)
	return err
}

// AddProposal implements store.Proposals.
func (s *Store) AddProposal(ctx context.Context, p store.Proposal) error {
	publisher, err := json.Marshal(p.Publisher)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *transaction) error {
		if err := t.lockCounter(s.org, p.Counter); err != nil {
			return err
		}
		if err := t.replaceWaiting(s.org, p.By, p.Published); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO proposal (org, "+bundleColumns+", publisher, state, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.org, int64(p.Counter), p.Digest, nanos(p.Created), nanos(p.Published), p.Key, p.By, string(publisher), store.ProposalWaits, p.Bytes)
		return err
	})
}

const oneProposal = "SELECT " + proposalColumns + ", content FROM proposal WHERE org = ? AND counter = ?"

// FindProposal implements store.Proposals.
func (s *Store) FindProposal(ctx context.Context, counter uint64) (p store.Proposal, err error) {
	var content []byte
	p, err = readProposal(s.row(ctx, oneProposal, s.org, int64(counter)), &content)
	p.Bytes = content
	return p, explain(err)
}

// ListProposals implements store.Proposals.
func (s *Store) ListProposals(ctx context.Context, most int) ([]store.Proposal, error) {
	return list(ctx, s, func(r scanner) (store.Proposal, error) { return readProposal(r) }, "SELECT "+proposalColumns+" FROM proposal WHERE org = ? ORDER BY counter DESC LIMIT ?", s.org, most)
}

// ChangeProposal implements store.Proposals.
func (s *Store) ChangeProposal(ctx context.Context, counter uint64, change func(*store.Proposal) error) (p store.Proposal, err error) {
	err = s.change(ctx, func(t *transaction) error {
		if err := t.lockAll(); err != nil {
			return err
		}
		var content []byte
		if p, err = readProposal(t.row(oneProposal, s.org, int64(counter)), &content); err != nil {
			return err
		}
		if p.Bytes = content; p.State != store.ProposalWaits {
			return store.ErrOver
		}
		if err := change(&p); err != nil {
			return err
		}
		if p.State == store.ProposalActivated {
			var newest int64
			if err := t.row("SELECT coalesce(max(counter), -1) FROM bundle WHERE org = ?", s.org).Scan(&newest); err != nil {
				return err
			}
			if int64(counter) <= newest {
				return store.ErrOlder
			}
			if err := t.insertBundle(s.org, &p.Bundle); err != nil {
				return err
			}
		}
		votes, err := json.Marshal(p.Votes)
		if err != nil {
			return err
		}
		_, err = t.exec("UPDATE proposal SET state = ?, decided = ?, decided_by = ?, votes = ? WHERE org = ? AND counter = ?",
			p.State, nanos(p.Decided), p.DecidedBy, string(votes), s.org, int64(counter))
		return err
	})
	return p, err
}
