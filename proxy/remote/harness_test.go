package remote_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/remote"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// line is a client that speaks lines to an upstream.
type line struct {
	t     testing.TB
	up    *remote.Upstream
	lines chan string
	mu    sync.Mutex
	notes []string
}

// dial connects to handler; bend may change the options.
func dial(t testing.TB, handler http.Handler, bend func(*remote.Options)) *line {
	t.Helper()
	server := httptest.NewServer(handler)
	address, err := url.Parse(server.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, lines: make(chan string, 1000)}
	o := remote.Options{
		URL: address, Patience: time.Millisecond, Transport: &http.Transport{DisableCompression: true},
		Note: func(code, text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.notes = append(l.notes, code+": "+text)
		},
	}
	if bend != nil {
		bend(&o)
	}
	if l.up, err = remote.Dial(o); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for in := bufio.NewReaderSize(l.up, 1<<20); ; {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			l.lines <- strings.TrimSuffix(text, "\n")
		}
	}()
	t.Cleanup(func() {
		_ = l.up.Close(context.Background())
		<-read
		server.CloseClientConnections()
		server.Close()
	})
	return l
}

func (l *line) say(text string) {
	l.t.Helper()
	if _, err := l.up.Write([]byte(text + "\n")); err != nil {
		l.t.Fatalf("write %s: %v", text, err)
	}
}

// hear is the next line of the server's.
func (l *line) hear() string {
	l.t.Helper()
	select {
	case text := <-l.lines:
		return text
	case <-time.After(time.Minute):
		l.t.Fatalf("nothing came; notes: %q", l.noted())
		return ""
	}
}

// wants hears lines until one contains all of parts.
func (l *line) wants(parts ...string) string {
	l.t.Helper()
	for {
		text := l.hear()
		all := true
		for _, p := range parts {
			all = all && strings.Contains(text, p)
		}
		if all {
			return text
		}
	}
}

// both hears two lines in either order, one with each part.
func (l *line) both(parts ...string) {
	l.t.Helper()
	for len(parts) > 0 {
		text := l.hear()
		parts = slices.DeleteFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}
}

// silent says that nothing has come by now.
func (l *line) silent() {
	l.t.Helper()
	select {
	case text := <-l.lines:
		l.t.Errorf("came: %s", text)
	default:
	}
}

// until waits for a note with that code.
func (l *line) until(code string) {
	l.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, note := range l.noted() {
			if strings.HasPrefix(note, code+": ") {
				return
			}
		}
	}
	l.t.Fatalf("no note %s; notes: %q", code, l.noted())
}

func (l *line) noted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.notes...)
}

const (
	initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initiated  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// modern is a request of the stateless era.
func modern(id int, method, params string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, meta, params)
}

// body reads a posted frame.
func body(r *http.Request) (f struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}) {
	_ = json.NewDecoder(r.Body).Decode(&f)
	return f
}

// result answers with JSON.
func result(w http.ResponseWriter, id json.RawMessage, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, text)
}

// opened is a plausible answer to initialize.
const opened = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`

// legacy is the smallest server of the session era; other requests go to next.
func legacy(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case http.MethodDelete:
			return
		}
		next(w, r)
	}
}

func mustParse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
