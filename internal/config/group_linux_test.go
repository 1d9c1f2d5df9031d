package config

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// On systems with a group for each user an editor leaves the policy writable by
// that group. It holds only us, so the policy must load; a group that may hold
// others must not.
func TestOwnGroupMayWrite(t *testing.T) {
	uid, gid := os.Getuid(), os.Getgid()
	tests := []struct {
		name          string
		users, groups string
		loads         bool
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
		p := newPlace(t)
		lists := t.TempDir()
		groupFile, userFile = filepath.Join(lists, "group"), filepath.Join(lists, "passwd")
		write(t, userFile, fmt.Sprintf(tt.users, uid, gid))
		write(t, groupFile, fmt.Sprintf(tt.groups, uid, gid))
		for _, path := range []string{p.file, p.sub, p.top} {
			if err := os.Chmod(path, 0o770); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := LoadPolicy(p.file, ""); (err == nil) != tt.loads {
			t.Errorf("%s: loads %v, want %v (%v)", tt.name, err == nil, tt.loads, err)
		}
		if err := os.Chmod(p.file, 0o662); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadPolicy(p.file, ""); err == nil {
			t.Errorf("%s: a policy that everybody can write loads", tt.name)
		}
	}
	if privateGroup(os.DevNull, uint32(gid)+1) {
		t.Error("a group that is not ours is private")
	}
}

// shareGroup gives our group another member until the test ends.
func shareGroup(t *testing.T) {
	t.Helper()
	was := groupFile
	t.Cleanup(func() { groupFile = was })
	groupFile = filepath.Join(t.TempDir(), "group")
	write(t, groupFile, fmt.Sprintf("us:x:%d:eve\n", os.Getgid()))
}
