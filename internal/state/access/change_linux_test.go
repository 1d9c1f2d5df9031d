package access

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// On systems with a group for each user an editor leaves files writable by that group.
// It holds only us, so they pass; a group that may hold others must not.
func TestOwnGroupMayWrite(t *testing.T) {
	uid, gid := os.Getuid(), os.Getgid()
	tests := []struct {
		name          string
		users, groups string
		passes        bool
	}{
		{"alone", "me:x:%[1]d:%[2]d::/:\n", "me:x:%[2]d:\n", true},
		{"alone, and listed", "me:x:%[1]d:%[2]d::/:\n", "me:x:%[2]d:me\n", true},
		{"another member", "me:x:%[1]d:%[2]d::/:\n", "me:x:%[2]d:me,eve\n", false},
		{"somebody else's first group", "me:x:%[1]d:%[2]d::/:\neve:x:99:%[2]d::/:\n", "me:x:%[2]d:\n", false},
		{"group not listed", "me:x:%[1]d:%[2]d::/:\n", "other:x:99:\n", false},
		{"we are not listed", "eve:x:99:99::/:\n", "me:x:%[2]d:\n", false},
		{"listed twice", "me:x:%[1]d:%[2]d::/:\n", "me:x:%[2]d:\nalias:x:%[2]d:eve\n", false},
	}
	defer func(g, u string) { groupFile, userFile = g, u }(groupFile, userFile)
	for _, tt := range tests {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		groupFile, userFile = filepath.Join(dir, "group"), filepath.Join(dir, "passwd")
		write(t, userFile, fmt.Sprintf(tt.users, uid, gid))
		write(t, groupFile, fmt.Sprintf(tt.groups, uid, gid))
		write(t, file, "")
		for _, path := range []string{file, dir} {
			if err := checkAccess(t, path, 0o770); (err == nil) != tt.passes {
				t.Errorf("%s: passes %v, want %v (%v)", tt.name, err == nil, tt.passes, err)
			}
			if checkAccess(t, path, 0o772) == nil {
				t.Errorf("%s: what everybody can write passes", tt.name)
			}
		}
	}
	if privateGroup(os.DevNull, uint32(gid)+1) {
		t.Error("a group that is not ours is private")
	}
}

// checkAccess gives a file the mode and has it checked.
func checkAccess(t *testing.T, path string, mode fs.FileMode) error {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return CheckChange(path, info)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
