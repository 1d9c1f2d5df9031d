// Package site is the centre on HTTP: the interface of laptops below /v1/, and the pages of people. It
// answers to no other host name than its own one, and refuses what another site could have caused. A
// page has no script; all texts on it are foreign, and are made harmless at the one place where a
// template writes them.
package site

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/page"
)

// Site serves a centre. Create it with New.
type Site struct {
	centre   *centre.Centre
	listener net.Listener
	origin   string           // scheme and host, which is the only accepted value of Host
	cookie   string           // name of the session's cookie; other ports of this address have their own
	provider *signin.Provider // nil: the administrator of --dev signs in by a link
	proxied  bool             // a proxy on this machine ends TLS

	mu    sync.Mutex
	works map[string]int // what is done now and takes memory or time, by laptop and kind
	large chan struct{}  // holds something for each large part that is in memory

	// Slack takes clicks; nil if gateway.toml names none. It is set before Serve.
	Slack *message.Slack

	// Report is told of each fault of the centre itself, of which a laptop or a browser is told no
	// details; nil for nobody.
	Report func(error)
}

// New returns the site of --dev for l, which must listen on a loopback address. Serve closes l.
func New(c *centre.Centre, l net.Listener) (*Site, error) {
	if err := checkLoopback(l); err != nil {
		return nil, err
	}
	c.Dev = true
	return &Site{centre: c, listener: l, origin: "http://" + l.Addr().String(), cookie: fmt.Sprintf("clawai_gateway_%d", l.Addr().(*net.TCPAddr).Port), works: map[string]int{}, large: make(chan struct{}, mostLarge)}, nil
}

// NewPublic returns the site of a centre with an identity provider, at the address that gateway.toml
// names. l ends TLS with the settings of t; without them a proxy does, and l must listen on a loopback
// address. Serve closes l.
func NewPublic(c *centre.Centre, l net.Listener, t *tls.Config, p *signin.Provider) (*Site, error) {
	s := &Site{centre: c, listener: l, origin: c.Settings.URL, cookie: "__Host-clawai", provider: p, proxied: t == nil, works: map[string]int{}, large: make(chan struct{}, mostLarge)}
	if t != nil {
		s.listener = tls.NewListener(l, t)
		return s, nil
	}
	return s, checkLoopback(l)
}

func checkLoopback(l net.Listener) error {
	if addr, ok := l.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
		return fmt.Errorf("%v is not a loopback address", l.Addr())
	}
	return nil
}

// Address returns the site's address, without a path.
func (s *Site) Address() string { return s.origin }

// addressOf returns from which address of the network a request came. What a proxy says of it is the last
// word of X-Forwarded-For; those before it may be anybody's.
func (s *Site) addressOf(r *http.Request) string {
	if all := r.Header.Values("X-Forwarded-For"); s.proxied && len(all) > 0 {
		last := all[len(all)-1]
		if ip, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); err == nil {
			return ip.String()
		}
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return host
}

// SignInLink returns the address at which a link's token signs a person in.
func (s *Site) SignInLink(token string) string { return s.Address() + SignInPath + token }

// Limits of one connection. A part of a segment may take its time.
const (
	headerTime = 5 * time.Second
	readTime   = 60 * time.Second
	writeTime  = 60 * time.Second
	idleTime   = 120 * time.Second
	maxHeader  = 1 << 16
)

// Serve answers until ctx ends; then it returns nil.
func (s *Site) Serve(ctx context.Context) error {
	return page.Serve(ctx, &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
	}, s.listener)
}

// pagePolicy is the Content-Security-Policy of the pages.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP handles every request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if fault := recover(); fault != nil {
			s.report(r, fmt.Errorf("a mistake of the program: %v\n%s", fault, debug.Stack()))
			panic(http.ErrAbortHandler)
		}
	}()
	page.SetHeaders(w.Header(), pagePolicy)
	if s.provider != nil {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer, a browser names no Origin when it sends a form
	if r.URL.Path == slackPath {
		s.serveSlack(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		s.serveLaptop(w, r)
		return
	}
	if err := s.servePage(w, r); err != nil {
		s.writePageError(w, r, err)
	}
}

// refuse returns a refusal with a text for a person.
func refuse(status int, text string) error { return &page.Refusal{Status: status, Text: text} }

// report tells of an error that is a fault of the centre itself.
func (s *Site) report(r *http.Request, err error) {
	if _, refusal := errors.AsType[*page.Refusal](err); !refusal && s.Report != nil && r.Context().Err() == nil {
		s.Report(err)
	}
}

// statusOf returns the status and the text of an error. A fault of the centre itself is told without
// its details, which are for its administrator alone.
func statusOf(err error) (int, string) {
	if e, ok := errors.AsType[*page.Refusal](err); ok {
		return e.Status, e.Text
	}
	return http.StatusServiceUnavailable, "The centre cannot answer now. Try again, or run: clawai-gateway doctor"
}

// maxParts is how many parts of one laptop are read or verified at the same time. clawai sends one; a
// connection that broke may leave another one.
const maxParts = 2

// maxWaits is how many requests of one laptop wait for the answer to a question. clawai sends one for each
// question.
const maxWaits = 64

// beginWork counts a work, and reports false if there are most of this key already.
func (s *Site) beginWork(key string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.works[key] >= most {
		return false
	}
	s.works[key]++
	return true
}

func (s *Site) endWork(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.works[key]--; s.works[key] == 0 {
		delete(s.works, key)
	}
}

// readBody reads a body of at most most bytes.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("The request has more than %d bytes.", most))
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "The request ended before its end.")
	}
	return body, nil
}
