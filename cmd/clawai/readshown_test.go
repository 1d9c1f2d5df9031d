//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/approve/view"
)

func TestReadShownReadsRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, size int) {
		if err := os.WriteFile(at(name), bytes.Repeat([]byte("a"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("file", 5)
	write("full", view.MaxFile)
	write("large", view.MaxFile+1)
	if err := errors.Join(os.Symlink(at("file"), at("link")), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"file": 5, "full": view.MaxFile} {
		if b, err := readShown(at(name)); err != nil || len(b) != want {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	for name, want := range map[string]error{"large": view.ErrTooLarge, "missing": fs.ErrNotExist, "link": errNoFile, "pipe": errNoFile, ".": errNoFile} {
		if b, err := readShown(at(name)); !errors.Is(err, want) || b != nil {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if _, err := readShown("/dev/zero"); !errors.Is(err, errNoFile) {
		t.Error(err)
	}
}
