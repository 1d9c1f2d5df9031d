//go:build linux

package cage

import (
	"slices"
	"strings"
	"testing"
)

func TestAliases(t *testing.T) {
	mounts := parseMounts(strings.Join([]string{
		`22 1 8:1 / / rw - ext4 /dev/sda1 rw`, `23 22 8:2 / /data rw - ext4 /dev/sdb rw`, `24 22 8:2 /home /home rw,relatime shared:3 - ext4 /dev/sdb rw`,
		`25 22 8:2 /home/me/.ssh /srv/my\040keys rw - ext4 /dev/sdb rw`, `26 22 0:5 / /proc rw - proc proc rw`, `short`, `27 22 8:2 / relative rw`, ``,
	}, "\n"))
	for path, want := range map[string]string{
		"/home/me": "/data/home/me|/srv/my keys", "/home/me/.ssh/id": "/data/home/me/.ssh/id /srv/my keys/id|", "/home/me/x": "/data/home/me/x|",
		"/srv/my keys/id": "/data/home/me/.ssh/id /home/me/.ssh/id|", "/etc/passwd": "|", "/data/other": "|", "/data/home": "/home|/srv/my keys", "/proc/1": "|",
	} {
		whole, parts := findAliases(path, mounts)
		if got := strings.Join(whole, " ") + "|" + strings.Join(parts, " "); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

// Who is shown at another place is found from there, too.
func FuzzAliases(f *testing.F) {
	f.Add("1 1 8:1 / / rw\n1 1 8:1 /a /b rw\n", "/a/x")
	f.Add(`1 1 8:1 /a\040 /b\134 rw`, `/b\`)
	f.Fuzz(func(t *testing.T, text, path string) {
		mounts := parseMounts(text)
		for _, m := range mounts {
			if strings.Contains(m.point+m.root+"/", "//") || strings.Contains(m.point+m.root+"/", "/./") || strings.Contains(m.point+m.root+"/", "/../") {
				return // the system writes none
			}
		}
		whole, _ := findAliases(path, mounts)
		for _, alias := range whole {
			back, _ := findAliases(alias, mounts)
			covered := slices.ContainsFunc(mounts, func(m mount) bool { return m.point != "/" && contains(m.point, alias) })
			if !covered && len(back) == 0 {
				t.Errorf("%q is shown at %q, which is shown nowhere else: %+v", path, alias, mounts)
			}
		}
	})
}
