package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// storm has n answerers answer each request at once; it says for each who won
// ("ID BY REPLY"), and whom the others were told of.
func storm(q *queue.Queue, ids []string, n int, name string) (won, told []string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			me := fmt.Sprintf("%s%d", name, i)
			for _, id := range ids {
				r, e := q.Decide(ctx, id, answer(gate.Reply(i%4), me))
				var settled *queue.ResolvedError
				mu.Lock()
				line := fmt.Sprintf("%s %s %d", r.ID, r.Answer.By, r.Answer.Reply)
				switch {
				case e == nil && r.Answer.By == me:
					won = append(won, line)
				case errors.As(e, &settled) && settled.Request.Answer.By != me && settled.Request.Answer.By != "":
					told = append(told, line)
				default:
					err = errors.Join(err, fmt.Errorf("%s: %w", me, e))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return won, told, err
}

func init() {
	roles["storm"] = func(dir string, args []string) error {
		q, err := queue.Open(dir, queue.Options{})
		if err != nil {
			return err
		}
		defer q.Close()
		fmt.Println("ready")
		untilTold()
		won, told, err := storm(q, args[1:], 10, args[0])
		for _, w := range won {
			fmt.Println("won", w)
		}
		for _, s := range told {
			fmt.Println("told", s)
		}
		return err
	}
}

// oneWinner checks that of each request one answer won, and that the proxy and
// all the others know it as the same.
func oneWinner(t *testing.T, tickets []*queue.Ticket, won, told []string, answerers int) {
	t.Helper()
	winner := map[string]string{}
	for _, w := range won {
		id, _, _ := strings.Cut(w, " ")
		if winner[id] != "" {
			t.Errorf("two won: %q and %q", winner[id], w)
		}
		winner[id] = w
	}
	for _, s := range told {
		id, _, _ := strings.Cut(s, " ")
		if winner[id] != s {
			t.Errorf("told of %q, but %q won", s, winner[id])
		}
	}
	if len(winner) != len(tickets) || len(told) != len(tickets)*(answerers-1) {
		t.Errorf("%d won, %d were told", len(winner), len(told))
	}
	for _, ticket := range tickets {
		a, err := ticket.Wait(soon(t))
		if got := fmt.Sprintf("%s %s %d", ticket.ID(), a.By, a.Reply); err != nil || got != winner[ticket.ID()] {
			t.Errorf("the proxy heard %q (%v), but %q won", got, err, winner[ticket.ID()])
		}
	}
}

const questions = 8

func TestFiftyAnswerers(t *testing.T) {
	slow.Test(t)
	p, other, _ := newQueue(t)
	var tickets []*queue.Ticket
	var ids []string
	for range questions {
		tickets = append(tickets, put(t, p, `{}`))
		ids = append(ids, tickets[len(tickets)-1].ID())
	}
	won, told, err := storm(other, ids, 50, "a")
	if err != nil {
		t.Fatal(err)
	}
	oneWinner(t, tickets, won, told, 50)
}

func TestFiftyAnswerersInFiveProcesses(t *testing.T) {
	slow.Test(t)
	p, _, dir := newQueue(t)
	var tickets []*queue.Ticket
	var ids []string
	for range questions {
		tickets = append(tickets, put(t, p, `{}`))
		ids = append(ids, tickets[len(tickets)-1].ID())
	}
	var children []*child
	for i := range 5 {
		c := start(t, "storm", dir, append([]string{fmt.Sprintf("p%d-", i)}, ids...)...)
		c.expect("ready")
		children = append(children, c)
	}
	for _, c := range children {
		fmt.Fprintln(c.in)
	}
	var won, told []string
	for _, c := range children {
		for line := range strings.SplitSeq(c.rest(), "\n") {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "won":
				won = append(won, rest)
			case "told":
				told = append(told, rest)
			default:
				t.Error(line)
			}
		}
	}
	oneWinner(t, tickets, won, told, 50)
}

// The proxy that gives up and a person who answers at the same moment agree on
// who was first.
func TestSettleAgainstAnswer(t *testing.T) {
	slow.Test(t)
	p, other, _ := newQueue(t)
	expired := 0
	for range 60 {
		ticket := put(t, p, `{}`)
		said := answer(gate.AllowOnce, "me")
		var wg sync.WaitGroup
		var decided error
		wg.Go(func() { _, decided = other.Decide(ctx, ticket.ID(), said) })
		a, won, err := ticket.Resolve(ctx, queue.Expired, queue.Answer{}, "nobody answered in time")
		wg.Wait()
		var settled *queue.ResolvedError
		switch {
		case err != nil:
			t.Fatal(err)
		case won && (a != queue.Answer{} || !errors.As(decided, &settled) || settled.Request.Status != queue.Expired):
			t.Errorf("both won: %v, %v", a, decided)
		case !won && (a != said || decided != nil):
			t.Errorf("neither won: %v, %v", a, decided)
		case won:
			expired++
		}
	}
	t.Logf("%d of 60 expired first", expired)
}

// Proxies and answerers come and go at once; each question gets its own answer.
func TestManyProxies(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir() + "/queue"
	answerer := open(t, dir, queue.Options{})
	watched, stop := contextWithCancel(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range answerer.Watch(watched) {
			all, err := answerer.Pending(ctx)
			if err != nil {
				t.Error(err)
			}
			for _, r := range all {
				if _, err := answerer.Decide(ctx, r.ID, answer(gate.AllowOnce, r.ID)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var proxies sync.WaitGroup
	for i := range 10 {
		proxies.Go(func() {
			q, err := queue.Open(dir, queue.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer q.Close()
			for j := range 3 {
				p, err := q.Attach(queue.Session{ID: fmt.Sprintf("s%d-%d", i, j)})
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					ticket, err := p.Put(ctx, write(`{}`))
					if err != nil {
						t.Error(err)
						return
					}
					if a, err := ticket.Wait(soon(t)); err != nil || a.By != ticket.ID() {
						t.Error(a, err)
					}
					if err := ticket.Outcome(ctx, "went on"); err != nil {
						t.Error(err)
					}
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	proxies.Wait()
	stop()
	wg.Wait()
	all, err := answerer.History(ctx, 1000)
	if err != nil || len(all) != 150 {
		t.Fatal(len(all), err)
	}
	for _, r := range all {
		if r.Outcome != "went on" {
			t.Error(r.ID, r.Outcome)
		}
	}
}
