//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// mcpInPage is what a web page's client does: a message that a browser asks about
// first, the session's id read from the answer, and a message in that session.
const mcpInPage = `(async () => {
	const say = (body, more) => fetch(%q, {
		method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...body }),
		headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Authorization: 'Bearer mine', ...more },
	})
	try {
		const begun = await say({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1' } } })
		const session = begun.headers.get('Mcp-Session-Id')
		const called = await say({ id: 1, method: 'tools/call', params: { name: 'ok', arguments: {} } },
			{ 'Mcp-Session-Id': session, 'Mcp-Protocol-Version': '2025-11-25', 'Mcp-Param-Region': 'eu', 'Last-Event-ID': 'x' })
		const ended = await fetch(%q, { method: 'DELETE', headers: { 'Mcp-Session-Id': session } })
		return session + ' ' + (await called.json()).result.heard + ' ' + ended.status
	} catch (error) {
		return String(error)
	}
})()`

// A page of a named origin is a client like any other, in a real browser; a page of
// another gets nothing out, and nothing in.
func TestAPageAsClient(t *testing.T) {
	heard := 0
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard++
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		switch {
		case r.Method == http.MethodDelete:
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"heard":%q}}`, r.Header.Get("Mcp-Param-Region"))
		}
	}))
	defer back.Close()
	blank := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><title>page</title>") })
	named, other := httptest.NewServer(blank), httptest.NewServer(blank)
	defer named.Close()
	defer other.Close()

	s := newSite(t, allowAll)
	line, err := s.starts(nil, clawai, "proxy", "--listen", "127.0.0.1:0", "--origin", named.URL, "--upstream", "s="+back.URL).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, front, _ := strings.Cut(strings.TrimSpace(line), "  ")
	b := newBrowser(t, 400, 300)
	in := func(origin string) (got string) {
		b.do(nil, "open", map[string]any{"url": origin})
		b.do(&got, "run", map[string]any{"script": fmt.Sprintf(mcpInPage, front, front)})
		return got
	}
	if got := in(other.URL); !strings.Contains(got, "TypeError") || heard != 0 {
		t.Errorf("another page: %s; the server heard %d messages", got, heard)
	}
	// The page may send the header; the server, which has listed no tool that
	// repeats an argument in it, does not hear it.
	if got := in(named.URL); got != "s1  200" {
		t.Errorf("the page: %s", got)
	}
}
