package sqlstore

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/testing/storetest"
)

func TestSQLiteKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func(org string) store.Store {
		path := filepath.Join(t.TempDir(), "gateway.db")
		return func(org string) store.Store {
			s, err := OpenSQLite(t.Context(), path, org)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
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
