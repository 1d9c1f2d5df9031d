package flow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

const aClient = "process:7:1:boot"

// started is a process that a client has started, which knows these keys of its own.
func started(t testing.TB, state string, keys ...string) *Session {
	s := begin(t, state, keys...)
	s.followProcess(aClient)
	return s
}

// hooked is what a hook of a client does that names a conversation.
func hooked(t testing.TB, state, id string) *Session {
	t.Helper()
	s := started(t, state, aClient)
	if err := s.JoinKey(IDKey(id)); err != nil {
		t.Fatal(err)
	}
	return s
}

// clears is a hook that says that a conversation has begun by a clear.
func clears(t testing.TB, state, id string) (why string) {
	t.Helper()
	s := started(t, state, aClient)
	defer s.Close()
	why, err := s.ClearLabels(IDKey(id))
	if err != nil {
		t.Fatal(err)
	}
	return why
}

// After a clear the processes that its client has started begin anew, those that come too, and
// nobody else; what is read from then on is known to all of them.
func TestCleared(t *testing.T) {
	state := t.TempDir()
	proxy, plain := started(t, state, "session:one"), started(t, state, aClient)
	hook := hooked(t, state, "one")
	stranger := begin(t, state, "session:one") // of another client, which has resumed it
	add(t, proxy, untrusted, "web fetch")
	add(t, plain, secret, "vault read")
	for i, s := range []*Session{proxy, plain, hook, stranger} {
		if got := seenBy(t, s); got != "untrusted private secret" {
			t.Errorf("before, %d: %q", i, got)
		}
	}
	if why := clears(t, state, "two"); why != "" {
		t.Fatalf("not cleared: %s", why)
	}
	late := started(t, state, "session:one")
	next := hooked(t, state, "two")
	for i, s := range []*Session{proxy, plain, hook, late, next} {
		if got := seenBy(t, s); got != "" {
			t.Errorf("after, %d: %q", i, got)
		}
	}
	if got := seenBy(t, stranger) + ", " + seenBy(t, begin(t, state, "session:one")); got != "untrusted private secret, untrusted private secret" {
		t.Errorf("to others: %q", got)
	}
	add(t, proxy, private, "files read")
	for i, s := range []*Session{plain, late, next, begin(t, state, "session:two")} {
		if got := seenBy(t, s); got != "private" {
			t.Errorf("then, %d: %q", i, got)
		}
	}
	if why := clears(t, state, "three"); why != "" || seenBy(t, proxy)+seenBy(t, late) != "" {
		t.Errorf("a second time: %s, %q, %q", why, seenBy(t, proxy), seenBy(t, late))
	}
	all, err := ListSessions(state)
	if err != nil || !slices.ContainsFunc(all, func(s Shown) bool { return s.Key == "session:one" && len(s.Seen) == 2 }) ||
		!slices.ContainsFunc(all, func(s Shown) bool { return s.Key == "session:two" && len(s.Seen) == 1 }) {
		t.Errorf("listed: %v, %+v", err, all)
	}
}

// What was before comes back with whoever names it: a conversation that is resumed, or one that
// still runs.
func TestClearedAndNamedAgain(t *testing.T) {
	state := t.TempDir()
	proxy, plain := started(t, state, "session:one"), started(t, state, aClient)
	hooked(t, state, "one")
	add(t, plain, untrusted, "web fetch") // in the journal of the process alone
	remember(t, plain, "write to eve@example.org")
	if why := clears(t, state, "two"); why != "" || seenBy(t, proxy) != "" {
		t.Fatalf("%s, %q", why, seenBy(t, proxy))
	}
	hooked(t, state, "one")
	if got := seenBy(t, proxy); got != "untrusted" {
		t.Errorf("resumed: %q", got)
	}
	if why := clears(t, state, "three"); why == "" || seenBy(t, proxy) != "untrusted" {
		t.Errorf("cleared, though two conversations were in it: %q", seenBy(t, proxy))
	}
}

func remember(t *testing.T, s *Session, text string) {
	t.Helper()
	if err := s.RememberTexts([]gate.Label{{Kind: untrusted, Source: "web fetch"}}, []byte(`"`+text+`"`), true); err != nil {
		t.Fatal(err)
	}
}

// Nothing but a clear of the one conversation that is known, said for the client's own process,
// takes a label away.
func TestNotCleared(t *testing.T) {
	root := fileOf(aClient)
	elsewhere := fileOf("session:somewhere else")
	for name, does := range map[string]func(t *testing.T, state string){
		"no hook had named it": func(t *testing.T, state string) { clears(t, state, "two") },
		"two had": func(t *testing.T, state string) {
			hooked(t, state, "one")
			hooked(t, state, "other")
			clears(t, state, "two")
		},
		"the next had begun": func(t *testing.T, state string) {
			hooked(t, state, "one")
			hooked(t, state, "two")
			clears(t, state, "two")
		},
		"it is the same": func(t *testing.T, state string) {
			hooked(t, state, "one")
			clears(t, state, "one")
		},
		"of another client": func(t *testing.T, state string) {
			hooked(t, state, "one")
			s := begin(t, state, "process:8:1:boot")
			s.followProcess("process:8:1:boot")
			if why, err := s.ClearLabels("session:two"); err != nil || why == "" {
				t.Errorf("cleared: %v", err)
			}
		},
		"of a client that is not known": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if why, err := begin(t, state, "session:one").ClearLabels("session:two"); err != nil || why == "" {
				t.Errorf("cleared: %v", err)
			}
		},
		"in another's journal": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if err := appendTo(filepath.Join(dirOf(state), fileOf("session:one")), endLine(elsewhere)+"\n"); err != nil {
				t.Fatal(err)
			}
		},
		"half a line": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if err := appendTo(filepath.Join(dirOf(state), root), endLine(elsewhere)); err != nil {
				t.Fatal(err)
			}
		},
		"after what was torn": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if err := appendTo(filepath.Join(dirOf(state), root), "untrusted 17\n"+endLine(elsewhere)+"\n"); err != nil {
				t.Fatal(err)
			}
			clears(t, state, "two")
		},
		"after the conversation's was torn": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if err := appendTo(filepath.Join(dirOf(state), fileOf("session:one")), "untrusted 17\n"); err != nil {
				t.Fatal(err)
			}
			clears(t, state, "two")
		},
		"cut": func(t *testing.T, state string) {
			hooked(t, state, "one")
			if err := os.Truncate(filepath.Join(dirOf(state), root), 0); err != nil {
				t.Fatal(err)
			}
			clears(t, state, "two")
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			proxy, plain := started(t, state, "session:one"), started(t, state, aClient)
			add(t, proxy, untrusted, "web fetch")
			add(t, plain, untrusted, "web fetch")
			does(t, state)
			for i, s := range []*Session{proxy, plain, started(t, state, "session:one"), started(t, state, aClient)} {
				if got := seenBy(t, s); !strings.HasPrefix(got, untrusted) {
					t.Errorf("%d has seen %q", i, got)
				}
			}
		})
	}
}

// Where the owner names the session, no client ends it.
func TestNamedSessionsAreNotCleared(t *testing.T) {
	s := begin(t, t.TempDir(), "session:mine")
	s.FollowClient(func(string) string { return "mine" })
	if why, err := s.ClearLabels("session:two"); err != nil || why == "" {
		t.Errorf("cleared: %v", err)
	}
}

// Within a generation labels only grow, in whatever order processes look, add, name and clear;
// only a clear that says it was one begins another, and what is added after it is in it.
func TestGenerations(t *testing.T) {
	slow.Test(t)
	for range 40 {
		state := t.TempDir()
		all := []*Session{started(t, state, "session:0"), started(t, state, aClient), hooked(t, state, "0")}
		known := map[string]bool{} // of this generation
		talks := 0
		for step := range 60 {
			s := all[rand.IntN(len(all))]
			switch rand.IntN(5) {
			case 0, 1:
				source := fmt.Sprint("source ", step%(maxSources-1)) // further ones are not known by name
				add(t, s, untrusted, source)
				known[source] = true
			case 2:
				if len(all) < 8 {
					all = append(all, hooked(t, state, fmt.Sprint(talks)))
				}
			case 3:
				if rand.IntN(3) == 0 && clears(t, state, fmt.Sprint(talks+1)) == "" {
					talks++
					known = map[string]bool{}
					hooked(t, state, fmt.Sprint(talks)).Close()
				}
			case 4:
			}
			has := s.labelsNow(t)
			for source := range known {
				if !has.hasLabel(untrusted, source) {
					t.Fatalf("step %d: %q is not known", step, source)
				}
			}
			if len(known) == 0 && len(has[untrusted]) != 0 {
				t.Fatalf("step %d: after a clear %v is known", step, has)
			}
		}
		for _, s := range all {
			s.Close()
		}
	}
}

// What the user said before a clear endorses nothing after it, and what they say then does.
func TestClearedWords(t *testing.T) {
	state := t.TempDir()
	proxy := started(t, state, "session:one")
	proxy.ListenKeys(aClient)
	hooked(t, state, "one")
	hears := func(id, text string) {
		if err := HearUser(state, []string{aClient, IDKey(id)}, text); err != nil {
			t.Fatal(err)
		}
	}
	names := func(word string) bool {
		if _, err := proxy.Seen(); err != nil {
			t.Fatal(err)
		}
		proxy.mu.Lock()
		defer proxy.mu.Unlock()
		var k known
		if err := proxy.recallMarks(&k); err != nil {
			t.Fatal(err)
		}
		return k.isEndorsed(word)
	}
	hears("one", "write to bob@example.org")
	if !names("bob@example.org") {
		t.Fatal("it was said, and is not heard")
	}
	if why := clears(t, state, "two"); why != "" {
		t.Fatal(why)
	}
	if names("bob@example.org") {
		t.Error("what was said before the clear endorses")
	}
	hears("two", "write to carl@example.org")
	if names("bob@example.org") || !names("carl@example.org") {
		t.Error("not what was said after the clear endorses")
	}
}

// Who only lists sessions finds the one that there is after a clear.
func TestCurrent(t *testing.T) {
	client := ClientKeys()
	if client == nil {
		t.Skip("clients cannot be told apart here")
	}
	state, nothing := t.TempDir(), func(string) string { return "" }
	keys := []string{"session:one"}
	if got := CurrentKeys(state, keys, nothing); !slices.Equal(got, keys) {
		t.Errorf("before: %q", got)
	}
	s := begin(t, state, client...)
	s.FollowClient(nothing)
	if err := s.JoinKey("session:one"); err != nil {
		t.Fatal(err)
	}
	if why, err := s.ClearLabels("session:two"); err != nil || why != "" {
		t.Fatal(why, err)
	}
	if got := CurrentKeys(state, keys, nothing); !slices.Contains(got, "session:two") || slices.Contains(got, "session:one") {
		t.Errorf("after: %q", got)
	}
	if got := CurrentKeys(state, keys, func(string) string { return "mine" }); !slices.Equal(got, keys) {
		t.Errorf("of a session that the owner names: %q", got)
	}
}

// What a person has allowed for the session ends with it.
func TestClearedGrants(t *testing.T) {
	state := t.TempDir()
	proxy, other := started(t, state, "session:one"), started(t, state, "session:one")
	hooked(t, state, "one")
	ours, ok := proxy.GrantedLedger().(*Ledger)
	theirs, also := other.GrantedLedger().(*Ledger)
	if !ok || !also || ours == nil || theirs == nil {
		t.Skip("nobody can tell here whether a process runs")
	}
	held := map[uint64]bool{}
	look := func(l *Ledger, own ...gate.Entry) {
		t.Helper()
		since, err := l.Append(own...)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range since {
			if held[e.ID] = true; e.Back {
				delete(held, e.ID)
			}
		}
	}
	seenBy(t, proxy)
	seenBy(t, other)
	look(ours, gate.Entry{ID: 1, At: time.Now()})
	if look(theirs); !held[1] {
		t.Fatal("it is not shared")
	}
	if why := clears(t, state, "two"); why != "" {
		t.Fatal(why)
	}
	if look(theirs); held[1] {
		t.Error("it holds after the clear")
	}
	look(ours, gate.Entry{ID: 2, At: time.Now()})
	if look(theirs); held[1] || !held[2] {
		t.Errorf("after the clear %v hold", held)
	}
}
