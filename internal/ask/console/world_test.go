package console

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/termtest"
	"github.com/clawai/clawai/policy"
)

// glass is a terminal that is an emulator and a channel of keys.
type glass struct {
	*termtest.Emulator
	keys   chan string
	sizes  chan [2]int
	size   [2]int // width, height
	cooked bool   // Lines was called last
}

func newGlass(width, height int) *glass {
	return &glass{
		Emulator: termtest.New(height, width), keys: make(chan string), sizes: make(chan [2]int), size: [2]int{width, height},
	}
}

// Write ends lines as a terminal in the mode of Keys does.
func (g *glass) Write(p []byte) (int, error) {
	g.Emulator.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), nil
}

func (g *glass) Recheck() error                     { return nil }
func (g *glass) Keys() error                        { g.cooked = false; return nil }
func (g *glass) Lines() error                       { g.cooked = true; return nil }
func (g *glass) Size() (width, height int, _ error) { return g.size[0], g.size[1], nil }

func (g *glass) Resized(ctx context.Context, changed func(w, h int)) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-g.sizes:
			changed(s[0], s[1])
		}
	}
}

func (g *glass) ReadContext(ctx context.Context, p []byte) (int, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case s := <-g.keys:
		return copy(p, s), nil
	}
}

// desk is a console with a person before it, in a bubble whose time is ours.
type desk struct {
	*testing.T
	q      *memory
	glass  *glass
	stop   context.CancelCauseFunc
	ended  chan struct{}
	result Result
	err    error
}

// sit opens the console and runs the test; the console is left at its end.
func sit(t *testing.T, width, height int, o Options, test func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		o.Queue, o.By, o.Color = q, "ada", true
		d := &desk{
			T: t, q: q, ended: make(chan struct{}),
			glass: newGlass(width, height),
		}
		d.glass.Colors = true
		ctx, stop := context.WithCancelCause(t.Context())
		d.stop = stop
		go func() {
			defer close(d.ended)
			time.Sleep(time.Millisecond) // the test puts what waits at first
			d.result, d.err = Run(ctx, d.glass, o)
		}()
		test(d)
		d.stop(nil)
		<-d.ended
		if err := d.glass.Complaint(); err != nil {
			t.Error(err)
		}
		if !d.glass.cooked {
			t.Error("the terminal was left in raw mode")
		}
	})
}

// pass lets time go on until everybody waits again.
func (d *desk) pass(t time.Duration) { time.Sleep(t); synctest.Wait() }

// see waits until the screen shows every text; see and press take no time at
// all for the console's clock beyond a frame or two.
func (d *desk) see(texts ...string) {
	d.Helper()
	for range 200 {
		synctest.Wait()
		if !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(d.glass.Text(), s) }) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.Fatalf("not seen: %q\n%s", texts, d.glass.Text())
}

// never fails when a text is on the screen.
func (d *desk) never(texts ...string) {
	d.Helper()
	d.pass(50 * time.Millisecond)
	for _, s := range texts {
		if strings.Contains(d.glass.Text(), s) {
			d.Errorf("seen: %q\n%s", s, d.glass.Text())
		}
	}
}

// press types key after key, at once.
func (d *desk) press(keys ...string) {
	d.Helper()
	for _, k := range keys {
		d.glass.keys <- k
		synctest.Wait()
	}
}

// ready is when keys answer.
func (d *desk) ready() { d.pass(400 * time.Millisecond) }

// answer types when keys answer, one after the other in a person's time.
func (d *desk) answer(keys ...string) {
	d.Helper()
	for _, k := range keys {
		d.ready()
		d.press(k)
	}
}

func (d *desk) resize(width, height int) {
	d.glass.Resize(height, width)
	d.glass.sizes <- [2]int{width, height}
}

const (
	up     = "\x1b[A"
	down   = "\x1b[B"
	pgdown = "\x1b[6~"
	end    = "\x1b[F"
	enter  = "\r"
	esc    = "\x1b"
)

// request is one routine question about a tool call, n-th in time.
func request(n int, server, tool, args string) queue.Request {
	now := time.Now()
	return queue.Request{
		ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Session: "s1",
		Created: now.Add(time.Duration(n) * time.Millisecond), Deadline: now.Add(45 * time.Second),
		Server: server, Client: "some-client 1.2", Project: "/home/ada/work", Risk: "routine", Lasting: true,
		Calls: []policy.Call{{
			Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(args),
		}},
		Rule: policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: "policy.toml", Line: 7}, Description: "Ask first"},
	}
}

func id(n int) string { return request(n, "", "", "").ID }

func said(q *memory, n int) gate.Reply { return q.get(id(n)).Answer.Reply }
