//go:build unix

package centre

import (
	"os"
	"path/filepath"
	"testing"
)

// A secret that its group can read is refused, unless systemd passed it.
func TestSecretsOfASystemdService(t *testing.T) {
	before := credentials
	t.Cleanup(func() { credentials = before })
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{"private": 0o400, "listed": 0o440, "written": 0o462} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		credentials, name string
		reads             bool
	}{
		{before, "private", true}, {before, "listed", false}, {before, "written", false},
		{folder + "/", "private", true}, {folder + "/", "listed", true}, {folder + "/", "written", false}, {folder + "/other/", "listed", false},
	} {
		credentials = c.credentials
		if _, err := ReadSecret(filepath.Join(folder, c.name)); (err == nil) != c.reads {
			t.Errorf("%s, and credentials are in %q: %v", c.name, c.credentials, err)
		}
	}
}
