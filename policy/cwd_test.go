package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where/disk"
)

// pathRules writes rules in short form: an action, an argument and its glob.
func pathRules(short string) string {
	var text strings.Builder
	for rule := range strings.SplitSeq(short, ";") {
		f := strings.Fields(strings.ReplaceAll(rule, `"`, ""))
		text.WriteString("[[rule]]\naction = \"" + f[0] + "\"\ntool = \"t\"\nargs." + f[1] + " = \"" + f[2] + "\"\n")
	}
	return text.String()
}

// relative paths, as a server reads them that was started in a folder.
func TestRelativePaths(t *testing.T) {
	const home = "/home/u"
	for _, c := range []struct {
		name, rules, cwd, value string
		want                    Action
	}{
		{"below", `allow path ~/projects/**`, "/home/u/projects/app", "src/main.go", Allow},
		{"no folder is known", `allow path ~/projects/**`, "", "src/main.go", Deny},
		{"the folder by its tilde", `allow path ~/projects/**`, "~/projects/app", "src/main.go", Allow},
		{"a folder that is none", `allow path ~/projects/**`, "projects/app", "src/main.go", Deny},
		{"a folder of another", `allow path ~/projects/**`, "/srv", "src/main.go", Deny},
		{"up and still below", `allow path ~/projects/**`, "/home/u/projects/app", "../lib/x", Allow},
		{"up and out", `allow path ~/projects/**`, "/home/u/projects/app", "../../.ssh/id", Deny},
		{"up, escaped", `allow path ~/projects/**`, "/home/u/projects/app", "%2e%2e/%2e%2e/.ssh/id", Deny},
		{"up, twice escaped", `allow path ~/projects/**`, "/home/u/projects/app", "%252e%252e/%252e%252e/x", Deny},
		{"up, by backslashes", `allow path ~/projects/**`, "/home/u/projects/app", `..\..\x`, Deny},
		{"up through a name", `allow path ~/projects/**`, "/home/u/projects/app", "a/../../../x", Deny},
		{"a root, escaped", `allow path ~/projects/**`, "/home/u/projects/app", "%2fetc/passwd", Deny},
		{"a root in quotes", `allow path ~/projects/**`, "/home/u/projects/app", `"/etc/passwd"`, Deny},
		{"a home", `allow path ~/projects/**`, "/home/u/projects/app", "~/.ssh/id", Deny},
		{"another's home", `allow path ~/projects/**`, "/home/u/projects/app", "~x/.ssh/id", Deny},
		{"a variable", `allow path ~/projects/**`, "/home/u/projects/app", "$HOME/x", Deny},
		{"an option", `allow path ~/projects/**`, "/home/u/projects/app", "--output=x", Deny},
		{"a remote file", `allow path ~/projects/**`, "/home/u/projects/app", "host:x", Deny},
		{"a file of arguments", `allow path ~/projects/**`, "/home/u/projects/app", "@x", Deny},
		{"a URL", `allow path ~/projects/**`, "/home/u/projects/app", "https://x/y", Deny},
		{"lines", `allow path ~/projects/**`, "/home/u/projects/app", "a\nb", Deny},
		{"the folder itself", `allow path /home/u/projects/app`, "/home/u/projects/app", ".", Allow},
		{"a closing slash", `allow path ~/projects/app/src/**`, "/home/u/projects/app", "src/", Allow},
		{"at the root", `allow path /etc/**`, "/", "etc/hosts", Allow},
		{"of Windows", `allow path C:/Users/me/**`, `C:\Users\me\app`, `src\main.go`, Allow},
		{"an unrooted glob sees the text", `allow path src/**`, "/home/u/projects/app", "src/main.go", Allow},
		{"a word is a name below", `allow text ~/projects/**`, "/home/u/projects/app", "hello world", Allow},
		{"deny of the place", `deny path ~/projects/app/keys/**; allow path **`, "/home/u/projects/app", "keys/a", Deny},
		{"deny by any spelling of the folder", `deny path ~/projects/app/**; allow path **`, "/home/u/Projects/app", "a", Deny},
		{"deny by a part of the folder", `deny path **secret**; allow path ~/projects/**`, "/home/u/projects/secret", "a", Deny},
		{"deny of the text", `deny path .env; allow path ~/projects/**`, "/home/u/projects/app", ".env", Deny},
		{"deny by its own name", `deny path **/.env; allow path ~/projects/**`, "/home/u/projects/app", ".env", Deny},
		{"deny of a system's other name", `deny path /etc/**; allow path /**`, "/private/etc", "passwd", Deny},
		{"deny of what may be an option", `deny path ~/projects/**; allow path **`, "/home/u/projects", "-x", Deny},
		{"above and elsewhere", `deny path /etc/**; allow path ~/projects/**`, "/home/u/projects/app", "../x", Allow},
		{"above, no folder known", `deny path /etc/**; allow path **`, "", "../x", Deny},
		{"the word", `allow path ${cwd}/**`, "/home/u/projects/app", "src/main.go", Allow},
		{"the word, whole paths", `allow path ${cwd}/**`, "/home/u/projects/app", "/home/u/projects/app/x", Allow},
		{"the word, elsewhere", `allow path ${cwd}/**`, "/home/u/projects/app", "/home/u/projects/other/x", Deny},
		{"the word, a longer name", `allow path ${cwd}/**`, "/home/u/projects/app", "/home/u/projects/apple/x", Deny},
		{"the word, up and out", `allow path ${cwd}/**`, "/home/u/projects/app", "../x", Deny},
		{"the word alone", `allow path ${cwd}`, "/home/u/projects/app", ".", Allow},
		{"the word, by a tilde", `allow path ${cwd}/**`, "/home/u/projects/app", "~/projects/app/x", Allow},
		{"the word as a text", `allow path ${cwd}/**`, "/home/u/projects/app", "${cwd}/x", Deny},
		{"the word, unknown", `allow path ${cwd}/**`, "", "src/main.go", Deny},
		{"the word denies when unknown", `deny path ${cwd}/.git/**; allow path **`, "", "/x/.git/config", Deny},
		{"the word denies", `deny path ${cwd}/.git/**; allow path ${cwd}/**`, "/home/u/projects/app", ".git/config", Deny},
		{"the word spares others", `deny path ${cwd}/.git/**; allow path **`, "/home/u/projects/app", "/x/.git/config", Allow},
		{"the word and nothing", `allow path ${cwd}/**`, "/home/u", "", Deny},
		{"the word and a number", `deny path ${cwd}/**; allow path **`, "/home/u/projects/app", "-1", Deny},
		{"a folder with an escape", `allow path "/srv/a%41/**"`, "/srv/a%41", "x", Allow},
		{"a file URI", `allow path ~/projects/**`, "", "file:///home/u/projects/a.txt", Allow},
		{"a file URI in capitals", `allow path ~/projects/**`, "", "FILE:///home/u/projects/a.txt", Allow},
		{"a file URI of this host", `allow path ~/projects/**`, "", "file://localhost/home/u/projects/a.txt", Allow},
		{"a file URI with a blank", `allow path ~/projects/**`, "", "file:///home/u/projects/a%20b.txt", Allow},
		{"a file URI of another host", `allow path ~/projects/**`, "", "file://h/home/u/projects/a.txt", Deny},
		{"a file URI without a host", `allow path ~/projects/**`, "", "file:/home/u/projects/a.txt", Deny},
		{"a file URI of a share", `allow path ~/projects/**`, "", "file:////home/u/projects/a.txt", Deny},
		{"a file URI with a query", `allow path ~/projects/**`, "", "file:///home/u/projects/a.txt?x", Deny},
		{"a file URI with a fragment", `allow path ~/projects/**`, "", "file:///home/u/projects/a.txt#x", Deny},
		{"a file URI that climbs", `allow path ~/projects/**`, "", "file:///home/u/projects/../.ssh/id", Deny},
		{"a file URI that climbs, escaped", `allow path ~/projects/**`, "", "file:///home/u/projects/%2e%2e/.ssh/id", Deny},
		{"a file URI that climbs by an escaped slash", `allow path ~/projects/**`, "", "file:///home/u/projects/a%2f..%2f..%2f.ssh/id", Deny},
		{"a file URI by a backslash", `allow path ~/projects/**`, "", `file:///home/u/projects/..\..\.ssh/id`, Deny},
		{"a file URI at a tilde", `allow path ~/projects/**`, "", "file://~/projects/a", Deny},
		{"a file URI of Windows", `allow path C:/a/**`, "", "file:///C:/a/b", Allow},
		{"a file URI below the folder", `allow path ${cwd}/**`, "/home/u/projects", "file:///home/u/projects/a.txt", Allow},
		{"a file URI elsewhere than the folder", `allow path ${cwd}/**`, "/home/u/projects", "file:///home/u/x/a.txt", Deny},
		{"a file URI denied", `deny path ~/.ssh/**; allow path **`, "", "file:///home/u/.ssh/id", Deny},
		{"a link of the system's", `allow path /**`, "/proc/self/cwd", "x", Deny},
	} {
		p, err := Parse("policy.toml", []byte(pathRules(c.rules)), Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		call := toolCall("t", `{"`+strings.Fields(c.rules)[1]+`":`+jsonText(c.value)+`}`)
		call.Cwd = c.cwd
		d := p.Decide(call)
		if d.Action != c.want {
			t.Errorf("%s: %q in %q is %v (read as %q), want %v", c.name, c.value, c.cwd, d.Action, d.Reading, c.want)
		}
		if tr := p.Trace(call); tr.Decision.Action != d.Action {
			t.Errorf("%s: the trace says %v", c.name, tr.Decision.Action)
		}
	}
}

// The word for the folder stands where a path can begin, and nowhere else.
func TestBaseWordInItsPlace(t *testing.T) {
	for text, wrong := range map[string]bool{"${cwd}": false, "${cwd}/a": false, "${cwd}a": true, "a/${cwd}": true, "${cwd}/${cwd}": true, "${home}/x": true, "${HOME}/x": false} {
		_, err := Parse("p", []byte("[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.path = \""+text+"\"\n"), Options{})
		if (err != nil) != wrong {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestIsFolder(t *testing.T) {
	for dir, want := range map[string]bool{"/": true, "/a/b": true, "~": true, "~/a": true, `C:\a`: true, "": false, "a": false, "C:a": false, "~x": false, "/a\x00": false, "//host/share": false, "/proc/self/cwd": false} {
		if IsFolder(dir) != want {
			t.Errorf("%q: %v", dir, !want)
		}
	}
}

// The places of a command are judged from the same folder, and are unknown without it.
func TestPlacesOfCommandsStartInTheFolder(t *testing.T) {
	const app = "/home/u/projects/app"
	for _, c := range []struct {
		settings, text, cwd string
		want                Action
	}{
		{`paths = ["./**"]`, "cat a.go", app, Allow},
		{`paths = ["./**"]`, "cat a.go", "", Deny},
		{`paths = ["./**"]`, "cat a.go", "projects/app", Deny},
		{`paths = ["./**"]`, "cat etc/passwd", "/", Deny},
		{`paths = ["./**"]`, "cat .ssh/id", "/home/u", Deny},
		{`paths = ["./**"]`, "cat ../b/a.go", app, Deny},
		{`paths = ["./**", "!**/.env"]`, "cat .env", app, Deny},
		{`paths = ["~/projects/**"]`, "cat ../b/a.go", app, Allow},
		{`paths = ["~/projects/**"]`, "cat a.go", "/srv", Deny},
		{`dir = ["./**"]`, "cd src && cat a.go", app, Allow},
		{`dir = ["./**"]`, "cd .. && cat a.go", app, Deny},
		{`redirect = ["./**"]`, "cat a.go > b", app, Allow},
		{`redirect = ["./**"]`, "cat a.go > ../b", app, Deny},
		{`redirect = ["./**"]`, "cat a.go > b\n", app, Allow},
	} {
		src := "[[rule]]\naction = 'allow'\ntool = '*'\nwhere.c.command = { run = ['cat **'], " + c.settings + " }\n"
		p, err := Parse("policy.toml", []byte(src), Options{Home: "/home/u", Disk: disk.PlainDisk()})
		if err != nil {
			t.Fatal(err)
		}
		args, _ := json.Marshal(map[string]string{"c": c.text})
		if d := p.Decide(&Call{Subject: ToolSubject, Names: []string{"run"}, Args: args, Facts: Facts{Cwd: c.cwd}}); d.Action != c.want {
			t.Errorf("%s: %q in %q: %v %s", c.settings, c.text, c.cwd, d.Action, d.Reason)
		}
	}
}

// TestRelativePathsElsewhere: where relative paths may start at other folders too, what
// the known one makes of them may deny and not allow; whole paths are judged as ever.
func TestRelativePathsElsewhere(t *testing.T) {
	const home, cwd = "/home/u", "/home/u/projects/app"
	for _, c := range []struct {
		name, rules, value string
		want               Action
	}{
		{"an allow by the place", `allow path ~/projects/**`, "src/main.go", Deny},
		{"up and still below", `allow path ~/projects/**`, "../lib/x", Deny},
		{"an allow by the word", `allow path ${cwd}/**`, "src/main.go", Deny},
		{"a whole path", `allow path ~/projects/**`, "/home/u/projects/app/src", Allow},
		{"a whole path, by the word", `allow path ${cwd}/**`, "/home/u/projects/app/src", Allow},
		{"a file: URI", `allow path ~/projects/**`, "file:///home/u/projects/app/src", Allow},
		{"an unrooted glob sees the text", `allow path src/**`, "src/main.go", Allow},
		{"a deny of the place", `deny path ~/projects/app/keys/**; allow path **`, "keys/a", Deny},
		{"a question about the place", `prompt path ~/projects/app/keys/**; allow path **`, "keys/a", Prompt},
		{"a deny by the word", `deny path ${cwd}/keys/**; allow path **`, "keys/a", Deny},
		{"a deny by the word of a whole path elsewhere", `deny path ${cwd}/keys/**; allow path **`, "/srv/keys/a", Allow},
	} {
		p, err := Parse("policy.toml", []byte(pathRules(c.rules)), Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		args, _ := json.Marshal(map[string]string{"path": c.value})
		call := Call{Subject: ToolSubject, Names: []string{"t"}, Args: args, Facts: Facts{Cwd: cwd, Elsewhere: true}}
		if d := p.Decide(&call); d.Action != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.Action, c.want)
		}
		call.Elsewhere = false
		if d := p.Decide(&call); d.Action < c.want {
			t.Errorf("%s: %v where it is known", c.name, d.Action)
		}
	}
	const under = "[[rule]]\naction = \"allow\"\ntool = \"*\"\nwhere.path.under = \"~/projects\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\nwhere.run.command = { run = \"cat **\", paths = [\"./**\"] }\n"
	p, err := Parse("p.toml", []byte(under), Options{Home: home, Disk: disk.PlainDisk()})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]Action{`{"path":"src/x"}`: Deny, `{"path":"/home/u/projects/x"}`: Allow, `{"run":"cat src/x"}`: Deny, `{"run":"cat /home/u/projects/app/x"}`: Deny} {
		call := Call{Subject: ToolSubject, Names: []string{"t"}, Args: []byte(args), Facts: Facts{Cwd: cwd, Elsewhere: true}}
		if d := p.Decide(&call); d.Action != want {
			t.Errorf("%s: %v, want %v", args, d.Action, want)
		}
	}
}

// A call may name a folder to work in. A server that heeds it starts relative paths there,
// and one that does not at its own: an allow must hold for both, a deny for either.
func TestCallsThatNameAFolder(t *testing.T) {
	const below = "where.path.under = [\"~/projects/app\"]\nargs_open = true\n"
	const command = "where.command.command = { run = [\"cat **\"], paths = [\"./**\"] }\nargs_open = true\n"
	const rooted = "args.command = \"/bin/**\"\nwhere.command.command = { run = [\"/bin/cat **\"], paths = [\"./**\"] }\nargs_open = true\n"
	for _, c := range []struct {
		rules, args string
		want        Action
	}{
		{"allow args.path = \"~/projects/**\"\nargs.cwd = \"/**\"", `{"path":"x"}`, Deny}, // the rule wants a cwd
		{"allow args.path = \"~/projects/**\"\nargs.cwd = \"/**\"", `{"path":"x","cwd":"/etc"}`, Deny},
		{"allow args.path = \"~/projects/**\"\nargs.cwd = \"/**\"", `{"path":"x","cwd":"/home/u/projects/app/"}`, Allow},
		{"allow args.path = \"~/projects/**\"\nargs.cwd = \"/**\"", `{"path":"/home/u/projects/x","cwd":"/etc"}`, Allow},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","working_directory":"sub"}`, Deny},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","workingDirectory":"."}`, Allow},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","cwd":null}`, Allow},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","cwd":""}`, Allow},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","cwd":["/etc"]}`, Deny},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","\u0063wd":"/etc"}`, Deny},
		{"allow args.path = \"${cwd}/**\"\nargs_open = true", `{"path":"x","folder":"/etc"}`, Allow}, // of which nobody knows what it is
		{"allow where.command.regex = 'cat ${cwd}/\\w+'\nargs_open = true", `{"command":"cat /home/u/projects/app/x"}`, Allow},
		{"allow where.command.regex = 'cat ${cwd}/\\w+'\nargs_open = true", `{"command":"cat ~/projects/app/x"}`, Allow},
		{"allow where.command.regex = 'cat ${cwd}/\\w+'\nargs_open = true", `{"command":"cat /home/u/projects/b/x"}`, Deny},
		{"allow where.command.regex = 'cat ${cwd}/\\w+'\nargs_open = true", `{"command":"cat /home/u/projects/app/x","workdir":"/etc"}`, Deny},
		{"allow " + below, `{"path":"x"}`, Allow},
		{"allow " + below, `{"path":"x","cwd":"/etc"}`, Deny},
		{"allow " + below, `{"path":"/home/u/projects/app/x","cwd":"/etc"}`, Allow},
		{"allow " + command, `{"command":"cat x"}`, Allow},
		{"allow " + command, `{"command":"cat x","cwd":"/etc"}`, Deny},
		{"allow " + command, `{"command":"cat x","cwd":"~/projects/app"}`, Allow},
		{"allow " + rooted, `{"command":"/bin/cat x"}`, Allow}, // a command that reads as a path from the root
		{"allow " + rooted, `{"command":"/bin/cat x","cwd":"/etc"}`, Deny},
		// A folder that the server may not heed dodges no deny.
		{"deny args.path = \"~/projects/app/keys/**\"|allow args.path = \"**\"\nargs_open = true", `{"path":"keys/a","cwd":"/srv"}`, Deny},
		{"deny " + below + "|allow tool = \"**\"", `{"path":"x","cwd":"/srv"}`, Deny},
		{"deny " + command + "|allow tool = \"**\"", `{"command":"cat x","cwd":"/srv"}`, Deny},
		{"deny args.path = \"~/projects/app/keys/**\"|allow args.path = \"**\"\nargs_open = true", `{"path":"other/a","cwd":"/srv"}`, Allow},
	} {
		var src strings.Builder
		for rule := range strings.SplitSeq(c.rules, "|") {
			action, rest, _ := strings.Cut(rule, " ")
			if action == "deny" {
				rest = strings.ReplaceAll(rest, "args_open = true", "")
			}
			if !strings.Contains(rest, "tool =") {
				rest = "tool = \"t\"\n" + rest
			}
			src.WriteString("[[rule]]\naction = \"" + action + "\"\n" + rest + "\n")
		}
		p, err := Parse("p.toml", []byte(src.String()), Options{Home: "/home/u", Disk: disk.PlainDisk()})
		if err != nil {
			t.Fatal(err)
		}
		call := toolCall("t", c.args)
		call.Cwd = "/home/u/projects/app"
		if d := p.Decide(call); d.Action != c.want {
			t.Errorf("%s\n%s: %v (%s)", src.String(), c.args, d.Action, d.Reason)
		}
	}
}

// TestAFolderThatIsTheCallsOwn: an argument that names the folder in which the call works
// anyway keeps no allow shut. Any other folder does, and so does any when the folder is not
// known or not the only one.
func TestAFolderThatIsTheCallsOwn(t *testing.T) {
	const cwd = "/home/u/projects/app"
	for _, c := range []struct {
		facts Facts
		args  string
		want  Action
	}{
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects/app"}`, Allow},
		{Facts{Cwd: cwd}, `{"working_directory":"/home/u/projects/app/"}`, Allow},
		{Facts{Cwd: cwd}, `{"workdir":"~/projects/app"}`, Allow},
		{Facts{Cwd: cwd}, `{"workingDirectory":"."}`, Allow},
		{Facts{Cwd: cwd}, `{"cwd":""}`, Allow},
		{Facts{Cwd: cwd}, `{"cwd":null}`, Allow},
		{Facts{Cwd: "~/projects/app"}, `{"cwd":"/home/u/projects/app"}`, Allow},
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects/app/sub"}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":"sub"}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":".."}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":"/etc"}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects"}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects/app2"}`, Deny},
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects/app/link/.."}`, Deny}, // which leads above what the link leads to
		{Facts{Cwd: cwd}, `{"cwd":"/home/u/projects/app","path":"/etc"}`, Deny},
		{Facts{Cwd: cwd}, `{"folder":"/home/u/projects/app"}`, Deny}, // of which nobody knows what it is
		{Facts{Cwd: cwd}, `{"cwd":"$PWD"}`, Deny},
		{Facts{}, `{"cwd":"/home/u/projects/app"}`, Deny},
		{Facts{}, `{"cwd":"."}`, Deny},
		{Facts{Cwd: cwd, Elsewhere: true}, `{"cwd":"/home/u/projects/app"}`, Deny},
		{Facts{Cwd: cwd, OS: Windows}, `{"cwd":"/home/u/projects/app"}`, Deny},
	} {
		p, err := Parse("policy.toml", []byte("[[rule]]\naction = 'allow'\ntool = '*'\nargs.command = 'ls'\n"), Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		args := `{"command":"ls",` + c.args[1:]
		if d := p.Decide(&Call{Subject: ToolSubject, Names: []string{"run"}, Args: []byte(args), Facts: c.facts}); d.Action != c.want {
			t.Errorf("%+v %s: %v, want %v", c.facts, args, d.Action, c.want)
		}
	}
}
