package reverse

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/proxy/remote"
)

// corsMethods and corsHeaders are the methods and headers that MCP needs in a web page (WHATWG
// Fetch, section 3.2). The name of a header that repeats an argument begins with paramPrefix.
const (
	corsMethods = "POST, GET, DELETE"
	corsHeaders = "Content-Type, Accept, Authorization, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"
	paramPrefix = "mcp-param-"
	corsExposed = "Mcp-Session-Id, Www-Authenticate"
	corsMaxAge  = "600" // seconds; short, because a restart may change the allowed origins

	maxParamHeaders = 64
)

// CheckOrigin returns an error if no web page can have this origin. The check is strict, because
// origins are compared byte by byte with the browser's header.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host || origin != strings.ToLower(origin) ||
		strings.ContainsAny(origin, "*, ") || u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
		return fmt.Errorf("%q is not how a browser names an origin; write it like https://app.example.com or http://localhost:5173", origin)
	}
	return nil
}

// allowOrigin allows a page with a configured origin to read the answer, without cookies and other
// credentials. The guard has already checked the request. named reports whether the page has a
// configured origin.
func (g *guard) allowOrigin(h http.Header, r *http.Request) (named bool) {
	if len(g.origins) == 0 {
		return false
	}
	h.Set("Vary", "Origin")
	from := r.Header.Values("Origin")
	if len(from) != 1 || !slices.Contains(g.origins, from[0]) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", from[0])
	h.Set("Access-Control-Expose-Headers", corsExposed)
	return true
}

// answerPreflight answers a browser's preflight request. It returns false when r is no preflight
// request.
func answerPreflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h := w.Header()
	h.Set("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network")
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders+paramHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", corsMaxAge)
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" { // WICG Private Network Access
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// paramHeaders returns the requested headers whose names begin with paramPrefix. The answer must
// name each of them, because their names are not known in advance and browsers accept no pattern.
func paramHeaders(asked []string) string {
	var b strings.Builder
	n := 0
	for name := range strings.SplitSeq(strings.Join(asked, ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if rest, ok := strings.CutPrefix(name, paramPrefix); ok && n < maxParamHeaders && remote.IsHeaderName(rest) {
			b.WriteString(", " + name)
			n++
		}
	}
	return b.String()
}
