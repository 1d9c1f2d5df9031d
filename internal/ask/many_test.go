//go:build linux || darwin

package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// many asks everything at once, at the terminal and in the queue, as a proxy
// does; the outcomes come in the order of the questions.
func many(ctx context.Context, o order) int {
	others := goleak.IgnoreCurrent()
	lo := ChainOptions{Risk: func(q gate.Question) bool { return IsDangerous(q, o.Options.View) }}
	lo.Channels = []Channel{NewTerminal(o.options())}
	if o.Queue != "" {
		q, err := queue.Open(o.Queue, queue.Options{Patience: time.Minute})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer q.Close()
		lo.Wait = true
		lo.Queue = NewQueueClient(func() (Enqueuer, error) {
			p, err := q.Attach(queue.Session{ID: "many", Server: "files", PID: os.Getpid()})
			if err != nil {
				return nil, err
			}
			return NewEnqueuer(p), nil
		})
	}
	l := NewChain(lo)
	questions := append([]gate.Question{o.Question}, o.More...)
	outs := make([]outcome, len(questions))
	var all sync.WaitGroup
	for i, q := range questions {
		q.Number, q.Deadline = uint64(i), time.Now().Add(o.Timeout)
		all.Go(func() {
			a, err := l.Ask(ctx, q)
			outs[i] = outcome{Reply: a.Reply, Digest: a.Digest, Channel: a.Channel, Note: a.Note}
			if err != nil {
				outs[i].Err = err.Error()
			}
		})
	}
	all.Wait()
	l.Close()
	if o.Queue == "" {
		if leak := goleak.Find(others); leak != nil {
			outs[0].Err += " LEAK: " + leak.Error()
		}
	}
	for _, out := range outs {
		if json.NewEncoder(os.Stdout).Encode(out) != nil {
			return 2
		}
	}
	return 0
}

// several are five routine calls and one that needs care.
func several() order {
	o := writeCall(`{"path":"/p/0"}`)
	o.Options.View.Project = "/p"
	for i, path := range []string{"/p/1", "/p/2", "/p/3", "/p/4", "/home/user/.ssh/authorized_keys"} {
		q := writeCall(fmt.Sprintf(`{"path":%q}`, path)).Question
		q.Digest[3] = byte(i + 1)
		o.More = append(o.More, q)
	}
	return o
}

func replies(outs []outcome) (words []string) {
	for i, out := range outs {
		word := out.Reply.String()
		if out.Err != "" {
			word = out.Err
		}
		if out.Digest[3] != byte(i) {
			word += " for another"
		}
		words = append(words, word)
	}
	return words
}

// Calls made at once are asked one after the other on the terminal, each in full.
func TestQuestionsTakeTurnsOnTheTerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	s := start(t, several(), 60, 80)
	left := []string{"/p/0", "/p/1", "/p/2", "/p/3", "/p/4", "/home/user/.ssh/authorized_keys"}
	for len(left) > 0 {
		var path string
		s.screen.Wait(20*time.Second, func(shown string) bool {
			i := slices.IndexFunc(left, func(p string) bool { return strings.Contains(shown, `path = "`+p+`"`) })
			if i < 0 || !strings.Contains(shown, "let it through?") || !strings.Contains(shown, "Return answer") {
				return false
			}
			path = left[i]
			left = slices.Delete(left, i, i+1)
			return true
		})
		if path == "/p/1" {
			s.press(down)
			s.see("> Allow once")
		}
		s.press(enter)
	}
	if got := strings.Join(replies(s.outcomes()), ","); got != "deny,once,deny,deny,deny,deny" {
		t.Error(got)
	}
}

// Somebody answers in the queue while the question is on the terminal: the
// question goes, the terminal is as it was, and the other way round.
func TestTheTerminalAndTheQueueRace(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	won := map[string]int{}
	for n := range 12 {
		dir := t.TempDir()
		q, err := queue.Open(dir, queue.Options{Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		o := writeCall(`{"path":"/p/0"}`)
		o.Queue = dir
		s := start(t, o, 24, 80)
		s.see("Return answer")
		pending, err := q.Pending(t.Context())
		if err != nil || len(pending) != 1 || pending[0].Digest != o.Question.Digest {
			t.Fatalf("%d wait in the queue: %v", len(pending), err)
		}
		var both sync.WaitGroup
		if n%3 != 0 {
			both.Go(func() { s.press(down + enter) })
		}
		if n%3 != 1 {
			both.Go(func() {
				_, _ = q.Decide(t.Context(), pending[0].ID, queue.Answer{Reply: gate.DenyOnce, Channel: "console", By: "me"})
			})
		}
		both.Wait()
		out := s.end()
		kept, err := q.Get(t.Context(), pending[0].ID)
		if err != nil || kept.Answer.Channel != out.Channel || kept.Answer.Reply != out.Reply || out.Err != "" || out.Reply.Allows() != (out.Channel == "terminal") {
			t.Errorf("got %s from %s %s; the queue holds %s from %s, %v", out.Reply, out.Channel, out.Err, kept.Answer.Reply, kept.Answer.Channel, err)
		}
		won[out.Channel]++
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
	if won["terminal"] < 4 || won["console"] < 4 {
		t.Errorf("who won: %v", won)
	}
}
