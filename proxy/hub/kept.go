package hub

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// What a server lists is kept from one session to the next, so that it is started when it is
// called, and not to be listed. What is kept is what it said, before rules changed anything. A
// connection to that plays the server, and its word crosses the gate as the server's would: no
// rule, pin or record can tell them apart. Before the server that was played is told anything,
// what it lists is compared: a call is judged by that.

// Catalogue is a place for what a server lists when it is started in one way.
type Catalogue interface {
	Load() []byte // nil: nothing that can be trusted
	Keep(text []byte)
}

// keptFormat is of said as a text, and of what it depends on.
const keptFormat = 1

// said is what a server has said to whom it does not know yet, by method: to begin, one result,
// and of each list all entries on one page, nothing where it knows no such list.
type said map[string][]byte

// formatLines gives one line for each.
func (d said) formatLines() (b []byte) {
	for _, method := range slices.Sorted(maps.Keys(d)) {
		b = append(append(append(append(b, method...), ' '), d[method]...), '\n')
	}
	return b
}

func readSaid(text []byte) said {
	d := said{}
	for line := range strings.Lines(string(text)) {
		if method, result, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			d[method] = []byte(result)
		}
	}
	return d
}

// openingAnswers gives how the server began.
func (d said) openingAnswers() []byte { return append(d["initialize"], d["server/discover"]...) }

// listedTo gives what the client says of itself that servers may list by.
func (h *hub) listedTo() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := jsonscan.ValueOf(h.client.params)
	return fmt.Appendf(nil, "%d %t %q %q %q", keptFormat, h.client.meta != nil, h.client.version, p.Member("capabilities"), p.Member("clientInfo"))
}

// openCatalogue gives where what the server lists is kept as it would be started now; nil: nowhere.
func (s *server) openCatalogue() Catalogue {
	if s.Kept == nil {
		return nil
	}
	return s.Kept(s.h.listedTo())
}

// recallList answers a list with what was kept of it, while the server has not been started; false
// when the server has to be asked.
func (l *list) recallList(s *server, k kind) bool {
	c := s.recallConn()
	if c == nil {
		return false
	}
	if _, kept := c.said[words[k].method]; !kept {
		return false
	}
	entries, err := c.fetchEntries(k)
	if err != nil {
		return false
	}
	l.finishFetch(s, k, entries, nil)
	l.recalled = true
	return true
}

// fetchEntries gives what the other side lists, asked for by the server's goroutine.
func (c *conn) fetchEntries(k kind) ([]entry, error) {
	ask := func(_ *conn, k kind, cursor []byte) <-chan frame.Frame {
		answer := make(chan frame.Frame, 1)
		c.requestAnswer(words[k].method, c.requestParams(string(cursor)), answer)
		return answer
	}
	return c.server.collectPages(c, k, ask(c, k, nil), ask)
}

// recallConn gives the connection to what was kept of the server; nil: nothing was.
func (s *server) recallConn() *conn {
	if s.asked {
		return s.kept
	}
	s.asked = true
	var what said
	if catalogue := s.openCatalogue(); catalogue != nil {
		what = readSaid(catalogue.Load())
	}
	if what.openingAnswers() == nil {
		return nil
	}
	_ = s.h.o.Gate.NoteEvents(&event.Event{Kind: event.Chatter, Server: s.ID, Code: "kept", Detail: "not started: what it lists is as it was kept"})
	s.kept = newConn(s, newPlayer(what))
	s.kept.recalled, s.kept.said = true, what
	if s.kept.introduceClient() != nil {
		s.dropRecalled()
	}
	return s.kept
}

// dropRecalled gives up what was kept: the server is to speak for itself from now on.
func (s *server) dropRecalled() {
	s.asked = true
	for k := range s.lists {
		if l := &s.lists[k]; l.recalled {
			l.markStale(false)
		}
	}
	if c := s.kept; c != nil {
		s.kept = nil
		_ = c.up.Close(s.h.ctx)
		c.endConnection("it was started")
	}
}

// compareLists has a server that was started say what was recalled of it, and asks it anew for what
// else the client has seen. A list that does not come leaves it unknown what its calls are.
func (s *server) compareLists() error {
	for k := range s.lists {
		l, k := &s.lists[k], kind(k)
		if !l.recalled {
			l.refetchList(s, k)
			continue
		}
		entries, err := s.conn.fetchEntries(k)
		if err != nil {
			return fmt.Errorf("what it lists cannot be compared with what was kept: %w", err)
		}
		l.mu.Lock()
		l.storeEntries(s, k, entries, nil)
		l.mu.Unlock()
		l.recalled = false
		s.conn.keepList(k, s.conn.takeHeardAnswers(words[k].method))
	}
	return nil
}

// collectAnswers notes what comes in the place of an answer, until that has crossed the gate: one for each
// request, however often its server says something that does not.
func (c *conn) collectAnswers(line []byte) {
	limits := c.server.h.o.Limits
	limits.AllowBatch = true
	f, err := frame.Parse(line, limits)
	if err != nil {
		return
	}
	for _, one := range append(f.Elements, f) {
		c.mu.Lock()
		if a := c.asked[string(one.ID)]; one.Kind == frame.Response && a.kept != "" {
			a.came, a.said = true, bytes.Clone(one.Result)
			c.asked[string(one.ID)] = a
		}
		c.mu.Unlock()
	}
}

// takeHeardAnswers takes the answers that have come to a method since they were taken last.
func (c *conn) takeHeardAnswers(method string) (all [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = c.heard[method]
	delete(c.heard, method)
	return all
}

// keepIntroduction notes how the server has begun. What it listed when it began in another way is not
// kept any longer.
func (c *conn) keepIntroduction(method string) {
	answers := c.takeHeardAnswers(method)
	if len(answers) != 1 || c.catalogue == nil {
		return
	}
	c.keeping.Lock()
	defer c.keeping.Unlock()
	before := readSaid(c.catalogue.Load())
	c.said = said{method: answers[0]}
	if bytes.Equal(before.openingAnswers(), answers[0]) {
		c.said = before
	} else if len(before) > 0 {
		c.catalogue.Keep(c.said.formatLines())
	}
}

// keepList notes what the server has listed, if all of it came and it has not said since that it
// has changed.
func (c *conn) keepList(k kind, answers [][]byte) {
	if len(answers) == 0 {
		return
	}
	var list []byte // nothing, of a server that has no such list
	for _, page := range answers {
		if page == nil && len(answers) > 1 {
			return
		}
		for entry := range jsonscan.ValueOf(page).Member(words[k].member).Elements() {
			list = append(append(list, ','), entry...)
		}
	}
	if answers[0] != nil {
		list = []byte(`{"` + words[k].member + `":[` + strings.TrimPrefix(string(list), ",") + "]}")
	}
	c.keeping.Lock()
	defer c.keeping.Unlock()
	l := &c.server.lists[k] // looked at here: who outdates it meanwhile waits to take it back
	l.mu.Lock()
	good := l.fresh && l.why == nil
	l.mu.Unlock()
	if !good {
		return
	}
	if before, kept := c.said[words[k].method]; c.said != nil && (!kept || !bytes.Equal(before, list)) {
		c.said[words[k].method] = list
		c.catalogue.Keep(c.said.formatLines())
	}
}

// outdateList has a list not kept that the server has said is another by now.
func (c *conn) outdateList(k kind) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	if _, kept := c.said[words[k].method]; kept {
		delete(c.said, words[k].method)
		c.catalogue.Keep(c.said.formatLines())
	}
}

// relistAfter is how long what a server calls changed is left to the client to ask for.
var relistAfter = time.Second

// relistOnce has a list that the server calls changed right after its start listed again, once, so
// that it is kept also for a client that does not ask.
func (c *conn) relistOnce(k kind) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	if c.catalogue == nil || c.relists[k] || time.Since(c.since) > steady {
		return
	}
	c.relists[k] = true
	time.AfterFunc(relistAfter, func() {
		c.server.postJob(job{run: func(on *conn, _ error) {
			if l := &c.server.lists[k]; on == c && l.wasListed() {
				l.fetchList(c.server, k)
			}
		}})
	})
}

// player says what a server has said, as its upstream.
type player struct {
	said said
	in   *io.PipeReader
	out  *io.PipeWriter
}

func newPlayer(what said) *player {
	in, out := io.Pipe()
	return &player{what, in, out}
}

// Write takes whole lines, as a proxy.Writer writes them.
func (p *player) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		f, err := frame.Parse(bytes.TrimSuffix(line, []byte("\n")), frame.DefaultLimits())
		if err != nil || f.Kind != frame.Request {
			continue
		}
		answer := append(append([]byte(`{"jsonrpc":"2.0","id":`), f.ID...), `,"error":{"code":-32601,"message":"it does not know this"}}`...)
		if is := p.said[f.Method]; len(is) > 0 {
			answer = resultLine(&f, is)
		}
		if _, err := p.out.Write(append(answer, '\n')); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (p *player) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *player) Done() <-chan struct{}       { return nil }
func (p *player) Status() string              { return "it was not started" }
func (p *player) Close(context.Context) error { return p.out.Close() }
