package proxy

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// forms holds the description of the client from initialize, and the forms that clients got. The
// table's mutex guards it.
type forms struct {
	client        mcp.Client          // the client that sent initialize; Form is false if the negotiated version has no elicitation
	prefix        string              // prefix of every id and requestState of the proxy; "" before the first one
	count         int                 // number of tokens from newToken
	awaitingRetry map[string]*request // requests whose callers got a form and have not returned, by requestState
}

// form is the question that a caller got instead of its answer (MCP 2026-07-28
// basic/patterns/mrtr). The caller returns with a second request, the retry.
type form struct {
	*elicitation
	state    string        // the proxy's requestState in the form
	params   []byte        // params of the call; the retry must have the same params
	retry    *caller       // the caller that sent the retry; nil while the caller is away
	returned chan struct{} // closed when the retry has come
}

// newToken returns a new id or requestState. It cannot be guessed, and no other session has the
// same one.
func (fs *forms) newToken() string {
	if fs.prefix == "" {
		fs.prefix = "clawai-" + rand.Text() + "-"
	}
	fs.count++
	return fs.prefix + rand.Text() + "-" + strconv.Itoa(fs.count)
}

// isIssuedToken reports whether newToken made a token. key is the frame.IDKey of the token.
func (fs *forms) isIssuedToken(key string) bool {
	return fs.prefix != "" && strings.HasPrefix(key, `"`+fs.prefix)
}

// removeForm ends the form of a request. A retry that comes later is refused as too late.
func (fs *forms) removeForm(p *pending, req *request) {
	delete(fs.awaitingRetry, req.form.state)
	if back := req.form.retry; back != nil && p.requests[back.key] == req {
		delete(p.requests, back.key)
	}
}

// currentCaller returns the caller that gets the answer to req. It returns false if the caller is
// away, which means that it got a form and has not sent its retry. The caller of this function
// holds the table's mutex.
func (req *request) currentCaller() (caller, bool) {
	switch {
	case req.form == nil:
		return req.caller, true
	case req.form.retry == nil:
		return caller{}, false
	}
	return *req.form.retry, true
}

// isStale reports whether key is an id that req's caller has replaced by the id of its retry.
func (req *request) isStale(key string) bool {
	return req.form != nil && req.form.retry != nil && req.form.retry.key != key
}

// renameToken stores the progress token of a retry. It replaces the token of the first request.
func (p *pending) renameToken(req *request, to caller) {
	if req.form == nil {
		delete(p.newTokens, req.progressKey) // an earlier request with the same token may have left an entry
		return
	}
	p.newTokens[req.progressKey] = to.token
}

// setClient stores the client's description from initialize. It is called when the version is
// known.
func (t *table) setClient(c mcp.Client, version string) {
	c.Form = c.Form && mcp.HasElicitation(version)
	t.mu.Lock()
	t.forms.client = c
	t.mu.Unlock()
}

// clientInfo returns the description of the client from initialize.
func (t *table) clientInfo() mcp.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.client
}

// findCaller returns the caller that gets the answer to req now. It returns false if that caller is
// away.
func (t *table) findCaller(req *request) (caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return req.currentCaller()
}

// addElicitation gives a request of the proxy an id and adds the request to the requests in flight.
func (t *table) addElicitation(req *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	req.key = `"` + t.forms.newToken() + `"`
	req.id = []byte(req.key)
	t.pendingRequests(req.from).addRequest(req.key, req)
}

// addForm notes that req's caller is about to get a form. It returns false if the caller expects no
// answer, may get no form any more, or already got one.
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

// closeForm notes that the question of req is over, so its caller gets no form any more. If the
// caller already got a form, closeForm returns a channel that is closed when the retry comes.
// Otherwise it returns nil.
func (t *table) closeForm(req *request) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	req.formClosed = true
	if req.form == nil {
		return nil
	}
	return req.form.returned
}

// issuedState reports whether this proxy made the requestState. It returns true even if the form of
// this requestState is over.
func (t *table) issuedState(state []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.isIssuedToken(frame.IDKey(state))
}

// awaitingRetry returns the request whose caller got this requestState and has not sent its retry.
// It returns nil if there is none.
func (t *table) awaitingRetry(state []byte) *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forms.awaitingRetry[strings.Trim(frame.IDKey(state), `"`)]
}

// addRetry notes that req's caller has sent its retry and now waits under the id of the retry. It
// returns "" if this succeeds, codeLateForm if the question is over, and codeDuplicateID if the id
// is in use.
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

// forwardedID returns the id under which the other side knows a request. It returns nil if the
// other side knows the request by the caller's own id.
func (t *table) forwardedID(from mcp.Direction, key string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req := t.pendingRequests(from).requests[key]; req != nil && req.key != key {
		return req.id
	}
	return nil
}
