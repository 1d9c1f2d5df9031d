package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// running is a policy and its layers as a running proxy has them.
type running struct {
	*house
	w    *watcher
	mu   sync.Mutex
	told []news
	now  *policy.Policy // in force
}

// run watches files in a bubble, in which hours are over at once. texts are those of
// the owner and, if there is a second one, of the organisation.
func run(t *testing.T, body func(r *running), texts ...string) {
	t.Helper()
	h := newHouse(t)
	write(t, h.policy, texts[0])
	if len(texts) > 1 {
		write(t, h.org, texts[1])
	}
	from, err := h.layers.Load(h.policy, policy.Options{})
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		r := &running{house: h, now: from.Policy}
		r.w = &watcher{good: from, own: &Edits{}, widenDelay: widenDelay, pollUnwatched: 20 * time.Millisecond, tell: func(l *Loaded, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			n := news{err: err}
			if l != nil {
				n.text, n.note, r.now = string(l.Source), strings.Join(l.News, "\n"), l.Policy
			}
			r.told = append(r.told, n)
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.w.run(ctx)
		r.wants(2*soon, 0)
		body(r)
	})
}

// wants lets time go by and compares the answer for the tool "write", and how many
// changes were told of.
func (r *running) wants(after time.Duration, told int, want ...policy.Action) {
	r.t.Helper()
	time.Sleep(after)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.now.Decide(&policy.Call{Subject: policy.ToolSubject, Names: []string{"write"}}).Action
	if len(want) > 0 && got != want[0] {
		r.t.Errorf("after %s: %v, want %v", after, got, want[0])
	}
	if len(r.told) != told {
		r.t.Errorf("after %s told %+v, want %d", after, r.told, told)
	}
}

const soon, late = quietDelay + 30*time.Millisecond, widenDelay + quietDelay + 30*time.Millisecond

// A person who saves a file in two writes has a half-written one in between: of
// that, what tightens may hold and what loosens must not.
func TestWhatLoosensWaits(t *testing.T) {
	run(t, func(r *running) {
		write(t, r.policy, allow[:len(allow)/2]) // does not load
		r.wants(soon, 1, policy.Deny)
		write(t, r.policy, allow)
		r.wants(widenDelay/2, 1, policy.Deny)
		write(t, r.policy, ask+allow)
		r.wants(widenDelay/2, 1, policy.Deny)
		r.wants(widenDelay/2+soon, 2, policy.Prompt)
		write(t, r.policy, deny+ask+allow) // tightens
		r.wants(soon, 3, policy.Deny)
		write(t, r.policy, allow)
		r.wants(soon, 3, policy.Deny)
		r.wants(late, 4, policy.Allow)
	}, deny+allow)
}

// What an answer of a person writes was written whole.
func TestEditsOfOurOwnDoNotWait(t *testing.T) {
	run(t, func(r *running) {
		r.w.own.NoteEdit([]byte(ask), []byte(allow+ask))
		r.w.own.NoteEdit([]byte(allow+ask), []byte(allow+allow+ask))
		write(t, r.policy, allow+allow+ask)
		r.wants(soon, 1, policy.Allow)
		write(t, r.policy, deny)
		r.wants(late, 2, policy.Deny)
		r.w.own.NoteEdit([]byte(ask), []byte(allow)) // from another text than the one in force
		write(t, r.policy, allow)
		r.wants(soon, 2, policy.Deny)
	}, ask)
}

func TestTheEndMark(t *testing.T) {
	slow.Test(t)
	const end = "# end\n"
	run(t, func(r *running) {
		for _, part := range []string{"", allow, allow + "# en", allow + "# end of the first half"} {
			write(t, r.policy, part)
			r.wants(10*widenDelay, 1, policy.Deny)
		}
		if !strings.Contains(r.told[0].err.Error(), `its last line is not "# end" any more`) {
			t.Error(r.told[0].err)
		}
		write(t, r.policy, allow+end+"\n \n")
		r.wants(soon, 2, policy.Allow) // it is whole: nothing to wait for
		write(t, r.policy, ask)
		r.wants(10*widenDelay, 3, policy.Allow)
		must(t, ConfirmPolicy(r.layers.State, r.policy, []byte(ask)))
		r.wants(soon, 4, policy.Prompt)
	}, deny+end)
}

// A layer is not for the agent, nor for a slip, to take away.
func TestALayerThatLosesRulesStays(t *testing.T) {
	slow.Test(t)
	rename := func(t *testing.T, from, to string) { must(t, os.Rename(from, to)) }
	for name, take := range map[string]func(t *testing.T, org string){
		"emptied":          func(t *testing.T, org string) { write(t, org, "") },
		"cut":              func(t *testing.T, org string) { write(t, org, ask) },
		"cut within":       func(t *testing.T, org string) { write(t, org, strings.Replace(deny, "w*", "wri", 1)+ask) },
		"removed":          func(t *testing.T, org string) { must(t, os.Remove(org)) },
		"moved":            func(t *testing.T, org string) { rename(t, org, org+"~") },
		"its folder moved": func(t *testing.T, org string) { rename(t, filepath.Dir(org), filepath.Dir(org)+"~") },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(r *running) {
				take(t, r.org)
				r.wants(soon, 1, policy.Deny)
				r.wants(10*widenDelay, 1, policy.Deny)
				if n := r.told[0]; n.err != nil || !strings.Contains(n.note, "its last good text stays in force") || !strings.Contains(n.note, "clawai policy trust ") {
					t.Errorf("told %+v", n)
				}
				write(t, r.policy, ask+allow) // the owner's own edits hold beside it
				r.wants(late, 2, policy.Deny)
				now, err := os.ReadFile(r.org)
				if err != nil {
					now = nil
				}
				must(t, ConfirmPolicy(r.layers.State, r.org, now))
				r.wants(late, 3, policy.Prompt)
			}, allow, deny+ask)
		})
	}
}

func TestALayerThatGainsRules(t *testing.T) {
	run(t, func(r *running) {
		write(t, r.org, ask)
		r.wants(soon, 0, policy.Allow) // it may still be written
		r.wants(late, 1, policy.Prompt)
		write(t, r.org, strings.Replace(deny, "w*", "*", 1)+ask) // cut within would be a rule to lose
		r.wants(widenDelay/2, 1, policy.Prompt)
		write(t, r.org, deny+ask)
		r.wants(late, 2, policy.Deny)
		write(t, r.org, "[[rule]]\naction = \"allow\"\ntool = \"write\"\n"+deny+ask) // an exception
		r.wants(soon, 2, policy.Deny)
		r.wants(late, 3, policy.Allow)
		write(t, r.org, bad)
		r.wants(late, 4, policy.Allow)
	}, allow)
}

// What the owner trusted stays when the list of it is lost, and goes when he says so.
func TestATrustedProjectStays(t *testing.T) {
	h := newHouse(t)
	must(t, TrustProject(h.layers.State, h.project, []byte(deny), time.Now()))
	text, err := os.ReadFile(trustPath(h.layers.State))
	must(t, err)
	run(t, func(r *running) {
		must(t, TrustProject(r.layers.State, r.project, []byte(deny), time.Now()))
		r.wants(late, 1, policy.Deny)
		must(t, os.Remove(trustPath(r.layers.State)))
		r.wants(late, 2, policy.Deny)
		must(t, os.WriteFile(trustPath(r.layers.State), text[:len(text)/2], 0o600))
		r.wants(late, 3, policy.Deny)
		must(t, os.Remove(trustPath(r.layers.State)))
		must(t, TrustProject(r.layers.State, r.project, []byte(ask), time.Now()))
		r.wants(late, 4, policy.Prompt)
		_, err := DistrustProject(r.layers.State, r.project)
		must(t, err)
		r.wants(late, 5, policy.Allow)
	}, allow)
}

func TestConfirmationsThatCannotBeReadConfirmNothing(t *testing.T) {
	run(t, func(r *running) {
		must(t, os.Remove(r.org))
		r.wants(late, 1, policy.Deny)
		must(t, ConfirmPolicy(r.layers.State, r.org, nil))
		path := confirmPath(r.layers.State)
		must(t, os.Chmod(path, 0o666))
		r.wants(late, 1, policy.Deny)
		must(t, os.WriteFile(path, []byte("{"), 0o600))
		must(t, os.Chmod(path, 0o600))
		r.wants(late, 1, policy.Deny)
	}, allow, deny)
}

// A layer that only time begins and ends goes as it came: nobody has to confirm that.
func TestALapseComesAndGoes(t *testing.T) {
	h := newHouse(t)
	flag := filepath.Join(filepath.Dir(h.policy), "reached")
	lapsed := false
	h.layers.Lapse = func() (Lapse, error) {
		l := Lapse{Path: filepath.Join(filepath.Dir(h.policy), "offline"), Watch: flag}
		if lapsed {
			l.Text = []byte(deny + "# end\n")
		}
		return l, nil
	}
	h.wants(policy.Allow, "")
	lapsed = true
	h.wants(policy.Deny, "")
	_, from := h.says()
	for _, path := range from.Files() {
		if filepath.Base(path) == "offline" {
			t.Errorf("%s is no file", path)
		}
	}
	lapsed = false
	above, err := h.layers.readLayers(new(walk))
	must(t, err)
	if next, loosens, err := from.reloadPolicy(from.Source, above, nil); err != nil || loosens || next.Policy.Decide(&policy.Call{Subject: policy.ToolSubject, Names: []string{"write"}}).Action != policy.Allow {
		t.Errorf("the end of a lapse: %v, %v", loosens, err)
	}
	found := false
	for _, p := range above.paths {
		found = found || len(p.entries) == 1 && p.entries[0] == flag
	}
	if !found {
		t.Error("the file that ends it is not watched")
	}
}

// Two files of the organisation count, each.
func TestTwoFilesOfTheOrganisation(t *testing.T) {
	h := newHouse(t)
	second := filepath.Join(filepath.Dir(h.policy), "second.toml")
	h.layers.Org = append(h.layers.Org, second)
	write(t, second, ask)
	h.wants(policy.Prompt, "")
	write(t, h.org, deny)
	h.wants(policy.Deny, "")
	write(t, second, bad)
	if _, err := h.layers.Load(h.policy, policy.Options{}); err == nil || !strings.Contains(err.Error(), second) {
		t.Errorf("%v", err)
	}
}
