//go:build unix

package audit

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// What lies in the folder under a segment's name and is none ends no follower, as it does no
// reader, and of a segment that was removed and begun anew the new records come.
func TestFollowGoesOnWhateverIsPutBeside(t *testing.T) {
	const name = "20260504T120000.000000000Z-planted.ndjson"
	for what, do := range map[string]func(dir, shared string) error{
		"a pipe":     func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, name), 0o600) },
		"a link":     func(dir, _ string) error { return os.Symlink(ledgerName, filepath.Join(dir, name)) },
		"a folder":   func(dir, _ string) error { return os.Mkdir(filepath.Join(dir, name), 0o700) },
		"removed":    func(_, shared string) error { return os.Remove(shared) },
		"moved away": func(dir, shared string) error { return os.Rename(shared, filepath.Join(dir, "kept")) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			o := Options{Shared: "agent"}
			call(t, dir, o)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			calls := 0
			for e, err := range Follow(ctx, dir, Filter{Kinds: []event.Kind{event.Decision}}) {
				if err != nil {
					t.Fatal(err)
				}
				if calls++; calls == 1 {
					if err := do(dir, filepath.Join(dir, e.File)); err != nil {
						t.Fatal(err)
					}
				}
				if calls == 3 {
					return
				}
				call(t, dir, o)
			}
			t.Fatalf("%d calls came", calls)
		})
	}
}
