package reverse

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/clawai/clawai/proxy/remote"
)

// The headers that a request to a server has are made here: from the session that was
// found, from the message, and, of what the client sent, from this list. Whatever else
// a client says, where a request is to go or who it comes from, stays here.

// common are the headers that clients send with everything.
var common = map[string]way{
	"Accept": goes, "Accept-Language": goes, "Authorization": goes, "Baggage": goes, "Traceparent": goes, "Tracestate": goes, "User-Agent": goes,
	"Accept-Encoding": stays, "Cache-Control": stays, "Connection": stays, "Content-Length": stays, "Content-Type": stays, "Dnt": stays,
	"Last-Event-Id": stays, "Mcp-Method": stays, "Mcp-Name": stays, "Mcp-Protocol-Version": stays, "Mcp-Session-Id": stays, "Origin": stays,
	"Pragma": stays, "Priority": stays, "Range": stays, "Save-Data": stays, "Upgrade-Insecure-Requests": stays, "X-Requested-With": stays,
}

// Shapes of the names under which clients' configurations carry keys and settings for
// a server: how the last word ends (or that it is "id"), and how a name begins.
var (
	endings    = []string{"key", "token", "secret"}
	beginnings = []string{"x-mcp-"}
)

// never go on, whatever their shape and whoever names them: HTTP's own, those that
// another program on the way takes an address, a method or a caller from, and MCP's,
// which are made anew.
var never = []string{
	"accept-encoding", "connection", "cookie", "date", "expect", "forwarded", "from", "host", "keep-alive", "last-event-id",
	"origin", "proxy-authenticate", "proxy-authorization", "proxy-connection", "referer", "te", "trailer", "transfer-encoding",
	"true-client-ip", "upgrade", "via", "x-client-ip", "x-cluster-client-ip", "x-host", "x-method-override", "x-override-url", "x-real-ip",
}

var neverBeginnings = []string{
	"access-control-", "cf-connecting-", "content-", "fastly-client-", "if-", "mcp-", "sec-", "x-forwarded-", "x-http-", "x-original-", "x-proxy-", "x-rewrite-",
}

// listed are the headers with several values; any other has one.
var listed = []string{"Accept", "Accept-Language", "Baggage", "Tracestate"}

// single are those of MCP's that have one, and are made anew.
var single = []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"}

// CheckPassed says why a client's header cannot be passed on.
func CheckPassed(name string) error {
	switch {
	case name == "" || strings.ContainsFunc(strings.ToLower(name), outsideName):
		return fmt.Errorf("%q is no name of a header", name)
	case forbidden(plain(name)):
		return fmt.Errorf("%s is not a client's to set at a server", http.CanonicalHeaderKey(name))
	}
	return nil
}

// plain is a name as a server may read it: some take _ for -, and none heeds case.
func plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func forbidden(plain string) bool {
	return slices.Contains(never, plain) || slices.ContainsFunc(neverBeginnings, func(b string) bool { return strings.HasPrefix(plain, b) })
}

// way is what becomes of a client's header.
type way int

const (
	stays   way = iota // here, and that is no loss
	unknown            // here, though a server may want it
	goes
)

// way of a header with this name. The table saves the common ones the work.
func (s *Server) way(name string) way {
	w, often := common[name]
	if often && (w == goes || len(s.passed) == 0) {
		return w
	}
	plain := plain(name)
	last := plain[strings.LastIndexByte(plain, '-')+1:]
	switch {
	case forbidden(plain):
		return stays
	case s.passed[plain]:
		return goes
	case often:
		return w
	case last == "id",
		slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(last, e) }),
		slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(plain, b) }):
		return goes
	}
	return unknown
}

// sift keeps what goes on of the client's headers, and gives one that is there more
// than once and has one value, "" without any: a server may take another of the two
// than we do, or read two names as one.
func (v *visit) sift() (twice string) {
	from := v.r.Header
	v.goesOn = make(http.Header, len(from))
	var seen map[string]bool // names with _, which are rare
	for name, values := range from {
		way := v.s.way(name)
		switch way {
		case goes:
			v.goesOn[name] = values
		case unknown:
			v.strange = append(v.strange, name)
		}
		if way != goes && !slices.Contains(single, name) && !strings.HasPrefix(name, "Mcp-Param-") {
			continue
		}
		if len(values) > 1 && !slices.Contains(listed, name) || strings.Contains(name, "_") && seen[plain(name)] {
			twice = name
		}
		if strings.Contains(name, "_") {
			_, both := from[http.CanonicalHeaderKey(plain(name))]
			if seen == nil {
				seen = make(map[string]bool)
			}
			seen[plain(name)] = true
			if both {
				twice = name
			}
		}
	}
	for _, named := range from["Connection"] {
		for name := range strings.SplitSeq(named, ",") {
			v.goesOn.Del(strings.TrimSpace(name))
		}
	}
	return twice
}

// outgoing is the header of a request to the server: about its session, about the message,
// and what of the client's goes on. ours is a message of our own, which no header
// of the client's speaks of.
func (v *visit) outgoing(ours bool) http.Header {
	h := make(http.Header, len(v.goesOn)+8) // and what is set besides
	maps.Copy(h, v.goesOn)
	id, version := v.s.known(v.talk)
	if id != "" && !v.confirmed.Modern {
		h["Mcp-Session-Id"] = []string{id}
	}
	if said := v.r.Header.Get("Mcp-Protocol-Version"); said != "" && !v.confirmed.Modern {
		if version == "" && remote.Legacy(said) && (v.confirmed.Version == "" || v.confirmed.Version == said) {
			version = said
		}
		if version != "" {
			h["Mcp-Protocol-Version"] = []string{version}
		}
	}
	if ours {
		h["Accept"] = []string{"application/json, text/event-stream"}
		if v.confirmed.Modern {
			h["Mcp-Protocol-Version"] = []string{v.confirmed.Version}
		}
		return h
	}
	maps.Copy(h, v.confirmed.Header)
	if v.place != "" {
		h["Last-Event-Id"] = []string{v.place}
	}
	return h
}

// maxKept bounds the names of headers that are put on record for one agent session.
const maxKept = 16

// kept notes, once, the headers of a client's configuration that do not go on: the
// owner may want them to.
func (v *visit) kept() {
	for _, name := range v.strange {
		if v.s.first(v.agent, name) {
			_ = v.agent.gate.Session.Note(&event.Event{
				Kind: event.Chatter, Code: "header_kept", Server: v.at.server, Direction: mcp.ClientToServer.String(),
				Detail: fmt.Sprintf("the client's header %.100q is not passed on; --pass-header passes it", name),
			})
		}
	}
}
