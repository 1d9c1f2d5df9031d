package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

// TestAnswersAreBoundToTheirFolder: an allow that an answer writes about a command or a
// relative path holds in the folder of the call alone, or is not written.
func TestAnswersAreBoundToTheirFolder(t *testing.T) {
	p, err := policy.Parse("p", []byte("[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	rule := p.Rules()[0]
	const app, other = "/home/u/app", "/home/u/other"
	for _, c := range []struct {
		tool, args, cwd string
		scope           policy.Scope
		want            string // the line in the rule, "" for none, or a part of the error
	}{
		{"run_command", `{"command":"./deploy.sh"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"run_command", `{"command":"make"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"run_command", `{"command":"./deploy.sh"}`, "", policy.Exact, `names "./deploy.sh", and the folder`},
		{"run_command", `{"command":"sh x.sh && bin/y"}`, "", policy.Exact, `names "x.sh"`},
		{"run_command", `{"command":"cat ../x"}`, "", policy.Exact, `names "../x"`},
		{"run_command", `{"command":"cat .env"}`, "", policy.Exact, `names ".env"`},
		{"run_command", `{"command":"make"}`, "", policy.Exact, ""},
		{"run_command", `{"command":"curl https://x.example/a /tmp/b ~/c"}`, "", policy.Exact, ""},
		{"run_command", `{"command":"./deploy.sh"}`, app, policy.Tool, ""},
		{"run_command", `{"command":"make"}`, "/home/u/a?", policy.Exact, `the folder holds "?"`},
		{"go", `{"cmd":"./x"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"go", `{"a":"rm -rf x"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"read_file", `{"path":"a.txt"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"read_file", `{"path":"a.txt"}`, "", policy.Exact, ""},
		{"read_file", `{"path":"/srv/a.txt"}`, app, policy.Exact, ""},
		{"read_file", `{"path":"/srv/a.txt"}`, app, policy.File, ""},
		{"fetch", `{"url":"https://x.example/"}`, app, policy.Exact, ""},
		{"search", `{"query":"a/b"}`, app, policy.Exact, ""},
		// A tool that starts work of the project, and a file under a name that tells nothing.
		{"run_task", `{"task":"build"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"execute_task", `{"id":"build"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"run_tests", `{}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"actions_run_trigger", `{"id":"x"}`, app, policy.Exact, ""},
		{"_", `{"id":"x"}`, app, policy.Exact, ""},
		{"run_query", `{"q":"x"}`, app, policy.Exact, ""},
		{"upload", `{"attachment":"a.txt"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"upload", `{"attachment":"dir/a"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"upload", `{"attachment":"/srv/a.txt"}`, app, policy.Exact, ""},
		{"upload", `{"attachment":"https://x.example/a.txt"}`, app, policy.Exact, ""},
		{"upload", `{"attachment":"a. b"}`, app, policy.Exact, ""},
		{"set", `{"version":"1.5"}`, app, policy.Exact, ""},
		{"read_file", `{"path":"src:///a.go"}`, app, policy.Exact, `cwd = "/home/u/app"`},
		{"run_command", `{"command":"bash -x deploy"}`, "", policy.Exact, `names "deploy"`},
		{"run_command", `{"command":"/usr/bin/python3.12 main"}`, "", policy.Exact, `names "main"`},
		{"run_command", `{"command":"source env"}`, "", policy.Exact, `names "env"`},
		{"run_command", `{"command":"bash /srv/x -c ls"}`, "", policy.Exact, ""},
		{"run_command", `{"command":"python3 -m pytest"}`, "", policy.Exact, ""},
	} {
		name := fmt.Sprintf("%s %s in %q, %v", c.tool, c.args, c.cwd, c.scope)
		call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{c.tool}, Args: []byte(c.args), Facts: policy.Facts{Cwd: c.cwd}}
		n, err := p.NarrowRule(rule, &call, c.scope, policy.Allow)
		if c.want != "" && !strings.HasPrefix(c.want, "cwd") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(n.Text, "cwd") != (c.want != "") || !strings.Contains(n.Text, c.want) || (n.Cwd != "") != (c.want != "") {
			t.Errorf("%s: %q, want %s", name, n.Text, c.want)
		}
		if d := n.Policy.Decide(&call); d.Action != policy.Allow {
			t.Errorf("%s: the call itself is %v", name, d.Action)
		}
		want := policy.Allow
		if c.want != "" {
			want = policy.Prompt
		}
		call.Cwd = other
		if d := n.Policy.Decide(&call); d.Action != want {
			t.Errorf("%s: in another folder it is %v, want %v", name, d.Action, want)
		}
		call.Cwd, call.Elsewhere = c.cwd, true
		if d := n.Policy.Decide(&call); d.Action != want {
			t.Errorf("%s: in a folder that is not known it is %v, want %v", name, d.Action, want)
		}
		if deny, err := p.NarrowRule(rule, &call, c.scope, policy.Deny); err != nil || deny.Cwd != "" {
			t.Errorf("%s: a deny is bound to a folder: %v, %v", name, deny, err)
		}
	}
}

// TestCwd: the key names the folder in which a call starts; where it is not known, a rule
// that allows does not allow and one that denies denies.
func TestCwd(t *testing.T) {
	for _, c := range []struct {
		rules, cwd string
		elsewhere  bool
		want       policy.Action
	}{
		{"allow", "/home/u/app", false, policy.Allow},
		{"allow", "/home/u/app/src", false, policy.Deny},
		{"allow", "", false, policy.Deny},
		{"allow", "/home/u/app", true, policy.Deny},
		{"deny", "/home/u/app", false, policy.Deny},
		{"deny", "/home/u/b", false, policy.Allow},
		{"deny", "", false, policy.Deny},
	} {
		src := fmt.Sprintf("[[rule]]\naction = %q\ntool = \"x\"\ncwd = \"/home/u/app\"\n", c.rules)
		if c.rules == "deny" {
			src += "[[rule]]\naction = \"allow\"\ntool = \"x\"\n"
		}
		p, err := policy.Parse("p", []byte(src), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"x"}, Facts: policy.Facts{Cwd: c.cwd, Elsewhere: c.elsewhere}}
		if d := p.Decide(&call); d.Action != c.want {
			t.Errorf("%s in %q: %v, want %v", c.rules, c.cwd, d.Action, c.want)
		}
	}
}
