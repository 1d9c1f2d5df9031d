package remote_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/proxy/remote"
)

// imitated is a server without a network, whose time is the test's: nil is no answer at all.
type imitated func(r *http.Request) *http.Response

func (s imitated) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	if resp := s(r); resp != nil {
		context.AfterFunc(r.Context(), func() { _ = resp.Body.Close() })
		return resp, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// says is an answer of the imitated server's.
func says(status int, kind, text string) *http.Response {
	return streams(status, kind, io.NopCloser(strings.NewReader(text)))
}

func streams(status int, kind string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, ContentLength: -1, Body: body}
}

// within has a client speak to an imitated server, in the bubble that the test is in.
func within(t *testing.T, s imitated, bend func(*remote.Options), play func(l *line)) {
	l := &line{t: t, lines: make(chan string, 1000)}
	o := remote.Options{URL: mustParse(t, "http://127.0.0.1/mcp"), Transport: s, Note: func(code, text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.notes = append(l.notes, code+": "+text)
	}}
	if bend != nil {
		bend(&o)
	}
	var err error
	if l.up, err = remote.Dial(o); err != nil {
		t.Fatal(err)
	}
	go func() {
		for in := bufio.NewReaderSize(l.up, 1<<20); ; {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			l.lines <- strings.TrimSuffix(text, "\n")
		}
	}()
	defer func() { _ = l.up.Close(context.Background()) }()
	play(l)
}

// bubble runs a test, or a part of one, in a time of its own.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

const unnamedError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"job 7 of another user failed"}}`

// What the server says of no request on its own stream, or on that of a call which has its
// answer, is no other call's.
func TestAnErrorWithoutAnIDOnAnotherStream(t *testing.T) {
	done := `{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}`
	for name, tt := range map[string]struct {
		said string
		post bool // on the stream of a call that has its answer
		want string
	}{
		"an error":           {said: unnamedError},
		"an empty id":        {said: strings.Replace(unnamedError, "null", `""`, 1)},
		"a result":           {said: `{"jsonrpc":"2.0","id":null,"result":{}}`},
		"an array":           {said: "[" + unnamedError + "]"},
		"beside an answer":   {said: "[" + unnamedError + "," + done + "]", want: done},
		"behind an answer":   {said: unnamedError, post: true},
		"an array behind it": {said: "[" + unnamedError + "]", post: true},
	} {
		bubble(t, name, func(t *testing.T) {
			own, ownIn := io.Pipe()
			post, postIn := io.Pipe()
			release := make(chan struct{})
			within(t, func(r *http.Request) *http.Response {
				if r.Method == http.MethodGet {
					return streams(200, "text/event-stream", own)
				}
				f := body(r)
				switch string(f.ID) {
				case "":
					return says(202, "", "")
				case "8":
					return streams(200, "text/event-stream", post)
				case "1":
					<-release
					return says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
				}
				return says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, opened))
			}, nil, func(l *line) {
				l.say(initialize)
				l.wants(`"id":"i"`)
				l.say(initiated)
				l.say(strings.Replace(ask, `"id":1`, `"id":8`, 1))
				synctest.Wait()
				fmt.Fprintf(postIn, "data: %s\n\n", strings.Replace(done, "9", "8", 1))
				l.wants(`"id":8`)
				l.say(ask)
				synctest.Wait()
				to := ownIn
				if tt.post {
					to = postIn
				}
				fmt.Fprintf(to, "data: %s\n\n", tt.said)
				synctest.Wait()
				if tt.want != "" {
					if heard := l.hear(); heard != tt.want {
						l.t.Errorf("heard %s", heard)
					}
				}
				l.silent()
				if notes := strings.Join(l.noted(), "\n"); !strings.Contains(notes, "unnamed: ") {
					l.t.Errorf("noted %q", notes)
				}
				close(release)
				l.wants(`"id":1,"result"`)
				_, _ = ownIn.Close(), postIn.Close()
			})
		})
	}
}

// A result without an id that came as the answer to a call fails that one, and no other.
func TestAResultWithoutAnIDFailsItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post, postIn := io.Pipe()
		within(t, func(r *http.Request) *http.Response {
			if string(body(r).ID) == "1" {
				return nil
			}
			return streams(200, "text/event-stream", post)
		}, nil, func(l *line) {
			l.say(ask)
			l.say(strings.Replace(ask, `"id":1`, `"id":2`, 1))
			synctest.Wait()
			fmt.Fprint(postIn, "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\n")
			l.wants(`"id":2,"error"`)
			synctest.Wait()
			l.silent()
			_ = postIn.Close()
		})
	})
}

// An answer in an array in an array is none that the client reads: its call fails at once.
func TestAnAnswerInAnArrayInAnArray(t *testing.T) {
	for _, said := range []string{`[[{"jsonrpc":"2.0","id":1,"result":{}}]]`, `[[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}]]`} {
		bubble(t, said, func(t *testing.T) {
			within(t, func(*http.Request) *http.Response { return says(200, "application/json", said) }, nil, func(l *line) {
				l.say(ask)
				l.wants("[[")
				l.wants(`"id":1,"error"`)
			})
		})
	}
}
