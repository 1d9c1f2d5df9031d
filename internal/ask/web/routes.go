package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/clawai/clawai/internal/page"
)

// route is one path that the server answers. No path is the name of a file.
type route struct {
	method string
	dest   string // required value of Sec-Fetch-Dest, which our own page sends
	open   bool   // can be used without the key; it must show nothing of the queue
	serve  func(s *Server, w http.ResponseWriter, r *http.Request, in *session) error
}

const requestPath = "/request/" // followed by the id of a request

// nowhere is the route of all other paths.
var nowhere = route{open: true, serve: func(*Server, http.ResponseWriter, *http.Request, *session) error { return notFound }}

func (s *Server) findRoute(u *url.URL) route {
	if v := findView(u); v.method != "" {
		return v
	}
	if u.RawQuery != "" || u.ForceQuery || u.RawPath != "" {
		return nowhere
	}
	if strings.HasPrefix(u.Path, requestPath) {
		return route{method: http.MethodGet, dest: "empty", serve: (*Server).serveRequest}
	}
	switch u.Path {
	case "/":
		return route{method: http.MethodGet, dest: "document", open: true, serve: (*Server).servePage}
	case "/session":
		return route{method: http.MethodPost, dest: "empty", open: true, serve: (*Server).serveSession}
	case "/events":
		return route{method: http.MethodGet, dest: "empty", serve: (*Server).serveEvents}
	case "/answer":
		return route{method: http.MethodPost, dest: "empty", serve: (*Server).serveAnswer}
	case "/revoke":
		return route{method: http.MethodPost, dest: "empty", serve: (*Server).serveRevoke}
	}
	if a, ok := s.assets[u.Path]; ok {
		return route{method: http.MethodGet, dest: a.dest, open: true, serve: (*Server).serveAsset}
	}
	return nowhere
}

// ServeHTTP handles every request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page.SetHeaders(w.Header(), policyOf(""))
	rt := s.findRoute(r.URL)
	if err := s.serveRoute(w, r, rt); err != nil {
		writeError(w, rt, err)
	}
}

func (s *Server) serveRoute(w http.ResponseWriter, r *http.Request, rt route) error {
	if e := page.CheckOrigin(r, "http://"+s.host, rt.dest); e != nil {
		return e
	}
	if rt.method != "" && r.Method != rt.method {
		w.Header().Set("Allow", rt.method)
		return &refusal{Status: http.StatusMethodNotAllowed, Text: "Only " + rt.method + " is answered here."}
	}
	in := s.findSession(r)
	if in == nil && !rt.open {
		return stranger
	}
	if r.Method == http.MethodPost && !isJSON(r) {
		return notJSON
	}
	return rt.serve(s, w, r, in)
}

// writeError sends an error. The page gets JSON; a person gets plain text.
func writeError(w http.ResponseWriter, rt route, err error) {
	status := http.StatusServiceUnavailable
	if e, ok := errors.AsType[*refusal](err); ok {
		status = e.Status
	}
	if rt.dest == "document" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, err.Error()+"\n") //nolint:gosec // plain text, and not sniffed
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"text": err.Error()})
}

func writeReply(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	return json.NewEncoder(w).Encode(v)
}

// readBody decodes the body, which must be one JSON object without unknown members.
func readBody(w http.ResponseWriter, r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLong
	}
	return badBody
}

// serveSession lets in the browser that sends the token of the link.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request, _ *session) error {
	var body struct{ Token string }
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	key, ok := s.login.exchangeToken(body.Token)
	if !ok {
		return usedLink
	}
	s.o.Opened()
	return writeReply(w, map[string]string{"key": key, "start": s.o.Start})
}
