//go:build linux

package cage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/policy"
)

// planClientWith makes a plan of a client's sandbox and a policy's table ("" for none).
func (h *house) planClientWith(own string, rules ...string) (*Plan, error) {
	h.t.Helper()
	table, err := clienttable.Read(append([]string{clienttable.On}, rules...))
	if err != nil {
		return nil, err
	}
	o := Options{Client: table, Command: []string{"true"}, Own: []string{".clawai"}}
	if own == "" {
		o.Dir, o.Home, o.Own = filepath.Join(h.home, "work/app"), h.home, []string{filepath.Join(h.home, ".clawai")}
		return NewPlan(o)
	}
	return h.planWith(o, own)
}

func TestClientsSandbox(t *testing.T) {
	h := newHouse(t, ".npm/x", ".ssh/id", "a/b/c", "a/.git/config", "a/.git/hooks/x", "other/x")
	for _, c := range []struct {
		name, own, rules         string
		write, hide, fixed, open string // open: what may be read below the home folder, if not all
		net, err                 string
	}{
		{name: "nothing said", write: "~/.npm", hide: "~/.clawai ~/.ssh", net: "registry.npmjs.org"},
		{name: "places", rules: "allowWrite=~/a denyRead=~/other denyWrite=~/a/b", write: "~/.npm ~/a", hide: "~/.clawai ~/.ssh ~/other", fixed: "~/a/.git/config ~/a/.git/hooks ~/a/b", net: "registry.npmjs.org"},
		{name: "relative places", rules: "allowWrite=. denyWrite=a.txt", write: "~/.npm ~/work/app", hide: "~/.clawai ~/.ssh", fixed: "~/work/app/a.txt", net: "registry.npmjs.org"},
		{name: "written within what is not to be written", rules: "allowWrite=~/a/b denyWrite=~/a", open: "~/a/b", write: "~/.npm", hide: "~/.clawai ~/.ssh", net: "registry.npmjs.org"},
		{name: "the cache of npx shut", rules: "denyRead=~/.npm", hide: "~/.clawai ~/.npm ~/.ssh", net: "registry.npmjs.org"},
		{name: "hosts", rules: "allowedDomains=*.x.org deniedDomains=a.x.org", write: "~/.npm", hide: "~/.clawai ~/.ssh", net: "registry.npmjs.org *.x.org not a.x.org"},
		{name: "no host", rules: "allowedDomains=x.org deniedDomains=*", write: "~/.npm", hide: "~/.clawai ~/.ssh"},
		{name: "a policy that switches it off", own: "level = \"off\"", rules: "allowWrite=~/a", write: "~/.npm ~/a", hide: "~/.clawai ~/.ssh", fixed: "~/a/.git/config ~/a/.git/hooks", net: "registry.npmjs.org"},
		{name: "a narrower policy", own: "level = \"try\"\nread = [\"~/other\"]\nwrite = [\"~/a/b\"]", rules: "allowWrite=~/a allowedDomains=x.org", write: "~/a/b", open: "~/other"},
		{name: "a wider policy", own: "level = \"enforce\"\nwrite = [\"~/a\", \"~/other\"]\nnet = [\"x.org\", \"y.org\"]", rules: "allowWrite=~/a/b allowedDomains=x.org", write: "~/a/b", open: "~/a ~/other", hide: "", net: "x.org"},
		{name: "every host of the policy", own: "level = \"enforce\"\nnet = [\"*\"]", rules: "allowedDomains=x.org", net: "registry.npmjs.org x.org", open: ""},

		{name: "what is not there, in a folder to write", rules: "allowWrite=~/a denyWrite=~/a/new/x", err: "is not there, in a folder that the server may write"},
		{name: "what is not there elsewhere", rules: "allowWrite=~/a denyWrite=~/none/x", write: "~/.npm ~/a", hide: "~/.clawai ~/.ssh", fixed: "~/a/.git/config ~/a/.git/hooks", net: "registry.npmjs.org"},
		{name: "a key named by the client's file", rules: "allowWrite=~/.ssh", err: "stays shut"},
		{name: "clawai's own folder", rules: "allowWrite=~/.clawai/x", err: "", write: "~/.npm", hide: "~/.clawai ~/.ssh", net: "registry.npmjs.org"},
		{name: "clawai's folder itself", rules: "allowWrite=~/.clawai", err: "clawai's own"},
		{name: "around the home folder", rules: "allowWrite=" + filepath.Dir(h.home), err: "is or holds your home folder"},
		{name: "open in what is shut", rules: "allowWrite=~/a denyRead=~", err: "stays shut"},
		{name: "the whole disk shut", rules: "denyRead=/", err: "stays shut"},
		{name: "what the policy opens, shut by the client", own: "level = \"enforce\"\nread = [\"~/a\"]", rules: "denyRead=~/a", err: "stays shut"},
		{name: "not filled in", rules: "allowWrite=${workspaceFolder}", err: "has not filled in"},
		{name: "another key", rules: "allowRead=~/a", err: "no rule of a sandbox"},
		{name: "no rule", rules: "allowWrite", err: "not a rule of the form"},
		{name: "a glob", rules: "denyRead=~/*.pem", err: "denyRead"},
		{name: "a host that is none", rules: "deniedDomains=a.org/x", err: "is not a host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := h.planClientWith(c.own, strings.Fields(c.rules)...)
			if err != nil || c.err != "" {
				if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			var net []string
			for _, e := range p.Hosts {
				net = append(net, e.String())
			}
			for _, e := range p.NotHosts {
				net = append(net, "not "+e.String())
			}
			all := slices.Contains(p.Spec.Read, "/")
			got := []string{h.short(p.Spec.Write), h.short(p.Spec.Hide), h.short(p.Spec.Fixed), h.short(p.Spec.Read), strings.Join(net, " ")}
			want := []string{c.write, c.hide, c.fixed, c.open, c.net}
			if !slices.Equal(got, want) || p.Level != policy.CageEnforce || !p.Spec.Enforce || !p.Client || p.Spec.Network {
				t.Errorf("write, hide, fixed, read, net:\n%q, want\n%q; %+v", got, want, p)
			}
			if alone := c.own == "" || strings.Contains(c.own, "off"); all != alone || slices.Contains(p.Spec.Env, "PATH") && alone != (len(p.Spec.Env) > len(variables)) {
				t.Errorf("the whole disk: %v, variables: %q", all, p.Spec.Env)
			}
		})
	}
	if err := os.Symlink("../../other", filepath.Join(h.home, "work/app/link")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.planClientWith("", "allowWrite=.", "denyRead=link"); err == nil || !strings.Contains(err.Error(), "it may be gone tomorrow") {
		t.Errorf("denyRead by a link that the server may replace: %v", err)
	}
	if _, err := clienttable.Read([]string{"allowWrite=/x"}); err == nil {
		t.Error("rules without the mark")
	}
}
