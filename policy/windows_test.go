package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

const windowsHome = `C:\Users\Ana`

func parseWindows(t testing.TB, rules string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("windows.toml", []byte(rules), policy.Options{Home: windowsHome})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onWindows is a call to a server that is known to run there.
func onWindows(path, cwd string) *policy.Call {
	arguments, _ := json.Marshal(map[string]string{"path": path}) // a map of texts always marshals
	return &policy.Call{Subject: policy.ToolSubject, Method: "tools/call", Names: []string{"read"}, Args: arguments, Facts: policy.Facts{Cwd: cwd, OS: policy.Windows}}
}

func allowing(globs string) string {
	return "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.path = " + globs + "\n"
}

func denying(globs string) string {
	return "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = " + globs + "\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
}

// TestOneFormOnWindows: a rule means the same in each of its spellings, and so does a
// path; what Windows may take for another place opens nothing, and is denied there.
func TestOneFormOnWindows(t *testing.T) {
	const cwd = `C:\Users\Ana\projects\app`
	spellings := []string{`"~/projects/**"`, `'~\projects\**'`, `"C:/Users/Ana/projects/**"`, `'c:\users\ANA\Projects\**'`, `'\\?\C:\Users\Ana\projects\**'`, `"${cwd}/../**"`}
	same := []string{
		`C:\Users\Ana\projects\a.txt`, `c:\users\ana\PROJECTS\A.TXT`, `C:/Users/Ana/projects/a.txt`, `C:\Users/Ana\projects/a.txt`,
		`\\?\C:\Users\Ana\projects\a.txt`, `//?/C:/Users/Ana/projects/a.txt`, `\\.\C:\Users\Ana\projects\a.txt`,
		`src\main.go`, `src/main.go`, `Main.go`, `..\next\x`, `file:///C:/Users/Ana/projects/a.txt`, `file:///c%3A/Users/Ana/projects/a.txt`,
		`C:\Users\Ana\projects\a..b\x`, `C:\Users\Ana\projects\Program Files (x86)\x y.txt`, `C:\Users\Ana\projects\a.txt::$DATA`,
		`C:\Users\Ana\projects\Ärger.txt`, `C:\Users\Ana\projects\sub\..\a.txt`, `C:\Users\Ana\projects\\a.txt`, `C:\Users\Ana\projects\x.`,
	}
	elsewhere := []string{
		`C:\Users\Ana\.ssh\id`, `D:\Users\Ana\projects\a`, `C:\Users\Ana\projects`, `C:\Users\Ana\projects-evil\x`, `C:\Users\Ana\projects\..\.ssh\id`,
		`C:\Windows\win.ini`, `..\..\.ssh\id`, `C:\Users\Ana\projects2\x`, `~\.ssh\id`,
	}
	doubtful := []string{
		`\Users\Ana\projects\a`, `/Users/Ana/projects/a`, `C:Users\Ana\projects\a`, `C:a`, `\\localhost\C$\Users\Ana\projects\a`, `\\host\projects\a`,
		`\\?\UNC\host\projects\a`, `\\?\GLOBALROOT\Device\HarddiskVolume1\Users\Ana\projects\a`, `\\?\Volume{1}\Users\Ana\projects\a`, `\??\C:\Users\Ana\projects\.\a`,
		`\\?\C:\Users\Ana\projects\..\a`, `C:\Users\Ana\PROJEC~1\a`, `C:\Users\Ana\projects\LONGNA~1.TXT`, `C:\Users\Ana\projects\nul`, `C:\Users\Ana\projects\COM1.txt`,
		`C:\Users\Ana\projects.\a`, `C:\Users\Ana\projects \a`, `C:\Users\Ana\projects\.. `, `C:\Users\Ana\projects\...`, `C:\Users\Ana\projects:$I30:$INDEX_ALLOCATION\a`,
		`%USERPROFILE%\projects\a`, `C:\Users\Ana\projects\.ss<`, `C:\Users\Ana\projectſ\a`, `C:\Users\Ana\projects\%2e%2e\a`, `/c/Users/Ana/projects/a`,
		`file://host/C$/Users/Ana/projects/a`, `//Users/Ana/projects/a`,
	}
	for _, globs := range spellings[:5] {
		p, q := parseWindows(t, allowing(globs)), parseWindows(t, denying(globs))
		for _, path := range same {
			if d := p.Decide(onWindows(path, cwd)); d.Action != policy.Allow {
				t.Errorf("%s under an allow of %s: %v (%s, %s)", path, globs, d.Action, d.Reading, d.Reason)
			}
			if d := q.Decide(onWindows(path, cwd)); d.Action != policy.Deny {
				t.Errorf("%s under a deny of %s: %v", path, globs, d.Action)
			}
		}
		for _, path := range elsewhere {
			if d := p.Decide(onWindows(path, cwd)); d.Action == policy.Allow {
				t.Errorf("%s under an allow of %s", path, globs)
			}
			if d := q.Decide(onWindows(path, cwd)); !strings.Contains(path, "..") && d.Action != policy.Allow {
				t.Errorf("%s under a deny of %s: %v (%s)", path, globs, d.Action, d.Reading)
			}
		}
		for _, path := range doubtful {
			if p.Decide(onWindows(path, cwd)).Action == policy.Allow {
				t.Errorf("%s under an allow of %s", path, globs)
			}
			if q.Decide(onWindows(path, cwd)).Action != policy.Deny {
				t.Errorf("%s under a deny of %s", path, globs)
			}
		}
	}
}

// TestFormsOnWindows holds rules about other things than a folder at home against values.
func TestFormsOnWindows(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        policy.Action
	}{
		{allowing(`'\\nas\photos\**'`), `\\NAS\Photos\2026\a.jpg`, policy.Allow},
		{allowing(`"//nas/photos/**"`), `\\?\UNC\nas\photos\a.jpg`, policy.Allow},
		{allowing(`"//nas/photos/**"`), `\\nas\photos\..\private\a`, policy.Allow}, // no dot-dot leads above a share
		{allowing(`"//nas/photos/in/**"`), `\\nas\photos\in\..\private\a`, policy.Deny},
		{allowing(`"//nas/photos/**"`), `\\nas\photos2\a`, policy.Deny},
		{denying(`"C:/secrets/**"`), `\\nas\photos\a`, policy.Deny}, // a share may be a folder of the drive
		{denying(`"C:/secrets/**"`), `\secrets\a`, policy.Deny},
		{denying(`"/secrets/**"`), `D:\secrets\a`, policy.Deny},
		{denying(`"/secrets/**"`), `D:\secret\a`, policy.Allow},
		{denying(`"/%73ecrets/**"`), `D:\secrets\a`, policy.Deny},
		{denying(`"**/.env"`), `C:.env`, policy.Deny},
		{denying(`"**/.env"`), `.env:x`, policy.Deny},
		{denying(`"**/credentials"`), `credentials::$DATA`, policy.Deny},
		{denying(`"**/secrets/**"`), `secrets:$I30:$INDEX_ALLOCATION\x`, policy.Deny},
		{denying(`"**/.env"`), `src\.ENV. `, policy.Deny},
		{denying(`'**\.env'`), `src/.env`, policy.Deny},
		{denying(`"**/.env"`), `C:\a\.environment`, policy.Allow},
		{denying(`"src/**"`), `SRC\a`, policy.Deny},
		{allowing(`"src/**"`), `SRC\a`, policy.Allow},
		{allowing(`'src\**'`), `src/a`, policy.Allow},
		{allowing(`"**read**"`), `a/READ`, policy.Deny}, // may be a text
		{denying(`"**read**"`), `a/READ`, policy.Deny},
		{allowing(`"**read**"`), `a/read/b`, policy.Allow},
		{allowing(`"Read"`), `read`, policy.Deny},
		{allowing(`"https://a.example/Docs/**"`), `https://a.example/Docs/x`, policy.Allow},
		{allowing(`"https://a.example/Docs/**"`), `https://a.example/docs/x`, policy.Deny},
		{allowing(`"~/**"`), `~\x`, policy.Allow},
		{denying(`"~/**"`), `c:\USERS\ana\x`, policy.Deny},
		{allowing(`"C:/ſ/**"`), `C:\s\x`, policy.Deny},
		{allowing(`"C:/ÄPFEL/**"`), `C:\äpfel\x`, policy.Allow},
	} {
		if d := parseWindows(t, c.rules).Decide(onWindows(c.path, "")); d.Action != c.want {
			t.Errorf("%s: %v, want %v (%s %s)\n%s", c.path, d.Action, c.want, d.Reading, d.Reason, c.rules)
		}
	}
}

// TestOfNoKnownSystem: where a server is not known to run on Windows, a backslash in a
// value stays what it is, and letters differ.
func TestOfNoKnownSystem(t *testing.T) {
	p := parseWindows(t, allowing(`"C:/Users/Ana/projects/**"`))
	for path, want := range map[string]policy.Action{`C:\Users\Ana\projects\a`: policy.Deny, `C:/Users/ana/projects/a`: policy.Deny, `C:/Users/Ana/projects/a`: policy.Allow} {
		for _, os := range []string{"", "linux", "darwin"} {
			if os != "" && !policy.IsOS(os) || policy.IsOS("vms") {
				t.Errorf("%s is not a system, or vms is one", os)
			}
			c := onWindows(path, "")
			if c.OS = os; p.Decide(c).Action != want {
				t.Errorf("%s on %q: not %v", path, os, want)
			}
		}
	}
}

// TestFurtherOnWindows: what an allow does not name may begin at the root of a drive there,
// where an escape of a text begins elsewhere.
func TestFurtherOnWindows(t *testing.T) {
	p := parseWindows(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.path = \"C:/p/**\"\n")
	for further, want := range map[string]struct{ there, elsewhere policy.Action }{
		`\Users\x`:          {policy.Deny, policy.Allow},
		` \x`:               {policy.Deny, policy.Allow},
		`\d+`:               {policy.Deny, policy.Allow},
		`%5CUsers%5Cx`:      {policy.Deny, policy.Allow},
		`["\\Users\\x"]`:    {policy.Deny, policy.Allow},
		`cat \Users\x`:      {policy.Deny, policy.Allow},
		`a\.ssh\x`:          {policy.Deny, policy.Deny},
		`src\a.go`:          {policy.Allow, policy.Allow},
		`find a\b`:          {policy.Allow, policy.Allow},
		"a line\n\\Users\\": {policy.Allow, policy.Allow},
	} {
		args, _ := json.Marshal(map[string]string{"path": `C:/p/a`, "x": further})
		call := policy.Call{Subject: policy.ToolSubject, Names: []string{"t"}, Args: args, Facts: policy.Facts{OS: policy.Windows}}
		if d := p.Decide(&call); d.Action != want.there {
			t.Errorf("%q there: %v, want %v", further, d.Action, want.there)
		}
		call.OS = ""
		if d := p.Decide(&call); d.Action != want.elsewhere {
			t.Errorf("%q elsewhere: %v, want %v", further, d.Action, want.elsewhere)
		}
	}
}

// TestTellsOnWindows: a path in its usual spelling has nothing to be told of, and what
// else decides is named as it was sent.
func TestTellsOnWindows(t *testing.T) {
	p := parseWindows(t, allowing(`"~/projects/**"`))
	if d := p.Decide(onWindows(`C:\Users\Ana\projects\a.txt`, "")); d.Reading != "" || d.Rule == nil || d.Rule != p.Decide(onWindows(`~/projects/a`, "")).Rule {
		t.Errorf("reading %q, rule %v", d.Reading, d.Rule)
	}
	trace := p.Trace(onWindows(`C:\Users\Ana\projects\x:s`, ""))
	if trace.Decision.Action != policy.Allow || len(trace.Values) != 1 || len(trace.Values[0].Readings) != 2 {
		t.Fatalf("%+v", trace)
	}
	for _, r := range trace.Values[0].Readings {
		if len(r.How) == 0 || r.How[0] != "in the form of Windows" {
			t.Errorf("%s: %q", r.Text, r.How)
		}
	}
}

// TestLimitsCountOnWindowsToo: what stands beside the rules is the same for every system.
func TestLimitsCountOnWindowsToo(t *testing.T) {
	p := parseWindows(t, "[[limit]]\nrate = \"9/min\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	for _, os := range []string{"", policy.Windows} {
		call := policy.Call{Subject: policy.ToolSubject, Names: []string{"t"}, Args: []byte(`{"path":"C:\\p\\a"}`), Facts: policy.Facts{OS: os}}
		if d := p.Decide(&call); d.Action != policy.Allow || len(d.Rates) != 1 {
			t.Errorf("on %q: %v with %d limits", os, d.Action, len(d.Rates))
		}
	}
}

// TestCommandsOnWindows: an allow takes a text for a shell there only if cmd.exe and
// PowerShell find the same commands in it.
func TestCommandsOnWindows(t *testing.T) {
	p := parseWindows(t, "[[rule]]\naction = \"allow\"\ntool = \"run\"\nwhere.command.command = [\"rg **\"]\n")
	for command, there := range map[string]policy.Action{`rg -n "a|b" src`: policy.Allow, "rg 'a b' src": policy.Allow, "rg 'a|calc' src": policy.Deny, `rg "a\(" src`: policy.Deny} {
		args, _ := json.Marshal(map[string]string{"command": command})
		call := policy.Call{Subject: policy.ToolSubject, Method: "tools/call", Names: []string{"run"}, Args: args}
		if d := p.Decide(&call); d.Action != policy.Allow {
			t.Errorf("%q elsewhere: %v", command, d.Action)
		}
		call.OS = policy.Windows
		if d := p.Decide(&call); d.Action != there {
			t.Errorf("%q on Windows: %v, want %v", command, d.Action, there)
		}
	}
}
