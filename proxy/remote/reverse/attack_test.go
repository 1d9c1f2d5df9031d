package reverse_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// raw sends bytes as they are and gives the whole answer.
func (w *harness) raw(request string) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.front.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		return err.Error()
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	return says(resp)
}

// unharmed says that nothing has reached the server.
func unharmed(t *testing.T, back *server) {
	t.Helper()
	if got := back.all(); got != "" {
		t.Errorf("the server heard %q", got)
	}
}

// DNS rebinding and cross-site requests (CVE-2025-66414, CVE-2026-34742,
// CVE-2026-35568): every route looks at Host and Origin.
func TestStrangers(t *testing.T) {
	back := &server{}
	w := newHarness(t, back)
	_, port, _ := strings.Cut(w.front.URL[len("http://"):], ":")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodOptions, http.MethodPut} {
		for _, path := range []string{w.proxy.ServerPath("s"), "/", "/.well-known/oauth-protected-resource"} {
			for name, bend := range map[string]func(*http.Request){
				"another host":          func(r *http.Request) { r.Host = "evil.example:" + port },
				"another port":          func(r *http.Request) { r.Host = "127.0.0.1:1" },
				"a name that begins so": func(r *http.Request) { r.Host = "127.0.0.1.evil.example:" + port },
				"another origin":        func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
				"no origin to speak of": func(r *http.Request) { r.Header.Set("Origin", "null") },
				"another port's origin": func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
				"port 80's origin":      func(r *http.Request) { r.Header.Set("Origin", "http://localhost") },
				"port 443's origin":     func(r *http.Request) { r.Header.Set("Origin", "https://127.0.0.1") },
				"two origins": func(r *http.Request) {
					r.Header["Origin"] = []string{"http://127.0.0.1:" + port, "https://evil.example"}
				},
				"another site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			} {
				r := w.request(t.Context(), call(1, "ok"))
				r.Method, r.URL.Path = method, path
				bend(r)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if got := says(resp); !strings.HasPrefix(got, "403 ") || resp.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s, %s: %s", method, path, name, got)
				}
			}
		}
	}
	unharmed(t, back)
	own := w.post(call(1, "ok"), "Origin", "http://127.0.0.1:"+port)
	if got := says(own); !strings.HasPrefix(got, "200 ") {
		t.Errorf("our own origin: %s", got)
	}
}

func TestPathsThatLeadNowhere(t *testing.T) {
	back := &server{}
	w := newHarness(t, back)
	base := w.front.URL
	for _, path := range []string{
		"/", "/mcp/s", "/mcp", "/" + secret, "/" + secret + "/mcp", "/" + secret + "/mcp/", "/" + secret + "/mcp/none",
		"/" + secret + "/mcp/s//", "/" + secret + "/mcp/none/", "/" + secret + "/mcp//",
		"/" + strings.ToUpper(secret) + "x/mcp/s", "/" + secret[1:] + "/mcp/s", "/" + secret + "/mcp/a/b/s", "/" + secret + "/mcp//s",
		"/" + secret + "/mcp/%2e%2e/s", "/" + secret + "/mcp/s/../../x", "/" + secret + "/mcp/s%00", "/" + secret + "/mcp/http:%2f%2fevil/s",
		"/" + secret + "/mcp/s/~//evil.example/x", "/" + secret + "/mcp/s/~/messages?sessionId=1", "/" + secret + "/mcp/s/~",
	} {
		w.url = base + path
		got := says(w.post(call(1, "ok")))
		if strings.HasSuffix(path, "/~") { // nothing behind it: the server itself
			continue
		}
		if !strings.HasPrefix(got, "404 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if strings.Count(back.all(), "tools/call") > 1 {
		t.Error(back.all())
	}
}

// What two parsers could read in two ways is not passed on.
func TestSmuggling(t *testing.T) {
	slow.Test(t)
	back := &server{}
	w := newHarness(t, back)
	path, host := w.proxy.ServerPath("s"), w.front.Listener.Addr().String()
	evil, ok := call(1, "no"), call(1, "ok")
	head := "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\n"
	for name, request := range map[string]string{
		"two lengths":         head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: 5\r\n\r\n%s", len(ok), ok),
		"length and chunks":   head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + head + evil,
		"strange chunks":      head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"two encodings":       head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"a negative length":   head + "Content-Length: -1\r\n\r\n" + ok,
		"a folded header":     head + "X: a\r\n b\r\nContent Length: 5\r\n\r\n" + ok,
		"LF in a header":      head + "X: a\nHost: evil\r\n\r\n" + ok,
		"not a host":          "POST " + path + " HTTP/1.1\r\nContent-Type: application/json\r\n\r\n",
		"two hosts":           head + "Host: evil.example\r\nContent-Length: 0\r\n\r\n",
		"an absolute address": "POST http://evil.example" + path + " HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
		"endless headers":     head + strings.Repeat("X-A: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "\r\n",
	} {
		if got := w.raw(request); !strings.HasPrefix(got, "4") && !strings.HasPrefix(got, "5") && !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") && !strings.Contains(got, "broken pipe") {
			t.Errorf("%s: %s", name, got)
		}
	}
	unharmed(t, back)
}

func TestBodies(t *testing.T) {
	slow.Test(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(call(1, "ok")))
	_ = z.Close()
	wide := func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ body, kind, header string }{
		"a second value":    {call(1, "ok") + call(2, "no"), "application/json", ""},
		"a second line":     {call(1, "ok") + "\n" + call(2, "no"), "application/json", ""},
		"gzip":              {zipped.String(), "application/json", "gzip"},
		"gzip unsaid":       {zipped.String(), "application/json", ""},
		"UTF-16":            {wide(call(1, "ok")), "application/json", ""},
		"UTF-16 by name":    {wide(call(1, "ok")), "application/json; charset=utf-16le", ""},
		"UTF-7":             {call(1, "ok"), "application/json; charset=utf-7", ""},
		"a byte order mark": {"\ufeff" + call(1, "ok"), "application/json", ""},
		"text/plain":        {call(1, "ok"), "text/plain", ""},
		"a form":            {call(1, "ok"), "application/x-www-form-urlencoded", ""},
		"a vendor's JSON":   {call(1, "ok"), "application/vnd.x+json", ""},
		"no type":           {call(1, "ok"), "", ""},
		"duplicate members": {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"ok"}}`, "application/json", ""},
		"a batch":           {"[" + call(1, "ok") + "]", "application/json", ""},
		"nothing":           {"", "application/json", ""},
		"NUL":               {call(1, "ok") + "\x00", "application/json", ""},
		"too long":          {call(1, strings.Repeat("o", 70_000)), "application/json", ""},
		"a CR hides a call": {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\r" + call(2, "no") + "\r\"}}", "application/json", ""},
		"a fractional id":   {`{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"ok"}}`, "application/json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			back := &server{}
			w := newHarness(t, back, func(o *reverse.Options) { o.Limits = frame.Limits{MaxBytes: 64 << 10, MaxDepth: 64} })
			r := w.request(t.Context(), tt.body)
			r.Header.Del("Content-Type")
			if tt.kind != "" {
				r.Header.Set("Content-Type", tt.kind)
			}
			if tt.header != "" {
				r.Header.Set("Content-Encoding", tt.header)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			got := says(resp)
			if !strings.HasPrefix(got, "4") && !strings.Contains(got, `"error"`) {
				t.Error(got)
			}
			unharmed(t, back)
		})
	}
}

// A session belongs to the path it was opened under (CVE-2026-33946).
func TestSessionsCannotBeTaken(t *testing.T) {
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "known")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, idOf(body))
	}}
	w := newHarness(t, back)
	base := w.front.URL + "/" + secret + "/mcp/"
	w.url = base + "alice/s"
	initialize := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`
	if got := says(w.post(initialize)); !strings.HasPrefix(got, "200 ") {
		t.Fatal(got)
	}
	heard := back.all()
	w.url = base + "bob/s"
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		r := w.request(t.Context(), call(1, "ok"), "Mcp-Session-Id", "known")
		r.Method = method
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := says(resp); !strings.HasPrefix(got, "404 ") {
			t.Errorf("%s: %s", method, got)
		}
	}
	if back.all() != heard {
		t.Errorf("the server heard %s", back.all())
	}
}
