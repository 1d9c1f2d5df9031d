package wrapcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap/client"
)

// Rules for agents' own tools go above what refuses the rest, wherever that stands, change
// no byte beside them, and are reached; a policy that must not be written is not.
func TestHookRulesAreReached(t *testing.T) {
	const own = "# mine\n[[rule]]\naction = \"allow\"\nserver = \"files\"\ntool = \"read_*\"\n"
	const rest = "\n# Everything else.\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
	for name, text := range map[string]string{
		"no rule":              "",
		"nothing refuses":      own,
		"a list":               "extends = [\"profile:time\"]\n" + own,
		"no line end":          strings.TrimSuffix(own, "\n"),
		"refused at the end":   own + rest,
		"refused in between":   own + rest + strings.Replace(own, "files", "others", 1),
		"of one server":        own + strings.Replace(rest, "tool", "server = \"files\"\ntool", 1),
		"but for some":         own + strings.Replace(rest, "tool = \"*\"", "tool = \"**\"\nnot.tool = \"read\"", 1) + rest,
		"lines of Windows":     strings.ReplaceAll(own+rest, "\n", "\r\n"),
		"a table at the end":   own + rest + "\n[server.files]\npin = \"off\"\n",
		"only what comes back": "[[rule]]\naction = \"deny\"\non = \"reply\"\nfind = [\"hidden\"]\n",
	} {
		path := filepath.Join(t.TempDir(), "policy.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		standing, err := policy.Parse(path, []byte(text), policyfile.PolicyOptions("/home/user"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m := hookRules{path: path}
		if err := m.insertRules(standing, "/home/user"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kept := strings.Replace(string(m.after), strings.ReplaceAll(m.rules, "\n", "\r\n"), "", 1); name == "lines of Windows" && !strings.HasPrefix(kept, "# mine\r\n") {
			t.Errorf("%s: is\n%s", name, m.after)
		}
		above := len(own) + 1 // what refuses the rest, with its comment
		head := "# The tools that agents bring along"
		if name == "a list" {
			head = "# Starter policy for what coding agents"
		}
		if !strings.Contains(string(m.after), head) ||
			name == "refused at the end" && !(strings.HasPrefix(string(m.after), text[:above]+"# The tools") && strings.HasSuffix(string(m.after), text[above:])) {
			t.Errorf("%s: more has changed:\n%s", name, m.after)
		}
		if len(m.policy.Rules()) != len(standing.Rules())+m.count || m.count < 10 {
			t.Errorf("%s: %d rules came", name, m.count)
		}
		if openFor(m.policy.Sources(), client.Entry{Name: "claude-code"}, ownTools) != opened {
			t.Errorf("%s: the agent is not opened", name)
		}
		call := policy.Call{Server: "claude-code", Method: "tool", Subject: policy.ToolSubject, Names: []string{"read"}, Args: []byte(`{"path":"/home/user/a.txt"}`), Screened: true}
		if d := m.policy.Decide(&call); d.Action != policy.Allow {
			t.Errorf("%s: reading is %v by %+v", name, d.Action, d.Rule)
		}
	}
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(own), 0o400); err != nil {
		t.Fatal(err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for at, want := range map[string]string{path: "read-only", link: "symlink", path + ".none": "no such file"} {
		m := hookRules{path: at}
		if err := m.insertRules(&policy.Policy{}, "/home/user"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", at, err)
		}
	}
}
