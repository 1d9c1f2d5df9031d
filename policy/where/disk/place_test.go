package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/policy/where/disk"
)

// TestPlace: both ends of a link are told, and a path of which programs think
// differently is not known.
func TestPlace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"app/sub", "etc/deep"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "etc", "deep"), filepath.Join(root, "app", "link")); err != nil {
		t.Skip(err)
	}
	d := disk.SystemDisk()
	for path, want := range map[string][2]string{
		"x":         {"/app/x", "/app/x"},
		".":         {"/app", "/app"},
		"sub/../x":  {"/app/x", "/app/x"},
		"link":      {"/app/link", "/etc/deep"},
		"link/x":    {"/etc/deep/x", "/etc/deep/x"},
		"link/../x": {},
		"~/x":       {"/home/x", "/home/x"},
		"~other/x":  {},
		"":          {"/app", "/app"},
		"a\x00":     {},
	} {
		stands, leads, known := disk.LocatePath(path, filepath.Join(root, "home"), filepath.Join(root, "app"), d)
		if known != (want[0] != "") || known && (stands != filepath.ToSlash(root)+want[0] || leads != filepath.ToSlash(root)+want[1]) {
			t.Errorf("%q: %q, %q, %v", path, stands, leads, known)
		}
	}
	if _, _, known := disk.LocatePath("/x", "", "", nil); known {
		t.Error("a place on no disk")
	}
}
