package wrapcmd

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/wrap/client"
)

// tenServers are the servers of somebody who uses many.
func tenServers(folder string) []client.Entry {
	npx := func(name, pkg string, more ...string) client.Entry {
		return client.Entry{Name: name, Command: "npx", Args: append([]string{"-y", pkg}, more...)}
	}
	return []client.Entry{
		npx("filesystem", "@modelcontextprotocol/server-filesystem", folder),
		{Name: "git", Command: "uvx", Args: []string{"mcp-server-git"}},
		npx("github", "@modelcontextprotocol/server-github"),
		npx("browser", "@playwright/mcp"),
		{Name: "fetch", Command: "uvx", Args: []string{"mcp-server-fetch"}},
		npx("memory", "@modelcontextprotocol/server-memory"),
		npx("context7", "@upstash/context7-mcp"),
		npx("postgres", "@modelcontextprotocol/server-postgres"),
		npx("slack", "@modelcontextprotocol/server-slack"),
		{Name: "time", Command: "uvx", Args: []string{"mcp-server-time"}},
	}
}

// longText is the policy with the whole text of each starter in it.
func (p *starterPlan) longText(t *testing.T) []byte {
	t.Helper()
	parts := []string{p.foldersTable()}
	for _, profile := range fixtures.ListProfiles() {
		names := p.serverNames(func(s *servers.KnownServer) bool { return profileOf(s) == profile.Name })
		if len(names) == 0 {
			continue
		}
		rules, err := fixtures.ProfileRules(profile.Name)
		if err != nil {
			t.Fatal(err)
		}
		src, err := policytext.ForServers([]byte(strings.Replace(rules, fixtures.Folders, "", 1)), names)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(src))
		if further := p.furtherFolders(names); profile.Name == filesystem && further != "" {
			parts = append(parts, further)
		}
	}
	for _, name := range p.unknownServers() {
		parts = append(parts, p.unknownRules([]string{name}))
	}
	if p.agents {
		rules, err := fixtures.ProfileRules(ownTools)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, strings.Replace(rules, fixtures.Folders, "", 1))
	}
	tier, err := fixtures.ReadProfile(replyTier)
	if err != nil {
		t.Fatal(err)
	}
	parts = append(parts, string(tier))
	return []byte(strings.Join(parts, "\n") + fixtures.Closing)
}

func planFor(t *testing.T, mode initMode, entries []client.Entry) starterPlan {
	t.Helper()
	plan, err := planStarter(mode, targetsOf(entries...), nil, config.Folders{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	plan.agents = true
	if err := plan.writePolicyText(); err != nil {
		t.Fatal(err)
	}
	return plan
}

func parseText(t *testing.T, src []byte) *policy.Policy {
	t.Helper()
	o := policyfile.PolicyOptions("/home/user")
	o.Disk = disk.PlainDisk()
	p, err := policy.Parse("policy.toml", src, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p
}

// What init writes for ten servers and for agents' own tools can be read, whatever folder the servers
// have, and lint says nothing of it.
func TestThePolicyIsShort(t *testing.T) {
	for _, folder := range []string{"/home/user/projects", "/srv/data", "/home/user"} {
		plan := planFor(t, modeAsk, tenServers(folder))
		if n := bytes.Count(plan.text, []byte("\n")); n > 110 {
			t.Errorf("%s: %d lines:\n%s", folder, n, plan.text)
		}
		for line := range strings.Lines(string(plan.text)) {
			if len(line) > 100 && !strings.HasPrefix(line, "server = ") && !strings.HasPrefix(line, "tool = ") {
				t.Errorf("%s: long: %s", folder, line)
			}
		}
		report := lint.Run(parseText(t, plan.text), plan.text, lint.Options{File: "policy.toml"})
		for _, f := range report.Findings {
			t.Errorf("%s: %+v", folder, f)
		}
	}
}

// The short policy decides as the long one, by the same rule.
func TestTheShortPolicyDecidesAsTheLongOne(t *testing.T) {
	slow.Test(t)
	for mode, folders := range map[initMode][]string{modeAsk: {"/home/user/projects", "/srv/data"}, modeStrict: {"/home/user"}} {
		for _, folder := range folders {
			plan := planFor(t, mode, append(tenServers(folder), client.Entry{Name: "other", Command: "x"}))
			short, long := parseText(t, plan.text), parseText(t, plan.longText(t))
			names := []string{"other", "claude-code", "codex", "stranger", ""}
			for _, e := range tenServers(folder) {
				names = append(names, e.Name)
			}
			judged := 0
			dirs, err := filepath.Glob("../../../../fixtures/*")
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range dirs {
				found, err := check.FindFixtures(dir)
				if err != nil {
					continue // a folder without fixtures
				}
				for _, path := range found {
					fx, err := check.ReadFixture(path)
					if err != nil {
						continue
					}
					for _, name := range append(slices.Clone(names), fx.Server) {
						fx.Server = name
						a, b := check.JudgeFixture(long, fx, name), check.JudgeFixture(short, fx, name)
						if describeResult(&a) != describeResult(&b) {
							t.Errorf("%s, %s, %s as %q:\nlong  %s\nshort %s", mode, folder, path, name, describeResult(&a), describeResult(&b))
						}
						judged++
					}
				}
			}
			if judged < 10_000 {
				t.Errorf("only %d calls were judged", judged)
			}
			if folder == "/home/user/projects" && mode == modeAsk {
				if r := diff.ComparePolicies(long, short); r.HasChanges() {
					var text bytes.Buffer
					_ = r.WriteText(&text)
					t.Errorf("%s", &text)
				}
			}
		}
	}
}

func describeResult(r *check.Result) string {
	text := fmt.Sprint(r.Action, " ", r.Reason, r.Refused, string(r.Received))
	if r.Rule != nil {
		text += " " + r.Rule.Description
	}
	for _, a := range r.Alters { // the same rule for several servers says the same several times
		if what := " " + a.Kind + " " + a.Rule.Description; !strings.Contains(text, what) {
			text += what
		}
	}
	return text
}
