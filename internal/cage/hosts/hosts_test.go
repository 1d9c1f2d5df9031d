package hosts

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/policy/hostlist"
)

// site is a proxy, and servers that it may lead to. All names lead to this machine.
type site struct {
	t       *testing.T
	address string       // of the proxy
	reached atomic.Int64 // connections that arrived at a server
	asked   atomic.Int64 // names that were resolved
	plain   string       // the port of an HTTP server
	secure  string       // the port of an HTTPS server
	certs   *httptest.Server

	mu      sync.Mutex
	refused []Refusal
	heads   []string // what arrived at the HTTP server: host, URI and fields
	leads   func(name string) []netip.Addr
	proxy   *Proxy
}

var loopback = netip.MustParseAddr("127.0.0.1")

func newSite(t *testing.T, list ...string) *site {
	t.Helper()
	s := &site{t: t, leads: func(string) []netip.Addr { return []netip.Addr{loopback} }}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.heads = append(s.heads, fmt.Sprint(r.Method, " ", r.Host, " ", r.RequestURI, " ", r.Header))
		s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/redirect" {
			w.Header().Set("Location", "http://evil.org/")
			w.WriteHeader(http.StatusFound)
		}
		fmt.Fprintf(w, "answer to %s%s", r.Host, body)
	})
	state := func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.reached.Add(1)
		}
	}
	for _, secure := range []bool{false, true} {
		target := httptest.NewUnstartedServer(handler)
		target.Config.ConnState = state
		target.Config.ErrorLog = log.New(io.Discard, "", 0)
		port := &s.plain
		if secure {
			port, s.certs = &s.secure, target
			target.StartTLS()
		} else {
			target.Start()
		}
		t.Cleanup(target.Close)
		u, err := url.Parse(target.URL)
		if err != nil {
			t.Fatal(err)
		}
		*port = u.Port()
	}
	for i := range list {
		list[i] = s.fill(list[i])
	}
	hosts, err := hostlist.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{List: hosts, Refused: func(r Refusal) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused = append(s.refused, r)
	}, Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
		s.asked.Add(1)
		if all := s.leads(name); all != nil {
			return all, nil
		}
		return nil, errors.New("no such name")
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	s.proxy = p
	ended := make(chan struct{})
	go func() { defer close(ended); p.Serve(l) }()
	t.Cleanup(func() { _ = l.Close(); <-ended })
	return s
}

func (s *site) fill(text string) string {
	return strings.NewReplacer("PLAIN", s.plain, "SECURE", s.secure).Replace(text)
}

func (s *site) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// ask sends bytes and returns the whole answer.
func (s *site) ask(text string) string {
	s.t.Helper()
	c := s.dial()
	if _, err := io.WriteString(c, s.fill(text)); err != nil {
		s.t.Fatal(err)
	}
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// fetch is what a usual program does with a proxy.
func (s *site) fetch(address string) (string, error) {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: s.address}),
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the names are made up
		},
	}
	defer client.CloseIdleConnections()
	answer, err := client.Get(s.fill(address))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return fmt.Sprint(answer.StatusCode, " ", string(text)), err
}

func TestWaysOut(t *testing.T) {
	s := newSite(t, "api.example.com:PLAIN", "*.example.org:SECURE", "127.0.0.1:PLAIN", "127.0.0.1:SECURE", "localhost:PLAIN")
	for address, want := range map[string]string{
		"http://api.example.com:PLAIN/x?y=1":    "200 answer to api.example.com:PLAIN",
		"http://API.example.com:PLAIN/":         "200 answer to API.example.com:PLAIN",
		"https://a.example.org:SECURE/":         "200 answer to a.example.org:SECURE",
		"https://a.b.example.org:SECURE/":       "200 answer to a.b.example.org:SECURE",
		"http://api.example.com:PLAIN/redirect": "302 answer to api.example.com:PLAIN",
	} {
		if got, err := s.fetch(address); err != nil || got != s.fill(want) {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	post := s.ask("POST http://localhost:PLAIN/x HTTP/1.1\r\nHost: localhost:PLAIN\r\nContent-Length: 4\r\nExpect: 100-continue\r\nX-Own: 1\r\nConnection: X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: secret\r\n\r\nbody")
	if !strings.HasPrefix(post, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n") || !strings.HasSuffix(post, s.fill("answer to localhost:PLAINbody")) {
		t.Errorf("%q", post)
	}
	chunked := s.ask("PUT http://127.0.0.1:PLAIN/ HTTP/1.1\r\nHost: 127.0.0.1:PLAIN\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")
	if !strings.HasSuffix(chunked, s.fill("answer to 127.0.0.1:PLAINbody")) {
		t.Errorf("%q", chunked)
	}
	arrived := strings.Join(s.heads, "\n")
	if !strings.Contains(arrived, "X-Own:[1]") || !strings.Contains(arrived, "/x?y=1") || strings.Contains(arrived, "X-Hop") || strings.Contains(arrived, "secret") {
		t.Errorf("%s", arrived)
	}
	if len(s.refused) > 0 {
		t.Errorf("refused %v", s.refused)
	}
}

// Nothing that is asked in another way than by a host of the list reaches a server, or a resolver.
func TestHostsThatAreNotListed(t *testing.T) {
	s := newSite(t, "api.example.com:PLAIN", "*.example.org:PLAIN", "127.0.0.2:PLAIN")
	for _, host := range []string{
		"evil.org", "api.example.com.evil.org", "evilapi.example.com", "x.api.example.com", "example.com", "example.org", "evilexample.org", "a.example.org.evil.org",
		"api.example.com.", "a.example.org.", "evil.org\x00.example.org", "api.example.com\x00", "evil.org\t.example.org", "evil.org%00.example.org", "evil.org#.example.org", "evil.org?.example.org", "evil.org/.example.org", `evil.org\.example.org`,
		"user@api.example.com", "api.example.com:PLAIN@evil.org", "api.example.com@evil.org", "*.example.org", ".example.org", "a..example.org",
		"ａpi.example.com", "api。example.com", "аpi.example.com", "bücher.example.org",
		"127.0.0.1", "2130706433", "2130706434", "0x7f000002", "0x7f.0.0.2", "0177.0.0.2", "127.2", "127.0.2", "127.0.0.2.", "127.000.000.002", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "[::7f00:2]", "[::1]", "[::1%25lo]", "localhost", "0.0.0.0", "[64:ff9b::7f00:2]",
	} {
		for _, request := range []string{
			"CONNECT " + host + ":PLAIN HTTP/1.1\r\nHost: " + host + ":PLAIN\r\n\r\n", "CONNECT " + host + ":PLAIN HTTP/1.0\r\n\r\n",
			"GET http://" + host + ":PLAIN/ HTTP/1.1\r\nHost: " + host + ":PLAIN\r\n\r\n",
			"GET http://" + host + ":PLAIN/ HTTP/1.1\r\nHost: api.example.com:PLAIN\r\n\r\n",
		} {
			if answer := s.ask(request); !strings.HasPrefix(answer, "HTTP/1.1 400 ") && !strings.HasPrefix(answer, "HTTP/1.1 403 ") {
				t.Errorf("%q: %q", request, answer)
			}
		}
	}
	if len(s.refused) < 15 {
		t.Errorf("told %v", s.refused)
	}
	if n, m := s.reached.Load(), s.asked.Load(); n != 0 || m != 0 {
		t.Errorf("%d connections arrived, and %d names were asked for", n, m)
	}
}

// What a client's file shuts is not reached, whatever the list opens: by its name, by its address, nor
// by the greeting of another.
func TestDeniedHosts(t *testing.T) {
	s := newSite(t, "*.example.org:PLAIN", "*.example.org:SECURE", "127.0.0.1:PLAIN", "127.0.0.1:SECURE", "localhost:PLAIN")
	var err error
	if s.proxy.Not, err = hostlist.ParseList([]string{"bad.example.org", "*.inner.example.org:" + s.plain, "localhost"}); err != nil {
		t.Fatal(err)
	}
	for address, open := range map[string]bool{
		"http://a.example.org:PLAIN/": true, "http://inner.example.org:PLAIN/": true, "https://a.inner.example.org:SECURE/": true,
		"http://bad.example.org:PLAIN/": false, "http://BAD.example.org:PLAIN/": false, "http://a.inner.example.org:PLAIN/": false, "http://localhost:PLAIN/": false,
	} {
		if got, err := s.fetch(address); strings.HasPrefix(got, "200 ") != open {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	for name, open := range map[string]bool{"a.example.org": true, "bad.example.org": false} {
		client := tls.Client(s.connect("127.0.0.1:SECURE"), &tls.Config{ServerName: name, InsecureSkipVerify: true}) //nolint:gosec // the names are made up
		if err := client.Handshake(); (err == nil) != open {
			t.Errorf("greeting %s: %v", name, err)
		}
		_ = client.Close()
	}
	s = newSite(t, "*.example.org:PLAIN")
	if s.proxy.Not, err = hostlist.ParseList([]string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.fetch("http://a.example.org:PLAIN/"); strings.HasPrefix(got, "200 ") || s.reached.Load() != 0 {
		t.Errorf("a name led to a denied address: %q", got)
	}
}

// What two programs could read as two requests, or as one for another host, is not carried out.
func TestOddRequests(t *testing.T) {
	s := newSite(t, "api.example.com:PLAIN", "127.0.0.1:PLAIN")
	const good, host = "GET http://api.example.com:PLAIN/ HTTP/1.1\r\n", "Host: api.example.com:PLAIN\r\n"
	for _, request := range []string{
		good + "Host: evil.org\r\n\r\n", good + "Host: evil.org:PLAIN\r\n\r\n", good + "Host: api.example.com:80\r\n\r\n", good + "Host: api.example.com.\r\n\r\n", good + "Host:\r\n\r\n",
		good + host + host + "\r\n", good + host + "Host : evil.org\r\n\r\n", good + " Host: evil.org\r\n" + host + "\r\n", good + host + "\tfolded\r\n\r\n", good + host + "X: a\r\n b\r\n\r\n",
		good + host + "X\x00: 1\r\n\r\n", good + host + "X: a\rHost: evil.org\r\n\r\n", good + host + "X: a\nHost: evil.org\r\n\r\n", good + host + "X: \x00\r\n\r\n", good + host + ": x\r\n\r\n", good + host + "X\r\n\r\n",
		good + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", good + host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", good + host + "Content-Length: +1\r\n\r\na", good + host + "Content-Length: 1, 1\r\n\r\na", good + host + "Content-Length: -1\r\n\r\n", good + host + "Content-Length: 0x1\r\n\r\na",
		good + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", good + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", good + host + "Transfer-Encoding: xchunked\r\n\r\n", good + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", good + host + "Transfer-Encoding : chunked\r\n\r\n",
		"GET  http://api.example.com:PLAIN/ HTTP/1.1\r\n" + host + "\r\n", "GET http://api.example.com:PLAIN/ HTTP/1.1 x\r\n" + host + "\r\n", "GET http://api.example.com:PLAIN/ HTTP/1.0\r\n" + host + "\r\n", "GET http://api.example.com:PLAIN/ HTTP/2.0\r\n" + host + "\r\n",
		"GET / HTTP/1.1\r\n" + host + "\r\n", "GET https://api.example.com:PLAIN/ HTTP/1.1\r\n" + host + "\r\n", "GET ftp://api.example.com:PLAIN/ HTTP/1.1\r\n" + host + "\r\n", "GET //api.example.com:PLAIN/ HTTP/1.1\r\n" + host + "\r\n", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n",
		"CONNECT api.example.com HTTP/1.1\r\n\r\n", "CONNECT http://api.example.com:PLAIN HTTP/1.1\r\n\r\n", "CONNECT api.example.com:PLAIN/ HTTP/1.1\r\n\r\n", "CONNECT api.example.com:0PLAIN HTTP/1.1\r\n\r\n",
		"CONNECT api.example.com:PLAIN HTTP/1.1\r\nHost: evil.org:PLAIN\r\n\r\n", "CONNECT api.example.com:PLAIN HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "CONNECT api.example.com:PLAIN HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"connect api.example.com:PLAIN HTTP/1.1\r\n\r\n", "\x05\x01\x00\r\n\r\n", "\x16\x03\x01\r\n\r\n", good + "X: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
	} {
		if answer := s.ask(request); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
			t.Errorf("%.200q: %q", request, answer)
		}
	}
	for _, port := range []string{"443", "80", "22", "1", "65535"} {
		if answer := s.ask("CONNECT api.example.com:" + port + " HTTP/1.1\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 403 ") {
			t.Errorf("%s: %q", port, answer)
		}
	}
	if n := s.reached.Load(); n != 0 || s.asked.Load() != 0 {
		t.Errorf("%d connections arrived", n)
	}
	// A second request on the same connection is not carried out, whatever it is.
	answer := s.ask(good + host + "\r\nGET http://evil.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n")
	if n := strings.Count(answer, "HTTP/1.1 "); n != 1 || len(s.heads) != 1 {
		t.Errorf("%q reached %q", answer, s.heads)
	}
}

// The address that is dialled is the one that was looked at, and a name leads to no address of this
// machine or its networks unless the list names that, too.
func TestRebinding(t *testing.T) {
	s := newSite(t, "api.example.com:PLAIN", "localhost:PLAIN", "*.example.org:PLAIN", "127.0.0.7:PLAIN")
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	if answer := s.ask("GET http://localhost:PLAIN/ HTTP/1.1\r\nHost: localhost:PLAIN\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") || s.asked.Load() != 0 {
		t.Errorf("%q", answer)
	}
	s.reached.Store(0)
	closed := []string{"127.0.0.1", "127.0.0.8", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "fe80::1", "fe80::1%eth0", "fd00::1", "224.0.0.1", "255.255.255.255", "64:ff9b::7f00:1", "2002:7f00:1::1", "::7f00:1"}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			t.Fatal(err)
		}
		closed = append(closed, prefix.Addr().String())
	}
	for _, text := range closed {
		s.leads = func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(text)} }
		for _, host := range []string{"api.example.com", "a.example.org"} {
			if answer := s.ask("CONNECT " + host + ":PLAIN HTTP/1.1\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 403 ") || !strings.Contains(answer, "net has to name that, too") {
				t.Errorf("%s leads to %s: %q", host, text, answer)
			}
		}
	}
	if n := s.reached.Load(); n != 0 {
		t.Errorf("%d connections arrived", n)
	}
	// Each connection asks once, and dials what that answer held: the second answer is not used.
	asked := 0
	s.leads = func(string) []netip.Addr {
		asked++
		if asked%2 == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.7")}
		}
		return []netip.Addr{loopback}
	}
	if answer := s.ask("GET http://api.example.com:PLAIN/ HTTP/1.1\r\nHost: api.example.com:PLAIN\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 502 ") || asked != 1 { // nobody listens at 127.0.0.7
		t.Errorf("asked %d times: %q", asked, answer)
	}
	if answer := s.ask("CONNECT api.example.com:PLAIN HTTP/1.1\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 403 ") || asked != 2 {
		t.Errorf("asked %d times: %q", asked, answer)
	}
	// Among several addresses only those are dialled that may be.
	s.leads = func(string) []netip.Addr { return []netip.Addr{loopback, netip.MustParseAddr("127.0.0.7")} }
	if answer := s.ask("CONNECT api.example.com:PLAIN HTTP/1.1\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 502 ") {
		t.Errorf("%q", answer)
	}
	if n := s.reached.Load(); n != 0 {
		t.Errorf("%d connections arrived", n)
	}
	s.leads = func(string) []netip.Addr { return nil }
	if answer := s.ask("CONNECT api.example.com:PLAIN HTTP/1.1\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 502 ") {
		t.Errorf("%q", answer)
	}
}

// connect opens a tunnel.
func (s *site) connect(target string) net.Conn {
	s.t.Helper()
	c := s.dial()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\n\r\n", s.fill(target))
	answer, err := bufio.NewReaderSize(c, 39).ReadString('\n')
	if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		s.t.Fatalf("%s: %q, %v", target, answer, err)
	}
	return c
}

// slow is a connection that sends each byte by itself.
type slow struct{ net.Conn }

func (s slow) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := s.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// cut is a connection that puts each byte of the first handshake message into a record of its own.
type cut struct {
	net.Conn
	done *bool
}

func (c cut) Write(p []byte) (int, error) {
	if *c.done || p[0] != recordOfHandshake {
		return c.Conn.Write(p)
	}
	*c.done = true
	for _, b := range p[5:] {
		if _, err := c.Conn.Write([]byte{p[0], p[1], p[2], 0, 1, b}); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// A TLS greeting for another host than the one that was asked for does not reach the server, however
// it is sent.
func TestGreetings(t *testing.T) {
	s := newSite(t, "api.example.com:SECURE", "127.0.0.1:SECURE", "*.example.org:SECURE")
	ways := map[string]func(net.Conn) net.Conn{
		"whole": func(c net.Conn) net.Conn { return c }, "slow": func(c net.Conn) net.Conn { return slow{c} }, "cut": func(c net.Conn) net.Conn { return cut{c, new(bool)} },
	}
	for _, c := range []struct {
		target, name string
		open         bool
	}{
		{"api.example.com:SECURE", "api.example.com", true}, {"api.example.com:SECURE", "API.Example.com", true}, {"a.example.org:SECURE", "a.example.org", true},
		{"127.0.0.1:SECURE", "", true}, {"127.0.0.1:SECURE", "b.example.org", true},
		{"api.example.com:SECURE", "evil.org", false}, {"api.example.com:SECURE", "api.example.com.evil.org", false}, {"api.example.com:SECURE", "a.example.org", false},
		{"a.example.org:SECURE", "b.example.org", false}, {"api.example.com:SECURE", "", false}, {"127.0.0.1:SECURE", "evil.org", false},
	} {
		for way, wrap := range ways {
			s.mu.Lock()
			s.refused = nil
			s.mu.Unlock()
			conn := wrap(s.connect(c.target))
			client := tls.Client(conn, &tls.Config{ServerName: c.name, InsecureSkipVerify: true}) //nolint:gosec // the names are made up
			err := client.Handshake()
			if (err == nil) != c.open {
				t.Errorf("%s, greeting %q, %s: %v", c.target, c.name, way, err)
			}
			_ = client.Close()
		}
	}
	// What begins as a greeting and is none goes nowhere.
	c := s.connect("api.example.com:SECURE")
	_, _ = c.Write(append([]byte{recordOfHandshake, 3, 1, 0, 4}, "GET / HTTP/1.1\r\n\r\n"...))
	if text, _ := io.ReadAll(c); len(text) > 40 {
		t.Errorf("%q", text)
	}
}

func TestGreetingIsTold(t *testing.T) {
	s := newSite(t, "api.example.com:SECURE", "127.0.0.1:SECURE")
	c := s.connect("api.example.com:SECURE")
	err := tls.Client(c, &tls.Config{ServerName: "evil.org", InsecureSkipVerify: true}).Handshake() //nolint:gosec // the names are made up
	s.mu.Lock()
	defer s.mu.Unlock()
	want := Refusal{Host: s.fill("api.example.com:SECURE"), Reason: `its TLS greeting is for "evil.org"`}
	if err == nil || len(s.refused) != 1 || s.refused[0] != want {
		t.Errorf("%v: %v", err, s.refused)
	}
}

// A door leads to one target, and only with the right greeting.
func TestDoors(t *testing.T) {
	s := newSite(t, "api.example.com:SECURE", "127.0.0.1:SECURE", "127.0.0.1:PLAIN")
	for _, c := range []struct{ target, name, fault string }{
		{"api.example.com:SECURE", "api.example.com", ""}, {"api.example.com:SECURE", "evil.org", `its TLS greeting is for "evil.org"`}, {"b.example.com:SECURE", "b.example.com", "it is not in net of its table"},
	} {
		target, err := hostlist.ParseTarget(s.fill(c.target))
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); s.proxy.ServeDoor(l, target) }()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		err = tls.Client(conn, &tls.Config{ServerName: c.name, InsecureSkipVerify: true}).Handshake() //nolint:gosec // the names are made up
		s.mu.Lock()
		told := fmt.Sprint(s.refused)
		s.refused = nil
		s.mu.Unlock()
		if (err == nil) != (c.fault == "") || !strings.Contains(told, c.fault) {
			t.Errorf("%+v: %v, told %s", c, err, told)
		}
		_ = conn.Close()
		_ = l.Close()
		<-ended
	}
}

// A protocol in which the server speaks first, or which is not TLS, passes.
func TestOtherProtocols(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "hello\n")
		text, _ := io.ReadAll(c)
		_, _ = io.WriteString(c, strings.ToUpper(string(text)))
		_ = c.Close()
	}()
	s := newSite(t, l.Addr().String())
	c := s.connect(l.Addr().String())
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "hello\n" {
			break
		}
	}
	_, _ = io.WriteString(c, "question")
	closeWrite(c)
	if text, err := io.ReadAll(r); err != nil || string(text) != "QUESTION" {
		t.Errorf("%q, %v", text, err)
	}
}

// A server that asks for many hosts fills no record.
func TestRefusalsAreFew(t *testing.T) {
	s := newSite(t, "api.example.com")
	for i := range maxRefused + 20 {
		for range 2 {
			s.ask(fmt.Sprintf("CONNECT h%d.evil.org:443 HTTP/1.1\r\n\r\n", i))
		}
	}
	if len(s.refused) != maxRefused+1 || s.refused[maxRefused].Host != "further hosts" || s.refused[0].Host != "h0.evil.org:443" {
		t.Errorf("%d: %v", len(s.refused), s.refused)
	}
}

// FuzzRequests: whatever is asked, the only host that is dialled is of the list.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		"CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n", "GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
		"GET http://evil.org/ HTTP/1.1\r\n\r\n", "CONNECT evil.org:443 HTTP/1.0\r\n\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := readHead([]byte(text))
		if err != nil || !strings.HasSuffix(text, "\r\n\r\n") {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		got, err := hostlist.ParseTarget(r.Host)
		if got.Port == 0 {
			got.Port = 80
		}
		if err != nil || got != h.target || (r.Method == http.MethodConnect) != h.tunnel {
			t.Errorf("%q: net/http reads %q, we read %s", text, r.Host, h.target)
		}
		if n := slices.Index(r.TransferEncoding, "chunked"); n > 0 {
			t.Errorf("%q has the encodings %q", text, r.TransferEncoding)
		}
	})
}
