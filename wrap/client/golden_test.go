package client

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/testing/slow"
)

func golden(t *testing.T, row Row, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", "golden", row.ID, name+"."+string(row.Format)))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// eachServer edits one server of a file after the other, reading it anew each
// time, as a person who answers yes to every one would.
func eachServer(t *testing.T, row Row, src []byte, edit func(src []byte, e Entry) ([]byte, error)) []byte {
	t.Helper()
	entries, err := Read(row, src)
	if err != nil {
		t.Fatalf("Read: %v\n%s", err, src)
	}
	edited := 0
	for i := range entries {
		entries, err = Read(row, src)
		if err != nil {
			t.Fatalf("Read: %v\n%s", err, src)
		}
		e := entries[i]
		if e.Kind == Other {
			if e.Why == "" {
				t.Errorf("%q is %v and no reason is given", e.Name, e.Kind)
			}
			continue
		}
		if e.Problem != nil && e.Kind == Remote && row.Client == "continue" {
			continue // its headers stand where no process has a place for them
		}
		if e.Problem != nil {
			t.Fatalf("%q: %v", e.Name, e.Problem)
		}
		if src, err = edit(src, e); err != nil {
			t.Fatalf("%q: %v", e.Name, err)
		}
		edited++
	}
	if edited == 0 {
		t.Error("the file holds no server to edit")
	}
	return src
}

// Each row's file, in the form its vendor documents, gains clawai and loses it.
func TestGolden(t *testing.T) {
	slow.Test(t)
	for _, row := range catalogue(t) {
		t.Run(row.ID, func(t *testing.T) {
			before := golden(t, row, "before")
			wrap := func(src []byte, e Entry) ([]byte, error) { return Wrap(row, src, e, clawai) }
			if row.ReadOnly {
				eachServer(t, row, before, func(src []byte, _ Entry) ([]byte, error) { return src, nil })
				return
			}
			after := golden(t, row, "after")
			wrapped := eachServer(t, row, before, wrap)
			if os.Getenv("CLAWAI_GOLDEN") == "write" {
				if err := os.WriteFile(filepath.Join("testdata", "golden", row.ID, "after."+string(row.Format)), wrapped, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(after), string(wrapped)); diff != "" {
				t.Fatalf("wrapped (-want +got):\n%s", diff)
			}
			if again := eachServer(t, row, wrapped, wrap); !bytes.Equal(again, wrapped) {
				t.Errorf("wrapped twice:\n%s", cmp.Diff(string(wrapped), string(again)))
			}
			back := eachServer(t, row, wrapped, func(src []byte, e Entry) ([]byte, error) {
				if e.Wrapped == nil || e.Wrapped.Path != clawai.Path || e.Wrapped.Server != e.Name || e.Wrapped.Differs != nil {
					t.Errorf("%q is wrapped as %+v", e.Name, e.Wrapped)
				}
				return Unwrap(row, src, e)
			})
			if !bytes.Equal(back, before) {
				t.Errorf("unwrapped (-want +got):\n%s", cmp.Diff(string(before), string(back)))
			}
		})
	}
}

// Two rows that read the same file must not claim the same server: the one form
// of the file shows in one row only.
func TestGoldenOneRowOneServer(t *testing.T) {
	rows := catalogue(t)
	for _, row := range rows {
		src := golden(t, row, "before")
		mine, err := Read(row, src)
		if err != nil {
			t.Fatalf("row %s: %v", row.ID, err)
		}
		for _, other := range rows {
			if other.ID == row.ID || other.Format != row.Format || !sharesPath(row, other) {
				continue
			}
			theirs, err := Read(other, src)
			if err != nil {
				t.Errorf("row %s cannot read the file of %s: %v", other.ID, row.ID, err)
			}
			for _, a := range mine {
				for _, b := range theirs {
					if a.Line == b.Line && a.Column == b.Column {
						t.Errorf("%s: %q belongs to %s and to %s", row.ID, a.Name, row.ID, other.ID)
					}
				}
			}
			for _, b := range theirs {
				if b.Kind == Other {
					t.Errorf("%s: %s takes %q for a server: %s", row.ID, other.ID, b.Name, b.Why)
				}
			}
		}
	}
}

func sharesPath(a, b Row) bool {
	a.KeyPath, b.KeyPath = nil, nil
	return findCollision(a, b) != ""
}
