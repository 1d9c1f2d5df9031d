package console

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

// paper is a terminal that prints line after line.
type paper struct {
	mu    sync.Mutex
	out   strings.Builder
	lines chan string
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *paper) Flush() error { return nil }

func (p *paper) ReadLine(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case s, ok := <-p.lines:
		if !ok {
			return "", io.EOF
		}
		return s, nil
	}
}

// reading is a plain console with a person before it.
type reading struct {
	*testing.T
	q      *memory
	paper  *paper
	seen   int
	ended  chan struct{}
	result Result
	err    error
}

func dictate(t *testing.T, o Options, test func(r *reading)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		r := &reading{T: t, q: q, paper: &paper{lines: make(chan string)}, ended: make(chan struct{})}
		o.Queue, o.By = q, "ada"
		ctx, stop := context.WithCancel(t.Context())
		defer func() {
			stop()
			<-r.ended
		}()
		go func() {
			defer close(r.ended)
			time.Sleep(time.Millisecond) // the test puts what waits at first
			r.result, r.err = RunPlain(ctx, r.paper, o)
		}()
		test(r)
	})
}

// hears gives what was printed since, and demands texts in it.
func (r *reading) hears(texts ...string) string {
	r.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	r.paper.mu.Lock()
	defer r.paper.mu.Unlock()
	said := r.paper.out.String()[r.seen:]
	r.seen = r.paper.out.Len()
	for _, s := range texts {
		if !strings.Contains(said, s) {
			r.Errorf("not said: %q in\n%s", s, said)
		}
	}
	return said
}

func (r *reading) says(line string) { r.paper.lines <- line }

func TestPlainAnswers(t *testing.T) {
	for word, want := range map[string]gate.Reply{
		"allow": gate.AllowOnce, "session": gate.AllowSession, "deny": gate.DenyOnce, "": gate.DenyOnce,
	} {
		t.Run(word, func(t *testing.T) {
			dictate(t, Options{}, func(r *reading) {
				r.q.put(request(1, "files", "write_file", `{"path":"a"}`))
				r.hears("1 waiting:", "  1  0:45 left  files wants to write a", "Number of the request")
				r.says("1")
				r.hears(`tool       "write_file"`, `path = "a"`, "  deny ", "  allow ", "  session ", "  skip ", "Return alone")
				r.says(word)
				time.Sleep(100 * time.Millisecond)
				r.q.outcome(id(1), "what became of it")
				r.hears(AnswerText(queue.Answer{Reply: want})+": what became of it", "Nothing waits for an answer.")
				if said(r.q, 1) != want || r.q.get(id(1)).Answer.By != "ada" {
					t.Errorf("got %+v", r.q.get(id(1)).Answer)
				}
				r.says("q")
				<-r.ended
				if r.err != nil {
					t.Error(r.err)
				}
			})
		})
	}
}

func TestPlainSessionAsksHowFar(t *testing.T) {
	for word, want := range map[string]queue.Answer{
		"folder": {Reply: gate.AllowSession, Scope: "folder"}, "exact": {Reply: gate.AllowSession, Scope: "exact"}, "": {}, "deny": {},
	} {
		t.Run(word, func(t *testing.T) {
			dictate(t, Options{}, func(r *reading) {
				req := request(1, "files", "write_file", `{"path":"a"}`)
				req.Offers = []view.Offer{{Scope: "folder", Title: "below a", Session: "Edit files below a"}}
				r.q.put(req)
				r.hears("1 waiting:")
				r.says("1")
				r.hears("  session ", "Allow for this session…")
				r.says("session")
				r.hears("allow how much, until the session ends?", "folder", "Edit files below a", "This exact call", "Return alone")
				r.says(word)
				time.Sleep(100 * time.Millisecond)
				r.q.outcome(id(1), "what became of it")
				r.hears(AnswerText(want) + ": what became of it")
				if a := r.q.get(id(1)).Answer; a.Reply != want.Reply || a.Scope != want.Scope {
					t.Errorf("got %+v", a)
				}
				r.says("q")
				<-r.ended
			})
		})
	}
}

func TestPlainTakesNoOtherWord(t *testing.T) {
	dictate(t, Options{}, func(r *reading) {
		none := request(1, "files", "write_file", `{}`)
		none.Lasting = false
		r.q.put(none)
		r.hears("1 waiting:")
		r.says("7")
		r.hears(`"7" is not a number of a request.`, "1 still waiting.")
		r.says("1")
		if s := r.hears("  deny ", "  allow ", "  skip "); strings.Contains(s, "  session ") {
			r.Errorf("said %q", s)
		}
		r.says("yes\x1b[2J")
		r.hears(`"yes\u{1b}[2J" is not an answer; nothing was answered.`)
		r.says("session")
		r.hears("cannot hold for this call")
		r.says("skip")
		r.hears("1 still waiting.")
		if r.q.decides > 0 {
			t.Error("answered")
		}
		close(r.paper.lines) // the input ends
		<-r.ended
		if r.err != nil || r.result.Answered {
			t.Errorf("got %+v, %v", r.result, r.err)
		}
	})
}

func TestPlainAsksAgainForDangerousOnes(t *testing.T) {
	dictate(t, Options{}, func(r *reading) {
		r.q.put(risky(1, "run"))
		r.hears("DANGEROUS  ")
		for _, c := range []struct{ word, after string }{{"y", "Nothing was answered."}, {"", "Nothing was answered."}, {"yes", "allowed once"}} {
			r.says("1")
			r.hears("careful    ")
			r.says("allow")
			r.hears("DANGEROUS. Really allow it", "yes      Yes, allow it")
			r.says(c.word)
			time.Sleep(outcomeWait)
			r.hears(c.after)
		}
		if said(r.q, 1) != gate.AllowOnce {
			t.Errorf("got %+v", r.q.get(id(1)).Answer)
		}
	})
}

// Numbers stay with their requests, and what comes and goes is told while the
// person thinks.
func TestPlainIsLive(t *testing.T) {
	dictate(t, Options{}, func(r *reading) {
		r.q.put(request(1, "files", "one", `{}`))
		r.q.put(request(2, "files", "two", `{}`))
		r.hears("2 waiting:", "  2  0:45 left  files wants to call two")
		r.q.settle(id(1), queue.Expired, queue.Answer{}, "")
		r.q.put(request(3, "files", "three", `{}`))
		r.hears("2 waiting:", `  2  0:4`, `  3  0:4`, "call three")
		r.says("1")
		r.hears("too late: it expired at")
		r.says("2")
		r.hears(`tool       "two"`)
		r.q.put(request(4, "files", "four", `{}`)) // does not disturb the question
		if s := r.hears(); s != "" {
			t.Errorf("said %q", s)
		}
		r.q.settle(id(2), queue.Denied, queue.Answer{Channel: "web", By: "bob"}, "")
		r.hears("too late: it was denied at", "by web (bob)", "call four")
		if r.q.decides > 0 {
			t.Error("answered")
		}
	})
}

func TestPlainOne(t *testing.T) {
	dictate(t, Options{Only: id(1)}, func(r *reading) {
		var lines strings.Builder
		for n := range 400 {
			fmt.Fprintf(&lines, `line %d\n`, n)
		}
		r.q.put(request(1, "files", "one", `{"content":"`+lines.String()+`TAIL"}`))
		r.hears(`tool       "one"`, "more lines are not shown yet; type \"more\"", "  skip ")
		for range 20 {
			r.says("more")
			if strings.Contains(r.hears(), "TAIL") {
				break
			}
		}
		r.says("allow")
		<-r.ended
		if r.err != nil || !r.result.Answered || !strings.Contains(ResultText(r.result.Request), "not known yet") {
			t.Errorf("got %+v, %v", r.result, r.err)
		}
	})
}

func TestPlainOnce(t *testing.T) {
	dictate(t, Options{Once: true}, func(r *reading) {
		<-r.ended
		r.hears("Nothing waits for an answer.")
		if r.err != nil || r.result.Answered {
			t.Errorf("got %+v, %v", r.result, r.err)
		}
	})
}

func TestPlainHostileCalls(t *testing.T) {
	for _, c := range viewtest.Cases() {
		dictate(t, Options{Only: id(1)}, func(r *reading) {
			req := request(1, c.Calls[0].Server, "", "")
			req.Calls = c.Calls
			r.q.put(req)
			var all strings.Builder
			for {
				s := r.hears("clawai asks: let ")
				shown := s[:strings.LastIndex(s, "clawai asks")]
				all.WriteString(strings.TrimSuffix(shown, "DANGEROUS. "))
				if !strings.Contains(s, `type "more" for them`) {
					break
				}
				r.says("more")
			}
			viewtest.Check(t, c, all.String())
		})
	}
}
