package remote_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/wrap/client"
)

// otherHeaders are names that a server's owner, or a careless client, may well send.
var otherHeaders = []string{
	"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "User-Agent", "Referer", "Origin", "From", "Via", "Forwarded",
	"X-Forwarded-For", "X-Api-Key", "X-Request-Id", "Accept-Language", "Accept-Charset", "Cache-Control", "Pragma", "Date", "Expect",
	"If-Match", "If-None-Match", "If-Modified-Since", "Range", "Content-Language", "Content-Location", "Content-Range", "Content-Md5",
	"Keep-Alive", "Proxy-Connection", "Max-Forwards", "Tenant", "Traceparent", "Baggage", "Mcp", "Mcp-", "Mcp-Tenant", "Mcp-Sessions",
	"Mcp-Param", "Mcp-Param-", "Last-Event", "Hosts", "Accepts", "Tea", "Trailers", "Upgrades", "X-Host", "1-2", "A_b", "A.b",
}

// What wrap moves into the environment of a proxy, the proxy takes; what it would
// refuse, wrap refuses while the client's file still works.
func TestWrapAndProxyRefuseTheSameHeaders(t *testing.T) {
	rows, err := client.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	row := rows[slices.IndexFunc(rows, func(r client.Row) bool { return r.Client == "cursor" && r.HeadersField != "" })]
	wraps := func(name string) bool {
		src := fmt.Appendf(nil, `{"mcpServers":{"r":{"url":"https://h.example/mcp",%q:{%q:"x"}}}}`, row.HeadersField, name)
		_, err := client.Wrap(row, src, client.Entry{Name: "r", KeyPath: []string{"mcpServers", "r"}}, client.Wrapper{Path: "/usr/bin/clawai"})
		return err == nil
	}
	takes := func(name string) bool {
		_, err := remote.EnvHeaders([]string{"CLAWAI_HEADER_1=" + name + ": x"}, nil)
		return err == nil
	}
	for _, canonical := range slices.Concat(remote.OwnHeaders(), otherHeaders) {
		for _, name := range []string{canonical, strings.ToLower(canonical), strings.ToUpper(canonical)} {
			if wrapped, taken := wraps(name), takes(name); wrapped != taken {
				t.Errorf("%s: wrap moves it %v, the proxy takes it %v", name, wrapped, taken)
			}
		}
	}
	for _, name := range remote.OwnHeaders() {
		passedOver := name == "Accept" || name == "Content-Type"
		if wraps(name) != passedOver || http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is moved: %v", name, wraps(name))
		}
	}
	if !wraps("X-Api-Key") || !wraps("Mcp-Tenant") {
		t.Error("an ordinary header is refused")
	}
}
