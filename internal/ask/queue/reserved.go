package queue

import (
	"context"
	"database/sql"
)

// reservedSteps is the minimum number of schema steps with which the table "reserved" exists.
const reservedSteps = 6

// keepReserved stores who alone can allow a request. An older clawai does not read this table, so a
// person may allow the request there; the gate refuses such an answer.
func (q *Queue) keepReserved(ctx context.Context, t tx, r *Request) error {
	if r.Reserved == "" || len(q.o.migrations) < reservedSteps {
		return nil
	}
	_, err := t.exec(ctx, "INSERT INTO reserved (id, who) VALUES (?, ?)", r.ID, r.Reserved)
	return err
}

// dropReserved deletes the approvers of a request that ends.
func (q *Queue) dropReserved(ctx context.Context, t tx, id string) error {
	if len(q.o.migrations) < reservedSteps {
		return nil
	}
	_, err := t.exec(ctx, "DELETE FROM reserved WHERE id = ?", id)
	return err
}

// fillReserved sets the field Reserved of those requests in the list all that are pending.
func (q *Queue) fillReserved(ctx context.Context, conn *sql.Conn, all []Request) error {
	if len(q.o.migrations) < reservedSteps {
		return nil
	}
	return eachRow(ctx, conn, "SELECT id, who FROM reserved", nil, func(rows *sql.Rows) error {
		var id, who string
		err := rows.Scan(&id, &who)
		for i := range all {
			if all[i].ID == id && all[i].Status == Pending {
				all[i].Reserved = who
			}
		}
		return err
	})
}
