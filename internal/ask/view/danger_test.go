package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

var folders = Options{Project: "/home/ann/project", Home: "/home/ann", Own: []string{"/data/guard"}}

// call is a tool call with the arguments of a Go map, or as JSON text.
func call(tool string, args any) policy.Call {
	text, ok := args.(string)
	if !ok {
		b, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(text)}
}

func reasons(t *testing.T, c policy.Call, o Options) []string {
	t.Helper()
	q, err := NewQuestion([]policy.Call{c}, o)
	if err != nil {
		t.Fatal(err)
	}
	return q.Dangers
}

// because says whether one of the reasons is why.
func because(reasons []string, why string) bool {
	return slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(r, why) })
}

func TestEveryWordIsFoundAndItsNeighbourIsNot(t *testing.T) {
	args := func(where, text string) (string, map[string]string) {
		switch where {
		case inQuery:
			return "run_query", map[string]string{"sql": text}
		case inAny:
			return "make_note", map[string]string{"value": text}
		}
		return "step", map[string]string{"command": text}
	}
	for i := range dangerWords {
		w := &dangerWords[i]
		tool, hit := args(w.where, w.hit)
		if got := reasons(t, call(tool, hit), folders); !because(got, w.why) {
			t.Errorf("%s: %q gives %q", w.why, w.hit, got)
		}
		_, miss := args(w.where, w.miss)
		if got := reasons(t, call(tool, miss), folders); got != nil {
			t.Errorf("%s: the harmless %q gives %q", w.why, w.miss, got)
		}
		if w.where != inAny {
			if got := reasons(t, call("add_comment", map[string]string{"body": w.hit}), folders); got != nil {
				t.Errorf("%s: the prose %q gives %q", w.why, w.hit, got)
			}
		}
	}
}

func TestWordsAreFoundInOtherSpellings(t *testing.T) {
	slow.Test(t)
	for text, why := range map[string]string{
		`r\m -r\f /tmp/x`:                      "deletes folders",
		`"rm" '-rf' x`:                         "deletes folders",
		`rm${IFS}-rf${IFS}x`:                   "deletes folders",
		`/bin/rm  -v  -R x`:                    "deletes folders",
		`RM -RF x`:                             "deletes folders",
		"cd x &&\n sudo\tls":                   "runs as the administrator",
		`curl x|bash`:                          "runs what it downloads",
		`c"u"rl x | s\h`:                       "runs what it downloads",
		`cat x | /usr/bin/python3 -`:           "",
		`wget -qO- x | python3 -`:              "runs what it downloads",
		`delete from a where b; delete from c`: "deletes every row",
	} {
		got := reasons(t, call("step", map[string]string{"command": text}), folders)
		if why == "" && got != nil || why != "" && !because(got, why) {
			t.Errorf("%q gives %q", text, got)
		}
	}
	got := reasons(t, call("step", map[string]any{"command": "rm", "args": []string{"-rf", "x"}}), folders)
	if !because(got, "deletes folders") {
		t.Errorf("a command in parts gives %q", got)
	}
	long := strings.Repeat("echo x; ", 20000)
	if got := reasons(t, call("step", map[string]string{"command": long + "rm -rf x"}), folders); !because(got, "deletes folders") || !because(got, whyTooLong) {
		t.Errorf("the end of a long command gives %q", got)
	}
}

func TestEveryPlaceIsFoundAndItsNeighbourIsNot(t *testing.T) {
	o := Options{Project: "/p", Home: "/home/ann"}
	for i := range places() {
		p := &places()[i]
		tool := "read_file"
		if p.write {
			tool = "write_file"
			if got := reasons(t, call("read_file", map[string]string{"path": p.Hit}), o); because(got, p.why) {
				t.Errorf("%s: reading %s gives %q", p.Path, p.Hit, got)
			}
		}
		if got := reasons(t, call(tool, map[string]string{"path": p.Hit}), o); !because(got, p.why) {
			t.Errorf("%s: %s gives %q", p.Path, p.Hit, got)
		}
		if got := reasons(t, call(tool, map[string]string{"path": p.Miss}), o); because(got, p.why) {
			t.Errorf("%s: the harmless %s gives %q", p.Path, p.Miss, got)
		}
		if got := reasons(t, call("run_command", map[string]string{"command": "cp x '" + strings.ReplaceAll(p.Hit, " ", "_") + "'"}), o); !because(got, p.why) &&
			!strings.ContainsAny(p.Hit, " ") {
			t.Errorf("%s: in a command, %s gives %q", p.Path, p.Hit, got)
		}
	}
	for _, path := range []string{"/p/.envrc.", "/p/.envrc. .", "/p/.envrc::$DATA", "/p/.ENVRC:x", "/p/.git./hooks /pre-commit", `C:\p\.envrc.`} { // as Windows opens them
		if got := reasons(t, call("write_file", map[string]string{"path": path}), o); !because(got, whyLater) {
			t.Errorf("%s gives %q", path, got)
		}
	}
	if got := reasons(t, call("read_file", map[string]string{"path": "/data/guard/../guard/policy.toml"}), folders); !because(got, whyOwn) {
		t.Errorf("a folder of ours gives %q", got)
	}
	if got := reasons(t, call("run_command", map[string]string{"command": "cat /" + strings.Repeat("x", maxName) + "/.ssh"}), folders); len(got) != 1 {
		t.Errorf("no path is so long: %q", got)
	}
	if got := reasons(t, policy.Call{Subject: policy.ResourceSubject, Method: "resources/read", Names: []string{"file:///home/ann/.ssh/id_rsa"}}, folders); !because(got, whySecrets) {
		t.Errorf("a resource gives %q", got)
	}
}

func TestWritesOutsideTheProject(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/ann/project/a.go": false, "/home/ann/project": false, "a.go": false, "./a/../b.go": false, "~/project/a": false, "$HOME/project/a": false,
		"file:///home/ann/project/a": false, "/home/ann/project//a": false, "/home/ann/x/../project/a": false,
		"/home/ann/project2/a": true, "/home/ann": true, "/": true, "../a": true, "a/../../b": true, "~/a": true, "~root/a": true, "$TMP/a": true,
		"%APPDATA%/a": true, "file:///home/ann/a": true, "file://host/home/ann/a": true, "FILE:/home/ann/a": true, "/home/ann/project/../a": true,
		"/home/ann/project/%2e%2e/a": true, "/home/ann/project/%252e%252e/a": true, `C:\a`: true, `C:a`: true, `\\host\share\a`: true, `..\a`: true,
		" /home/ann/a ": true, "$5": false, "~5 minutes": false, "100%": false, "% done": false,
	} {
		for _, tool := range []string{"write_file", "editFile", "files.create-directory", "mcp__fs__move_file", "delete_file", "DownloadFile"} {
			if got := because(reasons(t, call(tool, map[string]string{"path": path}), folders), whyOutside); got != want {
				t.Errorf("%s %q: %v", tool, path, got)
			}
		}
		for _, tool := range []string{"read_file", "list_directory", "get_write_status", "search"} {
			if got := reasons(t, call(tool, map[string]string{"path": path}), folders); because(got, whyOutside) {
				t.Errorf("%s %q: %q", tool, path, got)
			}
		}
	}
	for _, args := range []string{
		`{"file_path":"/a"}`, `{"source":"x","destination":"/a"}`, `{"paths":["x","/a"]}`, `{"edits":[{"targetFile":"/a"}]}`, `{"anything":"/etc/a"}`, `{"where":"C:\\a"}`,
	} {
		if got := reasons(t, call("write", args), folders); !because(got, whyOutside) {
			t.Errorf("%s: %q", args, got)
		}
	}
	for _, args := range []string{`{"content":"/etc/passwd is a file"}`, `{"route":"/users"}`, `{"path":""}`, `{"url":"https://x.example/a"}`, `{"to":"ann@x.example"}`,
		`{"command":"view","path":"/a"}`, `{"path":"x","text":"../../a"}`} {
		if got := reasons(t, call("edit", args), folders); got != nil {
			t.Errorf("%s: %q", args, got)
		}
	}
	if got := reasons(t, call("write_file", `{"path":"/a"}`), Options{}); !because(got, whyNoFolder) {
		t.Errorf("no project: %q", got)
	}
	if got := reasons(t, call("write_file", `{"path":"/usr/src/app/x.js"}`), Options{Project: "/usr/src/app"}); got != nil {
		t.Errorf("a project in a system folder: %q", got)
	}
	if got := reasons(t, call("write_file", map[string][]string{"paths": {"/a", "/b"}}), folders); !slices.Contains(got, whyOutside+`: "/a", and 1 more`) {
		t.Errorf("two paths: %q", got)
	}
}

// Where applications start servers nobody works: no write there is inside of a
// project, and what the system's folders hold stays its own.
func TestNoProject(t *testing.T) {
	for _, o := range []Options{
		{}, {Home: "/home/ann"}, {Project: "/"}, {Project: "/", Home: "/home/ann"}, {Project: "//"}, {Project: `C:\`}, {Project: "/home/ann/..", Home: "/home/ann"},
		{Project: "/home/ann", Home: "/home/ann"}, {Project: "/home/ann/", Home: "/home/ann"}, {Project: "/home/ann", Home: "/home/ann/"},
		{Project: "/home", Home: "/home/ann"}, {Project: `C:\Users\ann`, Home: `C:\Users\ann`},
	} {
		for _, path := range []string{"/a", "/home/annex/a", "/home/ann/../a", "../a", `D:\a`, "~root/a"} {
			if got := reasons(t, call("write_file", map[string]string{"path": path}), o); !because(got, whyNoFolder) {
				t.Errorf("%+v %s: %q", o, path, got)
			}
		}
		// What is in the home folder is the owner's, where that is known.
		if own := o.Home != ""; o.Home != `C:\Users\ann` {
			for _, path := range []string{"/home/ann/a", "/home/ann/project/a", "~/a"} {
				if got := reasons(t, call("write_file", map[string]string{"path": path}), o); (got == nil) != own {
					t.Errorf("%+v %s: %q", o, path, got)
				}
			}
		}
		if got := reasons(t, call("write_file", `{"path":"/home/ann/.bashrc"}`), o); got == nil {
			t.Errorf("%+v: a start-up file is routine", o)
		}
		if got := reasons(t, call("write_file", `{"path":"/etc/hosts"}`), o); !because(got, whySystem) {
			t.Errorf("%+v: %q", o, got)
		}
		if got := reasons(t, call("read_file", `{"path":"/a"}`), o); got != nil {
			t.Errorf("%+v: %q", o, got)
		}
		if got := reasons(t, call("write_file", `{"path":"a"}`), o); got != nil {
			t.Errorf("%+v: a path from where the server stands: %q", o, got)
		}
	}
	for _, o := range []Options{
		{Project: "/home/ann/p", Home: "/home/ann"}, {Project: "/home/ann2", Home: "/home/ann"}, {Project: "/srv/p", Home: "/"}, {Project: "/home/ann"},
	} {
		if got := reasons(t, call("write_file", map[string]string{"path": o.Project + "/a"}), o); got != nil {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

func TestShellLikeTools(t *testing.T) {
	for _, tool := range []string{"shell", "bash", "run_command", "runCommand", "execute_command", "exec", "docker_exec", "run_in_terminal", "run_python_code",
		"execute-script", "start_process", "eval", "browser_evaluate", "mcp__shell__run", "send_command_to_terminal", "PowerShell", "desktop.run_applescript", "ssh"} {
		if got := reasons(t, call(tool, `{}`), folders); !because(got, whyShell) {
			t.Errorf("%s: %q", tool, got)
		}
	}
	for _, tool := range []string{"run_tests", "get_terminal_output", "execute_query", "run_query", "shellcheck", "list_commands", "browser_console_messages", "evaluate_policy",
		"start_conversation", "run_code_analysis", "describe_command", "execute", "finish", ""} {
		if got := reasons(t, call(tool, `{}`), folders); got != nil {
			t.Errorf("%s: %q", tool, got)
		}
	}
	for tool, want := range map[string]bool{"delete_repository": true, "dropDatabase": true, "purge_all": true, "delete_file": false, "user_delete": false, "delete": false,
		"delete_all_messages": true, "drop_table_by_name": true, "delete_user_comment": false, "remove_user_from_group": false, "delete_comment": false} {
		if got := because(reasons(t, call(tool, `{}`), folders), whyWipes); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
}

func TestDangerousHosts(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": whyLoopback, "127.0.0.1": whyLoopback, "127.1": whyLoopback, "2130706433": whyLoopback, "0x7f000001": whyLoopback, "017700000001": whyLoopback,
		"0x7f.1": whyLoopback, "[::1]": whyLoopback, "[::ffff:127.0.0.1]": whyLoopback, "0.0.0.0": whyLoopback, "localhost.": whyLoopback, "LOCALHOST": whyLoopback,
		"a.localhost": whyLoopback, "host.docker.internal": whyLoopback, "x.localtest.me": whyLoopback,
		"169.254.169.254": whyMetadata, "metadata.google.internal": whyMetadata, "[fd00:ec2::254]": whyMetadata, "2852039166": whyMetadata, "100.100.100.200": whyMetadata,
		"10.0.0.1": whyPrivate, "192.168.1.1": whyPrivate, "172.16.0.9": whyPrivate, "[fd12::1]": whyPrivate, "[fe80::1%25eth0]": whyPrivate, "db.internal": whyPrivate,
		"printer.local": whyPrivate, "api.default.svc": whyPrivate, "10.0.0.1.nip.io": whyPrivate,
		"example.com": "", "8.8.8.8": "", "[2001:db8::1]": "", "localhost.example.com": "", "172.32.0.1": "", "mylocalhost": "", "1.2.3.4.5": "", "local": "",
		"256.1.1.1": "", "0b1.0.0.1": "", "a_b": "", "127.0.0.1.example.com": "",
	} {
		for _, shape := range []string{"http://%s/", "https://%s:8080/x?y", "ws://%s", `ftp://%s\a`} {
			address := fmt.Sprintf(shape, host)
			got := reasons(t, call("fetch", map[string]string{"value": address}), folders)
			if want == "" && got != nil || want != "" && !because(got, want) {
				t.Errorf("%s: %q", address, got)
			}
		}
		if got := reasons(t, call("connect", map[string]string{"host": strings.ReplaceAll(host, "%25", "%")}), folders); want != "" && !because(got, want) || want == "" && got != nil {
			t.Errorf("host %s: %q", host, got)
		}
	}
	for _, hit := range []string{`{"url":"https://good.example@evil.example/"}`, `{"url":"https://a:b@evil.example/"}`} {
		if got := reasons(t, call("fetch", hit), folders); !because(got, whyUserinfo) {
			t.Errorf("%s: %q", hit, got)
		}
	}
	for _, miss := range []string{`{"content":"see http://localhost:80"}`, `{"url":"/local/path"}`, `{"url":""}`, `{"query":"what is localhost"}`, `{"address":"12 Main Street"}`,
		`{"mail":"ann@localhost.example"}`, `{"url":"https://x.example/?u=http://localhost/"}`, `{"url":"https://x.example/@ann"}`} {
		if got := reasons(t, call("fetch", miss), folders); got != nil {
			t.Errorf("%s: %q", miss, got)
		}
	}
	if got := reasons(t, call("run_command", `{"command":"curl http://169.254.169.254/latest/"}`), folders); !because(got, whyMetadata) {
		t.Errorf("in a command: %q", got)
	}
	if got := reasons(t, call("fetch", map[string]string{"url": "http://localhost/" + strings.Repeat("a", maxName)}), folders); got != nil {
		t.Errorf("no address is so long: %q", got)
	}
}

func TestWhatServersAsk(t *testing.T) {
	ask := func(s policy.Subject, names ...string) []string {
		return reasons(t, policy.Call{Server: "s", Method: "m", Subject: s, Names: names}, folders)
	}
	if got := ask(policy.SamplingSubject, "rm -rf /"); len(got) != 1 || got[0] != whySampling {
		t.Errorf("sampling: %q", got)
	}
	if got := ask(policy.ElicitationSubject, "Which colour?"); got != nil {
		t.Errorf("a form: %q", got)
	}
	if got := ask(policy.ElicitationSubject, "Your API key, please"); len(got) != 1 || got[0] != whyAsks {
		t.Errorf("a form for a secret: %q", got)
	}
	got := ask(policy.ElicitationSubject, "Log in", "http://127.0.0.1/x")
	if len(got) != 2 || got[0] != whyAddress+`: "http://127.0.0.1/x"` || !because(got, whyLoopback) {
		t.Errorf("an address: %q", got)
	}
	if got := ask(policy.MethodSubject, "roots/list"); got != nil {
		t.Errorf("a method: %q", got)
	}
	c := call("x", `{}`)
	c.Malformed = "the name\nholds"
	if got := reasons(t, c, folders); len(got) != 1 || got[0] != whyMalformed+`: "the name\nholds"` {
		t.Errorf("malformed: %q", got)
	}
}

func TestDisguises(t *testing.T) {
	for args, want := range map[string]bool{
		"{\"path\":\"a\u202eb\"}": true, "{\"path\":\"p\u0430ypal\"}": true, "{\"path\":\"a\u200bb\"}": true, "{\"p\u0430th\":1}": true, "{\"a\":{\"b\u200b\":[1]}}": true,
		"{\"content\":\"a\u202eb\"}": true, "{\"content\":\"a\U000e0041\"}": true, "{\"edits\":[{\"newText\":\"\u2066\"}]}": true,
		"{\"content\":\"a\u200db \u2764\ufe0f p\u0430y\"}": false, "{\"edits\":[{\"newText\":\"\u200d\"}]}": false, "{\"query\":\"\u05e9\u05dc\u05d5\u05dd\"}": false,
		"{\"query\":\"\u043f\u0440\u0438\u0432\u0435\u0442\"}": false, "{\"query\":\"\U0001f600\"}": false,
	} {
		if got := because(reasons(t, call("note", args), folders), whyDisguise); got != want {
			t.Errorf("%+q: %v", args, got)
		}
	}
	if got := reasons(t, policy.Call{Subject: policy.SamplingSubject, Method: "m", Names: []string{"a\U000e0041\u200b"}}, folders); len(got) != 2 {
		t.Errorf("sampling: %q", got)
	}
}
