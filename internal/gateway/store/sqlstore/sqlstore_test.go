package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/storetest"
)

// never is longer than a test runs.
const never = 24 * time.Hour

// TestMain lets more tests run at once than there are processors: they wait for servers and locks.
func TestMain(m *testing.M) {
	slow.Waiting()
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestSQLiteKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func(org string) store.Store {
		path := filepath.Join(t.TempDir(), "gateway.db")
		all := map[string]store.Store{} // one centre alone has the file
		return func(org string) store.Store {
			if s := all[org]; s != nil {
				return s
			}
			s, err := OpenSQLite(t.Context(), path, org)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			all[org], s.watchers.poll = s, never
			return s
		}
	})
}

// What was kept is there after a restart, and a database of a newer gateway is left alone.
func TestDatabaseIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	open := func() *Store {
		s, err := OpenSQLite(t.Context(), path, "main")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if err := s.AddBundle(t.Context(), store.Bundle{Counter: 3, Bytes: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	s = open()
	if b, err := s.FindNewestBundle(t.Context()); err != nil || b.Counter != 3 {
		t.Fatalf("%+v, %v", b, err)
	}
	if _, err := s.db.ExecContext(t.Context(), "UPDATE about SET value = 1000"); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := OpenSQLite(t.Context(), path, "main"); !errors.Is(err, store.ErrNewer) {
		t.Fatalf("a newer database: %v", err)
	}
}

// A laptop that was enrolled before the centre knew people stays, and is nobody's; who was signed in
// signs in again. A bundle that was published stays in force, and waits for nobody.
func TestAnOlderDatabaseIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	all := steps
	steps = all[:1]
	s, err := OpenSQLite(t.Context(), path, "main")
	steps = all
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO laptop (org, id, token_hash, name, os, version, enrolled, enrolled_by) VALUES ('main', 'one', 'hash', 'ana', 'linux', '1', 5, 'administrator')",
		"INSERT INTO signed_in (org, hash, who, expires) VALUES ('main', 'session', 'administrator', 9000000000000000000)",
		"INSERT INTO bundle (org, counter, digest, created, published, signer, content) VALUES ('main', 4, 'digest', 5, 6, 'team', x'07')",
	} {
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSQLite(t.Context(), path, "main"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if l, hash, err := s.FindLaptop(t.Context(), "one"); err != nil || hash != "hash" || l.By != "administrator" || !reflect.DeepEqual(l.Owner, store.Owner{}) {
		t.Errorf("%+v, %v", l, err)
	}
	waiting, err := s.ListProposals(t.Context(), 9)
	if b, err2 := s.FindNewestBundle(t.Context()); err != nil || err2 != nil || b.Counter != 4 || len(waiting) > 0 {
		t.Errorf("%+v, %+v, %v, %v", b, waiting, err, err2)
	}
	if p, _, err := s.FindSession(t.Context(), "session", time.Now()); !errors.Is(err, store.ErrNone) {
		t.Errorf("%+v, %v", p, err)
	}
}

// A program that knows no proposals puts a newer bundle into force while one waits: that one is refused then.
func TestAnOlderProgramKnowsNoProposals(t *testing.T) {
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "gateway.db"), "main")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.AddProposal(t.Context(), store.Proposal{Bundle: store.Bundle{Counter: 3, Bytes: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), "INSERT INTO bundle (org, counter, digest, created, published, signer, content) VALUES ('main', 4, 'digest', 5, 6, 'team', x'07')"); err != nil {
		t.Fatal(err)
	}
	_, err = s.ChangeProposal(t.Context(), 3, func(p *store.Proposal) error { p.State = store.ProposalActivated; return nil })
	if !errors.Is(err, store.ErrOlder) {
		t.Errorf("%v", err)
	}
	if p, err := s.FindProposal(t.Context(), 3); err != nil || p.State != store.ProposalWaits {
		t.Errorf("%+v, %v", p, err)
	}
}

// A page of the file that is not what was written is found, also where no other question reads it.
func TestDamageIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	s, err := OpenSQLite(t.Context(), path, "main")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		if err := s.AddEnrolment(t.Context(), store.Enrolment{Expires: time.Now(), DeviceHash: fmt.Sprint("device", i), UserHash: fmt.Sprint("user", i), Ask: enrolment.AskEnrolment{Name: strings.Repeat("x", 300)}}, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("a whole database: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	if len(src) < 100*page {
		t.Fatalf("the database has %d bytes, too few to damage some that are not read first", len(src))
	}
	for at := 90 * page; at+page <= len(src); at += page {
		for i := range 100 {
			src[at+i] = 0xff
		}
	}
	if err := os.WriteFile(path, src, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSQLite(t.Context(), path, "main"); err != nil {
		t.Fatalf("the first pages are whole: %v", err)
	}
	defer s.Close()
	if err := s.Check(t.Context()); err == nil {
		t.Error("nothing was found")
	}
}
