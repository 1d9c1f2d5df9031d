package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// manyCallers is a client with many calls under way at once, each of which goes its
// own way with the form it is given.
type manyCallers struct {
	*harness
	mu      sync.Mutex
	calls   map[string]*retriedCall // by every id it was sent under
	answers map[string]int
	left    sync.WaitGroup
}

type retriedCall struct {
	line, way string
	open      bool
}

// ways is what callers do with their form. Only those that say once may reach
// the server.
var ways = []string{"once", "deny", "twice", "other", "cancel", "withdraw", "empty", "once", "once"}

func (c *manyCallers) call(n int) {
	id := fmt.Sprintf(`"c%d"`, n)
	v := &retriedCall{line: numbered(modernCall(id, "", ""), id), way: ways[rand.IntN(len(ways))], open: true}
	c.mu.Lock()
	c.calls[id] = v
	c.mu.Unlock()
	c.left.Add(1)
	c.client.send(v.line)
}

// numbered is a call with arguments of its own.
func numbered(line, id string) string {
	return strings.Replace(line, `"a":1.50`, `"a":1.50,"n":`+id, 1)
}

// over notes that nothing more is expected for a call. The lock is held.
func (c *manyCallers) over(v *retriedCall) {
	if v.open {
		v.open = false
		c.left.Done()
	}
}

// line is one line the client reads.
func (c *manyCallers) line(line string) {
	id := gjson.Get(line, "id").Raw
	c.mu.Lock()
	v := c.calls[id]
	c.answers[id]++
	state := gjson.Get(line, "result.requestState").Raw
	if v == nil || c.answers[id] > 1 {
		c.t.Errorf("nobody waits for %s", line)
	} else if state == "" && !strings.HasSuffix(id, `-2"`) { // of twice, the second is refused
		c.over(v)
	}
	c.mu.Unlock()
	if state != "" && v != nil {
		// Beside the reading: with both pipes full, the proxy reads on when it is read.
		c.left.Go(func() { c.back(id, state, v) })
	}
}

// back is what the caller does with its form.
func (c *manyCallers) back(id, state string, v *retriedCall) {
	again := func(n int, answer string) (id2, line string) {
		id2 = strings.TrimSuffix(id, `"`) + fmt.Sprintf(`-%d"`, n)
		line = numbered(retry(id2, state, answer, ""), id)
		c.mu.Lock()
		c.calls[id2] = v
		c.mu.Unlock()
		return id2, line
	}
	id2, line := again(1, "once")
	switch v.way {
	case "deny":
		_, line = again(1, "deny")
	case "twice":
		_, second := again(2, "once")
		c.client.send(line, second)
		return
	case "other":
		line = strings.Replace(line, "1.50", "1.51", 1)
	case "empty":
		line = strings.Replace(line, `"accept"`, `"cancel"`, 1)
	case "cancel":
		c.client.send(line, cancel(id2))
		c.mu.Lock()
		c.over(v)
		c.mu.Unlock()
		return
	case "withdraw":
		c.client.send(cancel(id), line)
		return
	}
	c.client.send(line)
}

// Many callers at once, and a server that answers each call it reads: nothing
// reaches it but the calls that were allowed, as they were sent, and once.
func TestACrowdOfCallers(t *testing.T) {
	const many = 60
	patient := func(_ *proxy.Options, g *gate.Options) { g.AskPerMinute = many + 1 }
	c := &manyCallers{harness: newHarness(t, forms, patient), calls: map[string]*retriedCall{}, answers: map[string]int{}}
	done := map[string]int{}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			line, err := c.client.lines.ReadString('\n')
			if err != nil {
				return
			}
			c.line(strings.TrimSuffix(line, "\n"))
		}
	}()
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			line, err := c.server.lines.ReadString('\n')
			if err != nil {
				return
			}
			c.serve(strings.TrimSuffix(line, "\n"), done)
		}
	}()
	for n := range many {
		c.call(n)
	}
	c.left.Wait()
	c.cancel()
	_ = c.end()
	_ = c.client.in.Close()
	<-served
	<-heard
	for id, v := range c.calls {
		if strings.Contains(id, "-") {
			continue
		}
		want := 0
		switch v.way {
		case "once", "twice":
			want = 1
		case "cancel":
			want = done[v.line] // they cross
		}
		if done[v.line] != want || want > 1 {
			t.Errorf("%s: %s reached the server %d times", v.way, id, done[v.line])
		}
	}
}

// serve is one line the server reads.
func (c *manyCallers) serve(line string, done map[string]int) {
	id := gjson.Get(line, "id").Raw
	of := gjson.Get(line, "params.requestId").Raw
	c.mu.Lock()
	v, cancelled := c.calls[id], c.calls[of]
	c.mu.Unlock()
	if gjson.Get(line, "method").Str == "notifications/cancelled" {
		if cancelled == nil || strings.Contains(of, "-") {
			c.t.Errorf("the server knows nothing of %s", line)
		}
		return
	}
	if v == nil || line != v.line {
		c.t.Errorf("the server read what nobody sent: %s", line)
		return
	}
	done[line]++
	_, _ = c.server.out.WriteString(answer(id) + "\n") // at the end nobody listens
}
