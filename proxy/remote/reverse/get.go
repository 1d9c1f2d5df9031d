package reverse

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/sse"
	"github.com/clawai/clawai/proxy/remote"
)

// handleGet opens the server's own stream, resumes a cut stream, or begins a session of 2024-11-05.
func (rh *requestHandler) handleGet() {
	done, ok := rh.acquireAgent()
	if !ok {
		return
	}
	defer done()
	if rh.backend.local != nil {
		rh.getLocal()
		return
	}
	id := rh.r.Header.Get("Mcp-Session-Id")
	if id != "" && !rh.findRemote(id) {
		return
	}
	if !rh.resumeAfter(rh.r.Header.Get("Last-Event-Id")) {
		return
	}
	resp, err := rh.sendToServer(rh.r.Context(), http.MethodGet, nil)
	if err != nil {
		rh.refuseRequest(http.StatusBadGateway, "the server cannot be reached")
		return
	}
	defer func() { _ = resp.Body.Close() }()
	rh.out = newResponder(rh.w, "")
	defer rh.out.hangUp()
	rh.copyHeader(resp, rh.out)
	if resp.StatusCode != http.StatusOK {
		rh.out.writeEmpty(rh.clientStatus(resp))
		return
	}
	if what, err := remote.AnswerType(resp); err != nil || what != "text/event-stream" {
		rh.refuseRequest(http.StatusBadGateway, "the server's stream is not an event stream")
		return
	}
	if rh.session == nil {
		rh.relaySessionless(resp)
		return
	}
	rh.session.streams.Add(1)
	defer rh.session.streams.Add(-1)
	rh.out.replays, rh.resumes = &rh.session.replays, rh.lastEventID != ""
	_, _ = rh.relayEvents(resp, rh.out, rh.clientStream(rh.out))
}

// resumeAfter checks the event id after which the client wants to resume a stream. In a session,
// the client must have got this event, because another event would belong to another client's
// stream. Without a session, or in a session from before a restart, an unknown event leads to a new
// stream.
func (rh *requestHandler) resumeAfter(event string) bool {
	scope, sent := rh.sentEvents().findScope(event)
	switch {
	case event == "":
	case sent:
		rh.lastEventID, rh.scope = event, scope
	case rh.session != nil && !rh.session.adopted:
		rh.noteDropped("event_unknown", "the event to begin behind was not sent in this session, or too long ago", nil)
		rh.refuseRequest(http.StatusBadRequest, "no such event was sent in this session")
		return false
	}
	return true
}

// relaySessionless passes on a stream without a session. If its first event is an endpoint event,
// the stream begins a session of 2024-11-05. The client then gets an address of this server in
// place of the server's address.
func (rh *requestHandler) relaySessionless(resp *http.Response) {
	// A resumed stream keeps the scope of its request, because the answer to that request may come
	// in it.
	if rh.lastEventID == "" {
		rh.scope = rh.s.newScope()
	}
	rh.out.openStream()
	in := sse.NewReader(resp.Body, rh.s.o.Limits.MaxBytes+64<<10)
	to := rh.clientStream(rh.out)
	for {
		e, err := in.ReadEvent()
		if err == nil {
			rh.sentEvents().addEvent(e.ID, rh.scope)
			raiseRetry(e)
		}
		switch {
		case err != nil:
		case e.Name == "endpoint" && e.HasData && rh.session == nil:
			rh.scope, rh.session = "", rh.s.newSession(rh.agent, rh.route.server)
			defer rh.s.removeSession(rh.session)
			to = rh.clientStream(rh.out)
			err = rh.handleEndpoint(e)
		case e.HasData && (e.Name == "" || e.Name == "message"):
			e.Data = remote.OneLine(e.Data)
			rh.out.relayEvent(e, false, func() { to.HandleLines(rh.agent.in.ctx, e.Data) })
		case e.HasData:
			err = rh.out.writeEventID(e)
		default:
			err = rh.out.writeEvent(e)
		}
		if err != nil {
			return
		}
	}
}

// handleEndpoint stores the server's address for messages. It sends the client an address of this
// server instead.
func (rh *requestHandler) handleEndpoint(e *sse.Event) error {
	at, err := url.Parse(strings.TrimSpace(string(e.Data)))
	if err != nil {
		return err
	}
	at = rh.backend.o.URL.ResolveReference(at)
	if !remote.SameOrigin(at, rh.backend.o.URL) || at.User != nil {
		return errors.New("the address for messages is at another origin")
	}
	if at.Path == "" {
		at.Path = "/"
	}
	if hasDotSegment(at.Path) {
		return errors.New("the address for messages has a segment . or .., which leads to another path")
	}
	rh.session.endpoint, rh.session.stream, rh.session.open = at, rh.out, rh.r.Context()
	ours := strings.TrimSuffix(rh.r.URL.EscapedPath(), "/") + "/~" + at.EscapedPath()
	if at.RawQuery != "" {
		ours += "?" + at.RawQuery
	}
	if err := rh.s.addSession(rh.route, at.String(), rh.session); err != nil {
		return err
	}
	named := sse.Event{Name: "endpoint", Data: []byte(ours), HasData: true, Retry: -1, ID: e.ID, HasID: e.HasID}
	named.Raw, named.Plain = named.AppendBlock(nil), true
	return rh.out.writeEvent(&named)
}

// hasDotSegment reports whether a path has a segment "." or ".." (WHATWG URL, section 4.4,
// double-dot segments). Such a path is dangerous: the client appends it to the path of this server
// and resolves the dots, so the result could lead to another server.
func hasDotSegment(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), func(segment string) bool {
		return segment == "." || segment == ".."
	})
}

// messageURL returns the server's address for messages. It makes the address from the part of the
// request's path after /~.
func (rh *requestHandler) messageURL() *url.URL {
	at, err := url.Parse(rh.messagePath)
	if err != nil {
		return &url.URL{}
	}
	at.RawQuery = rh.r.URL.RawQuery
	return rh.backend.o.URL.ResolveReference(at)
}
