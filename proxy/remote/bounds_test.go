package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/proxy/remote"
)

// after is how long a part of a play takes.
func after(play func()) time.Duration {
	began := time.Now()
	play()
	return time.Since(began)
}

// However many messages a server does not acknowledge, or cannot be given, they hold up what
// comes behind them once.
func TestMessagesThatAreNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		within(t, func(r *http.Request) *http.Response {
			f := body(r)
			if f.ID == nil {
				return nil
			}
			return says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, f.ID))
		}, nil, func(l *line) {
			took := after(func() {
				for range 7 {
					l.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
				}
				l.say(ask)
				l.wants(`"id":1,"result"`)
			})
			if took > 12*time.Second {
				l.t.Errorf("the call waited for %s", took)
			}
		})
	})
}

// stalling are credentials that come late, or never.
type stalling struct{ asked atomic.Int32 }

func (s *stalling) Apply(ctx context.Context, _ *http.Request) error {
	s.asked.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

func (*stalling) Challenged(context.Context, *http.Response) (bool, error) {
	return false, errors.New("no")
}

func (*stalling) Accepted(*http.Request) {}

// Calls do not wait for each other's credentials.
func TestCredentialsThatStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var credentials stalling
		within(t, func(*http.Request) *http.Response { return nil }, func(o *remote.Options) { o.Credentials = &credentials }, func(l *line) {
			const calls = 14 // the queue takes more
			for id := range calls {
				l.say(strings.Replace(ask, `"id":1`, fmt.Sprintf(`"id":%d`, id), 1))
			}
			time.Sleep(3 * time.Second)
			if asked := credentials.asked.Load(); asked != calls {
				l.t.Errorf("%d calls of %d are on their way", asked, calls)
			}
		})
	})
}

// What clawai asks on its own account has a bound, and the client hears what it would have heard.
func TestOwnRequestsThatStall(t *testing.T) {
	for name, stalls := range map[string]string{"initialize": "initialize", "initialized": "notifications/initialized", "the list": "tools/list"} {
		bubble(t, name, func(t *testing.T) {
			var forgotten, sessions atomic.Int32
			within(t, func(r *http.Request) *http.Response {
				if r.Method != http.MethodPost {
					return says(405, "", "")
				}
				f := body(r)
				switch {
				case forgotten.Load() == 1 && f.Method == stalls:
					return nil
				case f.Method == "initialize":
					resp := says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, opened))
					resp.Header.Set("Mcp-Session-Id", fmt.Sprintf("S%d", sessions.Add(1)))
					return resp
				case f.ID == nil:
					return says(202, "", "")
				case stalls == "tools/list":
					return says(400, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, f.ID))
				case forgotten.Load() == 1 && r.Header.Get("Mcp-Session-Id") == "S1":
					return says(404, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
				}
				return says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f.ID))
			}, nil, func(l *line) {
				call, want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, "Session not found"
				switch stalls {
				case "tools/list":
					call, want = modern(1, "tools/call", `"name":"a"`), "Header mismatch"
				case "notifications/initialized":
					want = `"result"` // the new session is there
					fallthrough
				default:
					l.say(initialize)
					l.wants(`"id":"i"`)
					l.say(initiated)
					synctest.Wait()
				}
				forgotten.Store(1)
				took := after(func() { l.say(call); l.wants(`"id":1`, want) })
				if took > 15*time.Second {
					l.t.Errorf("it took %s", took)
				}
			})
		})
	}
}
