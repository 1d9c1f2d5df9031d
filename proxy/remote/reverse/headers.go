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

// The headers that a request to a server has are made here: from the session that was
// found, from the message, and, of what the client sent, from this list. Whatever else
// a client says, where a request is to go or who it comes from, stays here.

// commonHeaders are the headers that clients send with everything.
var commonHeaders = map[string]disposition{
	"Accept": forward, "Accept-Language": forward, "Authorization": forward, "Baggage": forward, "Traceparent": forward, "Tracestate": forward, "User-Agent": forward,
	"Accept-Encoding": withhold, "Cache-Control": withhold, "Connection": withhold, "Content-Length": withhold, "Content-Type": withhold, "Dnt": withhold,
	"Last-Event-Id": withhold, "Mcp-Method": withhold, "Mcp-Name": withhold, "Mcp-Protocol-Version": withhold, "Mcp-Session-Id": withhold, "Origin": withhold,
	"Pragma": withhold, "Priority": withhold, "Range": withhold, "Save-Data": withhold, "Upgrade-Insecure-Requests": withhold, "X-Requested-With": withhold,
}

// Shapes of the names under which clients' configurations carry keys and settings for
// a server: how the last word ends (or that it is "id"), and how a name begins.
var (
	forwardSuffixes = []string{"key", "token", "secret"}
	forwardPrefixes = []string{"x-mcp-"}
)

// neverForwarded are those that do not go on, whatever their shape and whoever names them: HTTP's own, those that
// another program on the way takes an address, a method or a caller from, and MCP's,
// which are made anew.
var neverForwarded = []string{
	"accept-encoding", "connection", "cookie", "date", "expect", "forwarded", "from", "host", "keep-alive", "last-event-id",
	"origin", "proxy-authenticate", "proxy-authorization", "proxy-connection", "referer", "te", "trailer", "transfer-encoding",
	"true-client-ip", "upgrade", "via", "x-client-ip", "x-cluster-client-ip", "x-host", "x-method-override", "x-override-url", "x-real-ip",
}

var neverForwardedPrefixes = []string{
	"access-control-", "cf-connecting-", "content-", "fastly-client-", "if-", "mcp-", "sec-", "x-forwarded-", "x-http-", "x-original-", "x-proxy-", "x-rewrite-",
}

// multiValued are the headers with several values; any other has one.
var multiValued = []string{"Accept", "Accept-Language", "Baggage", "Tracestate"}

// singleValued are those of MCP's that have one, and are made anew.
var singleValued = []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"}

// CheckPassed says why a client's header cannot be passed on.
func CheckPassed(name string) error {
	switch {
	case name == "" || strings.ContainsFunc(strings.ToLower(name), isNotToken):
		return fmt.Errorf("%q is no name of a header", name)
	case isForbiddenHeader(foldName(name)):
		return fmt.Errorf("%s is not a client's to set at a server", http.CanonicalHeaderKey(name))
	}
	return nil
}

// foldName gives a name as a server may read it: some take _ for -, and none heeds case.
func foldName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func isForbiddenHeader(plain string) bool {
	return slices.Contains(neverForwarded, plain) || slices.ContainsFunc(neverForwardedPrefixes, func(b string) bool { return strings.HasPrefix(plain, b) })
}

// disposition is what becomes of a client's header.
type disposition int

const (
	withhold      disposition = iota // here, and that is no loss
	withholdNoted                    // here, though a server may want it
	forward
)

// headerDisposition of a header with this name. The table saves the common ones the work.
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

// filterHeaders keeps what goes on of the client's headers, and gives one that is there more
// than once and has one value, "" without any: a server may take another of the two
// than we do, or read two names as one.
func (rh *requestHandler) filterHeaders() (twice string) {
	from := rh.r.Header
	rh.forwarded = make(http.Header, len(from))
	var seen map[string]bool // names with _, which are rare
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

// outgoingHeader gives the header of a request to the server: about its session, about the message,
// and what of the client's goes on. ours is a message of our own, which no header
// of the client's speaks of.
func (rh *requestHandler) outgoingHeader(ours bool) http.Header {
	h := make(http.Header, len(rh.forwarded)+8) // and what is set besides
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

// maxWithheld bounds the names of headers that are put on record for one agent session.
const maxWithheld = 16

// noteWithheld notes, once, the headers of a client's configuration that do not go on: the
// owner may want them to.
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
