//go:build unix

package access_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/access"
)

func TestOnlyOwnersOpen(t *testing.T) {
	const stranger = 4711
	dir := t.TempDir()
	for name, c := range map[string]struct {
		mode  fs.FileMode
		owner int
		want  string // of the error; "" for none
	}{
		"ours alone":         {0o600, -1, ""},
		"a folder of ours":   {0o700 | fs.ModeDir, -1, ""},
		"others read":        {0o604, -1, "chmod go-rwx"},
		"a group reads":      {0o640, -1, "chmod go-rwx"},
		"others write":       {0o602, -1, "chmod go-rwx"},
		"others look in":     {0o701 | fs.ModeDir, -1, "chmod go-rwx"},
		"of another":         {0o600, stranger, "belongs to another user (uid 4711), who can open it; run the command as that user: runuser -u \"$(id -nu 4711)\""},
		"a folder of others": {0o700 | fs.ModeDir, stranger, "belongs to another user (uid 4711)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			err := os.WriteFile(path, nil, 0o600)
			if c.mode.IsDir() {
				err = os.Mkdir(path+".d", 0o700)
				path += ".d"
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode.Perm()); err != nil {
				t.Fatal(err)
			}
			if c.owner >= 0 {
				if os.Getuid() != 0 {
					t.Skip("only root can give files away")
				}
				if err := os.Lchown(path, c.owner, c.owner); err != nil {
					t.Fatal(err)
				}
			}
			fi, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			err = access.CheckOpen(path, fi)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
