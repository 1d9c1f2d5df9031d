package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// partPool is where parts of segments are written. It has connections of its own, because many laptops that ship
// would hold all others, and no page and no question could be read.
type partPool struct {
	db    *sql.DB
	turns chan int64 // a number for each connection; whoever waits longest is the next one, which a pool does not promise
}

// partWriters is how many parts are written at once. A writer mostly computes; while one waits for the disk,
// another one can.
const partWriters = 4

func newPartPool(db *sql.DB) *partPool {
	db.SetMaxOpenConns(partWriters)
	db.SetMaxIdleConns(partWriters) // a new connection costs more than a part
	db.SetConnMaxIdleTime(idle)
	p := &partPool{db: db, turns: make(chan int64, partWriters)}
	for i := range int64(partWriters) {
		p.turns <- i
	}
	return p
}

// changePart is change for a part of a segment.
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
