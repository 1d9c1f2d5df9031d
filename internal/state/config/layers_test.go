package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

const (
	allow = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	ask   = "[[rule]]\naction = \"prompt\"\ntool = \"w*\"\n"
	deny  = "[[rule]]\naction = \"deny\"\ntool = \"w*\"\n"
)

// house is an owner's folders and a project.
type house struct {
	t                    *testing.T
	policy, org, project string
	layers               Layers
}

func newHouse(t *testing.T) *house {
	dir := folder(t)
	for _, name := range []string{"state", "etc", "work/app/.clawai", "work/app/src"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	h := &house{t: t, policy: filepath.Join(dir, "policy.toml"), org: filepath.Join(dir, "etc", "policy.toml"), project: filepath.Join(dir, "work/app/.clawai/policy.toml")}
	write(t, h.policy, allow)
	h.layers = Layers{Org: []string{h.org}, Dir: filepath.Join(dir, "work/app/src"), State: filepath.Join(dir, "state")}
	return h
}

// says loads everything and gives the answer for the tool "write".
func (h *house) says() (policy.Action, *Loaded) {
	h.t.Helper()
	l, err := h.layers.Load(h.policy, policy.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	return l.Policy.Decide(&policy.Call{Subject: policy.ToolSubject, Names: []string{"write"}}).Action, l
}

func (h *house) wants(want policy.Action, note string) {
	h.t.Helper()
	got, l := h.says()
	if got != want || strings.Join(l.Notes, "\n") != note && (note == "" || !strings.Contains(strings.Join(l.Notes, "\n"), note)) {
		h.t.Errorf("%v with the notes %q, want %v and %q", got, l.Notes, want, note)
	}
}

func TestTheOrganisationsPolicy(t *testing.T) {
	h := newHouse(t)
	h.wants(policy.Allow, "")
	write(t, h.org, deny)
	h.wants(policy.Deny, "")
	for _, broken := range []string{bad, "[["} {
		write(t, h.org, broken)
		if _, err := h.layers.Load(h.policy, policy.Options{}); err == nil || !strings.Contains(err.Error(), h.org) {
			t.Errorf("%v", err)
		}
	}
	must(t, os.Remove(h.org))
	must(t, os.Mkdir(h.org, 0o700))
	if _, err := h.layers.Load(h.policy, policy.Options{}); err == nil || !strings.Contains(err.Error(), "organisation's policy cannot be used") {
		t.Errorf("%v", err)
	}
}

func TestAProjectsPolicyCountsWhenItIsTrusted(t *testing.T) {
	h := newHouse(t)
	write(t, h.project, ask)
	h.wants(policy.Allow, "is not trusted and ignored")
	must(t, TrustProject(h.layers.State, h.project, []byte(ask), time.Now()))
	h.wants(policy.Prompt, "")

	// What an agent does to the file loosens and tightens nothing.
	write(t, h.project, "")
	h.wants(policy.Prompt, "has changed since you trusted it")
	write(t, h.project, bad)
	h.wants(policy.Prompt, "has changed since you trusted it")
	must(t, os.RemoveAll(filepath.Dir(h.project)))
	h.wants(policy.Prompt, "is gone, and what you trusted stays in force")

	ended, err := DistrustProject(h.layers.State, h.project)
	if err != nil || !ended {
		t.Error(ended, err)
	}
	h.wants(policy.Allow, "")
	if ended, err := DistrustProject(h.layers.State, h.project); err != nil || ended {
		t.Error(ended, err)
	}
}

func TestWhichProject(t *testing.T) {
	h := newHouse(t)
	root := filepath.Dir(filepath.Dir(filepath.Dir(h.project)))
	outer := filepath.Join(root, projectFile)
	must(t, os.MkdirAll(filepath.Dir(outer), 0o700))
	write(t, outer, deny)
	write(t, h.project, ask)
	for dir, want := range map[string]string{h.layers.Dir: h.project, root: outer, filepath.Join(root, "other"): outer, string(filepath.Separator): ""} {
		if p, err := FindProject(h.layers.State, dir); err != nil || p.Path != want {
			t.Errorf("in %s: %q, %v", dir, p.Path, err)
		}
	}
	t.Setenv("HOME", root)
	t.Setenv("USERPROFILE", root)
	if p, err := FindProject(h.layers.State, root); err != nil || p.Path != "" {
		t.Errorf("the home folder is the project %q, %v", p.Path, err)
	}
}

// What an agent puts into a folder below, or in the place of one, takes away nothing.
func TestATrustedProjectIsNotHidden(t *testing.T) {
	h := newHouse(t)
	root := filepath.Dir(filepath.Dir(h.project))
	write(t, h.project, ask)
	must(t, TrustProject(h.layers.State, h.project, []byte(ask), time.Now()))
	h.wants(policy.Prompt, "")

	inner := filepath.Join(h.layers.Dir, projectFile)
	must(t, os.Mkdir(filepath.Dir(inner), 0o700))
	write(t, inner, "")
	h.wants(policy.Prompt, "src/.clawai/policy.toml is not trusted and ignored")
	must(t, os.Remove(inner))
	must(t, os.Symlink(inner, inner))
	h.wants(policy.Prompt, "src/.clawai/policy.toml is ignored: too many levels")
	if _, err := FindProject(h.layers.State, h.layers.Dir); err == nil {
		t.Error("a policy that cannot be read was found")
	}
	must(t, os.RemoveAll(filepath.Dir(inner)))
	write(t, filepath.Dir(inner), "")
	h.wants(policy.Prompt, "")

	// A folder of another name is the same one, and one that was moved away is
	// still where the client sees it.
	link := filepath.Join(filepath.Dir(root), "link")
	must(t, os.Symlink(h.layers.Dir, link))
	h.layers.Dir = link
	h.wants(policy.Prompt, "")
	must(t, TrustProject(h.layers.State, filepath.Join(link, projectFile), []byte(deny), time.Now()))
	h.wants(policy.Deny, "is gone")
	h.layers.Dir = filepath.Join(root, "src")
	h.wants(policy.Deny, "is gone")
	_, err := DistrustProject(h.layers.State, filepath.Join(link, projectFile))
	must(t, err)
	must(t, os.Rename(h.layers.Dir, filepath.Join(filepath.Dir(root), "away")))
	must(t, os.Symlink(filepath.Join(filepath.Dir(root), "away"), h.layers.Dir))
	h.wants(policy.Prompt, "")
}

// A FIFO or a huge file in the place of a project's policy stops nobody.
func TestAProjectsFileIsLookedAtWithCare(t *testing.T) {
	h := newHouse(t)
	f, err := os.Create(h.project)
	must(t, err)
	must(t, f.Truncate(maxPolicy+1))
	must(t, f.Close())
	h.wants(policy.Allow, "is ignored: it is not an ordinary file")
	must(t, TrustProject(h.layers.State, h.project, []byte(ask), time.Now()))
	h.wants(policy.Prompt, "stays in force")
}

func TestADamagedTrustStopsEverything(t *testing.T) {
	h := newHouse(t)
	must(t, TrustProject(h.layers.State, h.project, []byte(deny), time.Now()))
	path := trustPath(h.layers.State)
	src, err := os.ReadFile(path)
	must(t, err)
	for name, text := range map[string]string{"cut": string(src[:len(src)/2]), "changed": strings.Replace(string(src), "deny", "none", 1)} {
		write(t, path, text)
		if _, err := h.layers.Load(h.policy, policy.Options{}); err == nil || !strings.Contains(err.Error(), "clawai policy trust") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNamedLayersMustExist(t *testing.T) {
	h := newHouse(t)
	h.layers.More = []string{h.org}
	h.layers.Org = nil
	if _, err := h.layers.Load(h.policy, policy.Options{}); err == nil {
		t.Error("a layer that is named and missing was passed by")
	}
	write(t, h.org, deny)
	h.wants(policy.Deny, "")
}

// A running proxy hears of every change of a layer.
func TestLayersAreWatched(t *testing.T) {
	slow.Test(t)
	h := newHouse(t)
	next := watchedFrom(t, func() (*Loaded, error) { return h.layers.Load(h.policy, policy.Options{}) })
	write(t, h.org, deny)
	if n := next(); n.err != nil || n.action != policy.Deny {
		t.Errorf("%+v", n)
	}
	write(t, h.org, bad)
	if n := next(); n.err == nil {
		t.Error("a broken layer was taken")
	}
	must(t, os.Remove(h.org)) // no way to take rules away
	if n := next(); n.err != nil || n.action != policy.Deny || !strings.Contains(n.note, "is gone, and its last good text stays") {
		t.Errorf("%+v", n)
	}
	must(t, ConfirmPolicy(h.layers.State, h.org, nil))
	if n := next(); n.err != nil || n.action != policy.Allow {
		t.Errorf("%+v", n)
	}
	must(t, TrustProject(h.layers.State, h.project, []byte(ask), time.Now()))
	if n := next(); n.err != nil || n.action != policy.Prompt {
		t.Errorf("%+v", n)
	}
}

func TestOrgPolicy(t *testing.T) {
	none := func(string) string { return "" }
	for goos, want := range map[string]string{
		"linux": "/etc/clawai/policy.toml", "darwin": "/Library/Application Support/clawai/policy.toml", "windows": `C:\ProgramData\clawai\policy.toml`,
	} {
		if got := orgPolicy(goos, none); got != want {
			t.Errorf("%s: %s", goos, got)
		}
	}
	if got := orgPolicy("windows", func(string) string { return "relative" }); got != `C:\ProgramData\clawai\policy.toml` {
		t.Error(got)
	}
}
