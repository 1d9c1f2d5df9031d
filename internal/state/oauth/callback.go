package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const callbackPath = "/callback"

// CheckCallback returns an error for an address to which a browser cannot come back. The address
// must be on this machine (RFC 8252, section 7.3). Its port must be fixed, and not chosen by the
// system.
func CheckCallback(address string) error {
	u, err := url.Parse("http://" + address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.EscapedPath() != u.Path {
		return errors.New("it is written like 127.0.0.1:8765")
	}
	if !isLoopback(u.Hostname()) {
		return errors.New("the host is localhost or 127.0.0.1 or [::1], because the code that comes back is for this machine alone")
	}
	if u.Port() == "" || strings.Trim(u.Port(), "0") == "" {
		return errors.New("it needs the port that is registered at the provider, like 127.0.0.1:8765")
	}
	return nil
}

// pathOf returns the default path if the address of a callback has no path. Otherwise it returns
// "".
func pathOf(address string) string {
	if strings.Contains(address, "/") {
		return ""
	}
	return callbackPath
}

// callback holds the parts of the address with which the browser comes back: the code, and the
// issuer. issuer is "" if the address has none.
type callback struct{ code, issuer string }

// landing is the page to which the browser comes back. It exists only for one sign-in.
type landing struct {
	redirect *url.URL
	server   *http.Server
	served   chan struct{}
	came     chan url.Values // the query of a request that has the state

	mu    sync.Mutex
	state string // the state in the expected request; "" if no request is expected
}

// openLanding listens at address. If address is "", it listens at a free port of 127.0.0.1.
func openLanding(ctx context.Context, address string) (*landing, error) {
	l := &landing{served: make(chan struct{}), came: make(chan url.Values, 1)}
	at := "127.0.0.1:0"
	if address != "" {
		if err := CheckCallback(address); err != nil {
			return nil, fmt.Errorf("the callback %.100q cannot be used: %w", address, err)
		}
		var err error
		if l.redirect, err = url.Parse("http://" + address + pathOf(address)); err != nil {
			return nil, err
		}
		if at = l.redirect.Host; l.redirect.Hostname() == "localhost" {
			at = net.JoinHostPort("127.0.0.1", l.redirect.Port())
		}
	}
	var config net.ListenConfig
	back, err := config.Listen(ctx, "tcp", at)
	if err != nil && address != "" {
		return nil, fmt.Errorf("the port of the callback %s cannot be had, another program may have it (%w)", address, err)
	}
	if err != nil {
		return nil, err
	}
	if l.redirect == nil {
		l.redirect = &url.URL{Scheme: "http", Host: back.Addr().String(), Path: callbackPath}
	}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() {
		defer close(l.served)
		_ = l.server.Serve(back)
	}()
	return l, nil
}

func (l *landing) close(ctx context.Context) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = l.server.Shutdown(end)
	_ = l.server.Close()
	<-l.served
}

// expect makes the page take only requests with this state.
func (l *landing) expect(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	select {
	case <-l.came: // drop the first result, because a browser may have come back twice
	default:
	}
}

func (l *landing) isExpected(state string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state != "" && state == l.state
}

// ServeHTTP serves the page. It accepts only a request with our state, because every program on
// this machine can send requests.
func (l *landing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	q := r.URL.Query()
	switch {
	case r.Host != l.redirect.Host || r.URL.Path != l.redirect.Path || r.Method != http.MethodGet:
		http.NotFound(w, r)
		return
	case !l.isExpected(q.Get("state")) || q.Get("code")+q.Get("error") == "":
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintln(w, "This is not the sign-in that clawai waits for. Close this page and try again.")
		return
	case q.Get("error") != "":
		fmt.Fprintln(w, "The sign-in was refused. Close this page; clawai says more.")
	default:
		fmt.Fprintln(w, "Signed in. Close this page and go back to your work.")
	}
	select {
	case l.came <- q:
	default:
	}
}

// authorize sends the owner to page. It waits until the browser comes back with a code, or until
// the owner pastes the address to which the browser was sent. check returns an error for an answer
// that another authorization server has sent.
func (c *Client) authorize(ctx context.Context, page string, l *landing, device bool, t terms, check func(callback) error) (callback, error) {
	asked, err := url.Parse(page)
	if err != nil {
		return callback{}, err
	}
	state := asked.Query().Get("state")
	l.expect(state)
	defer l.expect("")
	if err := c.showPage(ctx, page, device, t); err != nil {
		return callback{}, err
	}
	type outcome struct {
		got callback
		err error
	}
	pasted := make(chan outcome, 1)
	reading, stop := context.WithCancel(ctx)
	read := make(chan struct{}) // closed when readAddress has ended
	defer func() {
		stop()
		<-read
	}()
	if c.o.Person == nil {
		close(read)
	} else {
		go func() {
			defer close(read)
			got, err := c.readAddress(reading, l.redirect, state, check)
			pasted <- outcome{got, err}
		}()
	}
	for {
		select {
		case q := <-l.came:
			return takeAnswer(q, check)
		case o := <-pasted:
			if errors.Is(o.err, ErrNoPaste) {
				continue // the browser may still come back by itself
			}
			return o.got, o.err
		case <-ctx.Done():
			return callback{}, t.timeoutError(c.key)
		}
	}
}

func (t terms) timeoutError(server string) error {
	text := "nobody signed in in time"
	if t.id != "" && t.Callback == "" && t.Grant == GrantCode {
		next := t
		next.Callback = "127.0.0.1:PORT"
		text += "; if the page refused the redirect address, register http://127.0.0.1:PORT/callback at the provider, then: " + next.loginCommand(server)
	}
	return &shownError{text, context.DeadlineExceeded}
}

// showPage opens the page in the owner's browser. If the browser cannot be opened, a person at the
// terminal gets the address. Without such a person the error does not contain the address, because
// an agent may read the error.
func (c *Client) showPage(ctx context.Context, page string, device bool, t terms) error {
	err := c.o.Browse(ctx, page)
	if err == nil {
		return nil
	}
	if c.o.Person != nil {
		return c.o.Person.ShowPage(page, device)
	}
	way := "--no-browser"
	if device {
		way = "--device"
	}
	return &shownError{fmt.Sprintf("open the sign-in page: %v; sign in with: %s", err, t.loginCommand(c.key, way)), err}
}

// takeAnswer returns the code in an answer, or an error with the reason why there is no code. It
// first calls check, which checks the sender of the answer, even if the answer is an error (RFC
// 9207 section 2.4).
func takeAnswer(q url.Values, check func(callback) error) (callback, error) {
	got := callback{q.Get("code"), q.Get("iss")}
	if err := check(got); err != nil {
		return callback{}, err
	}
	if q.Has("error") {
		return callback{}, &refusal{"the server", errorCode(q.Get("error"))}
	}
	return got, nil
}
