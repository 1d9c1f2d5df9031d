package deliver

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/export"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

var source = export.Source{Host: "laptop", Version: "1.2.3"}

func entries(first, last int) (all []*event.Entry) {
	for n := first; n <= last; n++ {
		e := &event.Entry{Seq: uint64(n), Session: "s"}
		e.Kind, e.Record, e.Decision, e.Method, e.Time = event.Decision, "s-"+strconv.Itoa(n), "deny", "tools/call", time.Unix(1, 0)
		all = append(all, e)
	}
	return all
}

// receiver answers the requests of an OTLP sink one after the other, and the last answer from then on.
type receiver struct {
	mu      sync.Mutex
	answers []func(w http.ResponseWriter)
	asked   int
	took    []string // records
	headers http.Header
	path    string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.answers[min(r.asked, len(r.answers)-1)]
	r.asked++
	r.headers, r.path = req.Header, req.URL.Path
	text, _ := io.ReadAll(req.Body)
	taken := httptest.NewRecorder()
	answer(taken)
	if taken.Code == http.StatusOK {
		for part := range strings.SplitSeq(string(text), `"key":"clawai.record","value":{"stringValue":"`) {
			if id, _, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(id, "s-") {
				r.took = append(r.took, id)
			}
		}
	}
	answer(w)
}

func answer(status int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func newOTLP(t *testing.T, r *receiver) *OTLP {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	u, err := ParseEndpoint(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOTLP(u, http.Header{"Authorization": {"Bearer x"}}, egress.Network{}.NewTransport(egress.Options{}), source)
	o.pause = time.Millisecond
	return o
}

func TestOTLP(t *testing.T) {
	busy, fine := answer(http.StatusServiceUnavailable, "busy"), answer(http.StatusOK, "{}")
	for name, tt := range map[string]struct {
		answers []func(http.ResponseWriter)
		asked   int
		took    string
		want    string // in the error; "": none
	}{
		"taken":             {[]func(http.ResponseWriter){fine}, 1, "s-1 s-2", ""},
		"no JSON":           {[]func(http.ResponseWriter){answer(http.StatusOK, "ok")}, 1, "s-1 s-2", ""},
		"busy, then taken":  {[]func(http.ResponseWriter){busy, answer(http.StatusTooManyRequests, ""), fine}, 3, "s-1 s-2", ""},
		"busy for long":     {[]func(http.ResponseWriter){busy}, attempts, "", `after 5 attempts: the receiver answers 503 Service Unavailable: "busy"`},
		"refused":           {[]func(http.ResponseWriter){answer(http.StatusBadRequest, "no\x1bt\nso")}, 1, "", `400 Bad Request: "no\x1bt\nso"`},
		"elsewhere":         {[]func(http.ResponseWriter){func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(http.StatusFound) }}, 1, "", "302 Found"},
		"one of them":       {[]func(http.ResponseWriter){answer(http.StatusOK, `{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too\nlong"}}`)}, 1, "s-1 s-2", `the receiver refused 1: "too\nlong"`},
		"one, as a number":  {[]func(http.ResponseWriter){answer(http.StatusOK, `{"partialSuccess":{"rejectedLogRecords":1}}`)}, 1, "s-1 s-2", "refused 1"},
		"none, with a word": {[]func(http.ResponseWriter){answer(http.StatusOK, `{"partialSuccess":{"errorMessage":"slow down"}}`)}, 1, "s-1 s-2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{answers: tt.answers}
			o := newOTLP(t, r)
			err := o.Deliver(t.Context(), entries(1, 2))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			if refused, ok := errors.AsType[*Refused](err); ok && refused.Many != 1 {
				t.Error(refused)
			}
			if r.asked != tt.asked || strings.Join(r.took, " ") != tt.took {
				t.Errorf("asked %d times, took %q", r.asked, r.took)
			}
			if r.path != "/v1/logs" || r.headers.Get("Authorization") != "Bearer x" || r.headers.Get("Content-Type") != "application/json" {
				t.Error(r.path, r.headers)
			}
		})
	}
}

// A receiver that asks for time gets it, and an export that is ended does not wait for it.
func TestAskedWait(t *testing.T) {
	r := &receiver{answers: []func(http.ResponseWriter){func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}}}
	o := newOTLP(t, r)
	ctx, end := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer end()
	err := o.Deliver(ctx, entries(1, 1))
	if err == nil || !strings.Contains(err.Error(), "stopped after 1 attempts: the receiver answers 503") || r.asked != 1 {
		t.Error(err, r.asked)
	}
}

func TestPageInPlaceOfReceiver(t *testing.T) {
	r := &receiver{answers: []func(http.ResponseWriter){func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>Sign in</h1>"))
	}}}
	if err := newOTLP(t, r).Deliver(t.Context(), entries(1, 1)); err == nil || !strings.Contains(err.Error(), "a web page answers") || r.asked != 1 {
		t.Error(err, r.asked)
	}
}

func TestEndpoints(t *testing.T) {
	for _, tt := range []struct {
		env          map[string]string
		want, header string
		bad          string
	}{
		{env: map[string]string{}},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, want: "http://c:4318/v1/logs"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c/otlp/"}, want: "https://c/otlp/v1/logs"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c/my", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d"}, want: "http://c/my"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=1"}, want: "http://c/v1/logs", header: "a b"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "c:4317"}, bad: "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "ftp://c"}, bad: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=b%0d%0ac: d"}, bad: "OTEL_EXPORTER_OTLP_HEADERS"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, bad: "OTEL_EXPORTER_OTLP_HEADERS"},
	} {
		u, header, err := FindEndpoint(func(name string) string { return tt.env[name] })
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) || strings.Contains(err.Error(), "secret") {
				t.Error(tt.env, err)
			}
			continue
		}
		got := ""
		if u != nil {
			got = u.String()
		}
		if err != nil || got != tt.want || header.Get("api-key") != tt.header {
			t.Error(tt.env, got, header, err)
		}
	}
}

func TestLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	l := &Lines{To: f, Append: export.AppendOCSF, Source: source}
	if err := errors.Join(l.Deliver(t.Context(), entries(1, 2)), l.Deliver(t.Context(), entries(3, 3)), l.Close()); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		var doc struct{ Metadata struct{ UID string } }
		if json.Unmarshal([]byte(line), &doc) != nil || doc.Metadata.UID != fmt.Sprintf("s-%d", i+1) {
			t.Error(line)
		}
	}
	if err := l.Deliver(t.Context(), entries(4, 4)); err == nil {
		t.Error("written to a closed file")
	}
}

// syslogServer takes connections and reads counted messages.
type syslogServer struct {
	net.Listener
	messages chan string
	broken   chan struct{} // each value breaks the connection that is next read from
}

func newSyslogServer(t *testing.T, set *tls.Config) *syslogServer {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", set)
	if err != nil {
		t.Fatal(err)
	}
	s := &syslogServer{l, make(chan string, 100), make(chan struct{}, 1)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.readConn(conn)
		}
	}()
	return s
}

func (s *syslogServer) readConn(conn net.Conn) {
	defer conn.Close()
	go func() {
		<-s.broken
		_ = conn.Close()
	}()
	in := bufio.NewReader(conn)
	for {
		size, err := in.ReadString(' ')
		if err != nil {
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(size, " "))
		if err != nil {
			s.messages <- "no length: " + size
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		s.messages <- string(text)
	}
}

func newSyslog(t *testing.T, s *syslogServer, a *tlstest.Authority) (*Syslog, *[]string) {
	t.Helper()
	tlstest.ClearEnvironment(t)
	dir := t.TempDir()
	t.Setenv("SSL_CERT_FILE", tlstest.WriteFile(t, dir, "ca.pem", a.PEM))
	notes := &[]string{}
	by := egress.Network{Folders: config.Folders{Config: dir}}.NewTransport(egress.Options{})
	sink := NewSyslog(s.Addr().String(), by, export.AppendSyslog, source, func(text string) { *notes = append(*notes, text) })
	sink.pause = time.Millisecond
	return sink, notes
}

func (s *syslogServer) expect(t *testing.T, record string) {
	t.Helper()
	if got := <-s.messages; !strings.Contains(got, `record="`+record+`"`) {
		t.Fatalf("%q is not %s", got, record)
	}
}

func TestSyslog(t *testing.T) {
	a := tlstest.NewAuthority(t, "Company Root")
	s := newSyslogServer(t, a.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1"}}))
	sink, notes := newSyslog(t, s, a)
	if err := sink.Deliver(t.Context(), entries(1, 3)); err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{"s-1", "s-2", "s-3"} {
		s.expect(t, record)
	}
	// A receiver that goes away and comes back gets the rest, and the user is told.
	s.broken <- struct{}{}
	for len(sink.gone) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := sink.Deliver(t.Context(), entries(4, 4)); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "s-4")
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "ended the connection before record s-4; it may not have taken the last events") {
		t.Error(*notes)
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}

func TestSyslogFails(t *testing.T) {
	a := tlstest.NewAuthority(t, "Company Root")
	s := newSyslogServer(t, tlstest.NewAuthority(t, "Stranger").ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1"}}))
	sink, _ := newSyslog(t, s, a)
	if err := sink.Deliver(t.Context(), entries(1, 1)); err == nil || !strings.Contains(err.Error(), "nothing that was read vouches for") || strings.Contains(err.Error(), "attempts") {
		t.Error(err)
	}
	wrong := newSyslogServer(t, a.ServerConfig(tlstest.Leaf{Names: []string{"elsewhere.example"}}))
	sink, _ = newSyslog(t, wrong, a)
	if err := sink.Deliver(t.Context(), entries(1, 1)); err == nil || !strings.Contains(err.Error(), `not for "127.0.0.1"`) {
		t.Error(err)
	}
	_ = s.Close()
	sink, _ = newSyslog(t, s, a)
	if err := sink.Deliver(t.Context(), entries(1, 1)); err == nil || !strings.Contains(err.Error(), "after 5 attempts: ") {
		t.Error(err)
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzAnswers: whatever a receiver answers, an event that it did not refuse in so many words is not
// taken for refused, and nothing panics.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"partialSuccess":{"rejectedLogRecords":"1"}}`)
	f.Add(`{"partialSuccess":null}`)
	f.Add(`{"partialSuccess":{"rejectedLogRecords":"-1"}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		refused, ok := errors.AsType[*Refused](readRefusal([]byte(text)))
		if ok && (refused.Many < 1 || !strings.Contains(strings.ToLower(text), "rejectedlogrecords") && !strings.Contains(text, `\u`) || strings.ContainsAny(refused.Error(), "\n\r\x1b")) {
			t.Fatalf("%q: %v", text, refused)
		}
		if _, err := url.Parse(text); err == nil {
			if u, err := ParseEndpoint(text); err == nil && !strings.HasSuffix(u.Path, "/v1/logs") {
				t.Fatalf("%q: %v", text, u)
			}
		}
	})
}
