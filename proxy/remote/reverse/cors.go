package reverse

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// corsMethods and corsHeaders are what MCP needs of a page (WHATWG Fetch, section
// 3.2); a header that repeats an argument has a name of its own, after the prefix.
const (
	corsMethods = "POST, GET, DELETE"
	corsHeaders = "Content-Type, Accept, Authorization, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"
	paramPrefix = "mcp-param-"
	corsExposed = "Mcp-Session-Id, Www-Authenticate"
	corsMaxAge  = "600" // seconds; a restart may name others

	maxParamHeaders = 64
)

// CheckOrigin says why no page can have the origin: it is compared with what a
// browser sends, letter by letter.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host || origin != strings.ToLower(origin) ||
		strings.ContainsAny(origin, "*, ") || u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
		return fmt.Errorf("%q is not how a browser names an origin; write it like https://app.example.com or http://localhost:5173", origin)
	}
	return nil
}

// allowOrigin lets a page of an origin that was named read the answer, in the page's own
// name: cookies and the like are never asked for. The guard has let it in.
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

// answerPreflight answers the question that a browser asks before it sends what a page
// wants sent; false when r is none.
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

// paramHeaders gives the headers asked for whose names nobody can list beforehand. A pattern
// in the answer would mean nothing to a browser.
func paramHeaders(asked []string) string {
	var b strings.Builder
	n := 0
	for name := range strings.SplitSeq(strings.Join(asked, ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if rest, ok := strings.CutPrefix(name, paramPrefix); ok && rest != "" && n < maxParamHeaders && !strings.ContainsFunc(rest, isNotToken) {
			b.WriteString(", " + name)
			n++
		}
	}
	return b.String()
}

// isNotToken reports what the name of a header cannot have (RFC 9110, section 5.6.2).
func isNotToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
