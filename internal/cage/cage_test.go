//go:build linux

package cage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/policy"
)

// house is a home folder for plans.
type house struct {
	t    *testing.T
	home string
}

func newHouse(t *testing.T, files ...string) *house {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t, home}
	for _, name := range append(files, "work/app/a.txt", ".clawai/policy.toml") {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o700); err != nil { //nolint:gosec // some are programs
			t.Fatal(err)
		}
	}
	return h
}

func (h *house) plan(command []string, own string, layers ...string) (*Plan, error) {
	h.t.Helper()
	return h.planWith(Options{Command: command, Own: []string{".clawai"}}, own, layers...)
}

// planWith makes a plan. Own and Self of the options are below the home folder.
func (h *house) planWith(o Options, own string, layers ...string) (*Plan, error) {
	h.t.Helper()
	var above []*policy.Policy
	for _, text := range layers {
		p, err := policy.Parse("org.toml", []byte("[server.x.sandbox]\n"+text), policy.Options{Home: h.home, Layer: "organisation"})
		if err != nil {
			h.t.Fatal(err)
		}
		above = append(above, p)
	}
	p, err := policy.Parse("p.toml", []byte("[server.x.sandbox]\n"+own), policy.Options{Home: h.home, Above: above})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, all := range [][]string{o.Own, o.Self} {
		for i := range all {
			all[i] = filepath.Join(h.home, all[i])
		}
	}
	o.Tables, o.Dir, o.Home = p.Cages("x"), filepath.Join(h.home, "work/app"), h.home
	return NewPlan(o)
}

// short writes paths with ~.
func (h *house) short(paths []string) string {
	var all []string
	for _, p := range paths {
		if strings.HasPrefix(p, h.home) {
			all = append(all, "~"+strings.TrimPrefix(p, h.home))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestPlans(t *testing.T) {
	h := newHouse(t, ".ssh/id", ".ssh/known_hosts", ".bashrc", ".config/gh/hosts.yml", ".config/op/config", ".claude.json", "notes/x", "data/y",
		"work/app/.env", "work/app/.env.example", "work/app/.git/config", "work/app/.git/hooks/x", "work/app/.git/HEAD", "work/app/.vscode/tasks.json", "data/deploy.pem")
	for _, c := range []struct {
		name, own   string
		layers      []string
		read, write string
		hide, fixed string
		fault       string
	}{
		{name: "nothing", own: `level = "enforce"`},
		{name: "the folder", own: "level = \"try\"\nwrite = [\"./\"]", write: "~/work/app", hide: "~/work/app/.env",
			fixed: "~/work/app/.git/config ~/work/app/.git/hooks ~/work/app/.vscode"},
		{name: "home to read", own: "level = \"try\"\nread = [\"~/**\"]", read: "~", hide: "~/.claude.json ~/.clawai ~/.config/gh ~/.config/op ~/.ssh"},
		{name: "a key by its name", own: "level = \"try\"\nread = [\"~/.ssh/id\", \"~/notes\"]", read: "~/.ssh/id ~/notes"},
		{name: "a shut folder by its name", own: "level = \"try\"\nread = [\"~\", \"~/.config/gh\"]", read: "~ ~/.config/gh", hide: "~/.claude.json ~/.clawai ~/.config/op ~/.ssh"},
		{name: "among what stays shut", own: "level = \"try\"\nread = [\"~\", \"~/.ssh/known_hosts\"]", fault: "stays shut, and"},
		{name: "keys in a folder", own: "level = \"try\"\nread = [\"~/data\"]\nhide = [\"~/data/y\"]", read: "~/data", hide: "~/data/deploy.pem ~/data/y"},
		{name: "hidden and open", own: "level = \"try\"\nread = [\"~/data\", \"~/data/y\"]\nhide = [\"~/data/y\"]", fault: "stays shut"},
		{name: "not there", own: "level = \"try\"\nread = [\"~/none\", \"~/notes\"]", read: "~/notes"},
		{name: "clawai's own", own: "level = \"try\"\nread = [\"~/.clawai\"]", fault: "is clawai's own"},
		{name: "clawai's policy", own: "level = \"try\"\nwrite = [\"~/.clawai/policy.toml\"]", fault: "is clawai's own"},
		{name: "a layer narrows", own: "level = \"try\"\nread = [\"~/notes\", \"~/data/y\"]\nwrite = [\"~/work\"]",
			layers: []string{"level = \"enforce\"\nread = [\"~/data\", \"~/work/app\"]"}, read: "~/data/y", write: "~/work/app",
			hide: "~/work/app/.env", fixed: "~/work/app/.git/config ~/work/app/.git/hooks ~/work/app/.vscode"},
		{name: "a layer forbids writing", own: "level = \"try\"\nread = [\"~/notes\"]\nwrite = [\"~/data\"]", layers: []string{"level = \"off\"\nwrite = []"},
			read: "~/data ~/notes", hide: "~/data/deploy.pem"},
		{name: "a layer opens nothing", own: "level = \"try\"\nread = [\"~/notes\"]", layers: []string{"level = \"off\"\nread = [\"/\"]"}, read: "~/notes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := h.plan([]string{"true"}, c.own, c.layers...)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Fatalf("%v, want %s", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range []string{h.short(p.Spec.Read), h.short(p.Spec.Write), h.short(p.Spec.Hide), h.short(p.Spec.Fixed)} {
				if want := []string{c.read, c.write, c.hide, c.fixed}[i]; got != want {
					t.Errorf("list %d: %s\nwant %s", i, got, want)
				}
			}
			if (c.name == "not there") != (len(p.Notes) > 0) {
				t.Errorf("notes %q", p.Notes)
			}
		})
	}
}

func TestPlanRest(t *testing.T) {
	h := newHouse(t)
	if p, err := h.plan([]string{"true"}, `level = "off"`); p != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	p, err := h.plan([]string{"true"}, "level = \"try\"\nnet = [\"*\"]\nenv = [\"A\", \"B\"]", "level = \"enforce\"\nnet = []\nenv = [\"B\"]\nexec = false")
	if err != nil || p.Level != policy.CageEnforce || !p.Spec.Enforce || p.Spec.Network || p.Spec.Forks || slices.Contains(p.Spec.Env, "A") || !slices.Contains(p.Spec.Env, "B") {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = h.plan([]string{"true"}, "level = \"try\"\nnet = [\"*\"]", "level = \"try\"\nnet = [\"*\"]")
	if err != nil || !p.Spec.Network || !p.Spec.Forks || p.Spec.Enforce {
		t.Errorf("%+v, %v", p, err)
	}
}

// Layers only narrow the hosts, and each name and each place of this machine has a door.
func TestHosts(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct{ own, layer, hosts, doors string }{
		{`["api.a.org", "*.b.org:443", "10.0.0.1", "127.0.0.1:3000", "localhost:3001", "db.a.org:5432"]`, ``, "api.a.org *.b.org:443 10.0.0.1 127.0.0.1:3000 localhost:3001 db.a.org:5432",
			"api.a.org@127.77.0.1:443 api.a.org@127.77.0.1:80 @127.0.0.1:3000 @127.0.0.1:3001 db.a.org@127.77.0.2:5432"},
		{`["api.a.org", "b.org"]`, `net = ["*.a.org:443"]`, "api.a.org:443", "api.a.org@127.77.0.1:443"},
		{`["*"]`, `net = ["a.org:443"]`, "a.org:443", "a.org@127.77.0.1:443"},
		{`["a.org:443"]`, `net = ["*"]`, "a.org:443", "a.org@127.77.0.1:443"},
		{`["a.org"]`, `net = ["b.org"]`, "", ""},
		{`["a.org"]`, `net = []`, "", ""},
		{`[]`, `net = ["a.org"]`, "", ""},
		{`["*"]`, `net = []`, "", ""},
		{`["localhost", "127.0.0.1"]`, ``, "localhost 127.0.0.1", "@127.0.0.1:443 @127.0.0.1:80"},
	} {
		p, err := h.plan([]string{"true"}, "level = \"enforce\"\nnet = "+c.own, "level = \"try\"\n"+c.layer)
		if err != nil {
			t.Fatal(err)
		}
		var hosts, doors []string
		for _, e := range p.Hosts {
			hosts = append(hosts, e.String())
		}
		for i, d := range p.Spec.Doors {
			doors = append(doors, fmt.Sprintf("%s@%s:%d", d.Name, d.Address, d.Port))
			if !p.Hosts.Opens(p.Doors[i]) || p.Doors[i].Port != d.Port {
				t.Errorf("%+v leads to %s", d, p.Doors[i])
			}
		}
		if strings.Join(hosts, " ") != c.hosts || strings.Join(doors, " ") != c.doors || p.Spec.Network || p.Spec.Hosts != (c.hosts != "") || len(p.Doors) != len(doors) {
			t.Errorf("%s, %s: %q by %q, %+v", c.own, c.layer, hosts, doors, p.Spec)
		}
	}
}

// What a server could have made must not decide what the next one reaches.
func TestLinks(t *testing.T) {
	h := newHouse(t, ".ssh/id", "outside/x")
	for link, to := range map[string]string{"work/app/data": "../../.ssh", "far": "outside", "homelink": "."} {
		if err := os.Symlink(to, filepath.Join(h.home, link)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.plan([]string{"true"}, "level = \"try\"\nwrite = [\"./\"]\nread = [\"./data\"]"); err == nil || !strings.Contains(err.Error(), "a link in a folder that the server may write") {
		t.Error(err)
	}
	for _, own := range []string{"write = [\"./\"]\nread = [\"~\"]\nhide = [\"./data\"]", "write = [\"./\"]\nhide = [\"./data/id\"]", "write = [\"./\"]\nhide = [\"./data/none\"]"} {
		if _, err := h.plan([]string{"true"}, "level = \"try\"\n"+own); err == nil || !strings.Contains(err.Error(), "it may be gone tomorrow") {
			t.Errorf("%s: %v", own, err)
		}
	}
	if p, err := h.plan([]string{"true"}, "level = \"try\"\nwrite = [\"~/far\"]"); err != nil || h.short(p.Spec.Write) != "~/outside" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := h.plan([]string{"true"}, "level = \"try\"\nwrite = [\"~/homelink\"]"); err == nil || !strings.Contains(err.Error(), "holds your home folder") {
		t.Error(err)
	}
}

// The way of a place goes through what its links lead to, and another server may have made one.
func TestLinksOnTheWay(t *testing.T) {
	h := newHouse(t, ".ssh/id", "other/x", "notes/x")
	for link, to := range map[string]string{"work/app/data": "../../.ssh", "far": "work/app/data", "other/link": "../.ssh", "fine": "notes"} {
		if err := os.Symlink(to, filepath.Join(h.home, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		own    string
		others []string
		fault  string
	}{
		{"write = [\"./\"]\nread = [\"~/far\"]", nil, "leads through " + h.home + "/work/app/data"},
		{"read = [\"~/far\"]", []string{"~/work"}, "leads through " + h.home + "/work/app/data"},
		{"read = [\"~/other/link/id\"]", []string{"~/other", "~/none"}, "leads through " + h.home + "/other/link"},
		{"write = [\"./\"]\nread = [\"~/fine\", \"~/notes/x\"]", []string{"~/other", "~/work"}, ""},
		{"read = [\"~/other/x\"]", []string{"~/other"}, ""},
	} {
		_, err := h.planWith(Options{Command: []string{"true"}, Others: c.others}, "level = \"enforce\"\n"+c.own)
		if err == nil != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want %q", c.own, err, c.fault)
		}
	}
}

// What stays shut by a wall over a single file is open again once somebody replaces the file.
func TestOwnFiles(t *testing.T) {
	h := newHouse(t, "work/app/pol.toml", "layers/org.toml", "bin/clawai", "bin/clawai-hook", "dots/clawai/policy.toml", ".config/x/y")
	if err := os.Symlink("../dots/clawai", filepath.Join(h.home, ".config/clawai")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		own   string
		files []string
		fault string
	}{
		{"write = [\"./\"]", []string{"work/app/pol.toml"}, "pol.toml is clawai's own, and lies in"},
		{"read = [\"~/work\"]", []string{"work/app/pol.toml"}, "which the server may read; put it elsewhere"},
		{"write = [\"~/work\"]", []string{"layers/org.toml"}, ""},
		{"read = [\"~/layers\"]", []string{"layers", "layers/org.toml"}, "is clawai's own, which no server gets"},
		{"read = [\"~\"]", []string{"layers", "layers/org.toml"}, ""},
		{"write = [\"~/.config\"]", []string{".config/clawai"}, "which the server may replace"},
		{"read = [\"~/.config\"]", []string{".config/clawai"}, ""},
		{"write = [\"~/bin\"]", nil, "clawai's own program lies there"},
		{"write = [\"~/bin/clawai-hook\"]", nil, "clawai's own program lies there"},
		{"read = [\"~/bin\"]", nil, ""},
	} {
		_, err := h.planWith(Options{Command: []string{"true"}, Own: c.files, Self: []string{"bin/clawai", "bin/clawai-hook", "bin/clawai-sandbox"}}, "level = \"enforce\"\n"+c.own)
		if err == nil != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s with %v: %v, want %q", c.own, c.files, err, c.fault)
		}
	}
	t.Chdir(filepath.Join(h.home, "work/app")) // --policy names a file as the person wrote it
	o := Options{Tables: []policy.CageTable{{Level: policy.CageEnforce, Write: []string{"${cwd}"}}}, Command: []string{"true"}, Home: h.home, Own: []string{"pol.toml"}}
	if _, err := NewPlan(o); err == nil || !strings.Contains(err.Error(), "is clawai's own") {
		t.Error(err)
	}
}

// What leads git elsewhere stays as it is, also in a worktree and in modules.
func TestGitFiles(t *testing.T) {
	h := newHouse(t, "work/app/.git/commondir", "work/app/.git/HEAD", "work/app/.git/index", "work/app/.git/worktrees/a/commondir", "work/app/.git/modules/m/config", "tree/.git", "tree/a.txt")
	p, err := h.plan([]string{"true"}, "level = \"enforce\"\nwrite = [\"./\", \"~/tree\"]")
	if err != nil {
		t.Fatal(err)
	}
	const want = "~/tree/.git ~/work/app/.git/commondir ~/work/app/.git/modules/m/config ~/work/app/.git/worktrees/a/commondir"
	if got := h.short(p.Spec.Fixed); got != want || h.short(p.Spec.Hide) != "" {
		t.Errorf("fixed %s, hidden %s", got, h.short(p.Spec.Hide))
	}
}

// A program that a server could have written opens nothing beside itself.
func TestProgramsOfServers(t *testing.T) {
	h := newHouse(t, ".ssh/id", "node/bin/node", "srv/tool.js")
	app := filepath.Join(h.home, "work/app")
	for name, text := range map[string]string{"run": "#!" + h.home + "/.ssh/id\n", "env": "#!/usr/bin/env node\n", "plain": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"data.py": "../../.ssh/id", "bin": "../../.ssh", "node_modules": "../../.ssh", "tool": "run"} {
		if err := os.Symlink(to, filepath.Join(app, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(h.home, "node/bin")+":/usr/bin:/bin")
	for _, c := range []struct {
		command, own, others, note string
		reads                      string
	}{
		{"python3 data.py", "write = [\"./\"]", "", "data.py stays closed", ""},
		{"./run", "write = [\"./\"]", "", ".ssh/id stays closed", ""},
		{"./tool", "write = [\"./\"]", "", ".ssh/id stays closed", ""},
		{"./bin/id", "write = [\"./\"]", "", "bin/id stays closed", ""},
		{"./env", "write = [\"./\"]", "", "node/bin/node stays closed", ""},
		{"./env", "write = [\"./\"]\nread = [\"~/node\"]", "", "", "~/node"},
		{"./plain", "write = [\"./\"]", "", "", ""},
		{"./run", "", "~/work", ".ssh/id stays closed", "~/work/app/run"},
		{"node ../../srv/tool.js", "write = [\"./\"]", "", "", "~/node/bin ~/node/bin/node ~/srv ~/srv/tool.js"},
	} {
		p, err := h.planWith(Options{Command: strings.Fields(c.command), Others: strings.Fields(c.others)}, "level = \"enforce\"\n"+c.own)
		if err != nil {
			t.Fatal(err)
		}
		if got, notes := h.short(p.Spec.Read), strings.Join(p.Notes, "\n"); got != c.reads || !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("%s with %s: reads %s; notes %s", c.command, c.own, got, notes)
		}
	}
}

// openSystem makes a folder one of the system's, as /opt.
func openSystem(t *testing.T, folder string) {
	t.Helper()
	old := confine.System
	confine.System = append(slices.Clone(old), folder)
	t.Cleanup(func() { confine.System = old })
}

// What a table hides, and what always stays shut, is shut in the system's folders, too.
func TestSystemFolders(t *testing.T) {
	h := newHouse(t, ".ssh/id", ".config/gh/hosts.yml", "x/s", "x/deep/s", "srv/package.json", "srv/dist/tool.js", "srv/data/s", "work/app/.env")
	openSystem(t, h.home)
	const always = "~/.clawai ~/.config/gh ~/.ssh ~/work/app/.env"
	for _, c := range []struct{ command, own, hide, fault string }{
		{"true", "", always, ""},
		{"true", "hide = [\"~/x\"]", always + " ~/x", ""},
		{"true", "hide = [\"~/x/deep\", \"~/x\"]", always + " ~/x", ""},
		{"true", "hide = [\"~/x\", \"~/x/deep/s\"]", always + " ~/x", ""},
		{"true", "read = [\"~/x/deep\"]\nhide = [\"~/x\"]", "", "/x/deep in it is to be open"},
		{"node ../../srv/dist/tool.js", "hide = [\"~/srv/data\"]", "~/.clawai ~/.config/gh ~/.ssh ~/srv/data ~/work/app/.env", ""},
		{"node ../../srv/dist/tool.js", "hide = [\"~/srv\"]", "", "the server does not run without " + h.home + "/srv/dist/tool.js in it"},
		{"node ../../srv/dist/tool.js", "hide = [\"~/srv/dist/tool.js\"]", "", "the server does not run without"},
		{"true", "hide = [\"/usr\"]", "", "the server does not run without"},
		{"true", "hide = [\"/usr/lib\"]", "", "the server does not run without"},
		{"true", "hide = [\"/\"]", "", "the server does not run without"},
	} {
		p, err := h.plan(strings.Fields(c.command), "level = \"enforce\"\n"+c.own)
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s with %s: %v", c.command, c.own, err)
			}
		case err != nil:
			t.Errorf("%s with %s: %v", c.command, c.own, err)
		case h.short(p.Spec.Hide) != c.hide:
			t.Errorf("%s with %s: hides %s", c.command, c.own, h.short(p.Spec.Hide))
		}
	}
	p, err := h.plan([]string{"true"}, "level = \"enforce\"\nhide = [\"/etc\"]")
	if err != nil || !slices.Contains(p.Spec.Hide, "/etc") {
		t.Errorf("a folder around those of the system: %+v, %v", p, err)
	}
}

// A server reads its own program, and what runs it.
func TestPrograms(t *testing.T) {
	h := newHouse(t, "nvm/v22/bin/node", "nvm/v22/lib/node_modules/x/index.js", "srv/node_modules/.bin/tool", "srv/node_modules/a/b.js", "pkg/package.json", "pkg/dist/index.js",
		"loose/s.py", "work/app/data.txt")
	script := filepath.Join(h.home, "nvm/v22/bin/server")
	if err := os.WriteFile(script, []byte("#!/usr/bin/env node\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(h.home, "nvm/v22/bin")+":/usr/bin:/bin")
	for command, want := range map[string]string{
		script:                                  "~/nvm/v22/bin/server ~/nvm/v22/bin ~/nvm/v22/lib",
		"node " + h.home + "/pkg/dist/index.js": "~/nvm/v22/bin/node ~/nvm/v22/bin ~/nvm/v22/lib ~/pkg",
		"node " + h.home + "/srv/node_modules/a/b.js": "~/nvm/v22/bin/node ~/srv/node_modules",
		"node " + h.home + "/loose/s.py":              "~/loose",
		"true data.txt":                               "",
		"no-such-program":                             "",
	} {
		p, err := h.plan(strings.Fields(command), `level = "try"`)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(want) {
			if !isBelow(strings.Replace(path, "~", h.home, 1), p.Spec.Read) {
				t.Errorf("%s: cannot read %s, only %s", command, path, h.short(p.Spec.Read))
			}
		}
		if slices.Contains(p.Spec.Read, h.home) || strings.Contains(h.short(p.Spec.Read), "data.txt") {
			t.Errorf("%s: reads %s", command, h.short(p.Spec.Read))
		}
	}
}
