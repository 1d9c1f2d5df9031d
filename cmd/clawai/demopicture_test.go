//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// The README's picture of the demo is what a terminal shows of its beginning.
func TestPictureOfTheDemo(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := watchAs(t, home, colorful, 120, 92, "demo")
	w.sees("let it through?", "Return answer")
	time.Sleep(time.Second) // a key counts when the question has been in sight for 300 ms
	w.types("\r")
	w.sees("Verified:")
	w.leaves(0)
	ids := regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{10}-`)
	picture := func() string { return ids.ReplaceAllString(w.screen.Top(30), "k3f9x2m7qa-") }
	termtest.Golden(t, "../../../docs/img/demo.svg", picture)
}
