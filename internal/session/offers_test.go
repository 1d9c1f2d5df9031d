package session

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

var update = flag.Bool("update", false, "write the table of offers anew")

const offersTable = "testdata/offers.txt"

// Whoever is asked by a starter can answer for the session and for good. The table has what
// is offered for each fixture that a starter asks about, through the gate that judged it.
func TestStartersOfferAnswersThatStick(t *testing.T) {
	slow.Test(t)
	var b strings.Builder
	for _, p := range fixtures.ListProfiles() {
		src, err := fixtures.ComposePolicy(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join("../../fixtures", p.Name)
		found, err := check.FindFixtures(folder)
		if err != nil {
			t.Fatal(err)
		}
		h := offersOf(t, string(src))
		for _, path := range found {
			fx, err := check.ReadFixture(path)
			if err != nil {
				t.Fatal(err)
			}
			if fx.JudgedMessage() != policy.OnCall || *fx.Expected != policy.Prompt {
				continue
			}
			line := h.of(t, fx, p.Name)
			if !strings.HasPrefix(line, "once; session ") || strings.Contains(line, " ;") || strings.Count(line, ";") != 3 {
				t.Errorf("%s: %s", path, line)
			}
			name, _ := filepath.Rel("../../fixtures", path)
			fmt.Fprintf(&b, "%s: %s\n", strings.TrimSuffix(filepath.ToSlash(name), ".json"), line)
		}
	}
	if *update {
		if err := os.WriteFile(offersTable, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(offersTable)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		for i, line := range strings.Split(got, "\n") {
			if was := strings.Split(string(want), "\n"); i >= len(was) || was[i] != line {
				t.Fatalf("the first line that differs (-update writes them anew):\n%s", line)
			}
		}
		t.Fatal("the table has more lines (-update writes it anew)")
	}
}

// offered is one session, and what it last asked.
type offered struct {
	*Session
	asked  *gate.Question
	answer func(gate.Question) gate.Answer
}

func offersOf(t *testing.T, src string) *offered {
	t.Helper()
	o := &offered{}
	o.answer = func(gate.Question) gate.Answer { return gate.Answer{Reply: gate.AllowOnce} }
	s, _, _ := sessions(t, src, func(with *Spec) {
		with.Folders.Home, with.Facts.Cwd = "/home/user", "/home/user/projects/app" // where a proxy starts its server
		var err error
		if with.Policy, err = config.LoadPolicyFor(with.Folders.PolicyFile(), policy.Options{Home: "/home/user"}); err != nil {
			t.Fatal(err)
		}
		with.View = view.Options{Project: "/home/user/projects/app", Home: "/home/user"}
		asks(t, with, "console") // there is somebody to offer it to
		with.Before = func(q gate.Question) (gate.Answer, bool) {
			o.asked = &q
			a := o.answer(q)
			a.Digest, a.Channel = q.Digest, "test"
			return a, true
		}
	})
	o.Session = opened(t, s, Peer{Name: "server"})
	return o
}

// of is what was offered about a fixture, in a line.
func (o *offered) of(t *testing.T, fx check.Fixture, server string) string {
	t.Helper()
	calls, err := fx.ReadCalls(server)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.does(fx.BuildRequest(1), fx.Method, calls); o.asked == nil {
		return "not asked: " + got
	}
	offers, whyNot := o.asking.keeper.Offers(*o.asked)
	var session, always, never []string
	if o.asked.Session {
		for _, of := range view.ForSession(offers) {
			session = append(session, of.Scope)
		}
	}
	for _, of := range offers {
		if of.Allow != "" {
			always = append(always, of.Scope)
		}
		if of.Deny != "" {
			never = append(never, of.Scope)
		}
	}
	line := fmt.Sprintf("once; session %s; always %s; never %s", strings.Join(session, " "), strings.Join(always, " "), strings.Join(never, " "))
	if whyNot != "" {
		line += "; " + whyNot
	}
	return line
}

// does is what becomes of a message.
func (o *offered) does(raw []byte, method string, calls []policy.Call) string {
	done := make(out, 1)
	o.asked = nil
	o.Do(context.Background(), &gate.Exchange{
		Raw: raw, Calls: calls, Out: done,
		Event: event.Event{Kind: event.Decision, Server: calls[0].Server, Method: method, Names: calls[0].Names},
	})
	return <-done
}

// writes is what becomes of a call that writes a file.
func (o *offered) writes(path, content string) string {
	args := fmt.Sprintf(`{"path":%q,"content":%q}`, path, content)
	return o.does([]byte(args), "tools/call", []policy.Call{{
		Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write_file"}, Args: []byte(args),
	}})
}

// An answer that reaches beyond its call under a starter, whose rules look into calls, lets
// the next call through without a question, and not one that carries what they deny.
func TestAnswersStickUnderAStarter(t *testing.T) {
	for name, answer := range map[string]func(o *offered, q gate.Question) (gate.Answer, error){
		"for the session": func(o *offered, q gate.Question) (gate.Answer, error) {
			b, _, err := o.asking.keeper.Bound(t.Context(), q, "folder")
			return gate.Answer{Reply: gate.AllowSession, Bound: b}, err
		},
		"for good": func(o *offered, q gate.Question) (gate.Answer, error) {
			_, err := o.asking.keeper.Write(t.Context(), q, "folder", gate.AllowAlways)
			l, loads := config.LoadPolicyFor(o.All.inForce().Path, policy.Options{Home: "/home/user"})
			if err == nil && loads == nil {
				defer o.All.reloadSessions(l, nil)
			}
			return gate.Answer{Reply: gate.AllowAlways}, errors.Join(err, loads)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := offersOf(t, string(fixtures.FilesystemPolicy))
			o.answer = func(q gate.Question) gate.Answer {
				a, err := answer(o, q)
				if err != nil {
					t.Error(err)
				}
				return a
			}
			if got := o.writes("/home/user/projects/app/a.txt", "a"); got != "forward" || o.asked == nil {
				t.Fatalf("the first: %s, asked: %v", got, o.asked != nil)
			}
			if got := o.writes("/home/user/projects/app/b.txt", "b"); got != "forward" || o.asked != nil {
				t.Errorf("the next: %s, asked: %v", got, o.asked != nil)
			}
			if got := o.writes("/home/user/projects/app/c.txt", "key [clawai:withheld secret 1]"); got == "forward" || o.asked != nil {
				t.Errorf("one with a mark: %s, asked: %v", got, o.asked != nil)
			}
		})
	}
}
