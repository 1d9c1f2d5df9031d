package reverse

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOperator(t *testing.T) {
	t.Parallel()
	var failure error
	o := &Operator{
		Hosts: []string{"localhost", "127.0.0.1"}, Port: "9808", Failure: func() error { return failure },
		Write: func(w io.Writer) error { _, err := io.WriteString(w, "clawai_sessions 1\n"); return err },
	}
	for _, c := range []struct {
		method, host, path, header string
		failure                    error
		status                     int
		want                       string
	}{
		{"GET", "localhost:9808", "/healthz", "", nil, 200, "ok\n"},
		{"HEAD", "127.0.0.1:9808", "/healthz", "", nil, 200, "ok\n"},
		{"GET", "localhost:9808", "/healthz", "", errors.New("write /home/ana/state: no space"), 503, "every call is refused: the record cannot be written\n"},
		{"GET", "localhost:9808", "/metrics", "", nil, 200, "clawai_sessions 1\n"},
		{"GET", "localhost:9808", "/metrics?x=1", "", nil, 200, "clawai_sessions 1\n"},
		{"POST", "localhost:9808", "/metrics", "", nil, 405, "Only GET and HEAD"},
		{"GET", "localhost:9808", "/", "", nil, 404, "only /healthz and /metrics"},
		{"GET", "localhost:9808", "/metrics/", "", nil, 404, "only /healthz and /metrics"},
		{"GET", "rebound.example:9808", "/metrics", "", nil, 403, "host name"},
		{"GET", "localhost:1", "/metrics", "", nil, 403, "host name"},
		{"GET", "localhost:9808", "/metrics", "http://evil.example", nil, 403, "origin"},
	} {
		failure = c.failure
		r := httptest.NewRequest(c.method, "http://"+c.host+c.path, nil)
		if c.header != "" {
			r.Header.Set("Origin", c.header)
		}
		w := httptest.NewRecorder()
		o.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%+v: %d %q", c, w.Code, w.Body)
		}
		if w.Code != http.StatusOK && strings.Contains(w.Body.String(), "/home") {
			t.Errorf("%+v: it tells a folder", c)
		}
	}
}
