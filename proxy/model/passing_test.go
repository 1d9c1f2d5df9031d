package model_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/proxy/model"
)

// A service may answer before it has the whole request, and read on: it gets every byte, and the client the
// whole reply.
func TestEarlyReply(t *testing.T) {
	for row := range 4 {
		judge, second := row%2 == 1, row > 1
		t.Run(fmt.Sprintf("judge %v HTTP/2 %v", judge, second), func(t *testing.T) {
			request := strings.Replace(results["messages"], "a page", strings.Repeat("a page ", 20_000), 1)
			got := make(chan string, 1)
			far := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if second != (r.ProtoMajor == 2) {
					t.Errorf("the service is spoken to in %s", r.Proto)
				}
				_ = http.NewResponseController(w).EnableFullDuplex()
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, textEvent)
				w.(http.Flusher).Flush()
				body, _ := io.ReadAll(r.Body)
				got <- string(body)
				_, _ = io.WriteString(w, services[0].streamed([]asked{services[0].touch("allowed")}, false))
			}))
			if far.EnableHTTP2 = second; second {
				far.StartTLS()
			} else {
				far.Start()
			}
			defer far.Close()
			s := newSite(t, "claude-code", judge, func(o *model.Options) {
				to := far.Client().Transport.(*http.Transport)
				to.DisableCompression = true
				o.Upstream, _ = url.Parse(far.URL)
				o.Transport = to
			})
			from, to := io.Pipe()
			req, err := http.NewRequest(http.MethodPost, s.url+"/v1/messages", from)
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = int64(len(request))
			first, half := make(chan struct{}), len(request)/2
			go func() {
				_, _ = io.WriteString(to, request[:half])
				<-first
				_, _ = io.WriteString(to, request[half:])
				_ = to.Close()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			context.AfterFunc(ctx, func() { _ = from.Close() }) // the library waits for it
			resp, err := plain.RoundTrip(req.WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			begin := make([]byte, len(textEvent))
			if _, err := io.ReadFull(resp.Body, begin); err != nil {
				t.Fatal(err)
			}
			close(first)
			rest, err := io.ReadAll(resp.Body)
			if body := <-got; body != request {
				t.Errorf("the service has %d bytes of %d", len(body), len(request))
			}
			if err != nil || !strings.Contains(string(rest), "tool_use") || s.record.count(isUnread) != 0 {
				t.Errorf("%v: %s", err, rest)
			}
			if s.kept.count() == 0 {
				t.Error("no label")
			}
		})
	}
}

// A service that asks for a tool and does not take the request does not hold the client for ever: the request
// is looked at nevertheless.
func TestServiceThatTakesNoRequest(t *testing.T) {
	for _, judge := range []bool{false, true} {
		t.Run(fmt.Sprint(judge), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			ended := make(chan struct{})
			go func() {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReaderSize(c, 16)); err != nil {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
				for _, part := range strings.SplitAfter(services[0].streamed([]asked{services[0].touch("allowed")}, true), "\n\n") {
					_, _ = io.WriteString(c, part)
					time.Sleep(time.Millisecond) // so that the parts come apart
				}
				<-ended
			}()
			defer close(ended)
			s := newSite(t, "claude-code", judge, func(o *model.Options) {
				o.Upstream, _ = url.Parse("http://" + listener.Addr().String())
				o.KeepAlive = 100 * time.Millisecond
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			request := strings.Replace(results["messages"], "a page", strings.Repeat("a page ", 4<<20), 1)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := plain.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var all strings.Builder
			some := make([]byte, 4<<10)
			for !strings.Contains(all.String(), "tool_use\"},") && !strings.Contains(all.String(), "message_stop") {
				n, err := resp.Body.Read(some)
				if all.Write(some[:n]); err != nil {
					t.Fatalf("%v after %q", err, all.String())
				}
			}
			if n := s.record.count(func(ev *event.Event) bool { return isUnread(ev) && strings.Contains(ev.Reason, "did not take") }); n != 0 || s.kept.count() == 0 {
				t.Errorf("%d records, %d labels", n, s.kept.count())
			}
		})
	}
}

// A request that comes in small pieces takes no more room than its length asks for.
func TestSmallPieces(t *testing.T) {
	s := newSite(t, "claude-code", true, nil)
	s.reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
	request := strings.Replace(results["messages"], "a page", strings.Repeat("a page ", 10_000), 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := httptest.NewRequest(http.MethodPost, "/secret/v1/messages", iotest.OneByteReader(strings.NewReader(request)))
	r.Host, r.ContentLength = "localhost", int64(len(request))
	w := httptest.NewRecorder()
	s.near.Config.Handler.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.Code != http.StatusOK || s.bodies[0] != request {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MiB for %d bytes", used>>20, len(request))
	}
}

// A client may decode a reply by the charset that the service names, so a call in another than UTF-8 is not
// let through unread, and with ears alone it waits for the labels and is on record as not looked at.
func TestOtherCharset(t *testing.T) {
	text := strings.Replace(services[0].streamed([]asked{services[0].touch("denied")}, false), `"tool_use"`, `"+AHQ-ool+AF8-use"`, 1)
	for kind, read := range map[string]bool{
		"text/event-stream; charset=utf-7": false, "text/event-stream; charset=UTF-16LE": false, "text/event-stream; charset=\"utf-7": false,
		"text/event-stream; charset=UTF-8": true, "text/event-stream": true,
	} {
		for _, judge := range []bool{true, false} {
			s := newSite(t, "claude-code", judge, nil)
			s.reply = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, text)
			}
			got := s.post("/v1/messages", results["messages"])
			labels := s.kept.count()
			unread := s.record.count(func(ev *event.Event) bool { return isUnread(ev) && strings.Contains(ev.Reason, "encoding") })
			if refused := got.status == http.StatusBadGateway; refused != (judge && !read) || (unread > 0) == read || labels == 0 {
				t.Errorf("%s, judge %v: %d, %d not looked at, %d labels: %.100s", kind, judge, got.status, unread, labels, got.body)
			}
		}
	}
}

// Turns at the same time, some of whose clients leave, share no byte, and leave nothing behind.
func TestTurnsAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("turns", func(t *testing.T) {
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, ": %x\n\n", sha256.Sum256(body))
			_, _ = io.WriteString(w, services[0].streamed([]asked{services[0].touch("allowed")}, true))
		}))
		t.Cleanup(far.Close)
		s := newSite(t, "claude-code", true, func(o *model.Options) { o.Upstream, _ = url.Parse(far.URL) })
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 8 {
					page := strings.Repeat(fmt.Sprintf("page %d of %d ", j, i), 1_000+3_000*(i%4))
					request := strings.NewReplacer("a page", page, `"a"`, fmt.Sprintf(`"id%d-%d"`, i, j)).Replace(results["messages"])
					if j%4 == 3 { // this client leaves
						leave(t, s, request)
						continue
					}
					got := s.post("/v1/messages", request)
					if want := fmt.Sprintf(": %x\n\n", sha256.Sum256([]byte(request))); !strings.HasPrefix(got.body, want) || !strings.Contains(got.body, "touch allowed") && !strings.Contains(got.body, "message_stop") {
						t.Errorf("%d %v: %.300s", got.status, got.err, got.body)
					}
					if n := s.record.count(func(ev *event.Event) bool {
						return ev.Kind == event.Outcome && string(ev.ID) == fmt.Sprintf(`"id%d-%d"`, i, j)
					}); n != 1 {
						t.Errorf("%d records of the result", n)
					}
				}
			})
		}
		all.Wait()
		if n := s.record.count(func(ev *event.Event) bool { return isUnread(ev) && !isPartial(ev) }); n != 0 {
			t.Errorf("%d requests were not read", n)
		}
		plain.CloseIdleConnections()
	})
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, and %d before: %s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
}

// leave sends the first half of a request and hangs up.
func leave(t *testing.T, s *site, request string) {
	c, err := net.Dial("tcp", s.near.Listener.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = fmt.Fprintf(c, "POST /secret/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(request), request[:len(request)/2])
	_ = c.Close()
}

// What stands behind the length of a request is the next request, also where the service answers without having
// read the first, and a request of which the service wants no body brings none.
func TestOneConnection(t *testing.T) {
	s := newSite(t, "claude-code", true, nil)
	s.reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer early.Close()
	e := newSite(t, "claude-code", true, func(o *model.Options) { o.Upstream, _ = url.Parse(early.URL) })
	head := func(more string, n int) string {
		return fmt.Sprintf("POST /secret/v1/messages HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n", more, n)
	}
	inner := head("", len(empty)) + empty // as a body it must not become a request
	for name, c := range map[string]struct {
		site   *site
		sent   string
		status []int
	}{
		"two at once":          {s, head("", len(empty)) + empty + head("Connection: close\r\n", len(results["messages"])) + results["messages"], []int{200, 200}},
		"bytes behind":         {s, head("", len(empty)) + empty + "}\r\n\r\n", []int{200, 400}},
		"wait for 100":         {s, head("Connection: close\r\nExpect: 100-continue\r\n", len(empty)) + empty, []int{100, 200}},
		"refused before it":    {e, head("Connection: close\r\n", len(inner)) + inner, []int{401}},
		"refused and wait 100": {e, head("Connection: close\r\nExpect: 100-continue\r\n", len(inner)) + inner, []int{401}},
	} {
		conn, err := net.Dial("tcp", c.site.near.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, c.sent)
		all, err := io.ReadAll(conn)
		_ = conn.Close()
		var status []int
		for _, part := range strings.Split(string(all), "HTTP/1.1 ")[1:] {
			n, _ := strconv.Atoi(part[:3])
			if n != 100 || len(status) == 0 || status[len(status)-1] != 100 { // the service's own 100 goes on, too
				status = append(status, n)
			}
		}
		if name == "refused and wait 100" {
			status = slices.DeleteFunc(status, func(n int) bool { return n == 100 })
		}
		if !slices.Equal(status, c.status) {
			t.Errorf("%s: %v, %v: %s", name, status, err, all)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(s.bodies)), slices.Sorted(slices.Values([]string{empty, results["messages"], empty, empty}))) {
		t.Errorf("the service reads %q", s.bodies)
	}
}

// A client that leaves is seen to leave, also where the service neither answers nor takes the request.
func TestLeaveOfUntakenRequest(t *testing.T) {
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprint(half), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			release := make(chan struct{})
			defer close(release)
			go func() {
				if c, err := listener.Accept(); err == nil {
					<-release
					_ = c.Close()
				}
			}()
			s := newSite(t, "claude-code", true, func(o *model.Options) {
				o.Upstream, _ = url.Parse("http://" + listener.Addr().String())
				o.KeepAlive = 50 * time.Millisecond
			})
			served, inner := make(chan struct{}), s.near.Config.Handler
			near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(served)
				inner.ServeHTTP(w, r)
			}))
			defer near.Close()
			request := strings.Repeat("a page ", 4<<20)
			sent := request
			if half {
				sent = request[:len(request)-1]
			}
			c, err := net.Dial("tcp", near.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			if _, err := fmt.Fprintf(c, "POST /secret/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(request), sent); err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			select {
			case <-served:
			case <-time.After(time.Minute):
				t.Error("the turn does not end")
			}
		})
	}
}

// A service that cannot be reached, or cuts the connection, takes nothing of a request: the client has its error
// at once.
func TestUnreachableService(t *testing.T) {
	address := "127.0.0.1:" + exectest.ReservePort(t)
	s := newSite(t, "claude-code", true, func(o *model.Options) { o.Upstream, _ = url.Parse("http://" + address) })
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", strings.NewReader(results["messages"]))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := plain.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "cannot reach") {
			t.Errorf("%d %v: %s", resp.StatusCode, err, text)
		}
	}
}

// TestRequestOfABrokenReplyIsLookedAt: the session may be closed as soon as the last handler has ended, so what the
// request brought is kept by then, also if the reply broke off and net/http/httputil panics.
func TestRequestOfABrokenReplyIsLookedAt(t *testing.T) {
	s := newSite(t, "claude-code", false, nil)
	s.reply = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, textEvent)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	req := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.ServerContextKey, s.near.Config), http.MethodPost, strings.TrimPrefix(s.url, s.near.URL)+"/v1/messages", strings.NewReader(results["messages"]))
	req.Host = "localhost"
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("the reply did not break off: %v", err)
			}
		}()
		s.near.Config.Handler.ServeHTTP(httptest.NewRecorder(), req)
	}()
	if s.kept.count() == 0 {
		t.Error("the handler ended before the result in the request was looked at")
	}
}

// leavingClient hangs up as soon as it has the first bytes of a reply.
type leavingClient struct {
	*httptest.ResponseRecorder
	leave func()
	fails bool // the write fails, too, although the bytes were sent
}

func (c leavingClient) Write(p []byte) (int, error) {
	c.leave()
	if c.fails {
		return 0, io.ErrClosedPipe
	}
	return c.ResponseRecorder.Write(p)
}

// isHostedResult tells the result of a tool that the service ran.
func isHostedResult(ev *event.Event) bool {
	return ev.Kind == event.Outcome && strings.Contains(string(ev.ID), "srvtoolu")
}

// TestHeardCallsOfAClientThatLeaves: a client may run all calls of a reply that it has read, so each is recorded,
// also if it hangs up at once. So is each result of the service's own tools.
func TestHeardCallsOfAClientThatLeaves(t *testing.T) {
	reply := &stream{}
	reply.emit("message_start", object{"message": object{"id": "msg_1", "role": "assistant", "content": []any{}}})
	const n = 8 // results of the service's own tools, and then calls
	for i := range 2 * n {
		block := object{"type": "web_search_tool_result", "tool_use_id": fmt.Sprintf("srvtoolu_%d", i), "content": []any{object{"type": "web_search_result", "title": fmt.Sprint(i)}}}
		if i >= n {
			block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": "Bash", "input": object{"command": "ls"}}
		}
		reply.emit("content_block_start", object{"index": i, "content_block": block})
		reply.emit("content_block_stop", object{"index": i})
	}
	for _, fails := range []bool{false, true} {
		s := newSite(t, "claude-code", false, nil)
		s.reply = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, reply.String())
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the end of the reply does not come with its calls
		}
		ctx, leave := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, strings.TrimPrefix(s.url, s.near.URL)+"/v1/messages", strings.NewReader(results["messages"]))
		req.Host = "localhost"
		s.near.Config.Handler.ServeHTTP(leavingClient{httptest.NewRecorder(), leave, fails}, req)
		if calls, hosted := s.record.count(isDecision), s.record.count(isHostedResult); calls != n || hosted != n {
			t.Errorf("the write fails %v: %d calls are recorded of %d, and %d results of the service's own tools of %[3]d", fails, calls, n, hosted)
		}
	}
}

// TestResultsOfAClientThatLeaves: a client that has read the whole reply ends and hangs up, while its last request is
// looked at. The service has that request, so each result in it is recorded and labels the session.
func TestResultsOfAClientThatLeaves(t *testing.T) {
	const n = 16
	var request strings.Builder
	request.WriteString(`{"messages":[{"role":"user","content":[`)
	for i := range n {
		_, _ = fmt.Fprintf(&request, `%.*s{"type":"tool_result","tool_use_id":"c%d","content":"page %[3]d"}`, min(i, 1), ",", i)
	}
	request.WriteString(`]}]}`)
	for _, header := range []http.Header{{}, {"Content-Encoding": {"gzip"}}} {
		for _, judge := range []bool{false, true} {
			s := newSite(t, "claude-code", judge, nil)
			s.reply = answerWith(t, textEvent, "", true)
			ctx, leave := context.WithCancel(t.Context())
			body := encode(t, header.Get("Content-Encoding"), []byte(request.String()))
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, strings.TrimPrefix(s.url, s.near.URL)+"/v1/messages", bytes.NewReader(body))
			req.Host, req.Header = "localhost", header.Clone()
			s.near.Config.Handler.ServeHTTP(leavingClient{httptest.NewRecorder(), leave, false}, req)
			if got := s.record.count(func(ev *event.Event) bool { return ev.Kind == event.Outcome }); got != n || s.kept.count() == 0 {
				t.Errorf("%v, judge %v: %d of %d results are recorded, %d labels", header, judge, got, n, s.kept.count())
			}
		}
	}
}

// TestPartOfARequestOfAClientThatLeaves: a client hangs up while its request is forwarded. The service has a part of it,
// so that is recorded.
func TestPartOfARequestOfAClientThatLeaves(t *testing.T) {
	s := newSite(t, "claude-code", false, nil)
	ctx, leave := context.WithCancel(t.Context())
	body := io.MultiReader(strings.NewReader(`{"messages":[{"role":"user","content":"`+strings.Repeat("x", 1<<20)), readerFunc(func([]byte) (int, error) {
		leave()
		return 0, io.ErrUnexpectedEOF
	}))
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, strings.TrimPrefix(s.url, s.near.URL)+"/v1/messages", body)
	req.Host, req.ContentLength = "localhost", 2<<20
	s.near.Config.Handler.ServeHTTP(httptest.NewRecorder(), req)
	if n := s.record.count(isPartial); n != 1 {
		t.Errorf("%d records say that the service has a part of a request", n)
	}
}

// isPartial tells the record of a request that the service has a part of.
func isPartial(ev *event.Event) bool { return strings.Contains(ev.Reason, "did not take whole") }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
