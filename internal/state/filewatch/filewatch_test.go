package filewatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// touchFiles makes n files in a folder.
func touchFiles(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNobodyTakes: who takes nearly no event can still add folders and close, and learns later that
// events were lost.
func TestNobodyTakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		touchFiles(t, dir, maxWaiting/16)
		if err := w.Add(dir); err != nil {
			t.Fatal(err)
		}
		select { // takes one of some hundred
		case e := <-w.Events():
			if e.Lost() {
				return
			}
		default:
		}
	}
	t.Fatal("no event says that others were lost")
}

func TestReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	if list := w.WatchList(); len(list) != 1 || list[0] != dir {
		t.Errorf("watched: %q", list)
	}
	touchFiles(t, dir, 1)
	select {
	case e := <-w.Events():
		if e.Err != nil || e.Name != filepath.Join(dir, "0") || !e.Has(fsnotify.Create) {
			t.Errorf("%v %v", e.Event, e.Err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was reported")
	}
	if err := w.Remove(dir); err != nil {
		t.Error(err)
	}
	if err := w.Remove(dir); !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		t.Errorf("removed twice: %v", err)
	}
	w.Close()
	w.Close()
	if err := w.Add(dir); err == nil {
		t.Error("a closed watcher takes a folder")
	}
	if (*Watcher)(nil).Events() != nil {
		t.Error("no watcher has events")
	}
}
