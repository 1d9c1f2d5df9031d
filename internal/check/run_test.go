package check_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func render(t *testing.T, fx check.Fixture) []byte {
	t.Helper()
	m := map[string]any{"method": fx.Method, "server": fx.Server}
	if fx.Params != nil {
		m["params"] = json.RawMessage(fx.Params)
	}
	for name, raw := range map[string][]byte{"result": fx.Result, "list": fx.Listed} {
		if raw != nil {
			m[name] = json.RawMessage(raw)
		}
	}
	if fx.Finds != nil {
		m["finds"] = fx.Finds
	}
	if fx.Expected != nil {
		m["expected"] = fx.Expected.String()
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Skip("not representable") // only fuzzed invalid UTF-8 comes here
	}
	return out
}

func load(t *testing.T, path string) *policy.Policy {
	t.Helper()
	return loadWith(t, path, nil)
}

func loadWith(t *testing.T, path string, d disk.Disk) *policy.Policy {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(path, src, policy.Options{Home: "/home/user", Disk: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestShippedFixtures runs every folder of fixtures/ against its policy: each
// request gets the expected answer, each folder teaches, and each rule of a
// starter policy is reached by one of them.
func TestShippedFixtures(t *testing.T) {
	policies, err := filepath.Glob("../../fixtures/*/policy.toml")
	if err != nil || len(policies) < 10 {
		t.Fatalf("found %d starter policies, %v", len(policies), err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range policies {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			p, seeing := load(t, path), loadWith(t, path, disk.RootedDisk(root))
			found, err := check.FindFixtures(dir)
			if err != nil {
				t.Fatal(err)
			}
			total += len(found)
			reached := map[int]bool{}
			for _, file := range found {
				fx, err := check.ReadFixture(file)
				if err != nil {
					t.Error(err)
					continue
				}
				r := check.JudgeFixture(p, fx, "")
				if fx.Expected == nil || r.IsMismatch() {
					t.Errorf("%s: %s by %v, expected %v", file, r.Action, r.Rule, fx.Expected)
				}
				if r.Rule != nil {
					reached[r.Rule.Index] = true
				}
				if r := check.JudgeFixture(seeing, fx, ""); r.Rule != nil { // rules with under look at a disk
					reached[r.Rule.Index] = true
				}
				for _, a := range r.Alters {
					reached[a.Rule.Index] = true
				}
			}
			for _, rule := range p.Rules() {
				if !reached[rule.Index] {
					t.Errorf("no fixture reaches the rule in line %d", rule.Pos.Line)
				}
			}
		})
	}
	if total < 60 {
		t.Errorf("%d fixtures, want at least 60", total)
	}
}

func TestJudgeTellsWhy(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"read\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, method, params string
		action               policy.Action
		reason               string
	}{
		{"rule", "tools/call", `{"name":"read"}`, policy.Allow, ""},
		{"no rule", "tools/call", `{"name":"write"}`, policy.Deny, "no rule matches"},
		{"ungoverned", "tools/list", `{}`, policy.Allow, "no rule governs"},
		{"two readings of the frame", "tools/call", `{"name":"read","name":"x"}`, policy.Deny, "refused before the rules"},
		{"method in disguise", "tools/call ", `{"name":"read"}`, policy.Deny, "refused before the rules"},
		{"malformed call", "tools/call", `{"name":7}`, policy.Deny, "name"},
		{"answers of a retry are judged too", "tools/call",
			`{"name":"read","inputResponses":{"k":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
			policy.Deny, "no rule matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check.JudgeFixture(p, check.Fixture{Method: c.method, Params: []byte(c.params)}, "")
			if r.Action != c.action || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s, %q; want %s, %q", r.Action, r.Reason, c.action, c.reason)
			}
		})
	}
}

func TestReports(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"x\"\ndescription = \"No \\u001b[2J\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deny, allow := policy.Deny, policy.Allow
	judged := check.JudgeFixture(p, check.Fixture{Path: "a.json", Method: "tools/call", Params: []byte(`{"name":"x"}`), Expected: &deny}, "")
	mismatched := judged
	mismatched.Path, mismatched.Expected = "b.json", &allow
	unchecked := judged
	unchecked.Path, unchecked.Expected = "c.json", nil
	results := []check.Result{judged, mismatched, unchecked, {Path: "d.json", Err: errors.New("fixture d.json: torn")}}

	var text bytes.Buffer
	if err := check.WriteText(&text, results); err != nil {
		t.Fatal(err)
	}
	want := `ok    deny    a.json  p.toml:1 "No \x1b[2J"
-     deny    c.json  p.toml:1 "No \x1b[2J"
FAIL  deny    b.json  p.toml:1 "No \x1b[2J"  (expected allow)
ERROR         fixture d.json: torn

4 fixtures: 1 as expected, 1 mismatched, 1 without expectation, 1 unreadable
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}

	var doc bytes.Buffer
	if err := check.WriteJSON(&doc, p, results); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []struct {
			Fixture, Decision, Expected, Error string
			OK                                 bool
			Rule                               struct{ Line int }
		}
		Summary check.Summary
	}
	if err := json.Unmarshal(doc.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Summary != (check.Summary{Fixtures: 4, AsExpected: 1, Mismatched: 1, Unchecked: 1, Unreadable: 1}) ||
		!got.Results[0].OK || got.Results[1].OK || got.Results[3].OK || got.Results[3].Error == "" || got.Results[0].Rule.Line != 1 {
		t.Errorf("report %s", doc.String())
	}
}
