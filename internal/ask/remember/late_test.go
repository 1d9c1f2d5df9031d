package remember

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/rulemix"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// lateWriter returns a Writer of a policy, with a journal.
func lateWriter(t testing.TB, src string) *Writer {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Writer{Policy: path, Options: policy.Options{Home: owner}, Denied: record(nil), Now: day, Journal: filepath.Join(dir, "edits")}
}

const (
	keysShut = "[[rule]]\naction='deny'\ntool='*'\nargs.path='**/.env'\ndescription='Keys'\n"
	closed   = "[[rule]]\naction='deny'\ntool='*'\ndescription='The rest'\n"
)

func late(action policy.Action, c policy.Call) *Late {
	return &Late{Call: c, Action: action, By: "clawai policy " + action.String() + " --from x-1"}
}

func TestPlanLate(t *testing.T) {
	read := tool("read_file", `{"path":"/srv/data/a.txt"}`)
	for _, c := range []struct {
		name, src string
		late      *Late
		scope     string
		want      string // of the new file
	}{
		{"above the closing rule", keysShut + closed, late(policy.Allow, read), "folder", keysShut +
			"# Written on 2026-02-03 by clawai policy allow --from x-1 (folder).\n# Arguments it does not name stay open.\n[[rule]]\naction = \"allow\"\ntool = \"read_file\"\nserver = \"files\"\nargs.path = \"/srv/data/**\"\ndescription = \"Read files below /srv/data\"\n\n" + closed},
		{"below the last rule", keysShut + "# end\n", late(policy.Allow, read), "tool", keysShut +
			"\n# Written on 2026-02-03 by clawai policy allow --from x-1 (tool).\n# Arguments it does not name stay open.\n[[rule]]\naction = \"allow\"\ntool = \"read_file\"\nserver = \"files\"\ndescription = \"Call read_file with any arguments\"\n# end\n"},
		{"above the rule that asks", homePolicy, late(policy.Allow, aWrite("/home/user/a")), "file",
			"# Written on 2026-02-03 by clawai policy allow --from x-1 (file).\n# Arguments it does not name stay open.\n[[rule]]\naction = \"allow\"\ntool = \"write_file\"\nserver = \"files\"\nargs.path = \"/home/user/a\"\nwhere.path.type = \"string\"\ndescription = \"Write ~/a, any content\"\n\n" + homePolicy},
		{"a denial above the rule that allows", "[[rule]]\naction='allow'\ntool='read_*'\n", late(policy.Deny, read), "folder",
			"# Written on 2026-02-03 by clawai policy deny --from x-1 (folder).\n# Arguments it does not name stay open.\n[[rule]]\naction = \"deny\"\ntool = \"read_file\"\nserver = \"files\"\nargs.path = \"/srv/data/**\"\ndescription = \"Never read files below /srv/data\"\n\n[[rule]]\naction='allow'\ntool='read_*'\n"},
	} {
		k := lateWriter(t, c.src)
		plan, err := k.PlanLate(t.Context(), c.late, c.scope)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if string(plan.Next()) != c.want {
			t.Errorf("%s: wrote\n%s\nwant\n%s", c.name, plan.Next(), c.want)
		}
		if lines := strings.Split(string(plan.Next()), "\n"); !strings.HasPrefix(lines[plan.Line-1], "# Written") {
			t.Errorf("%s: line %d", c.name, plan.Line)
		}
		if err := k.Apply(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if holds(t, k.Policy) != c.want {
			t.Errorf("%s: the file holds something else", c.name)
		}
		undo, err := k.PlanUndo()
		if err == nil {
			err = k.Apply(t.Context(), undo)
		}
		if err != nil || holds(t, k.Policy) != c.src || !strings.Contains(undo.Text, "[[rule]]") || strings.Contains(undo.Text, "Keys") {
			t.Errorf("%s: undone %v\n%s", c.name, err, holds(t, k.Policy))
		}
		if _, err := k.PlanUndo(); err == nil {
			t.Errorf("%s: undone twice", c.name)
		}
	}
}

func TestPlanLateRefuses(t *testing.T) {
	read := tool("read_file", `{"path":"/srv/data/a.txt"}`)
	beside := read
	beside.Extra = []byte(`{"cwd":"/etc"}`)
	hidden := read
	hidden.Malformed = "a name that hides"
	for _, c := range []struct {
		want, src string
		late      *Late
	}{
		{"never undone", keysShut + closed, late(policy.Allow, tool("read_file", `{"path":"/srv/.env"}`))},
		{"with rules below it", closed + keysShut, late(policy.Allow, read)},
		{"the policy says allow already", "[[rule]]\naction='allow'\ntool='*'\n", late(policy.Allow, read)},
		{"the policy says deny already", closed, late(policy.Deny, read)},
		{"which no rule can name", closed, late(policy.Allow, beside)},
		{"no rule may allow the call: a name that hides", closed, late(policy.Allow, hidden)},
		{"pinned", "[[rule]]\naction='prompt'\ntool='*'\npinned=true\n", late(policy.Allow, read)},
		{"the record does not keep", closed, &Late{Call: tool("status", `{}`), Part: true, Action: policy.Allow}},
		{"does not load", "[[rule]]\n", late(policy.Allow, read)},
	} {
		k := lateWriter(t, c.src)
		if offers, err := k.LateOffers(c.late); c.want != "the record does not keep" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: offered %v, %v", c.want, offers, err)
		}
		if _, err := k.PlanLate(t.Context(), c.late, "exact"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: planned, %v", c.want, err)
		}
	}
	k := lateWriter(t, closed)
	if _, err := k.PlanLate(t.Context(), late(policy.Allow, read), "all"); err == nil {
		t.Error("planned with no scope")
	}
	plan, err := k.PlanLate(t.Context(), late(policy.Allow, read), "exact")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.Policy, []byte(closed+"# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Apply(t.Context(), plan); err == nil || err.Error() != "the policy file has changed meanwhile" { // the caller says that nothing was written
		t.Errorf("an edit is lost: %v", err)
	}
}

// What the record says was denied stays denied, unless only the rest refused it.
func TestLateKeepsTheRecord(t *testing.T) {
	read := tool("read_file", `{"path":"/srv/data/a.txt"}`)
	redacted := tool("read_file", `{"path":"/srv/data/b.txt","token":"[redacted:x:1]"}`)
	for name, c := range map[string]struct {
		denied DeniedCall
		open   bool
	}{
		"itself":                    {DeniedCall{Call: read}, true},
		"a part, by the rest":       {DeniedCall{Call: redacted, Rule: "The rest"}, true},
		"a part, by no rule":        {DeniedCall{Call: redacted, NoRule: true}, true},
		"a part, by a rule of then": {DeniedCall{Call: redacted, Rule: "Not there"}, false},
		"a part, by an unknown one": {DeniedCall{Call: redacted}, false},
	} {
		k := lateWriter(t, keysShut+closed)
		k.Denied = record{c.denied}
		if _, err := k.PlanLate(t.Context(), late(policy.Allow, read), "folder"); (err == nil) != c.open {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Where another rule has the closing rule's words, they do not tell which one denied.
	k := lateWriter(t, strings.Replace(keysShut, "Keys", "The rest", 1)+closed)
	k.Denied = record{DeniedCall{Call: redacted, Rule: "The rest"}}
	if _, err := k.PlanLate(t.Context(), late(policy.Allow, read), "folder"); err == nil {
		t.Error("written in doubt")
	}
}

// The rule of a late answer opens nothing that a rule denies, and closes nothing that it does not
// name; each call that is shown as a change changes, and each that is shown to stay refused stays.
func TestLateAnswersOpenNothingDenied(t *testing.T) {
	slow.Test(t)
	calls, written, policies := rulemix.ListCalls(), 0, slow.Rounds(120, 1000)
	for seed := range uint64(policies) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // the same policies each time
		k := lateWriter(t, rulemix.WritePolicy(r))
		call := calls[r.IntN(len(calls))]
		l := late([]policy.Action{policy.Allow, policy.Allow, policy.Deny}[r.IntN(3)], call)
		offers, err := k.LateOffers(l)
		if err != nil {
			continue
		}
		plan, err := k.PlanLate(t.Context(), l, offers[r.IntN(len(offers))].Scope)
		if err != nil {
			t.Fatalf("%s: offered and not planned: %v", holds(t, k.Policy), err)
		}
		written++
		before := holds(t, k.Policy)
		rest, _ := findRest(plan.Old, policy.ToolSubject)
		for i := range calls {
			c := &calls[i]
			was, is := plan.Old.Decide(c), plan.New.Decide(c)
			refused := l.Action == policy.Allow && rest.hasRefused(&was) // a rule above may then ask
			if was.Action != is.Action && !refused && (is.Action != l.Action || was.Action == policy.Deny) {
				t.Fatalf("%s\n%s on %q %s was %v by %s and is %v", plan.Next(), c.Names, c.Server, c.Args, was.Action, decidedBy(&was), is.Action)
			}
			if was.Action != is.Action && (c.Names[0] != call.Names[0] || call.Server != "" && c.Server != call.Server && (c.Server != "" || is.Action == policy.Allow)) {
				t.Fatalf("%s\n%s on %q %s is not such a call, and was %v, is %v", plan.Next(), c.Names, c.Server, c.Args, was.Action, is.Action)
			}
		}
		for _, s := range plan.Opened {
			if plan.Old.Decide(&s.Call).Action == plan.New.Decide(&s.Call).Action {
				t.Errorf("%s\n%s does not change", plan.Next(), s.Text)
			}
		}
		if slices.ContainsFunc(plan.Kept, func(s Shown) bool { return plan.New.Decide(&s.Call).Action != policy.Deny }) {
			t.Errorf("%s\n%v does not stay", plan.Next(), plan.Kept)
		}
		if err := k.Apply(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		undo, err := k.PlanUndo()
		if err == nil {
			err = k.Apply(t.Context(), undo)
		}
		if err != nil || holds(t, k.Policy) != before {
			t.Fatalf("not undone: %v", err)
		}
	}
	if written < policies/4 {
		t.Errorf("only %d rules were written", written)
	}
}

// An answer of "always" can be undone, too; and the journal does not grow without end.
func TestUndoOfAnAnswer(t *testing.T) {
	k := lateWriter(t, homePolicy)
	texts := []string{homePolicy}
	for i := range 3 {
		q := question(t, k, aWrite("/home/user/a"+strings.Repeat("x", i)))
		if _, err := k.Write(t.Context(), q, "file", gate.AllowAlways); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, holds(t, k.Policy))
	}
	for i := len(texts) - 2; i >= 0; i-- {
		plan, err := k.PlanUndo()
		if err == nil {
			err = k.Apply(t.Context(), plan)
		}
		if err != nil || holds(t, k.Policy) != texts[i] {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for i := range maxEdits + 5 {
		if err := k.keepText([]byte("a"), []byte(strings.Repeat("b", i))); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(k.Journal, "*.json")); len(all) != maxEdits {
		t.Errorf("%d texts are kept", len(all))
	}
}

// An undo shows what the file loses, and what it gets back in the place of that.
func TestUndoShowsWhatComesBack(t *testing.T) {
	folders := func(list string) string { return "[folders]\nreads = " + list + "\n" }
	for _, c := range []struct{ before, after, text, back string }{
		{folders(`["~/a"]`), folders(`["~/a", "~/b"]`), "[folders] reads = [\"~/a\", \"~/b\"]\n", "[folders] reads = [\"~/a\"]\n"},
		{closed, keysShut + closed, strings.TrimSpace(keysShut) + "\n", ""},
		{keysShut + closed, closed, "", strings.TrimSpace(keysShut) + "\n"},
	} {
		k := lateWriter(t, c.after)
		if err := k.keepText([]byte(c.before), []byte(c.after)); err != nil {
			t.Fatal(err)
		}
		plan, err := k.PlanUndo()
		if err != nil || plan.Text != c.text || plan.Back != c.back {
			t.Errorf("%+v: %v", plan, err)
		}
	}
}

// A text that cannot be read is passed over, and nothing is undone by it.
func TestUndoPassesOverDamage(t *testing.T) {
	k := lateWriter(t, homePolicy)
	if _, err := k.Write(t.Context(), question(t, k, aWrite("/home/user/a")), "file", gate.AllowAlways); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.Journal, "99991231T000000.000000000-00000000.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if plan, err := k.PlanUndo(); err != nil || string(plan.Next()) != homePolicy {
		t.Errorf("not undone: %v", err)
	}
	if err := os.WriteFile(k.Policy, []byte(holds(t, k.Policy)+"# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.PlanUndo(); err == nil || !strings.Contains(err.Error(), "nothing to undo; if you have edited it since, take the rule or the folder out by hand") {
		t.Errorf("an edit would be lost: %v", err)
	}
}

// Without a place for the old text nothing is written.
func TestNothingIsWrittenWithoutAWayBack(t *testing.T) {
	k := lateWriter(t, homePolicy)
	k.Journal = k.Policy
	q := question(t, k, aWrite("/home/user/a"))
	if _, err := k.Write(t.Context(), q, "file", gate.AllowAlways); err == nil || holds(t, k.Policy) != homePolicy {
		t.Errorf("written without a way back: %v", err)
	}
}
