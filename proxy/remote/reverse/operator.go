package reverse

import (
	"io"
	"net/http"
)

// Operator serves the health and the figures of a Server on a separate address, because clients
// must not see them.
type Operator struct {
	Hosts   []string              // names and addresses of this server
	Port    string                // port that it listens on
	Failure func() error          // why every call is refused at present; nil when calls are judged
	Write   func(io.Writer) error // prints the figures in Prometheus's text format
}

// ServeHTTP answers GET /healthz and GET /metrics.
func (o *Operator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	g := guard{hosts: o.Hosts, port: o.Port}
	if status, why := g.checkRequest(r); why != "" {
		writeRefusal(w, status, why)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		writeRefusal(w, http.StatusMethodNotAllowed, "Only GET and HEAD are served here.")
		return
	}
	switch r.URL.Path {
	case "/healthz":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		if err := o.Failure(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "every call is refused: the record cannot be written\n") // the error names folders
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	case "/metrics":
		h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = o.Write(w)
	default:
		writeRefusal(w, http.StatusNotFound, "Here are only /healthz and /metrics.")
	}
}
