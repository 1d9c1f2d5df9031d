package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// every route with a body its own page would send.
var everyRoute = []struct{ method, path, body string }{
	{"GET", "/", ""},
	{"GET", "/overview", ""},
	{"GET", "/calls?decision=refused", ""},
	{"GET", "/page.css", ""},
	{"GET", "/page.js", ""},
	{"GET", "/icon.svg", ""},
	{"POST", "/session", `{"token":"x"}`},
	{"GET", "/request/0f8fad5b-d9cb-469f-a165-000000000001", ""},
	{"POST", "/answer", `{"id":"0f8fad5b-d9cb-469f-a165-000000000001","digest":"","reply":"allow"}`},
	{"POST", "/revoke", `{"id":"g"}`},
	{"GET", "/view/overview", ""},
	{"GET", "/view/calls?decision=refused", ""},
	{"GET", "/events", ""},
	{"GET", "/nothing", ""},
}

func TestEveryRouteRefusesWhatOthersSend(t *testing.T) {
	st := newSite(t, nil).enter()
	_, port, _ := strings.Cut(st.s.host, ":")
	set := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	attacks := map[string]func(*http.Request){
		"no port":              func(r *http.Request) { r.Host = "127.0.0.1" },
		"another port":         func(r *http.Request) { r.Host = "127.0.0.1:1" },
		"localhost":            func(r *http.Request) { r.Host = "localhost:" + port },
		"a rebound name":       func(r *http.Request) { r.Host = "attacker.example:" + port },
		"a name of the number": func(r *http.Request) { r.Host = "127.0.0.1.nip.io:" + port },
		"a trailing dot":       func(r *http.Request) { r.Host = "127.0.0.1.:" + port },
		"another loopback":     func(r *http.Request) { r.Host = "127.0.0.2:" + port },
		"a short number":       func(r *http.Request) { r.Host = "127.1:" + port },
		"all addresses":        func(r *http.Request) { r.Host = "0.0.0.0:" + port },
		"IPv6":                 func(r *http.Request) { r.Host = "[::1]:" + port },
		"mapped IPv6":          func(r *http.Request) { r.Host = "[::ffff:127.0.0.1]:" + port },
		"user information":     func(r *http.Request) { r.Host = "127.0.0.1:" + port + "@attacker.example" },
		"cross-site":           set("Sec-Fetch-Site", "cross-site"),
		"same-site":            set("Sec-Fetch-Site", "same-site"), // another port of this machine
		"two sites":            set("Sec-Fetch-Site", "same-origin", "cross-site"),
		"an unknown site":      set("Sec-Fetch-Site", "Same-Origin"),
		"an origin":            set("Origin", "https://attacker.example"),
		"a null origin":        set("Origin", "null"),
		"an empty origin":      set("Origin", ""),
		"origin of a port":     set("Origin", "http://127.0.0.1:1"),
		"origin without one":   set("Origin", "http://127.0.0.1"),
		"origin over TLS":      set("Origin", "https://127.0.0.1:"+port),
		"origin with a tail":   set("Origin", "http://127.0.0.1:"+port+".attacker.example"),
		"two origins":          set("Origin", "http://127.0.0.1:"+port, "https://attacker.example"),
	}
	for _, rt := range everyRoute {
		for name, attack := range attacks {
			resp, body := st.do(rt.method, rt.path, rt.body, attack)
			want := http.StatusForbidden
			if resp.Request.Host != "" && resp.Request.Host != st.s.host {
				want = http.StatusMisdirectedRequest
			}
			if resp.StatusCode != want || len(resp.Cookies()) > 0 {
				t.Errorf("%s %s, %s: %s %s", rt.method, rt.path, name, resp.Status, body)
			}
			checkHeaders(t, rt.path+", "+name, resp)
		}
	}
	for _, dest := range []string{"iframe", "embed", "object", "serviceworker", "worker", "audio", "font"} {
		for _, rt := range everyRoute[:len(everyRoute)-1] { // nothing is nothing, whatever for
			if resp, _ := st.do(rt.method, rt.path, rt.body, set("Sec-Fetch-Dest", dest)); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s as %s: %s", rt.path, dest, resp.Status)
			}
		}
	}
	if n := len(st.q.given()); n > 0 || st.q.looking() > 0 {
		t.Errorf("%d answers, %d pages", n, st.q.looking())
	}
}

func TestAPostNeedsItsOrigin(t *testing.T) {
	st := newSite(t, nil).enter()
	for _, rt := range everyRoute {
		if rt.method != "POST" {
			continue
		}
		drop := func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Del("Sec-Fetch-Dest")
		}
		if resp, body := st.do(rt.method, rt.path, rt.body, drop); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s %s", rt.path, resp.Status, body)
		}
	}
}

// checkHeaders holds for every response there is.
func checkHeaders(t *testing.T, what string, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp", "X-Frame-Options": "DENY", "Access-Control-Allow-Origin": "",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	csp := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%s: the policy %q lacks %s", what, csp, want)
		}
	}
	for _, never := range []string{"unsafe", "*", "http:", "data:", "blob:"} {
		if strings.Contains(csp, never) {
			t.Errorf("%s: the policy %q has %s", what, csp, never)
		}
	}
	if resp.Header.Get("Content-Type") == "" {
		t.Errorf("%s: no Content-Type", what)
	}
}

func TestHeadersOfEveryRoute(t *testing.T) {
	st := newSite(t, nil).enter()
	r := st.q.put(1, nil)
	sm := st.open()
	sm.next("pending")
	checkHeaders(t, "/events", sm.resp)
	for _, rt := range everyRoute {
		if rt.path == "/events" {
			continue
		}
		resp, _ := st.do(rt.method, rt.path, rt.body, nil)
		checkHeaders(t, rt.path, resp)
	}
	resp, _ := st.answer(r, "deny", nil)
	checkHeaders(t, "an answer", resp)
}

func TestThePageRunsOnlyWhatItNames(t *testing.T) {
	st := newSite(t, nil)
	seen := map[string]bool{}
	for range 3 {
		resp, body := st.do("GET", "/", "", nil)
		_, nonce, _ := strings.Cut(resp.Header.Get("Content-Security-Policy"), "script-src 'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		if len(nonce) < 40 || seen[nonce] || strings.Count(body, `nonce="`+nonce+`"`) != 2 || strings.Contains(body, "NONCE") {
			t.Errorf("nonce %q", nonce)
		}
		seen[nonce] = true
	}
	for name, a := range st.s.assets {
		for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "onclick=", "onload=", " style=", "https://", "http://", "javascript:", "window.open", "setAttribute('on"} {
			if strings.Contains(strings.ReplaceAll(string(a.body), "http://www.w3.org/2000/svg", ""), never) {
				t.Errorf("%s has %s", name, never)
			}
		}
	}
}

func TestMethodsAndPaths(t *testing.T) {
	st := newSite(t, nil).enter()
	for _, rt := range everyRoute[:len(everyRoute)-1] {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "POST", "get", "PROPFIND"} {
			if method == rt.method {
				continue
			}
			resp, body := st.do(method, rt.path, rt.body, func(r *http.Request) { r.Header.Set("Origin", "http://"+st.s.host) })
			if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != rt.method {
				t.Errorf("%s %s: %s %s", method, rt.path, resp.Status, body)
			}
			checkHeaders(t, method+" "+rt.path, resp)
		}
	}
	for _, path := range []string{
		"/page.html", "/assets/page.js", "/../page.js", "/./page.js", "//page.js", "/page.js/", "/page.js/../page.css", "/%2e%2e/%2e%2e/etc/passwd",
		"/..%2f..%2fetc%2fpasswd", "/assets/", "/assets", "/.git/config", "/page%2ejs", "/?a=b", "/page.js?v=1", "/?", "/server.go", "/overview/", "/view/", "/view/nothing", "/view/overview/x", "/overview%2f", "/view/../answer", "/calls?a=" + strings.Repeat("a", maxQuery),
		"/request/", "/request/..", "/request/../answer", "/request/0f8fad5b", "/request/0f8fad5b-d9cb-469f-a165-00000000000%31", "/request/" + strings.Repeat("a", 65), "/Events", "/ANSWER",
	} {
		resp, body := st.do("GET", path, "", func(r *http.Request) { r.Header.Del("Sec-Fetch-Dest") })
		if resp.StatusCode != http.StatusNotFound && !strings.HasPrefix(body, `{"ended":"Too late: `) {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
		checkHeaders(t, path, resp)
	}
}

// raw sends bytes that no HTTP client would, and gives what comes back.
func (st *site) raw(s string) string {
	st.t.Helper()
	c, err := net.Dial("tcp", st.s.host)
	if err != nil {
		st.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, s); err != nil {
		st.t.Fatal(err)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return line
}

func TestRequestsThatNoBrowserSends(t *testing.T) {
	slow.Test(t)
	st := newSite(t, nil)
	host := st.s.host
	for name, c := range map[string]struct{ request, status string }{
		"a target with a foreign name": {"GET http://attacker.example/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "421"},
		"no host":                      {"GET / HTTP/1.0\r\n\r\n", "421"},
		"no host in 1.1":               {"GET / HTTP/1.1\r\n\r\n", "400"},
		"two hosts":                    {"GET / HTTP/1.1\r\nHost: " + host + "\r\nHost: attacker.example\r\n\r\n", "400"},
		"dots":                         {"GET /../../etc/passwd HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "404"},
		"no path":                      {"GET * HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "404"},
		"a tunnel":                     {"CONNECT attacker.example:443 HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "421"},
		"long headers":                 {"GET / HTTP/1.1\r\nHost: " + host + "\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n", "431"},
		"HTTP/2 in the clear":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "421"},
	} {
		if got := st.raw(c.request); !strings.Contains(got, " "+c.status+" ") {
			t.Errorf("%s: %q, want %s", name, got, c.status)
		}
	}
}

func TestASlowHeaderIsNotWaitedFor(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const header = 300 * time.Millisecond
	st := tuned(t, nil, func(s *Server) { s.limits.header = header })
	c, err := net.Dial("tcp", st.s.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+st.s.host+"\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_ = c.SetReadDeadline(start.Add(30 * time.Second)) // for ever
	if _, err := io.ReadAll(c); err != nil || time.Since(start) < header/2 {
		t.Errorf("held for %v: %v", time.Since(start), err)
	}
}
