package queue

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
)

// marks holds one ? for each column in columns, for SQL statements.
var marks = strings.Repeat("?, ", strings.Count(columns, ",")) + "?"

// eachRow runs a query and calls the function in the parameter see for each row.
func eachRow(ctx context.Context, conn *sql.Conn, query string, args []any, see func(*sql.Rows) error) (err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := see(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// selectRequests reads the requests that a SQL condition selects.
func (q *Queue) selectRequests(ctx context.Context, where string, args ...any) (all []Request, err error) {
	err = q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		err := eachRow(ctx, conn, "SELECT "+columns+" FROM requests "+where, args, func(rows *sql.Rows) error {
			r, err := scanRow(rows)
			all = append(all, r)
			return err
		})
		if err != nil {
			return err
		}
		return errors.Join(q.fillPreviews(ctx, conn, all), q.fillReserved(ctx, conn, all))
	})
	return all, err
}

// selectRequest reads the request with exactly this id.
func (q *Queue) selectRequest(ctx context.Context, id string) (Request, error) {
	all, err := q.selectRequests(ctx, "WHERE id = ?", id)
	if err == nil && len(all) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return Request{}, err
	}
	return all[0], nil
}

// selectTexts runs a query and returns its first column as texts.
func (q *Queue) selectTexts(ctx context.Context, query string, args ...any) (all []string, err error) {
	err = q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		return eachRow(ctx, conn, query, args, func(rows *sql.Rows) error {
			var s string
			err := rows.Scan(&s)
			all = append(all, s)
			return err
		})
	})
	return all, err
}

// Pending lists the pending requests, oldest first.
func (q *Queue) Pending(ctx context.Context) ([]Request, error) {
	left, err := q.expireDead(ctx)
	if err != nil {
		return nil, err
	}
	all, err := q.selectRequests(ctx, "WHERE status = 'pending' ORDER BY number")
	return slices.DeleteFunc(all, func(r Request) bool { return slices.Contains(left, r.Session) }), err
}

// History lists the last n resolved requests, newest first.
func (q *Queue) History(ctx context.Context, n int) ([]Request, error) {
	if _, err := q.expireDead(ctx); err != nil {
		return nil, err
	}
	return q.selectRequests(ctx, "WHERE status <> 'pending' ORDER BY changed DESC LIMIT ?", max(n, 0))
}

// shortest is the number of characters after which ids differ: no two requests begin with the same
// 8 characters.
const shortest = 8

const idLetters = "0123456789abcdef-"

// isIDPrefix reports whether id can be an id, or the start of one that is long enough to name one
// request.
func isIDPrefix(id string) bool { return len(id) >= shortest && strings.Trim(id, idLetters) == "" }

// Get returns the request whose id begins with prefix. It returns ErrUnknown if there is none, and
// ErrAmbiguous if there are several.
func (q *Queue) Get(ctx context.Context, prefix string) (Request, error) {
	prefix = strings.ToLower(prefix)
	switch {
	case prefix == "":
		return Request{}, ErrAmbiguous
	case strings.Trim(prefix, idLetters) != "":
		return Request{}, ErrUnknown
	}
	all, err := q.selectRequests(ctx, "WHERE id BETWEEN ? AND ? || 'g' LIMIT 2", prefix, prefix)
	switch {
	case err != nil:
		return Request{}, err
	case len(all) == 0:
		return Request{}, ErrUnknown
	case len(all) > 1:
		return Request{}, ErrAmbiguous
	}
	r := all[0]
	if r.Outcome != "" || q.isAlive(r.Session) {
		return r, nil
	}
	if err := q.expireSession(ctx, r.Session); err != nil {
		return Request{}, err
	}
	return q.selectRequest(ctx, r.ID)
}
