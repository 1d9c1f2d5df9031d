package remember

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

const before = `# My rules. Keep this comment.

[[rule]]
action = "deny"
tool = "shell_*"

# Writing is asked about,
# every time.
[[rule]]
	action = "prompt"   # odd   spacing
	tool = "write_*"
	server = "files"
	args.path = "/home/user/**"

[[rule]]
action = "allow"
tool = "read_*"
`

func aWrite(path string) policy.Call {
	return tool("write_file", fmt.Sprintf(`{"path":%q,"content":"hi"}`, path))
}

// Each offer is written as it was offered, above the rule that asked, and every
// byte of the file stays.
func TestWrite(t *testing.T) {
	for _, scope := range []string{"exact", "file", "folder", "tool"} {
		for _, r := range []gate.Reply{gate.AllowAlways, gate.DenyAlways} {
			t.Run(scope+" "+r.String(), func(t *testing.T) {
				k, q := ask(t, before, aWrite("/home/user/p/a.txt"))
				offers, _ := k.Offers(q)
				note, err := k.Write(t.Context(), q, scope, r)
				if err != nil {
					t.Fatal(err)
				}
				action, shown := "allow", ""
				for _, o := range offers {
					if o.Scope == scope {
						shown = o.Allow
						if r == gate.DenyAlways {
							action, shown = "deny", o.Deny
						}
					}
				}
				if want := "wrote a rule to " + action + " (" + scope + ") above policy.toml:9"; note != want {
					t.Errorf("noted %q, want %q", note, want)
				}
				at := strings.Index(before, "# Writing is")
				after := holds(t, k.Policy)
				var set strings.Builder
				for line := range strings.Lines(shown) {
					if line[0] != '#' && line[0] != '[' {
						set.WriteByte('\t') // as the rule below is set
					}
					set.WriteString(line)
				}
				if want := before[:at] + set.String() + "\n" + before[at:]; after != want || shown == "" {
					t.Errorf("wrote\n%s\nwant\n%s", after, want)
				}
				p, err := policy.Parse(k.Policy, []byte(after), k.Options)
				if err != nil {
					t.Fatal(err)
				}
				if d := p.Decide(&q.Calls[0]); d.Action.String() != action {
					t.Errorf("now it says %+v", d)
				}
			})
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		scope string
		r     gate.Reply
		want  string
	}{
		{"all", gate.AllowAlways, `unknown scope "all" (one of exact, file, folder, tool)`},
		{"", gate.AllowAlways, "unknown scope"},
		{"exact", gate.AllowOnce, `the answer "once" writes no rule`},
		{"exact", gate.DenyOnce, `the answer "deny" writes no rule`},
		{"exact", gate.Reply(9), "writes no rule"},
	} {
		k, q := ask(t, before, aWrite("/home/user/p/a.txt"))
		if note, err := k.Write(t.Context(), q, c.scope, c.r); err == nil || !strings.Contains(err.Error(), c.want) || note != "" {
			t.Errorf("%+v: %q, %v", c, note, err)
		}
		unwritten(t, k, before)
	}
}

// unwritten says that the file is as it was, and that nothing lies beside it but
// what locks it.
func unwritten(t *testing.T, k *Writer, src string) {
	t.Helper()
	if got := holds(t, k.Policy); got != src {
		t.Errorf("the file was written: %s", got)
	}
	entries, err := os.ReadDir(filepath.Dir(k.Policy))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(k.Policy) && e.Name() != lockName(k.Policy) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// However many proxies get the same answer at once, one rule is written, and
// the others find it.
func TestTheSameAnswerTwice(t *testing.T) {
	k, q := ask(t, before, aWrite("/home/user/p/a.txt"))
	notes := make(chan string, 8)
	var all sync.WaitGroup
	for range cap(notes) {
		all.Go(func() {
			own := &Writer{Policy: k.Policy, Options: k.Options, Denied: k.Denied, Now: k.Now}
			note, err := own.Write(t.Context(), q, "folder", gate.AllowAlways)
			if err != nil {
				t.Error(err)
			}
			notes <- note
		})
	}
	all.Wait()
	close(notes)
	wrote := 0
	for note := range notes {
		switch note {
		case "wrote a rule to allow (folder) above policy.toml:9":
			wrote++
		case "a rule to allow is already at policy.toml:9":
		default:
			t.Errorf("noted %q", note)
		}
	}
	if n := strings.Count(holds(t, k.Policy), "[[rule]]"); wrote != 1 || n != 4 {
		t.Errorf("written %d times, %d rules in\n%s", wrote, n, holds(t, k.Policy))
	}
	if note, err := k.Write(t.Context(), q, "tool", gate.DenyAlways); err == nil {
		t.Errorf("what is allowed by now is denied by an old question: %q", note)
	}
}

// Several questions of one policy can each be answered for good: what the Writer
// has written itself is no change.
func TestManyAnswers(t *testing.T) {
	k, _ := ask(t, before, aWrite("/home/user/p/a"))
	var questions []gate.Question
	for _, name := range []string{"a/x", "b/x", "c/x", "d/x"} {
		questions = append(questions, question(t, k, aWrite("/home/user/"+name)))
	}
	var all sync.WaitGroup
	for _, q := range questions {
		all.Go(func() {
			if _, err := k.Write(t.Context(), q, "folder", gate.AllowAlways); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	after := holds(t, k.Policy)
	for _, q := range questions {
		p, err := policy.Parse("p.toml", []byte(after), k.Options)
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(&q.Calls[0]); d.Action != policy.Allow {
			t.Errorf("%s: %+v", q.Calls[0].Args, d)
		}
	}
	if n := strings.Count(after, "[[rule]]"); n != 7 {
		t.Errorf("%d rules in\n%s", n, after)
	}
	// An edit by somebody else ends that.
	late := question(t, k, aWrite("/home/user/late/x"))
	edited := after + "# a thought\n"
	rewrite(t, k, edited)
	if note, err := k.Write(t.Context(), late, "folder", gate.AllowAlways); err == nil {
		t.Errorf("noted %q", note)
	}
	unwritten(t, k, edited)
}

// What a Writer remembers of its own writing is bounded.
func TestGrownIsBounded(t *testing.T) {
	var k Writer
	r := policy.Rule{Index: 1}
	for i := range maxGrown + 1 {
		k.noteWrite(fmt.Sprint(i), ownWrite{to: fmt.Sprint(i + 1)})
	}
	if len(k.writes) > maxGrown {
		t.Errorf("%d", len(k.writes))
	}
	if _, ok := k.relocateRule(r, "0", "1"); ok {
		t.Error("a forgotten step was followed")
	}
	k.writes = map[string]ownWrite{"a": {to: "b"}, "b": {to: "a"}}
	if _, ok := k.relocateRule(r, "a", "c"); ok {
		t.Error("a ring was followed to its end")
	}
}

// A question without a revision is held to its rule alone.
func TestWithoutARevision(t *testing.T) {
	k, q := ask(t, before, aWrite("/home/user/p/a"))
	q.Revision = ""
	if _, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err != nil {
		t.Error(err)
	}
	k, q = ask(t, before, aWrite("/home/user/p/a"))
	q.Revision = ""
	rewrite(t, k, "\n"+before)
	if _, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err == nil {
		t.Error("a rule that has moved is taken for the one that asked")
	}
}

// An edit that comes between reading and writing is never lost.
func TestEditAtTheLastMoment(t *testing.T) {
	k, q := ask(t, before, aWrite("/home/user/p/a"))
	edited := before + "# a thought\n"
	k.Denied = during{record(nil), func() { rewrite(t, k, edited) }}
	if note, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err == nil || !strings.Contains(err.Error(), "has changed since the rule asked") {
		t.Errorf("%q, %v", note, err)
	}
	unwritten(t, k, edited)

	edits := 0
	k, q = ask(t, before, aWrite("/home/user/p/a"))
	q.Revision = ""
	k.Denied = during{record(nil), func() { edits++; rewrite(t, k, fmt.Sprint(before, "# ", edits, "\n")) }}
	if note, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err == nil || !strings.Contains(err.Error(), "by others all the time") {
		t.Errorf("%q, %v", note, err)
	}
	unwritten(t, k, fmt.Sprint(before, "# ", edits, "\n"))

	// The same for a file that may no longer be written.
	k, q = ask(t, before, aWrite("/home/user/p/a"))
	k.Denied = during{record(nil), func() { os.Chmod(k.Policy, 0o400) }}
	if note, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%q, %v", note, err)
	}
	unwritten(t, k, before)
}

// during is a record while which is read something happens.
type during struct {
	record
	happens func()
}

func (d during) Redacted(s string) bool { return d.record.Redacted(s) }

func (d during) Calls() (calls seq) {
	d.happens()
	return d.record.Calls()
}

func TestTheLockIsWaitedFor(t *testing.T) {
	k, q := ask(t, before, aWrite("/home/user/p/a"))
	lock := flock.New(filepath.Join(filepath.Dir(k.Policy), lockName(k.Policy)))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if note, err := k.Write(ctx, q, "exact", gate.AllowAlways); err == nil || !strings.Contains(err.Error(), "waiting to write the policy file") {
		t.Errorf("%q, %v", note, err)
	}
	unwritten(t, k, before)
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	k, q = ask(t, before, aWrite("/home/user/p/a"))
	k.Denied = record{{Call: tool("x", "{}")}}
	if note, err := k.Write(gone, q, "exact", gate.AllowAlways); err == nil {
		t.Errorf("written for nobody: %q", note)
	}
	unwritten(t, k, before)
}

// A rule that would let through what the record says was denied is not written;
// one that denies may be.
func TestTheRecordIsAsked(t *testing.T) {
	denied := aWrite("/home/user/q/b")
	for _, c := range []struct {
		scope string
		call  DeniedCall
		wrote bool
	}{
		{"exact", DeniedCall{Call: denied}, true},
		{"folder", DeniedCall{Call: denied}, true},
		{"tool", DeniedCall{Call: denied}, true}, // known whole: now the rules only ask about it
		{"exact", DeniedCall{Call: denied, Cut: true}, true},
		{"folder", DeniedCall{Call: denied, Cut: true}, true},
		{"tool", DeniedCall{Call: denied, Cut: true}, false},
		{"folder", DeniedCall{Call: tool("write_file", `{"path":"[redacted:x:1]","more":"[redacted:x:2]"}`), Cut: true}, false},
		{"tool", DeniedCall{Call: policy.Call{Method: "damaged"}}, false},
	} {
		k, q := ask(t, before, aWrite("/home/user/p/a"))
		k.Denied = record{c.call}
		note, err := k.Write(t.Context(), q, c.scope, gate.AllowAlways)
		if (err == nil) != c.wrote {
			t.Errorf("%s with %+v: %q, %v", c.scope, c.call, note, err)
		}
		if err == nil {
			continue
		}
		unwritten(t, k, before)
		if _, err := k.Write(t.Context(), q, c.scope, gate.DenyAlways); err != nil {
			t.Error(err)
		}
	}
}
