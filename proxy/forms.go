package proxy

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// forms is the client as somebody who can be asked, and what it was asked. The
// table guards it.
type forms struct {
	client mcp.Client       // who introduced itself, if its version has elicitation
	mark   string           // begins every id and every requestState of ours; "" before the first
	n      int              // how many there were
	away   map[string]*call // by requestState: callers that have not returned
}

// form is the question that a caller was given in place of its answer (MCP
// 2026-07-28 basic/patterns/mrtr).
type form struct {
	*asking
	state  string
	params []byte        // of the call: the retry must have the same
	back   *caller       // the retry; nil while the caller is away
	here   chan struct{} // closed when it is back
}

// next is a word that nobody can guess and that no other session uses: an id or
// a requestState of ours.
func (fs *forms) next() string {
	if fs.mark == "" {
		fs.mark = "clawai-" + rand.Text() + "-"
	}
	fs.n++
	return fs.mark + rand.Text() + "-" + strconv.Itoa(fs.n)
}

// ours reports the token of a word that next made, as an idKey.
func (fs *forms) ours(key string) bool {
	return fs.mark != "" && strings.HasPrefix(key, `"`+fs.mark)
}

// over ends a call's form: what still comes for it is too late.
func (fs *forms) over(s *side, c *call) {
	delete(fs.away, c.form.state)
	if back := c.form.back; back != nil && s.calls[back.key] == c {
		delete(s.calls, back.key)
	}
}

// to is whom to answer for c, if anybody is there. The table is locked.
func (c *call) to() (caller, bool) {
	switch {
	case c.form == nil:
		return c.caller, true
	case c.form.back == nil:
		return caller{}, false
	}
	return *c.form.back, true
}

// stale reports an id that c's caller no longer waits under.
func (c *call) stale(key string) bool {
	return c.form != nil && c.form.back != nil && c.form.back.key != key
}

// renewed notes what a caller calls its progress token since it returned.
func (s *side) renewed(c *call, to caller) {
	if c.form == nil {
		if s.renew != nil {
			delete(s.renew, c.report) // of a call that had the same token
		}
		return
	}
	if s.renew == nil {
		s.renew = make(map[string][]byte)
	}
	s.renew[c.report] = to.token
}

// introduce notes who the client is, once the version is settled.
func (t *table) introduce(c mcp.Client, version string) {
	c.Form = c.Form && mcp.HasElicitation(version)
	t.mu.Lock()
	t.forms.client = c
	t.mu.Unlock()
}

// client is who introduced itself.
func (t *table) client() mcp.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.client
}

// caller is whom to answer for c now, if anybody is there.
func (t *table) caller(c *call) (caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return c.to()
}

// ask reserves the id of a request of ours.
func (t *table) ask(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.key = `"` + t.forms.next() + `"`
	c.id = []byte(c.key)
	t.side(c.from).keep(c.key, c)
}

// sendAway notes that c's caller is about to get a form; false when it expects
// no answer any more, or has had one.
func (t *table) sendAway(c *call, f *form) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.withdrawn || c.settled || c.form != nil || t.side(c.from).calls[c.key] != c {
		return false
	}
	f.state = t.forms.next()
	c.form = f
	if t.forms.away == nil {
		t.forms.away = make(map[string]*call)
	}
	t.forms.away[f.state] = c
	return true
}

// settled notes that c's question is: its caller gets no form any more. For one
// that was given a form, the channel is closed when it has returned.
func (t *table) settled(c *call) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.settled = true
	if c.form == nil {
		return nil
	}
	return c.form.here
}

// ours reports a requestState that is one of ours, whether or not anybody
// still waits for it.
func (t *table) ours(state []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.ours(frame.IDKey(state))
}

// left is the call whose caller was given this requestState and has not
// returned; nil when there is none, or no longer.
func (t *table) left(state []byte) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.away[strings.Trim(frame.IDKey(state), `"`)]
}

// comeBack notes that c's caller has returned and waits under another id; why
// says that it cannot: its question is over (lateForm), the id is taken.
func (t *table) comeBack(c *call, to caller) (why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.side(c.from)
	switch {
	case t.forms.away[c.form.state] != c, c.withdrawn:
		return lateForm
	case s.calls[to.key] != nil:
		return takenID
	}
	delete(t.forms.away, c.form.state)
	c.form.back = &to
	s.keep(to.key, c)
	close(c.form.here)
	return ""
}

func (s *side) keep(key string, c *call) {
	if s.calls == nil {
		s.calls, s.tokens = make(map[string]*call), make(map[string]int)
	}
	s.calls[key] = c
	s.most = max(s.most, len(s.calls))
}

// sentAs is the id under which the other side knows a request, nil when it is
// the caller's own.
func (t *table) sentAs(from mcp.Direction, key string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.side(from).calls[key]; c != nil && c.key != key {
		return c.id
	}
	return nil
}
