// Package postgrestest starts servers of PostgreSQL for tests.
package postgrestest

import (
	"errors"
	"net/url"
	"os"
	"testing"
)

// Address returns the address of a database of the server whose socket lies in a folder.
func Address(dir, database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(dir)
}

// Start starts a server of its own in a folder that is thrown away, as nobody, and returns
// the folder of its socket.
func Start(t *testing.T) string {
	t.Helper()
	s, err := Run(t.Context())
	if errors.Is(err, ErrMissing) && os.Getenv("CLAWAI_TEST_POSTGRES") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s.Dir
}
