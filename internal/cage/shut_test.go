//go:build linux

package cage

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/text/textclass"
)

// Whatever the tables name in a home folder stays shut in one that is open.
func TestExamplesStayShut(t *testing.T) {
	var secrets, later []string
	for i := range textclass.SecretPlaces {
		if rest, found := strings.CutPrefix(textclass.SecretPlaces[i].Hit, "~/"); found {
			secrets = append(secrets, rest)
		}
	}
	for i := range textclass.LaterPlaces {
		if rest, found := strings.CutPrefix(textclass.LaterPlaces[i].Hit, "~/"); found && strings.Contains(rest, "/") {
			later = append(later, rest)
		}
	}
	if len(secrets) < 40 || len(later) < 5 {
		t.Fatalf("%d secrets and %d others: the tables are read wrongly", len(secrets), len(later))
	}
	more := []string{".qwen/oauth_creds.json", ".config/some/.env", ".some/.npmrc"}
	h := newHouse(t, slices.Concat(secrets, later, more)...)
	p, err := h.plan([]string{"true"}, "level = \"enforce\"\nread = [\"~\"]")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(secrets, more) {
		if !isBelow(filepath.Join(h.home, name), p.Spec.Hide) {
			t.Errorf("%s is open", name)
		}
	}
	for _, name := range later {
		folder, _, _ := strings.Cut(name, "/")
		if p, err = h.plan([]string{"true"}, "level = \"enforce\"\nwrite = [\"~/"+folder+"\"]"); err != nil {
			t.Fatal(err)
		}
		named := isShut(filepath.Join(h.home, folder))
		if !named && !isBelow(filepath.Join(h.home, name), slices.Concat(p.Spec.Hide, p.Spec.Fixed)) {
			t.Errorf("%s may be written where ~/%s may", name, folder)
		}
	}
}

func TestShutPlaces(t *testing.T) {
	for _, c := range []struct {
		name, own   string
		files       []string
		env         []string // NAME, and a place in the home folder
		mounts      []mount  // with places in the home folder
		hide, fixed string
		fault       string
	}{
		{name: "the open folder is the first name of a place", own: `write = ["~/p/.github", "~/q/node_modules"]`, files: []string{"p/.github/workflows/a.yml", "p/.github/x", "q/node_modules/.bin/tsc"},
			fixed: "~/p/.github/workflows ~/q/node_modules/.bin"},
		{name: "a file of a place by its name", own: `read = ["~/.config/gh/hosts.yml"]`, files: []string{".config/gh/hosts.yml"}},
		{name: "moved by XDG", own: `read = ["~/x"]`, files: []string{"x/c/gh/hosts.yml", "x/d/keyrings/login.keyring", "x/k/huggingface/token", "x/c/rclone/rclone.conf"},
			env: []string{"XDG_CONFIG_HOME", "x/c", "XDG_DATA_HOME", "x/d", "XDG_CACHE_HOME", "x/k"}, hide: "~/x/c/gh ~/x/c/rclone/rclone.conf ~/x/d/keyrings ~/x/k/huggingface/token"},
		{name: "moved by a program's variable", own: `read = ["~/x"]`, files: []string{"x/kube", "x/claude/.credentials.json", "x/claude/a", "x/pg"},
			env: []string{"KUBECONFIG", "x/kube", "CLAUDE_CONFIG_DIR", "x/claude", "GNUPGHOME", "x/pg"}, hide: "~/x/claude/.credentials.json ~/x/kube ~/x/pg"},
		{name: "moved, and named", own: `read = ["~/x/kube"]`, files: []string{"x/kube"}, env: []string{"KUBECONFIG", "x/kube"}},
		{name: "a folder shown twice", own: `read = ["~/mnt"]`, files: []string{".ssh/id", "mnt/.ssh/id", "mnt/.clawai/policy.toml", "mnt/.config/gh/x", ".config/gh/x"},
			mounts: []mount{{"8:1", "/", "/"}, {"8:2", "/me", ""}, {"8:2", "/me", "mnt"}}, hide: "~/mnt/.clawai ~/mnt/.config/gh ~/mnt/.ssh"},
		{name: "clawai's own, shown twice", own: `write = ["~/mnt"]`, files: []string{"mnt/policy.toml"}, mounts: []mount{{"8:2", "/", "/"}, {"8:2", "HOME/.clawai", "mnt"}}, fault: "is clawai's own, which no server gets"},
		{name: "a part of the home folder, shown twice", own: `write = ["~/mnt"]`, files: []string{"mnt/x", "mnt/.env"}, mounts: []mount{{"8:2", "/", "/"}, {"8:2", "HOME/projects", "mnt"}}, hide: "~/mnt/.env"},
		{name: "the home folder, shown twice", own: `write = ["~/mnt"]`, files: []string{"mnt/x"}, mounts: []mount{{"8:2", "/", "/"}, {"8:2", "HOME", "mnt"}}, fault: "is or holds your home folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, c.files...)
			for _, m := range moved {
				t.Setenv(m.variable, "")
			}
			for i := 0; i < len(c.env); i += 2 {
				t.Setenv(c.env[i], filepath.Join(h.home, c.env[i+1]))
			}
			o := Options{Command: []string{"true"}, Own: []string{".clawai"}}
			for _, m := range c.mounts {
				if !strings.HasPrefix(m.point, "/") {
					m.point = filepath.Join(h.home, m.point)
				}
				m.root = strings.Replace(m.root, "HOME", h.home, 1)
				o.mounts = append(o.mounts, m)
			}
			p, err := h.planWith(o, "level = \"enforce\"\n"+c.own)
			switch {
			case c.fault != "":
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %s", err, c.fault)
				}
			case err != nil:
				t.Error(err)
			case h.short(p.Spec.Hide) != c.hide || h.short(p.Spec.Fixed) != c.fixed:
				t.Errorf("hide %s, fixed %s", h.short(p.Spec.Hide), h.short(p.Spec.Fixed))
			}
		})
	}
}

// A pipe where a folder is looked into, or in place of the program, keeps no start waiting.
func TestPipesAreNotOpened(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{".vscode", ".config", ".git", "server.sh"} {
		if err := syscall.Mkfifo(filepath.Join(h.home, "work/app", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := h.plan([]string{filepath.Join(h.home, "work/app/server.sh")}, "level = \"enforce\"\nwrite = [\"./\"]")
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the plan waits for somebody who writes into a pipe")
	}
}

// What cannot be done is said: where the owner sees it, and in the record.
func TestWhatIsNotShutIsSaid(t *testing.T) {
	h := newHouse(t, "p/docs/a")
	p, err := h.plan([]string{"true"}, "level = \"enforce\"\nwrite = [\"~/p\"]\nread = [\"~/p/docs\"]\nhide = [\"~/p/none\", \"~/elsewhere\"]")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{"~/p/none is to stay shut and is not there", "read has ~/p/docs, which lies in ~/p of write"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q, without %q", notes, want)
		}
	}
	if strings.Contains(notes, "~/elsewhere") {
		t.Errorf("%q is about a place that is closed anyway", notes)
	}
	if text := Describe(p, &confine.Report{Holds: []string{"all"}}); text != "sandbox enforce: all; NOT SHUT, as not there at the start: ~/p/none" {
		t.Error(text)
	}
}
