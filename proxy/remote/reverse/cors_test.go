package reverse_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

const page = "https://app.example.com"

func withPage(o *reverse.Options) { o.Origins = []string{page, "http://localhost:5173"} }

// sent makes a request with the headers given as pairs.
func (w *harness) sent(method string, headers ...string) *http.Response {
	w.t.Helper()
	r := w.request(w.t.Context(), call(1, "ok"), headers...)
	r.Method = method
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// ofCORS are the headers of an answer that a browser decides by.
func ofCORS(resp *http.Response) (names []string) {
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A browser asks before it sends a page's message (WHATWG Fetch, section 4.8).
func TestPreflight(t *testing.T) {
	back := &server{}
	w := newHarness(t, back, withPage)
	resp := w.sent(http.MethodOptions, "Origin", page, "Sec-Fetch-Site", "cross-site", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type, mcp-param-Region,mcp-param-,mcp-param-a b,x-evil", "Access-Control-Request-Private-Network", "true")
	if got := says(resp); got != "204 " {
		t.Fatal(got)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":          page,
		"Access-Control-Allow-Methods":         "POST, GET, DELETE",
		"Access-Control-Allow-Headers":         "Content-Type, Accept, Authorization, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, mcp-param-region",
		"Access-Control-Max-Age":               "600",
		"Access-Control-Allow-Private-Network": "true",
		"Access-Control-Allow-Credentials":     "",
		"Vary":                                 "Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network",
	} {
		if got := strings.Join(resp.Header.Values(name), "|"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	public := w.sent(http.MethodOptions, "Origin", page, "Access-Control-Request-Method", "POST")
	if got := public.Header.Get("Access-Control-Allow-Private-Network"); got != "" || public.StatusCode != 204 {
		t.Errorf("nobody asked for it: %q, %s", got, says(public))
	}
	many := w.sent(http.MethodOptions, "Origin", page, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", strings.Repeat("mcp-param-x,", 4000))
	if n := strings.Count(many.Header.Get("Access-Control-Allow-Headers"), "mcp-param-x"); n != 64 {
		t.Errorf("%d names are repeated", n)
	}
	unharmed(t, back)
}

// Nobody but the origins that were named, each in its own name, is answered.
func TestPreflightOfOthers(t *testing.T) {
	back := &server{}
	w := newHarness(t, back, withPage)
	own := w.front.URL
	for name, tt := range map[string]struct {
		method string
		header []string
		want   int
	}{
		"another":              {http.MethodOptions, []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403},
		"null":                 {http.MethodOptions, []string{"Origin", "null", "Access-Control-Request-Method", "POST"}, 403},
		"another port":         {http.MethodOptions, []string{"Origin", page + ":8443", "Access-Control-Request-Method", "POST"}, 403},
		"a part":               {http.MethodOptions, []string{"Origin", page + ".evil.example", "Access-Control-Request-Method", "POST"}, 403},
		"another case":         {http.MethodOptions, []string{"Origin", "https://APP.example.com", "Access-Control-Request-Method", "POST"}, 403},
		"two, one named":       {http.MethodOptions, []string{"Origin", page, "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403},
		"two, our own":         {http.MethodOptions, []string{"Origin", page, "Origin", own, "Access-Control-Request-Method", "POST"}, 405},
		"our own":              {http.MethodOptions, []string{"Origin", own, "Access-Control-Request-Method", "POST"}, 405},
		"no origin":            {http.MethodOptions, []string{"Access-Control-Request-Method", "POST"}, 405},
		"a message, another":   {http.MethodPost, []string{"Origin", "https://evil.example"}, 403},
		"a message, no origin": {http.MethodPost, nil, 200},
		"a message, our own":   {http.MethodPost, []string{"Origin", own}, 200},
	} {
		resp := w.sent(tt.method, tt.header...)
		if cors := ofCORS(resp); resp.StatusCode != tt.want || len(cors) > 0 {
			t.Errorf("%s: %s %v", name, says(resp), cors)
		}
	}
	if resp := w.sent(http.MethodOptions, "Origin", page); resp.StatusCode != 405 { // no question of a browser's
		t.Error(says(resp))
	}
	w.url = w.front.URL + "/guess/mcp/s"
	if resp := w.sent(http.MethodOptions, "Origin", page, "Access-Control-Request-Method", "POST"); resp.StatusCode != 404 {
		t.Error(says(resp))
	}
}

// What a page gets it can read, errors as well, and nothing of it is the server's
// to grant.
func TestAPageReadsItsAnswers(t *testing.T) {
	status := http.StatusOK
	w := newHarness(t, sessionServer(func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", idOf(body))
	}), withPage)
	w.initialize()
	for name, resp := range map[string]*http.Response{
		"an answer":      w.sent(http.MethodPost, "Origin", page, "Mcp-Session-Id", "s1"),
		"a denial":       w.post(call(2, "no"), "Origin", page, "Mcp-Session-Id", "s1"),
		"no session":     w.sent(http.MethodPost, "Origin", page, "Mcp-Session-Id", "s2"),
		"another method": w.sent(http.MethodPut, "Origin", page),
	} {
		if got := resp.Header.Values("Access-Control-Allow-Origin"); !slices.Equal(got, []string{page}) {
			t.Errorf("%s: for %q", name, got)
		}
		if got := resp.Header.Get("Access-Control-Expose-Headers"); got != "Mcp-Session-Id, Www-Authenticate" || resp.Header.Get("Vary") != "Origin" {
			t.Errorf("%s: %q, %v", name, got, resp.Header)
		}
		if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != "" {
			t.Errorf("%s: credentials %q", name, got)
		}
	}
}

// An origin that no browser sends would be named in vain, and one that any page can
// have would name them all.
func TestOriginsThatAreNone(t *testing.T) {
	for _, origin := range []string{
		"*", "null", "", "app.example.com", "https://app.example.com/", "https://app.example.com/x", "https://*.example.com",
		"https://App.example.com", "https://app.example.com:443", "http://app.example.com:80", "https://a, https://b", "https://a@b", "https://a?x",
	} {
		if _, err := reverse.New(reverse.Options{Upstreams: someUpstream(t), Secret: secret, Gate: noGate, Origins: []string{origin}}); err == nil {
			t.Errorf("%q is taken", origin)
		}
	}
	for _, origin := range []string{page, "http://localhost:5173", "chrome-extension://abcdefghijklmnop", "http://[::1]:3000"} {
		s, err := reverse.New(reverse.Options{Upstreams: someUpstream(t), Secret: secret, Gate: noGate, Origins: []string{origin}})
		if err != nil {
			t.Errorf("%s: %v", origin, err)
			continue
		}
		s.Close()
	}
}

func someUpstream(t *testing.T) map[string]remote.Options {
	t.Helper()
	u, err := url.Parse("http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]remote.Options{"s": {URL: u}}
}

func noGate(string) (reverse.Gate, error) { return reverse.Gate{}, errors.New("no gate") }
