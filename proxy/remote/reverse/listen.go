package reverse

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/sse"
)

// get opens the server's own stream, takes up one that was cut, or begins a
// session of 2024-11-05.
func (v *visit) get() {
	done, ok := v.enter()
	if !ok {
		return
	}
	defer done()
	id := v.r.Header.Get("Mcp-Session-Id")
	if id != "" {
		if v.talk = v.s.talk(v.at, id); v.talk == nil {
			v.refuse(http.StatusNotFound, "there is no such session; initialize anew")
			return
		}
	}
	if !v.takesUp(v.r.Header.Get("Last-Event-Id")) {
		return
	}
	resp, err := v.send(v.r.Context(), http.MethodGet, nil)
	if err != nil {
		v.refuse(http.StatusBadGateway, "the server cannot be reached")
		return
	}
	defer func() { _ = resp.Body.Close() }()
	v.out = newResponder(v.w, "")
	defer v.out.hangUp()
	v.header(resp, v.out)
	if resp.StatusCode != http.StatusOK {
		v.out.empty(v.status(resp))
		return
	}
	if what, err := remote.ContentType(resp.Header); err != nil || what != "text/event-stream" {
		v.refuse(http.StatusBadGateway, "the server's stream is no event stream")
		return
	}
	if v.talk == nil {
		v.begin(resp)
		return
	}
	v.out.seen, v.resumes = &v.talk.seen, v.place != ""
	_, _ = v.events(resp, v.out, v.to(v.out))
}

// takesUp finds the place to take a stream up at. In a session it must be one that the
// client was sent: another would be somebody else's stream. Outside of one, a client
// that comes back after a restart gets a new stream.
func (v *visit) takesUp(event string) bool {
	switch {
	case event == "":
	case v.placeable().has(event):
		v.place = event
	case v.talk != nil:
		v.dropped("event_unknown", "the event to begin behind was not sent in this session, or too long ago", nil)
		v.refuse(http.StatusBadRequest, "no such event was sent in this session")
		return false
	}
	return true
}

// begin carries a stream outside of any session. One whose first event names an
// address for messages begins a session of 2024-11-05; the client gets an address
// of ours for it.
func (v *visit) begin(resp *http.Response) {
	v.scope = v.s.scope()
	v.out.open()
	in := sse.NewReader(resp.Body, v.s.o.Limits.MaxBytes+64<<10)
	to := v.to(v.out)
	for {
		e, err := in.Next()
		if err == nil {
			v.placeable().add(e.ID)
		}
		switch {
		case err != nil:
		case e.Name == "endpoint" && e.HasData && v.talk == nil:
			v.scope, v.talk = "", v.s.newTalk(v.agent, v.at.server)
			defer v.s.forget(v.talk)
			to = v.to(v.out)
			err = v.entry(e)
		case e.HasData && (e.Name == "" || e.Name == "message"):
			v.out.carry(e, false, func() { to.Handle(v.s.ctx, remote.OneLine(bytes.Clone(e.Data))) })
		case e.HasData:
			err = v.out.place(e)
		default:
			err = v.out.pass(e)
		}
		if err != nil {
			return
		}
	}
}

// entry takes in the address for messages, and gives the client ours.
func (v *visit) entry(e *sse.Event) error {
	at, err := url.Parse(strings.TrimSpace(string(e.Data)))
	if err != nil {
		return err
	}
	at = v.back.o.URL.ResolveReference(at)
	if !remote.SameOrigin(at, v.back.o.URL) || at.User != nil {
		return errors.New("the address for messages is at another origin")
	}
	if at.Path == "" {
		at.Path = "/"
	}
	if climbs(at.Path) {
		return errors.New("the address for messages leads to another")
	}
	v.talk.endpoint, v.talk.stream, v.talk.open = at, v.out, v.r.Context()
	ours := v.r.URL.EscapedPath() + "/~" + at.EscapedPath()
	if at.RawQuery != "" {
		ours += "?" + at.RawQuery
	}
	if err := v.s.keep(v.at, at.String(), v.talk); err != nil {
		return err
	}
	named := sse.Event{Name: "endpoint", Data: []byte(ours), HasData: true, Retry: -1, ID: e.ID, HasID: e.HasID}
	named.Raw, named.Plain = named.Append(nil), true
	return v.out.pass(&named)
}

// climbs reports a path that a client takes for another one (WHATWG URL, section 4.4,
// double-dot segments): behind our own it would lead to another server's.
func climbs(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), func(segment string) bool {
		return segment == "." || segment == ".."
	})
}

// message is the server's address that a path of ours stands for.
func (v *visit) message() *url.URL {
	at, err := url.Parse(v.rest)
	if err != nil {
		return &url.URL{}
	}
	at.RawQuery = v.r.URL.RawQuery
	return v.back.o.URL.ResolveReference(at)
}
