package remote_test

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Answers as servers send them reach the client, and nobody waits for more.
func TestAnswersAsTheyCome(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
	typed := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"charset=utf8":       {typed("application/json; charset=utf8", answer), answer},
		"charset=\"UTF-8\"":  {typed(`application/json; charset="UTF-8"`, answer), answer},
		"charset=us-ascii":   {typed("application/json;charset=US-ASCII", answer), answer},
		"charset=iso-8859-1": {typed("application/json; charset=iso-8859-1", answer), answer},
		"charset=koi8-r":     {typed("application/json; charset=koi8-r", answer), answer},
		"charset of nothing": {typed("application/json; charset=", answer), answer},
		"charset":            {typed("application/json; charset", answer), answer},
		"a bad parameter":    {typed("application/json; boundary=x y", answer), answer},
		"a semicolon":        {typed("Application/JSON ;", answer), answer},
		"a stream, gbk":      {typed("text/event-stream; charset=gbk; x y", "data: "+answer+"\n\n"), answer},
		"encoded as none":    {encoded("none", answer), answer},
		"encoded as utf-8":   {encoded("UTF-8", answer), answer},
		"deflate":            {encoded("deflate", deflated(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, answer)), answer},
		"deflate by itself":  {encoded("deflate", deflated(func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 9); return z }, answer)), answer},
		"a stream, utf8":     {typed("text/event-stream;charset=utf8", "data: "+answer+"\n\n"), answer},
		"gzip":               {func(w http.ResponseWriter, _ *http.Request) { zipped(w, answer) }, answer},
		"a stream of gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			zipped(w, "data: "+answer+"\n\n")
		}, answer},
		"a byte order mark": {typed("application/json", "\uFEFF"+answer), answer},
		"201":               {status(http.StatusCreated, answer), answer},
		"203":               {status(http.StatusNonAuthoritativeInfo, answer), answer},
		"202, and a body":   {status(http.StatusAccepted, answer), answer},
		"202, and no body":  {status(http.StatusAccepted, ""), `{"jsonrpc":"2.0","id":1,"error":{"code":4502,"message":"No answer from the server: the server gave no answer (HTTP 202 Accepted)."}}`},
		"200, and no body":  {status(http.StatusOK, ""), `{"jsonrpc":"2.0","id":1,"error":{"code":4502,"message":"No answer from the server: the server gave no answer (HTTP 200 OK)."}}`},
		// What follows is the pump's to repair; here it must count as the answer.
		"an array":                         {typed("application/json", "["+answer+"]"), "[" + answer + "]"},
		"another id":                       {typed("application/json", `{"jsonrpc":"2.0","id":"1","result":{}}`), `{"jsonrpc":"2.0","id":"1","result":{}}`},
		"a fraction":                       {typed("application/json", `{"jsonrpc":"2.0","id":1.0,"result":{}}`), `{"jsonrpc":"2.0","id":1.0,"result":{}}`},
		"an error under null, in an array": {typed("application/json", `[{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}]`), `[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}]`},
		"half a pair":                      {typed("application/json", `{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d"}}`), `{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d"}}`},
		"odd in stream":                    {typed("text/event-stream", `data: [{"jsonrpc":"2.0","id":"1","result":{"a":"\ud83d"}}]`+"\n\n"), `[{"jsonrpc":"2.0","id":"1","result":{"a":"\ud83d"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			l := dial(t, legacy(c.serve), nil)
			l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if got := l.hear(); got != c.want {
				t.Errorf("heard %s", got)
			}
			time.Sleep(20 * time.Millisecond)
			l.silent()
		})
	}
}

// status answers JSON with a status.
func status(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

func encoded(encoding, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", encoding)
		fmt.Fprint(w, text)
	}
}

func deflated(open func(io.Writer) io.WriteCloser, text string) string {
	var b strings.Builder
	z := open(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

func zipped(w http.ResponseWriter, text string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
}

// A call that was only accepted has its answer on the server's own stream; without such a
// stream, or when it ends, its caller is told.
func TestAnAnswerOnTheServersOwnStream(t *testing.T) {
	for name, c := range map[string]struct{ stream, answers, ends bool }{
		"answered": {stream: true, answers: true}, "no stream": {}, "nothing comes": {stream: true}, "it ends": {stream: true, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			events, open := make(chan string, 1), make(chan struct{}, 10)
			over := make(chan struct{})
			l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodGet:
					select {
					case <-over:
						w.WriteHeader(http.StatusNotFound)
						return
					default:
					}
					if !c.stream {
						w.WriteHeader(http.StatusMethodNotAllowed)
						open <- struct{}{}
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_ = http.NewResponseController(w).Flush()
					open <- struct{}{}
					select {
					case e := <-events:
						fmt.Fprintf(w, "data: %s\n\n", e)
						_ = http.NewResponseController(w).Flush()
						<-r.Context().Done()
					case <-over:
					case <-r.Context().Done():
					}
				case http.MethodPost:
					f := body(r)
					if f.Method == "initialize" {
						result(w, f.ID, opened)
						return
					}
					w.WriteHeader(http.StatusAccepted)
					if f.Method == "tools/call" && c.answers {
						time.AfterFunc(100*time.Millisecond, func() { events <- `{"jsonrpc":"2.0","id":7,"result":{"a":1}}` })
					}
					if f.Method == "tools/call" && c.ends {
						close(over)
					}
				}
			}), nil)
			l.say(initialize)
			l.wants(`"id":"i"`)
			l.say(initiated)
			<-open
			l.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`)
			got := l.wants(`"id":7`)
			if strings.Contains(got, `"result"`) != c.answers || !c.answers && !strings.Contains(got, "HTTP 202") {
				t.Errorf("heard %s", got)
			}
			l.silent()
		})
	}
}

// A JSON-RPC error behind a status goes on under the id of its request, which the record shows.
func TestAnErrorBehindAStatusIsRecorded(t *testing.T) {
	for id, recorded := range map[string]bool{"1": false, "null": true, "77": true} {
		l := dial(t, legacy(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"no"}}`, id)
		}), nil)
		l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		l.wants(`"id":1`, "-5")
		if noted := strings.Contains(strings.Join(l.noted(), "\n"), "repaired"); noted != recorded {
			t.Errorf("under %s it is recorded: %t", id, noted)
		}
	}
}

// An error without an id, in an array with something else, may be about that: it is no answer,
// and the caller is told.
func TestAnErrorWithoutAnIDAmongOthers(t *testing.T) {
	l := dial(t, legacy(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}},{"jsonrpc":"2.0","id":9,"result":{}}]`)
	}), nil)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if heard := l.hear(); !strings.HasPrefix(heard, `{"jsonrpc":"2.0","id":9,`) { // which the pump refuses
		t.Errorf("heard %s", heard)
	}
	l.wants(`"id":1`, "something else")
}

// A server that closes its connections without a word is asked for a list again, and never for
// what may have been done.
func TestAConnectionThatEnds(t *testing.T) {
	for method, want := range map[string]int32{"tools/list": 2, "ping": 2, "tools/call": 1} {
		t.Run(method, func(t *testing.T) {
			var asked atomic.Int32
			l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
				if f := body(r); asked.Add(1) > 1 {
					result(w, f.ID, `{}`)
					return
				}
				panic(http.ErrAbortHandler)
			}), nil)
			l.say(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"x"}}`)
			if got := l.wants(`"id":1`); strings.Contains(got, `"result"`) != (want == 2) || asked.Load() != want {
				t.Errorf("asked %d times: %s", asked.Load(), got)
			}
		})
	}
}
