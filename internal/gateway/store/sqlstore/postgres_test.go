package sqlstore

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/testing/postgrestest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/storetest"
)

func TestPostgresKeepsTheContract(t *testing.T) {
	slow.Test(t)
	dir := postgrestest.Start(t)
	address := func(database string) string { return postgrestest.Address(dir, database) }
	admin, err := OpenPostgres(t.Context(), address("postgres"), "admin")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	var made atomic.Int64
	storetest.Run(t, func(t *testing.T) func(org string) store.Store {
		name := fmt.Sprint("centre", made.Add(1))
		if _, err := admin.db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return func(org string) store.Store {
			s, err := OpenPostgres(t.Context(), address(name), org)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
	})
}
