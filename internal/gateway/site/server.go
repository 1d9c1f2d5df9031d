// Package site is the HTTP server of the centre: the interface for laptops below /v1/, and the pages for
// people. It answers only requests to its own host name, and refuses requests that another site could have
// caused. Pages have no scripts. No text on a page is trusted: each is escaped where a template writes it.
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
	"github.com/clawai/clawai/internal/gateway/simulation"
	"github.com/clawai/clawai/internal/page"
)

// Site serves a centre. Create it with New.
type Site struct {
	centre   *centre.Centre
	listener net.Listener
	origin   string           // scheme and host, which is the only accepted value of Host
	cookie   string           // name of the session's cookie; with --dev it contains the port, because browsers send cookies to all ports of a host
	provider *signin.Provider // nil: the administrator of --dev signs in by a link
	proxied  bool             // a proxy on this machine ends TLS

	mu    sync.Mutex
	works map[string]int // number of expensive requests that are being answered, by laptop and kind
	large chan struct{}  // holds one element for each large part in memory

	reviewing chan struct{}                 // holds one element while a review is made
	reviews   map[string]*simulation.Review // reviews of bundles, by the key that reviewBundle makes

	// Slack checks and reads clicks in Slack; nil if gateway.toml does not configure Slack. Set it before Serve.
	Slack *message.Slack

	// Health makes the checks of the page Health; nil: there is no such page. Set it before Serve.
	Health func(ctx context.Context) []Check

	// Report is called with each error of the centre itself, because the answers to laptops and browsers do
	// not contain its details. It may be nil.
	Report func(error)
}

// New returns the site of --dev for l, which must listen on a loopback address. Serve closes l.
func New(c *centre.Centre, l net.Listener) (*Site, error) {
	if err := checkLoopback(l); err != nil {
		return nil, err
	}
	c.Dev = true
	return &Site{centre: c, listener: l, origin: "http://" + l.Addr().String(), cookie: fmt.Sprintf("clawai_gateway_%d", l.Addr().(*net.TCPAddr).Port), works: map[string]int{}, large: make(chan struct{}, mostLarge), reviewing: make(chan struct{}, 1), reviews: map[string]*simulation.Review{}}, nil
}

// NewPublic returns the site of a centre with an identity provider, at the address that gateway.toml
// names. The site serves TLS on l with the settings t. If t is nil, a proxy on this machine ends TLS, and l
// must listen on a loopback address. Serve closes l.
func NewPublic(c *centre.Centre, l net.Listener, t *tls.Config, p *signin.Provider) (*Site, error) {
	s := &Site{centre: c, listener: l, origin: c.Settings.URL, cookie: "__Host-clawai", provider: p, proxied: t == nil, works: map[string]int{}, large: make(chan struct{}, mostLarge), reviewing: make(chan struct{}, 1), reviews: map[string]*simulation.Review{}}
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

// addressOf returns the network address from which a request came. Behind a proxy it is the last address in
// X-Forwarded-For, because the proxy has added that one; the client may have invented the others.
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

// SignInLink returns the address of the link that signs a person in with a token.
func (s *Site) SignInLink(token string) string { return s.Address() + SignInPath + token }

// Limits of one connection. The times are long enough for a part of a segment on a slow network.
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
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer, a browser would send a form without the Origin header
	if isChange(r) {
		ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), changeTime)
		defer stop()
		r = r.WithContext(ctx)
	}
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

// changeTime is the maximum time for a change whose sender has left.
const changeTime = 30 * time.Second

// isChange reports whether a request changes something and goes on if its sender leaves: an approver who
// closes the page after "allow" has answered. A simulation changes nothing. An approval that is used after
// its laptop has left would be lost. What a laptop or a machine puts, it puts again.
func isChange(r *http.Request) bool {
	return (r.Method == http.MethodPost || r.Method == http.MethodDelete) && r.URL.Path != simulatePath && !strings.HasSuffix(r.URL.Path, usePath)
}

// refuse returns a refusal with a text for a person.
func refuse(status int, text string) error { return &page.Refusal{Status: status, Text: text} }

// report passes an error to Report, unless it is a refusal.
func (s *Site) report(r *http.Request, err error) {
	if _, refusal := errors.AsType[*page.Refusal](err); !refusal && s.Report != nil && r.Context().Err() == nil {
		s.Report(err)
	}
}

// statusOf returns the HTTP status and the text for an error. For an error of the centre itself the text has no
// details, because these are only for its administrator.
func statusOf(err error) (int, string) {
	if e, ok := errors.AsType[*page.Refusal](err); ok {
		return e.Status, e.Text
	}
	return http.StatusServiceUnavailable, "The centre cannot answer now. Try again, or run: clawai-gateway doctor"
}

// maxParts is the maximum number of parts of one laptop, or requests of one machine, that are handled at the
// same time. clawai sends one part at a time, but after a broken connection the centre may still handle the part
// before.
const maxParts = 2

// maxWaits is the maximum number of requests of one laptop that wait for the answer to a question. clawai
// sends one for each question.
const maxWaits = 64

// beginWork counts one more request with a key, and returns true. If already as many such requests are being
// answered as the parameter most allows, it counts nothing and returns false.
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

// readBody reads a request's body. It returns a refusal if the body has more bytes than the
// parameter most.
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
