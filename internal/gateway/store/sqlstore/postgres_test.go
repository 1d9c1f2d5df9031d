package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// sharedServer is one server for all tests, because to make a server costs more than most tests. It
// starts with the first test that wants it.
type sharedServer struct {
	once   sync.Once
	server *postgrestest.Server
	err    error
	made   atomic.Int64
}

var shared sharedServer

// address returns the address of a new database.
func (s *sharedServer) address(t *testing.T) string {
	t.Helper()
	s.once.Do(func() { s.server, s.err = postgrestest.Run(context.Background(), "fsync=off") })
	if errors.Is(s.err, postgrestest.ErrMissing) && os.Getenv("CLAWAI_TEST_POSTGRES") == "" {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	db, err := sql.Open("pgx", s.server.Address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprint("centre", s.made.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.server.Address(name)
}

func (s *sharedServer) stop() error {
	if s.server == nil {
		return nil
	}
	return s.server.Stop()
}

func TestPostgresKeepsTheContract(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	storetest.Run(t, func(t *testing.T) func(org string) store.Store {
		address := shared.address(t)
		return func(org string) store.Store {
			s := openPostgres(t, address, org)
			s.watchers.poll = never
			return s
		}
	})
}

// Centres that start at once on an empty database all come up.
func TestCentresStartAtOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	address := shared.address(t)
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
	t.Parallel()
	server := postgrestest.Start(t, "fsync=off")
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

// A centre that is stopped within a change, or whose network is lost, does not keep the others from that row.
func TestAStoppedCentreHoldsNoLock(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	address := shared.address(t)
	stopped, other := openPostgres(t, address, "main"), openPostgres(t, address, "main")
	storetest.NewMarker(t, other, other)
	storetest.AddQuestion(t, other, "q")
	held, ended := make(chan bool), make(chan error, 1)
	over := make(chan bool)
	go func() {
		_, err := stopped.ChangeQuestion(context.Background(), "q", func(*store.Question) error { close(held); <-over; return nil })
		ended <- err
	}()
	<-held
	storetest.ChangeQuestion(t, other, "q", time.Unix(1800000000, 0))
	close(over)
	if err := <-ended; err == nil {
		t.Error("the stopped centre's change is kept, too")
	}
}

// While another one really works on a row, a change gives up after a while, and says why.
func TestALockIsAwaitedNotForEver(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	address := shared.address(t)
	s := openPostgres(t, address, "main")
	storetest.NewMarker(t, s, s)
	storetest.AddQuestion(t, s, "q")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT id FROM question FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	worked := make(chan error, 1)
	go func() { _, err := tx.ExecContext(ctx, "SELECT pg_sleep(3600)"); worked <- err }()
	if _, err := s.ChangeQuestion(t.Context(), "q", func(*store.Question) error { return nil }); !errors.Is(err, store.ErrLocked) {
		t.Errorf("%v, want that it is locked", err)
	}
	end()
	<-worked
}

// A centre that should not serve beside others says so, and why.
func TestCheckReady(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	server := postgrestest.Start(t, "fsync=off")
	address := server.Address("postgres")
	s := openPostgres(t, address, "main")
	shifted := func(by time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(by) } }
	for by, want := range map[time.Duration]error{0: nil, 5 * time.Minute: store.ErrClock, -5 * time.Minute: store.ErrClock} {
		if err := s.CheckReady(t.Context(), shifted(by)); !errors.Is(err, want) {
			t.Errorf("a clock %v ahead: %v, want %v", by, err, want)
		}
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("UPDATE about SET value = value + 1 WHERE name = 'schema'")
	if err := s.CheckReady(t.Context(), time.Now); !errors.Is(err, store.ErrNewer) {
		t.Errorf("beside a newer program: %v", err)
	}
	exec("UPDATE about SET value = value - 1 WHERE name = 'schema'")
	exec("ALTER DATABASE postgres SET default_transaction_read_only = on")
	if _, err := OpenPostgres(t.Context(), address, "main"); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a standby is opened: %v", err)
	}
	s.db.SetMaxIdleConns(0) // as after a failover
	if err := s.CheckReady(t.Context(), time.Now); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a standby is ready: %v", err)
	}
}

// A role that may not make tables is told what it needs.
func TestRoleWithoutRights(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	server := postgrestest.Start(t, "fsync=off")
	s := openPostgres(t, server.Address("postgres"), "main")
	for _, statement := range []string{"CREATE ROLE weak LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"} {
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err := OpenPostgres(t.Context(), strings.Replace(server.Address("postgres"), "postgres@", "weak@", 1), "main")
	if err == nil || strings.Count(err.Error(), "GRANT CREATE") != 1 {
		t.Errorf("%v", err)
	}
}

// A pooler that gives a connection to others after each transaction is refused at the start: LISTEN, settings and
// prepared statements would hold now and then. One that pools sessions serves.
func TestPooler(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil && os.Getenv("CLAWAI_TEST_POSTGRES") != "" {
		t.Fatal("pgbouncer is not installed, and CLAWAI_TEST_POSTGRES asks for it")
	}
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	server := postgrestest.Start(t, "fsync=off")
	behind, err := url.Parse(server.Address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]error{"transaction": errPooled, "session": nil} {
		address := startPooler(t, program, mode, behind.Query().Get("host"))
		s, err := OpenPostgres(t.Context(), address, "main")
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", mode, err, want)
		}
		if err == nil {
			err = errors.Join(s.Check(t.Context()), s.Close())
		}
		if want == nil && err != nil {
			t.Error(err)
		}
	}
}

// startPooler starts a pooler before the server whose socket lies in a folder, and returns its address.
func startPooler(t *testing.T, program, mode, behind string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pooler")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	settings := filepath.Join(dir, "ini")
	text := "[databases]\npostgres = host=" + behind + " user=postgres\n[pgbouncer]\nlisten_addr=\nlisten_port=5432\nunix_socket_dir=" + dir + "\nauth_type=any\npool_mode=" + mode + "\n"
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil { //nolint:gosec // nobody reads it
		t.Fatal(err)
	}
	args := []string{program, settings}
	if os.Geteuid() == 0 { // it refuses to run as root
		if err := errors.Join(os.Chmod(dir, 0o777), exec.Command("chown", "nobody:nogroup", dir).Run()); err != nil { //nolint:gosec // nobody's socket
			t.Fatal(err)
		}
		args = append([]string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // the pooler
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended; ended <- nil })
	for {
		if conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.5432")); err == nil { // the socket is there before the pooler listens at it
			_ = conn.Close()
			return "postgres://postgres@/postgres?host=" + url.QueryEscape(dir)
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("the pooler ended: %v\n%s", err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
