//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// linksBack is a server whose every answer names the web address that its tool is called by.
func linksBack(t *testing.T) *backServer {
	back := newBackServer(t)
	back.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, request := strings.Cut(string(body), `"id":`)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case !request:
			w.WriteHeader(http.StatusAccepted)
		default:
			id := rest[:strings.IndexAny(rest, ",}")]
			w.Header().Set("Content-Type", "application/json")
			scheme := "docs"
			if strings.Contains(string(body), "web") {
				scheme = "https"
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"b","version":"1"},`+
				`"tools":[{"name":"web","inputSchema":{"type":"object"}},{"name":"own","inputSchema":{"type":"object"}}],"content":[{"type":"resource_link","name":"n","uri":"%s://example.org/x"}]}}`, id, scheme)
		}
	})
	back.Start()
	return back
}

const denyLinks = allowTools + `
[[rule]]
on = "reply"
action = "deny"
tool = "*"
find = ["link"]
`

// A server that is reached by URL has an origin, by whatever way it is reached.
func TestLinksToAnotherOrigin(t *testing.T) {
	back := linksBack(t)
	held := func(how, web, own string) {
		t.Helper()
		if strings.Contains(web, "example.org") || !strings.Contains(web, "a rule stops what it carries") {
			t.Errorf("%s: of another origin came %s", how, web)
		}
		if !strings.Contains(own, "docs://example.org/x") {
			t.Errorf("%s: of the server's own names came %s", how, own)
		}
	}

	r := prepareClawai(t, "--", back.URL+"/mcp")
	r.write("policy.toml", denyLinks)
	r.start()
	r.say(callOf(1, "web"))
	web := r.wants(`"id":1`)
	r.say(callOf(2, "own"))
	held("bridge", web, r.wants(`"id":2`))
	_ = r.in.Close()
	r.code(inTime)

	r = prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "b="+back.URL+"/mcp")
	r.write("policy.toml", denyLinks)
	s, c := serve(t, r, 1), ownClient(t)
	held("reverse", s.post(s.at["b"], callOf(1, "web"), c), s.post(s.at["b"], callOf(2, "own"), c))

	r = prepareClawai(t)
	r.cmd.Args[1] = "hub"
	r.write("policy.toml", denyLinks)
	r.write("config.toml", "[hub]\nlist_wait = \"1m\"\n[upstream.b]\nurl = \""+back.URL+"/mcp\"\n")
	r.start()
	r.say(begin)
	r.wants(`"id":0,"result"`)
	r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.say(callOf(1, "b__web"))
	web = r.wants(`"id":1`)
	r.say(callOf(2, "b__own"))
	held("hub", web, r.wants(`"id":2`))
	_ = r.in.Close()
	r.code(inTime)
}
