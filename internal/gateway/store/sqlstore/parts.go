package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// partPool is the pool of connections that write parts of segments. It is separate from the other
// connections, because otherwise many laptops that send their records at the same time would use all
// connections, and pages and questions would have to wait.
type partPool struct {
	db    *sql.DB
	turns chan int64 // one number per connection; a channel serves the caller that has waited longest, but sql.DB promises no order
}

// partWriters is the number of parts that are written at once. A writer mostly computes, and another
// writer can run while one waits for the disk.
const partWriters = 4

func newPartPool(db *sql.DB) *partPool {
	db.SetMaxOpenConns(partWriters)
	db.SetMaxIdleConns(partWriters) // opening a connection costs more than writing a part
	db.SetConnMaxIdleTime(idle)
	p := &partPool{db: db, turns: make(chan int64, partWriters)}
	for i := range int64(partWriters) {
		p.turns <- i
	}
	return p
}

// changePart runs a transaction for a part of a segment, like change, but in the pool of parts. It uses
// change if the store has no such pool.
func (s *Store) changePart(ctx context.Context, change func(*transaction) error) error {
	if s.parts == nil {
		return s.change(ctx, change)
	}
	defer s.tellTime(changeOperation, time.Now())
	select {
	case place := <-s.parts.turns:
		defer func() { s.parts.turns <- place }()
		return s.transact(ctx, s.parts.db, place, change)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
