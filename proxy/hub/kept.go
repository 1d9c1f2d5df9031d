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
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The hub keeps a server's lists from one session to the next, so that it starts the server only
// for a call. The kept answers are in the server's own form, as they were before rules changed
// them. A player sends these answers in place of the server. They pass the gate like the server's
// answers, so rules, pins and records treat them in the same way.
//
// The gate judges calls by these lists. So when the real server starts, the hub first compares the
// server's lists with the kept ones. Only then does it send the server any other message.

// Catalogue stores the lists that one server program shows to one sort of client.
type Catalogue interface {
	Load() []byte // returns the contents; nil if there are no contents, or if they cannot be trusted
	Keep(text []byte)
}

// keptFormat is the version of the format of a stored catalogue. listedTo contains this version, so
// that a catalogue with another format is not found.
const keptFormat = 1

// keptAnswers maps a method to the server's answer. The methods are initialize or server/discover,
// and the list methods. The answer to a list method has all the entries on one page. It is empty
// when the server has no such list.
type keptAnswers map[string][]byte

// formatLines returns the answers as text, one line for each method.
func (d keptAnswers) formatLines() (b []byte) {
	for _, method := range slices.Sorted(maps.Keys(d)) {
		b = append(append(append(append(b, method...), ' '), d[method]...), '\n')
	}
	return b
}

func readSaid(text []byte) keptAnswers {
	d := keptAnswers{}
	for line := range strings.Lines(string(text)) {
		if method, result, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			d[method] = []byte(result)
		}
	}
	return d
}

// openingAnswers returns the server's answer to initialize or server/discover.
func (d keptAnswers) openingAnswers() []byte { return append(d["initialize"], d["server/discover"]...) }

// listedTo identifies the client for the catalogue: it returns the parts of the client's
// description of itself on which a server's lists may depend.
func (h *hub) listedTo() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := jsonscan.ValueOf(h.client.params)
	return fmt.Appendf(nil, "%d %t %q %q %q", keptFormat, h.client.meta != nil, h.client.version, p.Member("capabilities"), p.Member("clientInfo"))
}

// openCatalogue returns the store for the lists of the server program that would be started now.
// nil means that the lists are not kept.
func (s *server) openCatalogue() Catalogue {
	if s.Kept == nil {
		return nil
	}
	return s.Kept(s.h.listedTo())
}

// recallList fills the list with its kept answer while the server has not been started. It returns
// false when only the server itself can give the list.
func (l *list) recallList(s *server, k kind) bool {
	c := s.recallConn()
	if c == nil {
		return false
	}
	if _, kept := c.cached[methods[k]]; !kept {
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

// fetchEntries requests a list from the server or from the player and returns the entries. Only the
// server's goroutine may call it.
func (c *conn) fetchEntries(k kind) ([]entry, error) {
	ask := func(_ *conn, k kind, cursor []byte) <-chan frame.Frame {
		answer := make(chan frame.Frame, 1)
		c.requestAnswer(methods[k], c.requestParams(string(cursor)), answer)
		return answer
	}
	return c.server.collectPages(c, k, ask(c, k, nil), ask)
}

// recallConn returns the connection to the player of the kept answers, or nil if nothing was kept.
func (s *server) recallConn() *conn {
	if s.asked {
		return s.kept
	}
	s.asked = true
	var what keptAnswers
	if catalogue := s.openCatalogue(); catalogue != nil {
		what = readSaid(catalogue.Load())
	}
	if what.openingAnswers() == nil {
		return nil
	}
	_ = s.h.o.Gate.NoteEvents(&event.Event{Kind: event.Chatter, Server: s.ID, Code: "kept", Detail: "not started: what it lists is as it was kept"})
	s.kept = newConn(s, newPlayer(what))
	s.kept.recalled, s.kept.cached = true, what
	if s.kept.introduceClient() != nil {
		s.dropRecalled()
	}
	return s.kept
}

// dropRecalled closes the connection to the player. From then on the server itself answers.
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

// compareLists fetches the recalled lists from a newly started server and compares them. It also
// fetches again all other lists that the client has seen. It fails if the server does not answer a
// recalled list, because then the gate cannot judge calls to the server.
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
		answers := s.conn.takeBufferedAnswers(methods[k])
		l.noteOwn(k, answers)
		s.conn.keepList(k, answers)
	}
	return nil
}

// collectAnswers remembers answers in a line of the server. The hub keeps such an answer after the
// gate has let it through. If the server sends several answers to one request, the hub keeps only
// the latest.
func (c *conn) collectAnswers(line []byte) {
	limits := c.server.h.o.Limits
	limits.AllowBatch = true
	f, err := frame.Parse(line, limits)
	if err != nil {
		return
	}
	for one := range f.Messages {
		c.mu.Lock()
		if a := c.asked[string(one.ID)]; one.Kind == frame.Response && a.kept != "" {
			a.came, a.latest = true, bytes.Clone(one.Result)
			c.asked[string(one.ID)] = a
		}
		c.mu.Unlock()
	}
}

// takeBufferedAnswers removes and returns the answers to a method in conn.buffered.
func (c *conn) takeBufferedAnswers(method string) (all [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = c.buffered[method]
	delete(c.buffered, method)
	return all
}

// keepIntroduction stores the server's opening answer in the catalogue. If this answer differs from
// the kept one, the kept lists are dropped.
func (c *conn) keepIntroduction(method string) {
	answers := c.takeBufferedAnswers(method)
	if len(answers) != 1 || c.catalogue == nil {
		return
	}
	c.keeping.Lock()
	defer c.keeping.Unlock()
	before := readSaid(c.catalogue.Load())
	c.cached = keptAnswers{method: answers[0]}
	if bytes.Equal(before.openingAnswers(), answers[0]) {
		c.cached = before
	} else if len(before) > 0 {
		c.catalogue.Keep(c.cached.formatLines())
	}
}

// keepList stores the server's list in the catalogue, if the list is complete and the server has
// not reported a change since.
func (c *conn) keepList(k kind, answers [][]byte) {
	if len(answers) == 0 {
		return
	}
	var list []byte // empty for a server that has no such list
	for _, page := range answers {
		if page == nil && len(answers) > 1 {
			return
		}
		for entry := range jsonscan.ValueOf(page).Member(k.shape().Entries).Elements() {
			list = append(append(list, ','), entry...)
		}
	}
	if answers[0] != nil {
		list = []byte(`{"` + k.shape().Entries + `":[` + strings.TrimPrefix(string(list), ",") + "]}")
	}
	c.keeping.Lock()
	defer c.keeping.Unlock()
	l := &c.server.lists[k] // l is read while c.keeping is held, so that outdateList cannot run at the same time
	l.mu.Lock()
	good := l.fresh && l.why == nil
	l.mu.Unlock()
	if !good {
		return
	}
	if before, kept := c.cached[methods[k]]; c.cached != nil && (!kept || !bytes.Equal(before, list)) {
		c.cached[methods[k]] = list
		c.catalogue.Keep(c.cached.formatLines())
	}
}

// outdateList removes a list from the catalogue, because the server has reported a change of the
// list.
func (c *conn) outdateList(k kind) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	if _, kept := c.cached[methods[k]]; kept {
		delete(c.cached, methods[k])
		c.catalogue.Keep(c.cached.formatLines())
	}
}

// relistAfter is how long the hub waits for the client to request a changed list. After that the
// hub fetches the list itself.
var relistAfter = time.Second

// relistOnce fetches a list once more when the server reports a change right after its start. This
// way the list is kept even if the client does not ask for it.
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

// player is an upstream that gives the kept answers of a server.
type player struct {
	cached keptAnswers
	in     *io.PipeReader
	out    *io.PipeWriter
}

func newPlayer(what keptAnswers) *player {
	in, out := io.Pipe()
	return &player{what, in, out}
}

// Write takes whole lines from a proxy.Writer.
func (p *player) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		f, err := frame.Parse(bytes.TrimSuffix(line, []byte("\n")), frame.DefaultLimits())
		if err != nil || f.Kind != frame.Request {
			continue
		}
		answer := mcp.ErrorLine(f.ID, newError(-32601, "it does not know this"))
		if result := p.cached[f.Method]; len(result) > 0 {
			answer = mcp.ResultLine(f.ID, result)
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
