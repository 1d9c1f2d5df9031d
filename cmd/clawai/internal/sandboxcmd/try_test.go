package sandboxcmd

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/config"
)

func TestGatherPlaces(t *testing.T) {
	folders := config.Folders{Home: "/home/me", Config: "/home/me/.config/clawai", State: "/home/me/.local/state/clawai"}
	open := []string{"/usr", "/home/me/projects", "/dev"}
	for paths, want := range map[string]string{
		"/usr/lib/x /home/me/projects/a /home/me/projects /dev/null":       "",
		"/home/me/projects/shut/a":                                         "/home/me/projects/shut/a",
		"/home/me/projects2/a":                                             "/home/me/projects2/a",
		"/home/me/n/a /home/me/n/b":                                        "/home/me/n/a /home/me/n/b",
		"/home/me/n/a /home/me/n/b /home/me/n/c":                           "/home/me/n",
		"/home/me/a /home/me/b /home/me/c":                                 "/home/me/a /home/me/b /home/me/c",
		"/srv1 /srv2 /srv3 /":                                              "/srv1 /srv2 /srv3",
		"/home/me/.config/clawai/policy.toml /home/me/.local/state/clawai": "",
	} {
		if got := strings.Join(gatherPlaces(strings.Fields(paths), open, []string{"/home/me/projects/shut"}, folders), " "); got != want {
			t.Errorf("%s: %q, want %q", paths, got, want)
		}
	}
}
