package reverse_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/remote/reverse"
)

// witness is a server that keeps the header of the last request.
type witness struct {
	server
	mu   sync.Mutex
	last http.Header
}

func newWitness(answer func(w http.ResponseWriter, r *http.Request, body string)) *witness {
	back := &witness{}
	back.serve = func(w http.ResponseWriter, r *http.Request, body string) {
		back.mu.Lock()
		back.last = r.Header.Clone()
		back.mu.Unlock()
		answer(w, r, body)
	}
	return back
}

func (back *witness) header() http.Header {
	back.mu.Lock()
	defer back.mu.Unlock()
	return back.last
}

func plainAnswer(w http.ResponseWriter, _ *http.Request, body string) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !strings.Contains(body, `"id"`):
		w.WriteHeader(http.StatusAccepted)
	case strings.Contains(body, `"tools/list"`):
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"ok","inputSchema":{"type":"object","properties":{`+
			`"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"o":{"type":"object","properties":{"deep":{"type":"boolean","x-mcp-header":"Deep"}}}}}}]}}`, idOf(body))
	case strings.Contains(body, `"initialize"`):
		w.Header().Set("Mcp-Session-Id", "s1")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, idOf(body))
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idOf(body))
	}
}

func modern(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s`+modernMeta+`}}`, method, params, "")
}

// A header that repeats the body and says something else is refused, whatever version
// the body or the header is of: what stands before a server routes and checks by it.
func TestHeadersThatContradictTheBody(t *testing.T) {
	back := newWitness(plainAnswer)
	w := newHarness(t, back)
	if got := says(w.post(modern("tools/list", ""))); !strings.HasPrefix(got, "200 ") {
		t.Fatal(got)
	}
	heard := back.all()
	args := `"name":"ok","arguments":{"region":"eu","n":42.0,"o":{"deep":true}},`
	legacy := call(1, "ok")
	for _, tc := range []struct {
		body   string
		header []string
	}{
		{modern("tools/call", args), []string{"Mcp-Name", "no"}},
		{modern("tools/call", args), []string{"Mcp-Method", "ping"}},
		{modern("tools/call", args), []string{"MCP-Protocol-Version", "2025-11-25"}},
		{modern("tools/call", args), []string{"Mcp-Name", "=?base64?bm8=?="}},
		{modern("tools/call", args), []string{"Mcp-Name", ""}},
		{modern("tools/call", args), []string{"Mcp-Param-Region", "us"}},
		{modern("tools/call", args), []string{"mcp-param-region", "=?base64?dXM=?="}},
		{modern("tools/call", args), []string{"Mcp-Param-N", "43"}},
		{modern("tools/call", args), []string{"Mcp-Param-Deep", "false"}},
		{modern("tools/call", `"name":"ok","arguments":{},`), []string{"Mcp-Param-Region", "us"}},
		{modern("tools/call", `"name":"ok",`), []string{"Mcp-Param-Region", ""}},
		{modern("ping", ""), []string{"Mcp-Name", "ok"}},
		{legacy, []string{"Mcp-Name", "no"}},
		{legacy, []string{"Mcp-Method", "tools/list"}},
		{legacy, []string{"Mcp-Name", "no", "MCP-Protocol-Version", "2026-07-28"}},
		{legacy, []string{"Mcp-Name", "no", "MCP-Protocol-Version", "2025-06-18"}},
		{legacy, []string{"MCP-Protocol-Version", "2026-07-28"}}, // -32602, as the servers of that version say it
		{legacy, []string{"Mcp-Param-Region", "us"}},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}`, []string{"Mcp-Name", "file:///b"}},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{"Mcp-Method", "tools/call"}},
	} {
		resp := w.post(tc.body, tc.header...)
		if got := says(resp); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "-32020") && !strings.Contains(got, "-32602") || !resp.Close {
			t.Errorf("%v: %s, closes %v", tc.header, got, resp.Close)
		}
	}
	if back.all() != heard {
		t.Errorf("the server heard %s", back.all())
	}
	if !w.record.has("header_mismatch") {
		t.Error("not recorded")
	}
}

// What the body confirms goes on as the body has it; what it does not confirm stays.
func TestHeadersThatTheBodyConfirms(t *testing.T) {
	back := newWitness(plainAnswer)
	w := newHarness(t, back)
	args := `"name":"ok","arguments":{"region":"eu","n":42.0,"o":{"deep":true},"x":[1]},`
	all := []string{"Mcp-Name", "=?base64?b2s=?=", "Mcp-Method", "tools/call", "MCP-Protocol-Version", "2026-07-28", "Mcp-Param-Region", "eu", "Mcp-Param-N", "42",
		"Mcp-Param-Deep", "true", "Mcp-Param-Other", "x", "Mcp-Session-Id", "theirs", "Last-Event-Id", "e1", "Mcp-New", "x", "Mcp_Name", "no", "Mcp_Session_Id", "theirs"}
	check := func(when, body string, sent []string, want map[string]string) {
		t.Helper()
		if got := says(w.post(body, sent...)); !strings.HasPrefix(got, "20") {
			t.Fatal(when, got)
		}
		got := map[string]string{}
		for name, values := range back.header() {
			if strings.HasPrefix(name, "Mcp") || strings.HasPrefix(name, "Last") {
				got[name] = strings.Join(values, "|")
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %v\nwant %v", when, got, want)
		}
	}
	mirror := map[string]string{"Mcp-Name": "ok", "Mcp-Method": "tools/call", "Mcp-Protocol-Version": "2026-07-28"}
	check("before the tools were listed", modern("tools/call", args), all, mirror)
	_ = says(w.post(modern("tools/list", "")))
	mirror["Mcp-Param-Region"], mirror["Mcp-Param-N"], mirror["Mcp-Param-Deep"] = "eu", "42", "true"
	check("a modern call", modern("tools/call", args), all, mirror)
	check("a notification", `{"jsonrpc":"2.0","method":"notifications/x"}`, []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "notifications/x", "Mcp-Session-Id", "theirs"},
		map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/x"})
	check("nothing is added", modern("tools/call", args), nil, map[string]string{})
	check("a call without a session", call(1, "ok"), []string{"MCP-Protocol-Version", "2025-06-18"}, map[string]string{"Mcp-Protocol-Version": "2025-06-18"})
	check("a version that nobody knows", call(1, "ok"), []string{"MCP-Protocol-Version", "newest"}, map[string]string{})
	w.initialize()
	check("in a session", call(1, "ok"), []string{"Mcp-Session-Id", "s1", "MCP-Protocol-Version", "2025-11-25", "Last-Event-Id", "e1", "Mcp-Name", "ok"},
		map[string]string{"Mcp-Session-Id": "s1", "Mcp-Protocol-Version": "2025-06-18", "Mcp-Name": "ok"})
}

// What a client says of where a request is to go, and who it comes from, stays here;
// keys and settings of its configuration go on.
func TestHeadersThatStay(t *testing.T) {
	back := newWitness(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Www-Authenticate", "Bearer x")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
	w := newHarness(t, back, func(o *reverse.Options) { o.Pass = []string{"x-tenant", "X-Requested-With"} })
	stay := []string{"Cookie", "Referer", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Original-URL", "X-Rewrite-URL", "X-Original-Host", "X-Host",
		"X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "Via", "X-Hop-Key", "Origin", "Expect",
		"Range", "If-Match", "Content-Encoding", "X_Original_URL", "X_HTTP_Method_Override", "Sec-WebSocket-Key", "X-Forwarded-Client-Id", "Proxy-Authorization",
		"X-Custom-Url", "Host-Id-X", "Mcp-Tool-Key", "X-Anything"}
	pass := []string{"Authorization", "X-Api-Key", "Context7_api_key", "Dd-Application-Key", "Private-Token", "X-Mcp-Toolsets", "X-Workspace-Id", "Traceparent",
		"User-Agent", "X-Tenant", "X-Requested-With"}
	send := []string{"Connection", "X-Hop-Key"}
	for _, name := range slices.Concat(stay, pass) {
		if name == "Expect" {
			send = append(send, name, "100-continue")
		} else if name != "Origin" && name != "Content-Encoding" { // refused at the door
			send = append(send, name, "of "+name)
		}
	}
	resp := w.post(call(1, "ok"), send...)
	if got := says(resp); !strings.HasPrefix(got, "200 ") {
		t.Fatal(got)
	}
	seen := back.header()
	for _, name := range stay {
		if seen.Get(name) != "" {
			t.Errorf("%s went on", name)
		}
	}
	for _, name := range pass {
		if seen.Get(name) != "of "+name {
			t.Errorf("%s did not go on: %q", name, seen.Get(name))
		}
	}
	for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin"} {
		if resp.Header.Get(name) != "" {
			t.Errorf("%s came back", name)
		}
	}
	if !w.record.has("header_kept") {
		t.Error("nothing says that a header stayed")
	}
	for _, name := range []string{"", "X Y", "Host", "mcp_session_id", "X-Forwarded-Proto", "X_Original_Url", "Connection", "Content-Type", "Last-Event-ID"} {
		if reverse.CheckPassed(name) == nil {
			t.Errorf("%q can be passed on", name)
		}
	}
}

// A header that is there twice is refused in every method, and the connection closed.
func TestHeadersThatAreThereTwice(t *testing.T) {
	back := newWitness(plainAnswer)
	w := newHarness(t, back)
	w.initialize()
	heard := back.all()
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		for name, header := range map[string]http.Header{
			"session":        {"Mcp-Session-Id": {"s1", "s2"}},
			"same session":   {"Mcp-Session-Id": {"s1", "s1"}},
			"event":          {"Mcp-Session-Id": {"s1"}, "Last-Event-Id": {"a", "b"}},
			"version":        {"Mcp-Session-Id": {"s1"}, "Mcp-Protocol-Version": {"2025-06-18", "2026-07-28"}},
			"name":           {"Mcp-Session-Id": {"s1"}, "Mcp-Name": {"ok", "no"}},
			"argument":       {"Mcp-Session-Id": {"s1"}, "Mcp-Param-X": {"1", "2"}},
			"credentials":    {"Mcp-Session-Id": {"s1"}, "Authorization": {"Bearer a", "Bearer b"}},
			"key":            {"Mcp-Session-Id": {"s1"}, "X-Api-Key": {"a", "b"}},
			"key, two names": {"Mcp-Session-Id": {"s1"}, "X-Api-Key": {"a"}, "X_api_key": {"b"}},
			"key, odd names": {"Mcp-Session-Id": {"s1"}, "X-Api_key": {"a"}, "X_api-Key": {"b"}},
		} {
			r := w.request(t.Context(), call(1, "ok"))
			r.Method = method
			for k, v := range header {
				r.Header[k] = v
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := says(resp); !strings.HasPrefix(got, "400 ") || !resp.Close {
				t.Errorf("%s %s: %s, closes %v", method, name, got, resp.Close)
			}
		}
	}
	if back.all() != heard {
		t.Errorf("the server heard %s", back.all())
	}
	if !w.record.has("header_twice") {
		t.Error("not recorded")
	}
}

// The id of an event names a stream at the server, and not every server asks whose.
func TestStreamsOfOthers(t *testing.T) {
	n := 0
	back := newWitness(func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, `"initialize"`) {
			n++
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n))
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, idOf(body))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: of-%s\ndata:\n\n", r.Header.Get("Mcp-Session-Id"))
	})
	w := newHarness(t, back)
	base := w.front.URL + "/" + secret + "/mcp/"
	open := func(path string) { w.url = base + path; w.initialize() }
	open("alice/s")
	open("bob/s")
	open("bob/s")
	get := func(path string, header ...string) string {
		w.url = base + path
		return says(w.do(http.MethodGet, header...))
	}
	for path, session := range map[string]string{"alice/s": "s1", "bob/s": "s2"} {
		if got := get(path, "Mcp-Session-Id", session); !strings.Contains(got, "id: of-"+session) {
			t.Fatal(got)
		}
		if got := get(path, "Mcp-Session-Id", session, "Last-Event-ID", "of-"+session); !strings.HasPrefix(got, "200 ") || back.header().Get("Last-Event-Id") != "of-"+session {
			t.Errorf("its own stream: %s", got)
		}
	}
	heard := back.all()
	for path, header := range map[string][]string{
		"alice/s": {"Mcp-Session-Id", "s1", "Last-Event-ID", "of-s2"},
		"bob/s":   {"Mcp-Session-Id", "s3", "Last-Event-ID", "of-s2"}, // the same agent's other session
	} {
		if got := get(path, header...); !strings.HasPrefix(got, "400 ") {
			t.Errorf("%v: %s", header, got)
		}
	}
	if back.all() != heard || !w.record.has("event_unknown") {
		t.Error("it went on, or is not on record")
	}
	if _ = get("carol/s", "Last-Event-ID", "of-s2"); back.header().Get("Last-Event-Id") != "" {
		t.Error("without a session it went on")
	}
}

// Connections that carry no request are bounded for each peer, and cost nobody else
// theirs.
func TestIdleConnections(t *testing.T) {
	w := newHarness(t, &server{})
	var silent []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", w.front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	_ = silent[0].SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := silent[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("the oldest of 200 is still open: %v", err)
	}
	if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	last := silent[len(silent)-1]
	_ = last.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(last, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", w.front.Listener.Addr())
	if _, err := http.ReadResponse(bufio.NewReader(last), nil); err != nil {
		t.Errorf("the newest is not served: %v", err)
	}
}
