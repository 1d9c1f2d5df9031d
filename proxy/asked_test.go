package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// Whatever a server asks the client, the rules about what comes back judge what it says with it:
// text that is not drawn does not pass, and a key is taken out. A plain request goes on as it came.
func TestRequestsOfServersAreScreened(t *testing.T) {
	const hides, key = "go on \U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, tier := range []string{"default", "strict"} {
		rules, err := fixtures.ComposePolicy(tier)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("p.toml", append([]byte("[[rule]]\naction = \"allow\"\nmethod = \"**\"\n"), rules...), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := newHarness(t, func(_ *proxy.Options, g *gate.Options) { g.Policy, g.Inspector = p, screening.New("s", nil, nil) })
		n := 0
		for _, method := range []string{"ping", "roots/list", "tasks/get", "x/own"} {
			for _, params := range []string{`{"_meta":{"x":"%s"}}`, `{"_meta":{"progressToken":7,"x":{"y":["%s"]}}}`, `{"%s":1}`, `{"taskId":"t","note":"%s"}`} {
				request := func(said string) string {
					n++
					return fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"%s","params":`+params+`}`, n, method, said)
				}
				for _, said := range []string{hides, key} {
					end := fmt.Sprintf(`{"jsonrpc":"2.0","id":"end%d","method":"ping"}`, n)
					w.server.send(request("before "+said), end)
					for line := ""; line != end; {
						if line = w.client.next(); strings.Contains(line, said[len(said)-16:]) {
							t.Errorf("%s: %s", tier, line)
						}
					}
				}
			}
			for _, params := range []string{"", `,"params":{}`, `,"params":{"_meta":{"progressToken":"a%d"}}`} {
				n++
				if strings.Contains(params, "%d") {
					params = fmt.Sprintf(params, n)
				}
				plain := fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"%s"%s}`, n, method, params)
				w.server.send(plain)
				w.client.wants(plain)
			}
		}
	}
}
