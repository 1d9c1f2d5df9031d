package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// questionChannel is the PostgreSQL channel for changes of questions. A notification contains only the
// organisation and the question's id, because every user of the database can listen.
const questionChannel = "clawai_question"

// listenerName is the application_name of the listening connection. The server's administrator sees
// this name.
const listenerName = "clawai-gateway listens"

// Times of the listening connection.
const (
	listenAgain = time.Second      // pause before a lost connection is opened again
	checkEvery  = 30 * time.Second // pause after which an idle connection is pinged, because a network can lose a connection silently
)

// listener receives notifications on its own connection. It connects at the first Watch, because most
// commands of the centre wait for no change.
type listener struct {
	config *pgx.ConnConfig
	once   sync.Once
	ctx    context.Context // ends when the store is closed
	end    context.CancelFunc
	over   sync.WaitGroup
}

func newListener(c *pgx.ConnConfig) *listener {
	l := &listener{config: c.Copy()}
	l.config.RuntimeParams["application_name"] = listenerName
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// start begins to listen for a store. Later calls do nothing.
func (l *listener) start(s *Store) {
	l.once.Do(func() { l.over.Go(func() { l.keep(s) }) })
}

// close ends the connection, and returns after the listening goroutine has ended.
func (l *listener) close() {
	l.once.Do(func() {}) // a later start does nothing
	l.end()
	l.over.Wait()
}

// keep listens. After a lost connection it reports the error and connects again.
func (l *listener) keep(s *Store) {
	for {
		err := l.listen(s)
		if l.ctx.Err() != nil {
			return
		}
		if s.reported != nil {
			s.reported(fmt.Errorf("the connection on which PostgreSQL tells of answers is lost, so they come up to 2 seconds later: %w", err))
		}
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(listenAgain):
		}
	}
}

// listen connects to PostgreSQL and wakes the watchers at each notification. It returns an error when
// the connection is lost.
func (l *listener) listen(s *Store) error {
	conn, err := l.connect()
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), listenAgain)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	s.watchers.tellAll() // questions may have changed while no connection was open
	for {
		ctx, cancel := context.WithTimeout(l.ctx, checkEvery)
		n, err := conn.WaitForNotification(ctx)
		cancel()
		if err != nil && l.ctx.Err() == nil && pgconn.Timeout(err) {
			ctx, cancel := context.WithTimeout(l.ctx, patience)
			err = conn.Ping(ctx)
			cancel()
		}
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		if id, ok := strings.CutPrefix(n.Payload, s.org+"/"); ok {
			s.watchers.tell(id)
		}
	}
}

func (l *listener) connect() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+questionChannel); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}
