package proxy

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// forms holds what the client sent in initialize, and the forms that the client was given. The
// table's mutex guards it.
type forms struct {
	client        mcp.Client          // the client that sent initialize; Form is set only if the negotiated version has elicitation
	prefix        string              // prefix of every id and every requestState that the proxy issues; "" until one is issued
	count         int                 // number of tokens issued
	awaitingRetry map[string]*request // requests whose callers got a form and have not sent their retry, by requestState
}

// form is the question that a caller got in place of its answer (MCP 2026-07-28
// basic/patterns/mrtr).
type form struct {
	*elicitation
	state    string        // the requestState that the proxy issued with the form
	params   []byte        // params of the call: the retry must have the same
	retry    *caller       // the retry; nil while the caller is away
	returned chan struct{} // closed when the caller has sent its retry
}

// newToken returns a new id or requestState. Nobody can guess it, and no other session uses it.
func (fs *forms) newToken() string {
	if fs.prefix == "" {
		fs.prefix = "clawai-" + rand.Text() + "-"
	}
	fs.count++
	return fs.prefix + rand.Text() + "-" + strconv.Itoa(fs.count)
}

// isIssuedToken reports whether newToken made this token. key is the token as a frame.IDKey.
func (fs *forms) isIssuedToken(key string) bool {
	return fs.prefix != "" && strings.HasPrefix(key, `"`+fs.prefix)
}

// removeForm ends the form of a request: a later retry is refused as too late.
func (fs *forms) removeForm(p *pending, req *request) {
	delete(fs.awaitingRetry, req.form.state)
	if back := req.form.retry; back != nil && p.requests[back.key] == req {
		delete(p.requests, back.key)
	}
}

// currentCaller returns the caller that gets the answer to req, and false if that caller is away:
// it got a form and has not sent its retry. The table must be locked.
func (req *request) currentCaller() (caller, bool) {
	switch {
	case req.form == nil:
		return req.caller, true
	case req.form.retry == nil:
		return caller{}, false
	}
	return *req.form.retry, true
}

// isStale reports whether req's caller no longer waits under this id.
func (req *request) isStale(key string) bool {
	return req.form != nil && req.form.retry != nil && req.form.retry.key != key
}

// renameToken stores the progress token of the caller's retry, which replaces the token of the
// first request.
func (p *pending) renameToken(req *request, to caller) {
	if req.form == nil {
		delete(p.newTokens, req.progressKey) // an earlier call may have had the same token
		return
	}
	p.newTokens[req.progressKey] = to.token
}

// setClient stores what the client sent in initialize, after the version has been negotiated.
func (t *table) setClient(c mcp.Client, version string) {
	c.Form = c.Form && mcp.HasElicitation(version)
	t.mu.Lock()
	t.forms.client = c
	t.mu.Unlock()
}

// clientInfo returns the client that sent initialize.
func (t *table) clientInfo() mcp.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.client
}

// findCaller returns the caller that gets the answer to req now, and false if that caller is
// away.
func (t *table) findCaller(req *request) (caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return req.currentCaller()
}

// addElicitation issues an id for a request of the proxy and adds the request to those in flight.
func (t *table) addElicitation(req *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	req.key = `"` + t.forms.newToken() + `"`
	req.id = []byte(req.key)
	t.pendingRequests(req.from).addRequest(req.key, req)
}

// addForm notes that req's caller is about to get a form. It returns false when the caller expects
// no answer or no form any more, or has already got a form.
func (t *table) addForm(req *request, f *form) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req.withdrawn || req.formClosed || req.form != nil || t.pendingRequests(req.from).requests[req.key] != req {
		return false
	}
	f.state = t.forms.newToken()
	req.form = f
	t.forms.awaitingRetry[f.state] = req
	return true
}

// closeForm notes that req's question is over: its caller gets no form any more. If the caller has
// got a form, the returned channel is closed when the caller has sent its retry; otherwise
// closeForm returns nil.
func (t *table) closeForm(req *request) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	req.formClosed = true
	if req.form == nil {
		return nil
	}
	return req.form.returned
}

// issuedState reports whether this proxy issued the requestState. The form that it belongs to may
// be over.
func (t *table) issuedState(state []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.isIssuedToken(frame.IDKey(state))
}

// awaitingRetry returns the request whose caller was given this requestState and has not sent its
// retry yet; nil if there is none.
func (t *table) awaitingRetry(state []byte) *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.awaitingRetry[strings.Trim(frame.IDKey(state), `"`)]
}

// addRetry notes that req's caller has sent its retry and waits under another id. why is "" on
// success; otherwise the question is over (codeLateForm) or the id is in use (codeDuplicateID).
func (t *table) addRetry(req *request, to caller) (why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(req.from)
	switch {
	case t.forms.awaitingRetry[req.form.state] != req, req.withdrawn:
		return codeLateForm
	case p.requests[to.key] != nil:
		return codeDuplicateID
	}
	delete(t.forms.awaitingRetry, req.form.state)
	req.form.retry = &to
	p.addRequest(to.key, req)
	close(req.form.returned)
	return ""
}

func (p *pending) addRequest(key string, req *request) {
	p.requests[key] = req
	p.peak = max(p.peak, len(p.requests))
}

// forwardedID returns the id under which the other side knows a request, or nil when it is the
// caller's own id.
func (t *table) forwardedID(from mcp.Direction, key string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req := t.pendingRequests(from).requests[key]; req != nil && req.key != key {
		return req.id
	}
	return nil
}
