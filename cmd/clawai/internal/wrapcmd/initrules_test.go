package wrapcmd

import (
	"fmt"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap/client"

	"github.com/clawai/clawai/internal/testing/slow"
)

// entryOf is an entry that runs a server of the catalogue.
func entryOf(s servers.KnownServer, name string) client.Entry {
	switch {
	case len(s.NPM) > 0:
		return client.Entry{Name: name, Kind: client.Stdio, Command: "npx", Args: []string{"-y", s.NPM[0]}}
	case len(s.PyPI) > 0:
		return client.Entry{Name: name, Kind: client.Stdio, Command: "uvx", Args: []string{s.PyPI[0]}}
	case len(s.Image) > 0:
		return client.Entry{Name: name, Kind: client.Stdio, Command: "docker", Args: []string{"run", "-i", "--rm", s.Image[0]}}
	}
	return client.Entry{Name: name, Kind: client.Remote, URL: "https://" + s.URL[0]}
}

func linted(t *testing.T, what string, src []byte) {
	t.Helper()
	p, err := policy.Parse("policy.toml", src, policyfile.PolicyOptions("/home/user"))
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, src)
	}
	for _, f := range lint.Run(p, src, lint.Options{}).Findings {
		if f.Severity.Compare(check.Warning) >= 0 {
			t.Errorf("%s: line %d: %s: %s", what, f.Pos.Line, f.Code, f.Message)
		}
	}
}

// For every server of the catalogue, alone and all together, init writes a policy that lint has
// nothing to say of, under which another server may do nothing, and no tool but those that
// read passes without a question.
func TestWhatInitWritesIsInOrder(t *testing.T) {
	slow.Test(t)
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	var together []client.Entry
	for i, s := range all {
		e := entryOf(s, fmt.Sprintf("server %d", i))
		together = append(together, e)
		for _, mode := range []initMode{modeAsk, modeStrict} {
			plan, err := drafted(mode, targetsOf(e, client.Entry{Name: "other", Command: "x"}), nil, "/home/user")
			if err != nil {
				t.Fatal(err)
			}
			if plan.servers[e.Name] == nil || plan.servers[e.Name].ID != s.ID {
				t.Fatalf("%+v is not recognised as %s", e, s.ID)
			}
			linted(t, s.ID, plan.text)
			p, err := policy.Parse("policy.toml", plan.text, policyfile.PolicyOptions("/home/user"))
			if err != nil {
				t.Fatal(err)
			}
			for _, effect := range s.Tools.ListEffects() {
				for _, tool := range effect.Tools {
					call := policy.Call{Server: e.Name, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(`{}`)}
					if got := p.Decide(&call).Action; profileOf(plan.servers[e.Name]) == "" && (got == policy.Allow) != (effect.Name == "read") {
						t.Errorf("%s: %s, which is %s, is %s", s.ID, tool, effect.Name, got)
					}
					call.Server = "evil"
					if got := p.Decide(&call).Action; got != policy.Deny {
						t.Errorf("%s: %s of another server is %s", s.ID, tool, got)
					}
				}
			}
		}
	}
	plan, err := drafted(modeAsk, targetsOf(append(together, client.Entry{Name: "other", Command: "x"})...), nil, "/home/user")
	if err != nil {
		t.Fatal(err)
	}
	linted(t, "all together", plan.text)
}
