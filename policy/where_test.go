package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// whereRule is a rule with constraints.
func whereRule(action, constraints string) string {
	return fmt.Sprintf("[[rule]]\naction = %q\ntool = \"t\"\n%s\n", action, constraints)
}

func parsed(t *testing.T, src string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func callOf(args string) *policy.Call {
	return &policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"t"}, Args: []byte(args)}
}

// What a rule with a constraint does, as an allow on its own and as a deny above
// an allow of everything.
func TestWhere(t *testing.T) {
	const yes, no, maybe = "yes", "no", "maybe"
	for _, c := range []struct{ where, args, want string }{
		{`where.a.regex = "x+"`, `{"a":"xx"}`, yes},
		{`where.a.regex = "x+"`, `{"a":"xxy"}`, no},
		{`where.a.regex = "x+"`, `{}`, no},
		{`where.a.regex = "x+"`, `{"a":null}`, no},
		{`where.a.regex = "x+"`, `{"a":[]}`, no},
		{`where.a.regex = "x+"`, `{"a":{}}`, no},
		{`where.a.regex = "x+"`, `{"a":["x","xx"]}`, yes},
		{`where.a.regex = "x+"`, `{"a":["x","y"]}`, maybe}, // one reading each way
		{`where.a.regex = "x+"`, `{"a":{"b":"x"}}`, maybe},
		{`where.a.regex = "x+"`, `{"A":"x"}`, maybe},
		{`where.a.regex = "x+"`, `{"a":"x\n"}`, maybe},
		{`where.a.regex = "x+"`, `{"a":"x\u0000"}`, maybe}, // refused: opens nothing, trips everything
		{`where.a.regex = "/A+"`, `{"a":"/A"}`, yes},       // case and dots are as sent
		{`where.a.regex = "/a+"`, `{"a":"/A"}`, no},
		{`where.a.regex = "/a"`, `{"a":"/b/../a"}`, no},
		{`where.a.b.regex = "x"`, `{"a":{"b":"x"}}`, yes},
		{`where.a.b.regex = "x"`, `{"a":[{"b":"x"},{"b":"x"}]}`, yes},
		{`where.a.b.regex = "x"`, `{"a":[{"b":"x"},{}]}`, maybe},
		{`where.a = { min = 1, max = 3 }`, `{"a":2}`, yes},
		{`where.a = { min = 1, max = 3 }`, `{"a":4}`, no},
		{`where.a = { min = 1, max = 3 }`, `{"a":30e-1}`, yes},
		{`where.a.one_of = [100, "b", true]`, `{"a":1e2}`, yes},
		{`where.a.one_of = [100, "b", true]`, `{"a":true}`, yes},
		{`where.a.one_of = [100, "b", true]`, `{"a":false}`, no},
		{`where.a.max_length = 3`, `{"a":"äöü"}`, yes},
		{`where.a.max_length = 3`, `{"a":"äöüß"}`, no},
		{`where.a.type = "string"`, `{"a":"x"}`, yes},
		{`where.a.type = "string"`, `{"a":["x"]}`, no},
		{`where.a.type = "array"`, `{"a":["x",1]}`, yes},
		{`where.a.type = "array"`, `{"a":[]}`, yes},
		{`where.a.type = "array"`, `{"a":[[]]}`, yes},
		{`where.a.type = "object"`, `{"a":{"b":"x"}}`, yes},
		{`where.a.type = "object"`, `{"a":{}}`, yes},
		{`where.a.type = "null"`, `{"a":null}`, yes},
		{`where.a.type = "null"`, `{"a":[null]}`, no},
		{`where.a.type = "null"`, `{}`, no},
		{`where.a.type = "boolean"`, `{"a":false}`, yes},
		{`where.a.type = "integer"`, `{"a":1.0}`, yes},
		{`where.a.type = "integer"`, `{"a":1.5}`, no},
		{`where.a.present = true`, `{"a":{}}`, yes},
		{`where.a.present = true`, `{"a":[]}`, yes},
		{`where.a.present = true`, `{"a":""}`, yes},
		{`where.a.present = true`, `{}`, no},
		{`where.a.present = true`, ``, no},
		{`where.a.present = true`, `{"A":1}`, maybe},
		{`where.a.present = false`, `{}`, yes},
		{`where.a.present = false`, ``, yes},
		{`where.a.present = false`, `{"a":0}`, no},
		{`where.a.present = false`, `{"a":null}`, maybe},
		{`where.a.present = false`, `{"A":1}`, maybe},
		{`where.a.b.present = false`, `{"a":{}}`, yes},
		{`where.a.b.present = false`, `{"a":"x"}`, yes},
		{`where.a.b.present = false`, `{"a":[{"b":1},{}]}`, maybe},
		{`where.a = { type = "object", b = { min = 1 } }`, `{"a":{"b":1}}`, yes},
		{`where.a = { type = "object", b = { min = 1 } }`, `{"a":[{"b":1}]}`, no},
		{`where.a.host = ["*.example.com"]`, `{"a":"https://x.example.com/y"}`, yes},
		{`where.a.scheme = "https"`, `{"a":"http://x.example.com/y"}`, no},
		{`where.a.public = true`, `{"a":"http://127.0.0.1/"}`, no},
		{`where.a.sql = "read-only"`, `{"a":"select 1"}`, yes},
		{`where.a.sql = { mode = "read-only", dialect = "postgres" }`, `{"a":"select 1\n"}`, yes},
		{`where.a.sql = "read-only"`, `{"a":"drop table x"}`, maybe},
		{`where.a.command = ["git status", "ls **"]`, `{"a":"git status | ls -l"}`, yes},
		{`where.a.command = ["git status", "ls **"]`, `{"a":"rm -rf /"}`, no},
		{`where.sql.mode.one_of = ["x"]`, `{"sql":{"mode":"x"}}`, yes},
		{`where.a.command = { run = "git push **", options = ["-f"] }`, `{"a":"git push -f"}`, yes},
		{`where.a.command = { run = "git push **", options = ["-f"] }`, `{"a":"git push"}`, no},
		{`where.a.b.command = { run = ["ls"], redirect = ["/tmp/**"] }`, `{"a":{"b":"ls > /tmp/x"}}`, maybe}, // no disk
		{`where.a.command = { run = "curl **", hosts = "a.example" }`, `{"a":"curl https://b.example/"}`, no},
		{`where.command.command = { command = ["ls"] }`, `{"command":{"command":"ls"}}`, yes},
		{`where.command.run.one_of = ["x"]`, `{"command":{"run":"x"}}`, yes},
		{`where.a.sql = { mode = { one_of = ["x"] } }`, `{"a":{"sql":{"mode":"x"}}}`, yes},
		{`where.a.regex = "/x"`, `{"a":"/x/z\ny"}`, no},  // text, not a path
		{`where.a.regex = "/x"`, `{"a":"/x\ny"}`, maybe}, // a line of it
		{`where.a.regex = "rm .*"`, `{"a":"ls\nrm -rf /"}`, maybe},
		{`where.a.regex = ".*rm .*"`, `{"a":"echo \\\n rm -rf \\\n /"}`, maybe},
		{`where.a.regex = "^rm -rf /$"`, `{"a":"x\r\nrm -rf /\r\ny"}`, maybe},
		{`where.a.regex = "rm [!-~]*/"`, `{"a":"ls\u2028rm /"}`, maybe},
		{`where.a.regex = "(?s).*rm.*"`, `{"a":"ls\nrm"}`, yes},
		{`where.a.regex = "rm .*"`, `{"a":"ls\nfirm x\nalarm x"}`, no},
		{`where.a.regex = "x"`, `{"a":" \n "}`, no},
		{`where.a.under = ["/srv"]`, `{"a":"/srv/x"}`, maybe}, // there is no disk
		{`where.a.under = ["/srv"]`, `{"a":"/srv/x\ny"}`, maybe},
		{`where.a.under = ["/srv"]`, `{"a":1}`, no},
		{"args.a = \"x*\"\nwhere.a.max_length = 2", `{"a":"xy"}`, yes},
		{"args.a = \"x*\"\nwhere.a.max_length = 2", `{"a":"xyz"}`, no},
		{"args.a = \"x*\"\nwhere.b.present = false", `{"a":"xyz"}`, yes},
		{"args.a = \"x*\"\nwhere.b.present = false", `{"a":"xyz","b":0}`, no},
	} {
		allow := parsed(t, whereRule("allow", c.where)).Decide(callOf(c.args)).Action
		deny := parsed(t, whereRule("deny", c.where)+whereRule("allow", "")).Decide(callOf(c.args)).Action
		got := map[[2]policy.Action]string{
			{policy.Allow, policy.Deny}: yes, {policy.Deny, policy.Allow}: no, {policy.Deny, policy.Deny}: maybe,
		}[[2]policy.Action{allow, deny}]
		if got != c.want {
			t.Errorf("%s of %s: %q, want %s", c.where, c.args, got, c.want)
		}
	}
}

// Whether a path lies under a directory is asked of the disk, by every path that
// the value can be read as, and in the case in which it was sent.
func TestWhereUnder(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"home/u/Projects/app", "home/u/.ssh", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../.ssh", filepath.Join(root, "home/u/Projects/keys")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string][2]policy.Action{ // of an allow, of a deny above an allow
		"~/Projects/app/New.go":           {policy.Allow, policy.Deny},
		"/home/u/Projects/app":            {policy.Allow, policy.Deny},
		"/home/u/Projects/README":         {policy.Allow, policy.Deny},
		"/etc/passwd":                     {policy.Deny, policy.Allow},
		"/home/u/Projects/../.ssh/id":     {policy.Deny, policy.Allow},
		"/home/u/Projects/%2e%2e/.ssh/id": {policy.Deny, policy.Deny},
		"/home/u/Projects/keys/id":        {policy.Deny, policy.Allow}, // it lies elsewhere
		"file:///home/u/Projects/app":     {policy.Allow, policy.Deny},
		"../x":                            {policy.Deny, policy.Deny},
		"/home/u/Projects/x\ny":           {policy.Deny, policy.Deny},
	} {
		o := policy.Options{Home: "/home/u/", Disk: disk.RootedDisk(root)}
		for i, src := range []string{
			whereRule("allow", `where.path.under = ["~/Projects"]`),
			whereRule("deny", `where.path.under = ["~/Projects"]`) + whereRule("allow", ""),
		} {
			p, err := policy.Parse("p.toml", []byte(src), o)
			if err != nil {
				t.Fatal(err)
			}
			args, _ := json.Marshal(map[string]string{"path": path})
			if d := p.Decide(callOf(string(args))); d.Action != want[i] {
				t.Errorf("%q: %v by policy %d, want %v (%s)", path, d.Action, i, want[i], d.Reason)
			}
		}
	}
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func TestWhen(t *testing.T) {
	for _, c := range []struct {
		when, at string
		want     bool
	}{
		{`{ from = "09:00", to = "17:00", days = ["mon-fri"], zone = "Europe/Berlin" }`, "2026-03-02T08:00:00Z", true},
		{`{ from = "09:00", to = "17:00", days = ["mon-fri"], zone = "Europe/Berlin" }`, "2026-03-02T07:59:59Z", false},
		{`{ from = "09:00", to = "17:00", days = ["mon-fri"], zone = "Europe/Berlin" }`, "2026-03-02T16:00:00Z", false},
		{`{ from = "09:00", to = "17:00", days = ["mon-fri"], zone = "Europe/Berlin" }`, "2026-03-01T12:00:00Z", false},
		{`{ from = "09:00", to = "17:00", zone = "Europe/Berlin" }`, "2026-07-01T07:00:00Z", true}, // summer time
		{`{ from = "22:00", to = "06:00", days = "fri", zone = "UTC" }`, "2026-03-06T23:00:00Z", true},
		{`{ from = "22:00", to = "06:00", days = "fri", zone = "UTC" }`, "2026-03-07T05:59:00Z", true},
		{`{ from = "22:00", to = "06:00", days = "fri", zone = "UTC" }`, "2026-03-06T05:00:00Z", false},
		{`{ from = "22:00", to = "06:00", days = "fri", zone = "UTC" }`, "2026-03-07T23:00:00Z", false},
		{`{ from = "22:00", zone = "UTC" }`, "2026-03-07T23:59:59Z", true},
		{`{ from = "22:00", zone = "UTC" }`, "2026-03-07T00:00:00Z", false},
		{`{ to = "06:00", zone = "UTC" }`, "2026-03-07T05:00:00Z", true},
		{`{ days = ["sat-mon"], zone = "UTC" }`, "2026-03-01T12:00:00Z", true},
		{`{ days = ["sat-mon"], zone = "UTC" }`, "2026-03-03T12:00:00Z", false},
		{`{ after = "2026-01-01T00:00:00+01:00" }`, "2025-12-31T23:00:00Z", true},
		{`{ after = 2026-01-01T00:00:00+01:00 }`, "2025-12-31T22:59:59Z", false},
		{`{ before = "2026-01-01T00:00:00Z" }`, "2026-01-01T00:00:00Z", false},
		{`{ before = "2026-01-01T00:00:00Z", zone = "local" }`, "2025-12-31T23:59:59Z", true},
	} {
		p := parsed(t, whereRule("allow", "when = "+c.when))
		call := callOf("")
		if d := p.Decide(call); d.Action != policy.Deny || !p.Timed() {
			t.Errorf("%s without a time: %v", c.when, d.Action)
		}
		call.At = at(t, c.at)
		if d := p.Decide(call); (d.Action == policy.Allow) != c.want {
			t.Errorf("%s at %s: %v", c.when, c.at, d.Action)
		}
	}
	if new(policy.When).ContainsTime(time.Now()) {
		t.Error("nothing said is all the time")
	}
	p := parsed(t, whereRule("deny", `when = { from = "09:00" }`)+whereRule("allow", ""))
	if d := p.Decide(callOf("")); d.Action != policy.Deny {
		t.Errorf("a deny at an unknown time: %v", d.Action)
	}
	if parsed(t, whereRule("allow", "")).Timed() {
		t.Error("a policy without a when asks for the time")
	}
}

func TestRates(t *testing.T) {
	p := parsed(t, `
[[rule]]
action = "allow"
tool = "t"
args.a = "/p/**"
limit = "20/min"

[[rule]]
action = "prompt"
tool = "t"
server = "s"
args.a = "/q/**"
limit = { rate = "3/hour", per = "tool" }

[[rule]]
action = "allow"
tool = "t"
args.a = "/q/**"
limit = { rate = "5/s", per = "server", over = "prompt" }

[[rule]]
action = "allow"
tool = "free"
`)
	rules := p.Rules()
	if r := rules[2].Rate; r.Count != 5 || r.Every != time.Second || r.Per != policy.PerServer || r.Over != policy.Prompt || r.Key == "" || r.Key == rules[0].Rate.Key {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		args string
		want []int
	}{
		{`{"a":"/p/x"}`, []int{0}},
		{`{"a":["/p/x","/q/y"]}`, []int{0, 1, 2}}, // of the server it is not known
		{`{"a":"/x"}`, nil},
		{`{"a":["/p/x","/x"]}`, nil}, // denied
	} {
		var got []int
		for _, charge := range p.Decide(callOf(c.args)).Rates {
			got = append(got, charge.Rule.Index)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s counts against %v, want %v", c.args, got, c.want)
		}
	}
	free := *callOf("")
	free.Names = []string{"free"}
	d := p.DecideAll([]policy.Call{free, *callOf(`{"a":"/p/x"}`), *callOf(`{"a":"/p/y"}`)})
	if len(d.Rates) != 2 || d.Rates[0].Call != 1 || d.Rates[1].Call != 2 {
		t.Errorf("a batch counts %+v", d.Rates)
	}
	if d := p.DecideAll([]policy.Call{*callOf(`{"a":"/p/x"}`), *callOf(`{}`)}); d.Rates != nil {
		t.Errorf("what is denied counts %+v", d.Rates)
	}
}

// TestNetworks: a network opens nothing but addresses in it, and shuts what may be one,
// of URLs and of commands.
func TestNetworks(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte(`
[[rule]]
action = "deny"
tool = "get"
where.url.host = ["10.66.0.0/16"]

[[rule]]
action = "allow"
tool = "get"
where.url.host = ["10.0.0.0/8", "*.example.com"]

[[rule]]
action = "allow"
tool = "run"
where.c.command = { run = ["curl **"], hosts = ["10.0.0.0/8"] }
`), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]policy.Action{
		"http://10.1.2.3/": policy.Allow, "http://10.66.2.3/": policy.Deny, "http://11.1.2.3/": policy.Deny, "http://0xa.1/": policy.Deny,
		"http://printer/": policy.Deny, "https://a.example.com/": policy.Allow, "http://10.66.0.1.example.com/": policy.Deny,
		"curl http://10.1.2.3/x": policy.Allow, "curl http://11.1.2.3/x": policy.Deny, "curl http://printer/x": policy.Deny,
	} {
		c := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"get"}, Args: []byte(`{"url":"` + text + `"}`)}
		if strings.HasPrefix(text, "curl") {
			c.Names, c.Args = []string{"run"}, []byte(`{"c":"`+text+`"}`)
		}
		if d := p.Decide(&c); d.Action != want {
			t.Errorf("%s: %s, want %s", text, d.Action, want)
		}
	}
}

// Every beginning of an expression that spells JSON is known, and no other.
func TestAnExpressionBeginsAsJSON(t *testing.T) {
	want := regexp.MustCompile(`^(\(\?[imsU]+\))?(\^|\\A)?(\\[\[{]|{)`)
	parts := []string{"", "(?", ")", "i", "ms", "x", "^", `\A`, `\`, "[", "{", "a"}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				for _, d := range parts {
					for _, e := range parts {
						expr := a + b + c + d + e
						if got := policy.BeginsAsJSON(expr); got != want.MatchString(expr) {
							t.Errorf("%q: %v", expr, got)
						}
					}
				}
			}
		}
	}
}
