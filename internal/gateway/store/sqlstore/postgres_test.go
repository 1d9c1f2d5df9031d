package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/testing/postgrestest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/storetest"
)

// openPostgres opens a store that is closed at the end of the test.
func openPostgres(t *testing.T, address, org string) *Store {
	t.Helper()
	s, err := OpenPostgres(t.Context(), address, org)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPostgresKeepsTheContract(t *testing.T) {
	slow.Test(t)
	server := postgrestest.Start(t)
	admin := openPostgres(t, server.Address("postgres"), "admin")
	var made atomic.Int64
	storetest.Run(t, func(t *testing.T) func(org string) store.Store {
		name := fmt.Sprint("centre", made.Add(1))
		if _, err := admin.db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return func(org string) store.Store {
			s := openPostgres(t, server.Address(name), org)
			s.watchers.poll = never
			return s
		}
	})
}

// Centres that start at once on an empty database all come up.
func TestCentresStartAtOnce(t *testing.T) {
	slow.Test(t)
	address := postgrestest.Start(t).Address("postgres")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := OpenPostgres(t.Context(), address, "main")
			if err == nil {
				err = s.Check(t.Context())
				_ = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// While the connection that listens is lost, changes of others are found by the poll; then it comes back,
// tells of what it missed, and hears again.
func TestTheListenerComesBack(t *testing.T) {
	slow.Test(t)
	server := postgrestest.Start(t)
	ctx := t.Context()
	admin := openPostgres(t, server.Address("postgres"), "admin")
	exec := func(statement string) {
		t.Helper()
		if _, err := admin.db.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE DATABASE centre")
	s, twin := openPostgres(t, server.Address("centre"), "main"), openPostgres(t, server.Address("centre"), "main")
	lost := make(chan error, 1000)
	twin.SetReport(func(err error) { lost <- err })
	for _, store := range []*Store{s, twin} { // no new connection is let in below
		store.db.SetConnMaxIdleTime(0)
		store.watchers.poll = never
	}
	marker := storetest.NewMarker(t, s, twin)
	told, end := twin.Watch("q")
	defer end()
	marker.Settle()
	for len(told) > 0 {
		<-told
	}
	storetest.AddQuestion(t, s, "q")
	storetest.AwaitWake(t, told, "a new question")

	exec("ALTER DATABASE centre WITH ALLOW_CONNECTIONS false")
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'centre' AND application_name = '" + listenerName + "'")
	if err := <-lost; err == nil {
		t.Fatal("no reason is told")
	}
	twin.watchers.poll = 20 * time.Millisecond
	polled, endPolled := twin.Watch("q")
	defer endPolled()
	held := time.Unix(1800000000, 0).UTC()
	storetest.ChangeQuestion(t, s, "q", held)
	for {
		storetest.AwaitWake(t, polled, "a change that nobody hears, by the poll")
		if q, err := twin.FindQuestion(ctx, "q"); err != nil {
			t.Fatal(err)
		} else if q.Held.Equal(held) {
			break
		}
	}
	if len(told) > 0 {
		t.Error("without a connection and without a poll, somebody was told")
	}

	exec("ALTER DATABASE centre WITH ALLOW_CONNECTIONS true")
	storetest.AwaitWake(t, told, "what changed while no connection was there")
	twin.watchers.poll = never
	marker.Settle()
	if n := countListeners(ctx, t, admin); n != 1 {
		t.Errorf("%d connections listen, want that of the store that watches", n)
	}
	if err := twin.Close(); err != nil {
		t.Error(err)
	}
	for countListeners(ctx, t, admin) > 0 { // the server ends it a moment later
		time.Sleep(10 * time.Millisecond)
	}
}

// countListeners returns how many connections listen.
func countListeners(ctx context.Context, t *testing.T, admin *Store) (n int) {
	t.Helper()
	if err := admin.db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", listenerName).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
