package queue

import (
	"context"
	"database/sql"
)

// previewSteps is the minimum number of schema steps with which the table of previews exists.
const previewSteps = 5

// keepPreview stores the preview of a request. A preview is in another table than its request,
// because it is large and is deleted when the request ends.
func (q *Queue) keepPreview(ctx context.Context, t tx, r *Request) error {
	if r.Preview == nil || len(q.o.migrations) < previewSteps {
		return nil
	}
	_, err := t.exec(ctx, "INSERT INTO previews (id, preview) VALUES (?, ?)", r.ID, string(r.Preview))
	return err
}

// dropPreview deletes the preview of a request that ends.
func (q *Queue) dropPreview(ctx context.Context, t tx, id string) error {
	if len(q.o.migrations) < previewSteps {
		return nil
	}
	_, err := t.exec(ctx, "DELETE FROM previews WHERE id = ?", id)
	return err
}

// fillPreviews adds the previews to requests that still wait.
func (q *Queue) fillPreviews(ctx context.Context, conn *sql.Conn, all []Request) error {
	if len(q.o.migrations) < previewSteps {
		return nil
	}
	return eachRow(ctx, conn, "SELECT id, preview FROM previews", nil, func(rows *sql.Rows) error {
		var id string
		var text []byte
		err := rows.Scan(&id, &text)
		for i := range all {
			if all[i].ID == id && all[i].Status == Pending {
				all[i].Preview = text
			}
		}
		return err
	})
}
