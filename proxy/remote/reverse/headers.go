package reverse

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/proxy/remote"
)

// This file builds the headers of a request to a server. They come from the session, from the
// message, and from those client headers that the lists below allow. All other client headers are
// dropped, such as headers about the target or the sender of the request.

// commonHeaders are the common client headers, each with its treatment.
var commonHeaders = map[string]disposition{
	"Accept": forward, "Accept-Language": forward, "Authorization": forward, "Baggage": forward, "Traceparent": forward, "Tracestate": forward, "User-Agent": forward,
	"Accept-Encoding": withhold, "Cache-Control": withhold, "Connection": withhold, "Content-Length": withhold, "Content-Type": withhold, "Dnt": withhold,
	"Last-Event-Id": withhold, "Mcp-Method": withhold, "Mcp-Name": withhold, "Mcp-Protocol-Version": withhold, "Mcp-Session-Id": withhold, "Origin": withhold,
	"Pragma": withhold, "Priority": withhold, "Range": withhold, "Save-Data": withhold, "Upgrade-Insecure-Requests": withhold, "X-Requested-With": withhold,
}

// Configurations of clients often send keys and settings to a server in headers. forwardSuffixes
// are the last words of the names of such headers, and forwardPrefixes are the beginnings of these
// names. A header whose last word is "id" is forwarded too.
var (
	forwardSuffixes = []string{"key", "token", "secret"}
	forwardPrefixes = []string{"x-mcp-"}
)

// neverForwarded are the headers that are never forwarded, even if their names match or the owner
// configured them. Some belong to HTTP itself. Others tell a program between the client and the
// server about an address, a method or a caller. MCP's headers are among them, because this package
// builds these itself.
var neverForwarded = []string{
	"accept-encoding", "connection", "cookie", "date", "expect", "forwarded", "from", "host", "keep-alive", "last-event-id",
	"origin", "proxy-authenticate", "proxy-authorization", "proxy-connection", "referer", "te", "trailer", "transfer-encoding",
	"true-client-ip", "upgrade", "via", "x-client-ip", "x-cluster-client-ip", "x-host", "x-method-override", "x-override-url", "x-real-ip",
}

var neverForwardedPrefixes = []string{
	"access-control-", "cf-connecting-", "content-", "fastly-client-", "if-", "mcp-", "sec-", "x-forwarded-", "x-http-", "x-original-", "x-proxy-", "x-rewrite-",
}

// multiValued are the headers that may have several values. Every other header may have only one.
var multiValued = []string{"Accept", "Accept-Language", "Baggage", "Tracestate"}

// singleValued are the MCP headers that this package builds itself. Each has one value.
var singleValued = []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"}

// CheckPassed returns an error if a client's header must never be passed on to a server.
func CheckPassed(name string) error {
	switch {
	case !remote.IsHeaderName(name):
		return fmt.Errorf("%q is not a name of a header", name)
	case isForbiddenHeader(foldName(name)):
		return fmt.Errorf("%s must not be set by a client", http.CanonicalHeaderKey(name))
	}
	return nil
}

// foldName returns a header name in lower case with - for _. Names are not case-sensitive, and some
// servers read _ as -.
func foldName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func isForbiddenHeader(plain string) bool {
	return slices.Contains(neverForwarded, plain) || slices.ContainsFunc(neverForwardedPrefixes, func(b string) bool { return strings.HasPrefix(plain, b) })
}

// disposition is the treatment that a client's header gets.
type disposition int

const (
	withhold      disposition = iota // dropped, because the server does not need it
	withholdNoted                    // dropped and recorded, because a server may need it
	forward
)

// headerDisposition returns the treatment of a header. It first looks in commonHeaders, because
// this is faster for common names.
func (s *Server) headerDisposition(name string) disposition {
	d, often := commonHeaders[name]
	if often && (d == forward || len(s.passed) == 0) {
		return d
	}
	plain := foldName(name)
	last := plain[strings.LastIndexByte(plain, '-')+1:]
	switch {
	case isForbiddenHeader(plain):
		return withhold
	case s.passed[plain]:
		return forward
	case often:
		return d
	case last == "id",
		slices.ContainsFunc(forwardSuffixes, func(e string) bool { return strings.HasSuffix(last, e) }),
		slices.ContainsFunc(forwardPrefixes, func(b string) bool { return strings.HasPrefix(plain, b) }):
		return forward
	}
	return withholdNoted
}

// filterHeaders stores the client's headers that are forwarded. It returns the name of a
// single-valued header that occurs more than once, or "". The caller refuses such a request. A
// server may use another of the values than this package, or may read two names (with _ and with -)
// as one.
func (rh *requestHandler) filterHeaders() (twice string) {
	from := rh.r.Header
	rh.forwarded = make(http.Header, len(from))
	var seen map[string]bool // folded names seen so far; used only for names with _, which are rare
	for name, values := range from {
		d := rh.s.headerDisposition(name)
		switch d {
		case forward:
			rh.forwarded[name] = values
		case withholdNoted:
			rh.withheld = append(rh.withheld, name)
		}
		if d != forward && !slices.Contains(singleValued, name) && !strings.HasPrefix(name, "Mcp-Param-") {
			continue
		}
		if len(values) > 1 && !slices.Contains(multiValued, name) || strings.Contains(name, "_") && seen[foldName(name)] {
			twice = name
		}
		if strings.Contains(name, "_") {
			_, both := from[http.CanonicalHeaderKey(foldName(name))]
			if seen == nil {
				seen = make(map[string]bool)
			}
			seen[foldName(name)] = true
			if both {
				twice = name
			}
		}
	}
	for _, named := range from["Connection"] {
		for name := range strings.SplitSeq(named, ",") {
			rh.forwarded.Del(strings.TrimSpace(name))
		}
	}
	return twice
}

// outgoingHeader returns the headers of a request to the server: those of the session, those of the
// message, and the forwarded client headers. The parameter ours is true for a message that the
// proxy itself sends (a refusal). Then the headers that describe the client's message are left out.
func (rh *requestHandler) outgoingHeader(ours bool) http.Header {
	h := make(http.Header, len(rh.forwarded)+8) // with room for the headers that are added below
	maps.Copy(h, rh.forwarded)
	id, version := rh.s.sessionInfo(rh.session)
	if id != "" && !rh.confirmed.Modern {
		h["Mcp-Session-Id"] = []string{id}
	}
	if said := rh.r.Header.Get("Mcp-Protocol-Version"); said != "" && !rh.confirmed.Modern {
		if version == "" && remote.IsLegacy(said) && (rh.confirmed.Version == "" || rh.confirmed.Version == said) {
			version = said
		}
		if version != "" {
			h["Mcp-Protocol-Version"] = []string{version}
		}
	}
	if ours {
		h["Accept"] = []string{"application/json, text/event-stream"}
		if rh.confirmed.Modern {
			h["Mcp-Protocol-Version"] = []string{rh.confirmed.Version}
		}
		return h
	}
	maps.Copy(h, rh.confirmed.Header)
	if rh.lastEventID != "" {
		h["Last-Event-Id"] = []string{rh.lastEventID}
	}
	return h
}

// maxWithheld is how many names of dropped headers are recorded for one agent session.
const maxWithheld = 16

// noteWithheld records the names of the dropped client headers, once each, because the owner may
// want to forward them.
func (rh *requestHandler) noteWithheld() {
	for _, name := range rh.withheld {
		if rh.s.firstWithheld(rh.agent, name) {
			_ = rh.agent.gate.Session.NoteEvents(&event.Event{
				Kind: event.Chatter, Code: "header_kept", Server: rh.route.server, Direction: mcp.ClientToServer.String(),
				Detail: fmt.Sprintf("the client's header %.100q is not passed on; --pass-header passes it", name),
			})
		}
	}
}
