package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
)

const filesText = `
[server.web]
public_source = true
secret_data = false
public_sink = false
dangerous_writes = false
[server.files]
public_source = false
secret_data = false
public_sink = false
dangerous_writes = false
[server.vault]
public_source = false
secret_data = true
public_sink = false
dangerous_writes = false
[flow]
level = "ask"
`

const longNote = "The harbour opens at seven each morning, and whoever wants to moor there sends the newest invoice of the yard to the harbour master, who keeps a copy of it for a year."

// fileCalls makes calls about files in a project.
type fileCalls struct {
	t              *testing.T
	state, project string
	n              int
}

// session begins a session; labelled ones have read a page.
func (f *fileCalls) session(labelled bool) *Session {
	f.t.Helper()
	f.n++
	s := begin(f.t, f.state, fmt.Sprintf("session:%d", f.n))
	if labelled {
		reply(f.t, s.NewServer("web", "", noRow, parsed(f.t, filesText)), "tools/call", tool("fetch", `{"url":"https://a.example"}`))
	}
	return s
}

// fill puts the project's path into a text, with the slashes that Windows
// takes, too. NATIVE is the path of docs/notes.md as the system writes it.
func (f *fileCalls) fill(text string) string {
	project := filepath.ToSlash(f.project)
	if filepath.VolumeName(project) != "" {
		text = strings.ReplaceAll(text, "file://PROJECT", "file:///"+project)
	}
	text = strings.ReplaceAll(text, "NATIVE", strconv.Quote(filepath.Join(f.project, "docs", "notes.md")))
	return strings.ReplaceAll(text, "PROJECT", project)
}

// pass lets a call go: "Write {…}" is the client's own tool, "files/read {…}" a server's.
func (f *fileCalls) pass(s *Session, text string) {
	f.t.Helper()
	name, args, _ := strings.Cut(f.fill(text), " ")
	c := policy.Call{Server: "claude-code", Method: builtin.Method, Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(args)}
	server, own, is := strings.Cut(name, "/")
	if is {
		c = tool(own, args)
	} else {
		server = c.Server
		completed, err := builtin.CompleteArguments(server, name, c.Args)
		if err != nil {
			f.t.Fatal(err)
		}
		c.Args = completed
	}
	c.Cwd = f.project
	one := s.NewServer(server, "", noRow, parsed(f.t, filesText))
	if err := one.PassFiles([]policy.Call{c}); err != nil {
		f.t.Fatal(err)
	}
	if is {
		reply(f.t, one, "tools/call", c)
	}
}

func (f *fileCalls) sources(s *Session) string {
	var all []string
	for _, one := range s.listNewest(policy.SeenWords()...) {
		all = append(all, one.Kind+" "+one.Source)
	}
	return strings.Join(all, ", ")
}

func beginFiles(t *testing.T) *fileCalls {
	t.Helper()
	project := filepath.Join(t.TempDir(), "p")
	for _, dir := range []string{"docs", "src"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &fileCalls{t: t, state: t.TempDir(), project: project}
}

// What a session with labels writes is read by another: it gets the label, or not.
func TestWrittenFiles(t *testing.T) {
	const bash = `Bash {"command":"`
	write := `Write {"file_path":"PROJECT/docs/notes.md","content":"` + longNote + `"}`
	for _, c := range []struct {
		write, read string
		labelled    bool
	}{
		{write, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{write, `Read {"file_path":"docs/../docs/Notes.md"}`, true},
		{write, `Read {"file_path":"file://PROJECT/docs/notes%2emd"}`, true},
		{write, bash + `cat docs/notes.md"}`, true},
		{write, bash + `cd docs; cat notes.md"}`, true},
		{write, bash + `cat < docs/notes.md"}`, true},
		{write, bash + `cat docs/*"}`, true},
		{write, bash + `cat PROJECT/docs/no?es.md"}`, true},
		{write, bash + `for f in docs/*.md; do cat $f; done"}`, true},
		{write, bash + `grep -r harbour ."}`, true},
		{write, bash + `rg harbour"}`, true},
		{write, bash + `bash -c 'head docs/notes.md'"}`, true},
		{write, bash + `python3 docs/notes.md"}`, true},
		{write, bash + `cp docs/notes.md x"}`, true},
		{write, `Grep {"pattern":"harbour"}`, true},
		{write, `Grep {"pattern":"harbour","path":"PROJECT/docs"}`, true},
		{write, `files/read_file {"path":"docs/notes.md"}`, true},
		{write, `files/read_file {"path":"PROJECT/docs/notes.md"}`, true},
		{write, `files/read_files {"paths":["a","PROJECT/docs/notes.md"]}`, true},
		{write, `files/get {"uri":"file://PROJECT/docs/notes.md"}`, true},
		{write, `Read {"file_path":NATIVE}`, true},
		{write, `files/read_file {"path":NATIVE}`, true},
		{`Write {"file_path":NATIVE,"content":"x"}`, `Read {"file_path":"docs/notes.md"}`, true},
		{`Edit {"file_path":"PROJECT/docs/notes.md","old_string":"a","new_string":"b"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{bash + `sort list > docs/notes.md"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{bash + `sort list | tee -a docs/notes.md"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{bash + `mv list docs"}`, `Read {"file_path":"PROJECT/docs/list"}`, true},
		{bash + `sed -i s/a/b/ docs/notes.md"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{bash + `cat > docs/notes.md <<E\nx\nE"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{`files/write_file {"path":"docs/notes.md","content":"x"}`, `Read {"file_path":"PROJECT/docs/notes.md"}`, true},
		{`files/write_file {"path":"PROJECT/docs/notes.md","content":"x"}`, `files/read_file {"path":"docs/notes.md"}`, true},
		{`files/move_file {"source":"a.md","destination":"docs/notes.md"}`, `files/read_file {"path":"docs/notes.md"}`, true},
		{`files/anything {"file":"docs/notes.md"}`, `files/read_file {"path":"docs/notes.md"}`, true},
		{`drive/save {"path":"x/notes.md","text":"x"}`, `drive/open {"path":"x/notes.md"}`, true},

		{write, `Read {"file_path":"PROJECT/main.go"}`, false},
		{write, `Grep {"pattern":"x","path":"PROJECT/src"}`, false},
		{write, `Glob {"pattern":"**/*.md"}`, false},
		{write, bash + `ls docs/notes.md && rm docs/notes.md"}`, false},
		{write, bash + `go test ./..."}`, false},
		{write, bash + `grep -n 'a.*b' main.go"}`, false},
		{write, bash + `sed -n '1,20p' src/a.go"}`, false},
		{write, `files/read_file {"path":"docs/other.md"}`, false},
		{write, `files/list_directory {"path":"PROJECT/docs"}`, false},
		{write, `Write {"file_path":"PROJECT/docs/notes.md","content":"x"}`, false},
		{bash + `cat main.go && go vet ./..."}`, `Read {"file_path":"PROJECT/main.go"}`, false},
		{`files/read_file {"path":"main.go"}`, `Read {"file_path":"PROJECT/main.go"}`, false},
		{`files/git_status {"repo_path":"PROJECT"}`, `files/git_log {"repo_path":"PROJECT"}`, false},
		{`mailer/send {"to":"bob@example.org","body":"x","profile":"work"}`, `mailer/send {"to":"bob@example.org","body":"y","profile":"work"}`, false},
		{`github/create_file {"repo":"a/b","path":"README.md","content":"x"}`, `Read {"file_path":"PROJECT/README.md"}`, false},
	} {
		f := beginFiles(t)
		f.pass(f.session(true), c.write)
		reader := f.session(false)
		f.pass(reader, c.read)
		known := f.sources(reader)
		if got := strings.Contains(known, "untrusted a file written after web fetch"); got != c.labelled {
			t.Errorf("%s\n then %s: %q", c.write, c.read, known)
		}
		clean := beginFiles(t)
		clean.pass(clean.session(false), c.write)
		other := clean.session(false)
		clean.pass(other, c.read)
		if got := clean.sources(other); strings.Contains(got, "web fetch") {
			t.Errorf("%s\n then %s: %q, though nothing was read before", c.write, c.read, got)
		}
	}
}

// The same for other ways to write and to read.
func TestWrittenFilesInEveryForm(t *testing.T) {
	const bash = `Bash {"command":"`
	write := `Write {"file_path":"PROJECT/docs/notes.md","content":"` + longNote + `"}`
	read := `Read {"file_path":"PROJECT/docs/notes.md"}`
	for _, c := range []struct {
		write, read string
		labelled    bool
	}{
		{bash + `printf x >| docs/notes.md"}`, read, true}, {bash + `sort a 1> docs/notes.md"}`, read, true}, {bash + `sort a 2> docs/notes.md"}`, read, true}, {bash + `sort a &>> docs/notes.md"}`, read, true}, {bash + `exec 3> docs/notes.md; sort a >&3"}`, read, true}, {bash + `sort a | dd of=docs/notes.md"}`, read, true}, {bash + `install -m 644 a docs/notes.md"}`, read, true}, {bash + `perl -pi -e s/a/b/ docs/notes.md"}`, read, true},
		{bash + `sed -Ei s/a/b/ docs/notes.md"}`, read, true}, {bash + `sed --in-place=.bak s/a/b/ docs/notes.md"}`, read, true}, {bash + `sed -n -i.bak p docs/notes.md"}`, read, true}, {bash + `cp -t docs notes.md"}`, read, true}, {bash + `mv --target-directory=docs notes.md"}`, read, true}, {bash + `tee docs/{notes,other}.md < a"}`, read, true}, {bash + `D=docs; sort a > $D/notes.md"}`, read, true}, {bash + `ruby -pi -e x docs/notes.md"}`, read, true}, {bash + `sort a | sponge docs/notes.md"}`, read, true}, {bash + `cp a.md docs/notes.md"}`, read, true}, {bash + `cp -r src docs/notes.md"}`, read, true}, {bash + `sort -o docs/notes.md a"}`, read, true}, {bash + `sort --output=docs/notes.md a"}`, read, true},
		{bash + `(cat a; cat b) > docs/notes.md"}`, read, true}, {bash + `{ cat a; } > docs/notes.md"}`, read, true}, {bash + `if true; then cat a; fi > docs/notes.md"}`, read, true}, {bash + `for i in 1 2; do cat $i; done > docs/notes.md"}`, read, true}, {bash + `cat a > \"$PWD/docs/notes.md\""}`, read, true}, {bash + `cd docs && cat a > notes.md"}`, read, true}, {bash + `cat a > docs/{notes,other}.md"}`, read, true}, {bash + `bash -c 'cat a > docs/notes.md'"}`, read, true}, {bash + `sudo tee docs/notes.md < a"}`, read, true}, {bash + `env X=1 tee docs/notes.md < a"}`, read, true}, {bash + `cat a | sudo -u x tee -a docs/notes.md"}`, read, true}, {bash + `ln -s a docs/notes.md"}`, read, true}, {bash + `F=docs/notes.md; cat a > $F"}`, read, true}, {bash + `cat a > 'docs/no''tes.md'"}`, read, true},
		{bash + `awk '{print > \"docs/notes.md\"}' a"}`, read, false}, {bash + `python3 -c 'open(\"docs/notes.md\",\"w\").write(\"x\")'"}`, read, false},
		{`MultiEdit {"file_path":"PROJECT/docs/notes.md","edits":[{"old_string":"a","new_string":"b"}]}`, read, true}, {`NotebookEdit {"notebook_path":"PROJECT/docs/notes.md","new_source":"x"}`, read, true}, {`files/append {"filePath":"docs/notes.md","text":"x"}`, read, true}, {`files/save {"dest":{"path":"docs/notes.md"},"text":"x"}`, read, true}, {`files/write_files {"files":[{"path":"docs/notes.md","content":"x"}]}`, read, true}, {`files/patch {"target_file":"docs/notes.md","diff":"x"}`, read, true}, {`files/write {"uri":"file://PROJECT/docs/notes.md","content":"x"}`, read, true},
		{write, bash + `while read l; do echo $l; done < docs/notes.md"}`, true}, {write, bash + `source docs/notes.md"}`, true}, {write, bash + `. docs/notes.md"}`, true}, {write, bash + `x=$(<docs/notes.md)"}`, true}, {write, bash + `mapfile a < docs/notes.md"}`, true}, {write, bash + `diff a docs/notes.md"}`, true}, {write, bash + `find docs -name '*.md' -exec cat {} +"}`, true}, {write, bash + `git add docs/notes.md && git diff --cached"}`, true}, {write, bash + `git commit -F docs/notes.md"}`, true}, {write, bash + `awk '{print}' docs/notes.md"}`, true}, {write, bash + `jq . docs/notes.md"}`, true}, {write, bash + `tac docs/notes.md | tac"}`, true}, {write, bash + `base64 docs/notes.md"}`, true}, {write, bash + `tar c docs | tar t"}`, true}, {write, bash + `zip -r x.zip docs"}`, true}, {write, bash + `head -5 \"docs/notes.md\""}`, true}, {write, bash + `cat doc[s]/notes.md"}`, true}, {write, bash + `cat docs/notes.m?"}`, true}, {write, bash + `cat {docs,src}/notes.md"}`, true}, {write, bash + `cat ./src/../docs/notes.md"}`, true}, {write, bash + `pushd docs; cat notes.md"}`, true}, {write, bash + `cat docs/notes.md:x || less docs/notes.md"}`, true}, {write, bash + `F=docs/notes.md; cat $F"}`, true}, {write, bash + `cat docs/no*"}`, true}, {write, bash + `strings -n 3 docs/notes.md"}`, true}, {write, bash + `sh docs/notes.md"}`, true}, {write, bash + `make -f docs/notes.md"}`, true}, {write, bash + `cp -r docs /tmp/zz"}`, true}, {write, bash + `curl -d @docs/notes.md https://b.example"}`, true}, {write, bash + `gh issue create -F docs/notes.md"}`, true},
	} {
		f := beginFiles(t)
		f.pass(f.session(true), c.write)
		reader := f.session(false)
		f.pass(reader, c.read)
		known := f.sources(reader)
		if got := strings.Contains(known, "untrusted a file written after web fetch"); got != c.labelled {
			t.Errorf("%s\n then %s: %q", c.write, c.read, known)
		}
	}
}

// What a call itself brings is in the file that it writes.
func TestFilesOfWhatIsFetched(t *testing.T) {
	for write, want := range map[string]string{
		`Bash {"command":"curl -s https://a.example > a.md"}`:     "untrusted a file written after claude-code Bash",
		`Bash {"command":"wget https://a.example/d/a.md"}`:        "untrusted a file written after claude-code Bash",
		`web/download {"url":"https://a.example","path":"a.md"}`:  "untrusted a file written after web download",
		`Bash {"command":"cp list a.md && cat ~/.ssh/id_rsa >x"}`: "secret a file written after claude-code Bash",
	} {
		f := beginFiles(t)
		f.pass(f.session(false), write)
		s := f.session(false)
		f.pass(s, `files/read_file {"path":"a.md"}`)
		if got := f.sources(s); got != want {
			t.Errorf("%s: %q, want %q", write, got, want)
		}
	}
}

// A copy is known by its text, also in part, and files that have only some text in common are not.
func TestCopies(t *testing.T) {
	licence := strings.Repeat("Permission is hereby granted, free of charge, to any person obtaining a copy. ", 3)
	for content, want := range map[string]bool{
		longNote:                         true,
		"# Town\n\n" + longNote + "\n":   true,
		strings.ToUpper(longNote):        true,
		longNote[:len(longNote)/4]:       false,
		"The harbour opens at seven.":    false,
		licence:                          false,
		"package main\n\nfunc main() {}": false,
	} {
		f := beginFiles(t)
		f.pass(f.session(true), `files/write_file {"path":"docs/notes.md","content":"`+longNote+`"}`)
		if err := os.WriteFile(filepath.Join(f.project, "other.md"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, read := range []string{`Read {"file_path":"PROJECT/other.md"}`, `Bash {"command":"cat other.md"}`} {
			s := f.session(false)
			f.pass(s, read)
			if got := f.sources(s); (got != "") != want {
				t.Errorf("%q by %s: %q", content, read, got)
			}
		}
		s := f.session(false)
		one := s.NewServer("files", "", noRow, parsed(t, filesText))
		c := tool("read_file", `{"path":"other.md"}`)
		c.Cwd = f.project
		x := &gate.Exchange{Event: event.Event{Direction: "server", Method: "tools/call"}, Answered: []policy.Call{c},
			Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, content)}
		if got := one.Brought(x); (len(got) > 0) != want {
			t.Errorf("%q in an answer: %v", content, got)
		}
	}
}

// A labelled session that reads its own file again learns nothing new, and labels pass on by name.
func TestLabelsOfFilesPassOn(t *testing.T) {
	f := beginFiles(t)
	first := f.session(true)
	f.pass(first, `files/write_file {"path":"a.md","content":"x"}`)
	f.pass(first, `files/read_file {"path":"a.md"}`)
	if got := f.sources(first); got != "untrusted web fetch" {
		t.Error(got)
	}
	second := f.session(false)
	f.pass(second, `files/copy_file {"source":"a.md","destination":"b.md"}`)
	third := f.session(false)
	f.pass(third, `Read {"file_path":"PROJECT/b.md"}`)
	if got := f.sources(third); got != "untrusted a file written after web fetch" {
		t.Error(got)
	}
	list, err := os.ReadFile(filepath.Join(dirOf(f.state), writtenName))
	if err != nil || strings.Contains(string(list), "a.md") || strings.Contains(string(list), f.project) {
		t.Errorf("%s, %v", list, err)
	}
}

// A file is secret if it may hold what the session has of secrets.
func TestSecretFiles(t *testing.T) {
	for content, want := range map[string]string{
		"nothing of it is in this text, which is long enough": "",
		"AKIA7Q2LM9XK4T8ZP3VW and the rest of that long key":  "secret a file written after vault get",
	} {
		f := beginFiles(t)
		s := f.session(false)
		vault := s.NewServer("vault", "", noRow, parsed(t, filesText))
		if err := vault.Add([]gate.Label{{Kind: secret, Source: "vault get"}}, []byte(`{"result":"AKIA7Q2LM9XK4T8ZP3VW and the rest of that long key"}`)); err != nil {
			t.Fatal(err)
		}
		f.pass(s, `files/write_file {"path":"a.md","content":"`+content+`"}`)
		other := f.session(false)
		f.pass(other, `files/read_file {"path":"a.md"}`)
		if got := f.sources(other); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}

// The arguments of a long call are not kept: its answer is known by the tool.
func TestAnswersWithoutArguments(t *testing.T) {
	f := beginFiles(t)
	f.pass(f.session(true), `files/write_file {"path":"a.md","content":"x"}`)
	one := f.session(false).NewServer("files", "", noRow, parsed(t, filesText))
	c := tool("read_file", `{"path":"a.md"}`)
	c.Cwd = f.project
	if err := one.PassFiles([]policy.Call{c}); err != nil {
		t.Fatal(err)
	}
	c.Args = nil
	if got := one.Brought(&gate.Exchange{Event: event.Event{Direction: "server", Method: "tools/call"}, Answered: []policy.Call{c}}); len(got) != 1 {
		t.Error(got)
	}
}

func TestForgetFile(t *testing.T) {
	f := beginFiles(t)
	if had, err := ForgetFile(f.state, "/x"); had || err != nil {
		t.Error(had, err)
	}
	f.pass(f.session(true), `files/write_file {"path":"a.md","content":"`+longNote+`"}`)
	running := f.session(false)
	f.pass(running, `files/read_file {"path":"b.md"}`)
	for _, want := range []bool{true, false} {
		if had, err := ForgetFile(f.state, filepath.Join(f.project, "a.md")); had != want || err != nil {
			t.Error(had, err)
		}
	}
	f.pass(running, `files/read_file {"path":"a.md"}`)
	f.pass(running, `Grep {"pattern":"x"}`)
	if got := f.sources(running); got != "" {
		t.Error(got)
	}
}

// A list that others have changed labels each file, until its owner removes it.
func TestHarmedList(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"a line": func(path string) error { return appendText(path, "w untrusted\n") },
		"a key":  func(path string) error { return os.WriteFile(path, []byte("f 1 00000000000000\n"), 0o600) },
		"open":   func(path string) error { return os.Chmod(path, 0o666) },
		"long":   func(path string) error { return appendText(path, strings.Repeat("\n", 2*maxWritten)) },
	} {
		if name == "open" && os.Getenv("OS") == "Windows_NT" {
			continue
		}
		f := beginFiles(t)
		f.pass(f.session(true), `files/write_file {"path":"a.md","content":"x"}`)
		if err := harm(filepath.Join(dirOf(f.state), writtenName)); err != nil {
			t.Fatal(err)
		}
		s := f.session(false)
		f.pass(s, `files/read_file {"path":"b.md"}`)
		if got := s.labels.policyLabels(); got&policy.Untrusted == 0 || got&policy.Secret == 0 {
			t.Errorf("%s: %q", name, f.sources(s))
		}
		c := tool("write_file", `{"path":"c.md","content":"x"}`)
		c.Cwd = f.project
		if err := s.NewServer("files", "", noRow, parsed(t, filesText)).PassFiles([]policy.Call{c}); err == nil {
			t.Errorf("%s: what is written there is kept", name)
		}
	}
}

func appendText(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// Labels count for a month; a long list is written anew, and then each file counts.
func TestListIsBounded(t *testing.T) {
	slow.Test(t) // it writes a full list
	f := beginFiles(t)
	w := newWritten(dirOf(f.state))
	seen := []Seen{{Kind: untrusted, Source: "web fetch"}}
	if err := w.keepFiles([]placeName{"/a"}, nil, seen); err != nil {
		t.Fatal(err)
	}
	find := func(name placeName) []Seen {
		return newWritten(dirOf(f.state)).findLabels(&reading{files: []placeName{name}})
	}
	if len(find("/a")) != 1 || len(find("/b")) != 0 {
		t.Error("the list does not hold what was written")
	}
	text, _ := os.ReadFile(w.path)
	old := strings.Replace(string(text), fmt.Sprint(" ", time.Now().Unix()/100), fmt.Sprint(" ", time.Now().Add(-31*24*time.Hour).Unix()/100), 1)
	if err := os.WriteFile(w.path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(find("/a")) != 0 {
		t.Error("a label counts for longer than a month")
	}
	for i := range 300 {
		var names []placeName
		for j := range 100 {
			names = append(names, placeName(fmt.Sprintf("/many/%d/%d", i, j)))
		}
		if err := w.keepFiles(names, nil, seen); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(w.path); err != nil || info.Size() > maxWritten+20_000 {
			t.Fatalf("%v bytes, %v", info.Size(), err)
		}
		if len(find(names[0])) == 0 {
			t.Fatalf("file %d is forgotten", i)
		}
	}
	if got := find("/never"); len(got) != 1 || got[0].Source != manyFiles {
		t.Errorf("%v", got)
	}
}

// Many processes write into one list, and begin it together.
func TestListOfMany(t *testing.T) {
	state := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				w := newWritten(dirOf(state))
				if err := w.keepFiles([]placeName{placeName(fmt.Sprintf("/f/%d/%d", i, j))}, nil, []Seen{{Kind: untrusted, Source: "x"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w := newWritten(dirOf(state))
	for i := range 8 {
		for j := range 20 {
			if len(w.findLabels(&reading{files: []placeName{placeName(fmt.Sprintf("/f/%d/%d", i, j))}})) != 1 {
				t.Errorf("%d/%d is not there", i, j)
			}
		}
	}
}

func TestFoldersAround(t *testing.T) {
	if got := placeName("/a/b/c").foldersAround(); !slices.Equal(got, []string{"/", "/a", "/a/b"}) {
		t.Errorf("%q", got)
	}
	if got := placeName("s\x00a/b").foldersAround(); got != nil {
		t.Errorf("%q", got)
	}
}
