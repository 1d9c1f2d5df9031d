package reverse

import (
	"io"
	"net/http"
)

// Operator serves the health and the metrics of a Server. It is on a separate address, because
// clients must not see them.
type Operator struct {
	Hosts   []string              // names and addresses of this server
	Port    string                // port on which this server listens
	Failure func() error          // returns why every call is refused at present, or nil when calls are judged normally
	Write   func(io.Writer) error // writes the metrics in Prometheus's text format
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
			_, _ = io.WriteString(w, "every call is refused: the record cannot be written\n") // without the error's text, because it names folders
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
