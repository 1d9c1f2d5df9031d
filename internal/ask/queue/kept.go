package queue

import (
	"context"
	"database/sql"
	"errors"

	"github.com/clawai/clawai/policy"
)

// Only the proxy knows the values that the vault gave to its server, but another process may
// resolve the request. So the proxy stores the redacted form of a request together with the
// request.

const keptSteps = 4 // the table "kept" exists if the schema has at least this many steps

// keepScrubbed stores the redacted form of a request if the session knows secret values.
func (p *Proxy) keepScrubbed(ctx context.Context, t tx, r *Request) error {
	k := p.s.knownValues()
	if k == nil || len(p.q.o.migrations) < keptSteps {
		return nil
	}
	end := scrubRequest(*r, k)
	calls, err := packCalls(end.Calls)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, "INSERT INTO kept (id, calls, reason, findings) VALUES (?, ?, ?, ?)", r.ID, calls, end.Reason, packBytes(end.Findings))
	return err
}

// takeKept replaces the contents of the ended request by the redacted form that keepScrubbed
// stored, and deletes the stored form.
func (q *Queue) takeKept(ctx context.Context, t tx, end *Request) error {
	if len(q.o.migrations) < keptSteps {
		return nil
	}
	var calls, findings sql.NullString
	var reason string
	err := t.QueryRowContext(ctx, "DELETE FROM kept WHERE id = ? RETURNING calls, reason, findings", end.ID).Scan(&calls, &reason, &findings)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	end.Calls, end.Reason, end.Findings = unpackCalls(calls, &err), reason, unpackBytes(findings)
	if err != nil {
		end.Calls = []policy.Call{{Malformed: damagedRow}}
	}
	return nil
}
