package reverse_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// asksPerson has a person decide what the server asks of its client.
func asksPerson(w **harness) func(*reverse.Options) {
	return func(o *reverse.Options) {
		p, err := policy.Parse("test.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n\n[[rule]]\naction = \"prompt\"\nsampling = \"*\"\n"), policy.Options{})
		o.Gate = func(server string) (reverse.Gate, error) {
			if err != nil {
				return reverse.Gate{}, err
			}
			g, err := gate.New(gate.Options{
				Policy: p, Recorder: (*w).record, Approver: (*w).person,
				Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
			})
			return reverse.Gate{Session: g, End: g.Close}, err
		}
	}
}

// A server's question to its client that waits for a person outlives the stream it
// came in: whatever is decided then, the server is answered, and told that nobody is
// there where that is so.
func TestAQuestionOutlivesItsStream(t *testing.T) {
	for name, tt := range map[string]struct {
		ends  func(hangUp func(), gone <-chan struct{}, release func()) // the stream
		reply gate.Reply
		want  string
	}{
		"the client hangs up, allowed": {func(hangUp func(), gone <-chan struct{}, _ func()) { hangUp(); <-gone }, gate.AllowOnce, `"id":7,"error":{"code":4502,"message":"No answer from the client: the client has hung up."`},
		"the client hangs up, denied":  {func(hangUp func(), gone <-chan struct{}, _ func()) { hangUp(); <-gone }, gate.DenyOnce, `"id":7,"error":{"code":4403`},
		"the server ends it, allowed":  {func(_ func(), _ <-chan struct{}, release func()) { release() }, gate.AllowOnce, `"id":7,"error":{"code":4502,"message":"No answer from the client`},
		"the server ends it, denied":   {func(_ func(), _ <-chan struct{}, release func()) { release() }, gate.DenyOnce, `"id":7,"error":{"code":4403`},
		"an array, allowed":            {func(hangUp func(), gone <-chan struct{}, _ func()) { hangUp(); <-gone }, gate.AllowOnce, `[{"jsonrpc":"2.0","id":7,"error":{"code":4502`},
	} {
		t.Run(name, func(t *testing.T) {
			gone, release, answered := make(chan struct{}), make(chan struct{}), make(chan string, 1)
			var w *harness
			said, version := sampling, "2025-11-25"
			if strings.HasPrefix(name, "an array") {
				said, version = "["+sampling+"]", "2025-03-26"
			}
			back := &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
				w.Header().Set("Mcp-Session-Id", "s1")
				if strings.Contains(body, `"initialize"`) {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, version)
					return
				}
				if !strings.Contains(body, "tools/call") {
					w.WriteHeader(http.StatusAccepted)
					answered <- r.Header.Get("Mcp-Session-Id") + " " + body
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, ": there\n\ndata: %s\n\n", said)
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-release:
				}
				close(gone)
			}}
			w = newHarness(t, back, asksPerson(&w))
			w.initialize()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := http.DefaultClient.Do(w.request(ctx, call(1, "ok"), "Mcp-Session-Id", "s1"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != ": there\n" {
				t.Fatal(line, err)
			}
			<-w.person.asked
			tt.ends(cancel, gone, func() { close(release); _ = says(resp) })
			w.person.answers <- tt.reply
			var got string
			w.comes("the answer to the server", func() bool {
				select {
				case got = <-answered:
				default:
				}
				return got != ""
			})
			if !strings.HasPrefix(got, "s1 ") || !strings.Contains(got, tt.want) {
				t.Errorf("the server was told %s", got)
			}
			if tt.reply == gate.AllowOnce { // recorded when Forward has returned, and the server was told before
				w.comes("the record", func() bool { return w.record.has(gate.CodeForwardFailed) })
			} else if w.record.hasAbout("7", gate.CodeForwardFailed) { // the answer to the client's call may be lost
				t.Error("recorded as lost")
			}
		})
	}
}
