package remote_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A server may ask its client, on its own stream, about a call that comes next:
// the stream is open before the call is sent, however long its header takes.
func TestTheServersOwnStreamComesFirst(t *testing.T) {
	var open atomic.Bool
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			time.Sleep(100 * time.Millisecond)
			open.Store(true)
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		switch f := body(r); f.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			result(w, f.ID, opened)
		case "tools/call":
			result(w, f.ID, fmt.Sprintf(`{"open":%v}`, open.Load()))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}), nil)
	l.say(initialize)
	l.say(initiated)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	l.wants(`"id":1`, `"open":true`)
}

// One whose header does not come holds nobody up for long.
func TestAnOwnStreamThatDoesNotOpen(t *testing.T) {
	slow.Test(t)
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
		if f := body(r); len(f.ID) > 0 {
			result(w, f.ID, opened)
		}
	}), nil)
	l.say(initialize)
	l.say(initiated)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	l.wants(`"id":1`)
}

// Each request of an array is answered, also when the server's stream breaks after
// the first answer.
func TestABatchThatBreaksOff(t *testing.T) {
	l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
		var all []struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&all)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", all[0].ID)
	}), nil)
	l.say(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	l.wants(`"id":1`, `"result"`)
	l.wants(`"id":2`, `"error"`, "ended before the answer")
	l.silent()
}
