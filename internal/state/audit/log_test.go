package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// recorded is what stands in a segment in front of what its writer has reserved.
func recorded(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := bytes.Cut(b, []byte{0})
	return text
}

// abandon lets go of a log as a crash does.
func abandon(t *testing.T, l *Log) {
	t.Helper()
	l.cleanups.Wait()
	if l.seg.mem != nil {
		l.seg.mem.unmap() // it would keep the lock, as a process that lives does
	}
	if err := l.seg.file.Close(); err != nil {
		t.Fatal(err)
	}
	l.seg = nil
}

func openLog(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sample has every member.
func sample() *event.Event {
	return &event.Event{
		Kind: event.Decision, Server: "files", ServerGuess: "server-filesystem", Invocation: "team/run-7", Direction: "client",
		Method: "tools/call", ID: []byte(`7`), Subject: "tool", Names: []string{"read_file"},
		Args: []byte(`{"path": "/home/user/projects/a.txt", "n": 12, "deep": [true, null, {"x": -1.5e3}]}`), Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Digest: [32]byte{1, 2, 3}, Facts: policy.Facts{Cwd: "/home/user/projects", OS: "windows", Elsewhere: true, Assurances: policy.ReadOnly,
			Who: nameSet("ana@team.example", "https://id.example#1"), Roles: nameSet("dev"), Groups: nameSet(), Env: "prod", Agent: "codex"},
		Bytes: 155, Folded: 3, Sent: [32]byte{4, 5, 6}, Finds: []string{"secret 1 /result/content/0/text"}, Looked: []string{"secret"}, Altered: []string{"redact secret"}, Release: "0123456789abcdef0123456789abcdef", Policy: "prompt", Decision: "allow", Stage: "ask", Code: "allowed_by_person",
		Reason: "a person allowed it", RuleFile: "/home/user/.config/clawai/policy.toml", RuleLine: 12,
		RuleText: "Ask before reading", Labels: policy.Untrusted | policy.Secret, Ref: "abc-1", Channel: "terminal", Answer: "once", By: "anna", Words: "not there",
		Waited: 1500 * time.Millisecond, IsError: true, Declared: []string{"read_file", "write_file"}, Detail: "detail", Client: "Codex 1.2",
	}
}

func nameSet(names ...string) policy.NameSet {
	n, err := policy.NewNameSet(names)
	if err != nil {
		panic(err)
	}
	return n
}

func TestRecordWritesChainedLinesAndNamesThem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "audit")
	l := openLog(t, dir, Options{})
	a, b := sample(), &event.Event{Kind: event.End}
	if err := l.Record(a, b); err != nil {
		t.Fatal(err)
	}
	if a.Record != l.SessionID()+"-2" || b.Record != l.SessionID()+"-3" || a.Time.IsZero() {
		t.Fatalf("ids %q %q, time %v", a.Record, b.Record, a.Time)
	}
	raw := recorded(t, l.seg.path)
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines:\n%s", len(lines), raw)
	}
	prev := noHash
	for i, line := range lines {
		p, ok := parseLink([]byte(line))
		if !ok || p.seq != uint64(i+1) || string(p.prev) != prev {
			t.Errorf("line %d: sound %v, place %+v after %s", i+1, ok, p, prev)
		}
		prev = string(p.hash)
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is not JSON: %s", i+1, line)
		}
	}
	t.Log(lines[1])
}

// What has not the form of a trace context is none, whoever wrote the line.
func TestTraceparentOfALine(t *testing.T) {
	const is = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for text, want := range map[string]string{is: is, is + "0": "", is[:54] + "<": "", "": ""} {
		if e, err := ParseLine([]byte(`{"traceparent":"` + text + `"}`)); err != nil || e.Traceparent != want {
			t.Errorf("%q: %q, error %v", text, e.Traceparent, err)
		}
	}
}

// usual is a decision as the proxy writes it for an ordinary call.
func usual(i int) *event.Event {
	return &event.Event{
		Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", ID: fmt.Append(nil, i),
		Subject: "tool", Names: []string{"read_file"}, Args: []byte(`{"path":"/home/user/projects/clawai/README.md"}`),
		Digest: [32]byte{1}, Bytes: 155, Policy: "allow", Decision: "allow", Stage: "policy",
		RuleFile: "/home/user/.config/clawai/policy.toml", RuleLine: 12, RuleText: "Allow reading project files",
	}
}

// Labels that a newer version knows are left out; a line without the member has none.
func TestLabelsOfALine(t *testing.T) {
	for line, want := range map[string]policy.Seen{
		`{}`:                                    0,
		`{"labels":[]}`:                         0,
		`{"labels":["untrusted","private"]}`:    policy.Untrusted | policy.PrivateData,
		`{"labels":["newer","secret","a b\""]}`: policy.Secret | policy.PrivateData,
		`{"labels":null}`:                       0,
	} {
		if e, err := ParseLine([]byte(line)); err != nil || e.Labels != want {
			t.Errorf("%s: %v, error %v", line, e.Labels.LabelWords(), err)
		}
	}
}
