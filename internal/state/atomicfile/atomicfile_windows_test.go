package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

// A client's file that its program holds open is left as it is, and who asked is told
// what to do; one that is open for a moment is waited for.
func TestOpenElsewhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "claude_desktop_config.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path) // without the right to delete it for others
	if err != nil {
		t.Fatal(err)
	}
	err = atomicfile.Write(path, []byte("new"), atomicfile.Options{})
	if err == nil || !strings.Contains(err.Error(), "it is open in another program; close it there and try again") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); string(got) != "old" || err != nil {
		t.Errorf("it holds %q, %v", got, err)
	}
	if all, err := os.ReadDir(dir); len(all) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", all, err)
	}
	time.AfterFunc(50*time.Millisecond, func() { f.Close() })
	if err := atomicfile.Write(path, []byte("new"), atomicfile.Options{}); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); string(got) != "new" || err != nil {
		t.Errorf("it holds %q, %v", got, err)
	}
}
