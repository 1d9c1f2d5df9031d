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

// questionChannel is the channel on which PostgreSQL tells of changes of questions. A notification has the
// organisation and the question's id alone: whoever may connect to the database can listen.
const questionChannel = "clawai_question"

// listenerName is the name by which the server's administrator finds the connection that listens.
const listenerName = "clawai-gateway listens"

// Times of the connection that listens.
const (
	listenAgain = time.Second      // after it was lost
	checkEvery  = 30 * time.Second // without news it is asked whether it lives: the network may have lost it silently
)

// listener hears of changes by a connection of its own. It connects when somebody watches for the first time:
// most commands of the centre wait for nothing.
type listener struct {
	config *pgx.ConnConfig
	once   sync.Once
	ctx    context.Context // of the connection; it ends when the store is closed
	end    context.CancelFunc
	over   sync.WaitGroup
}

func newListener(c *pgx.ConnConfig) *listener {
	l := &listener{config: c.Copy()}
	l.config.RuntimeParams["application_name"] = listenerName
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// start begins to listen for a store.
func (l *listener) start(s *Store) {
	l.once.Do(func() { l.over.Go(func() { l.keep(s) }) })
}

// close ends the connection.
func (l *listener) close() {
	l.once.Do(func() {}) // it starts no more
	l.end()
	l.over.Wait()
}

// keep listens, and connects again after the connection was lost.
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

// listen tells the watchers of each notification until the connection is lost.
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
	s.watchers.tellAll() // what changed while there was no connection
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
