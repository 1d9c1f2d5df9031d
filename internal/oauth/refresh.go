package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// OutageError is a token endpoint that gives no token now. The refresh token is kept: the
// same call may do in a moment, and no page is opened.
type OutageError struct {
	Server string
	Cause  error // in words that can be shown
}

func (e *OutageError) Error() string {
	return fmt.Sprintf("the sign-in at %s cannot be renewed now (%v); it is kept, call again in a moment, or sign in anew with: clawai auth login %s", e.Server, e.Cause, e.Server)
}

func (e *OutageError) Unwrap() error { return e.Cause }

// How long a call waits for a token endpoint that is out of order. A client gives up after
// a minute, and may ask twice.
const (
	refreshBound = 10 * time.Second
	refreshTry   = 6 * time.Second
)

// refreshWaits are the pauses between the attempts of one call.
var refreshWaits = []time.Duration{300 * time.Millisecond, 1200 * time.Millisecond}

// outage is the last time that a token endpoint gave no token.
type outage struct {
	since time.Time
	err   error
}

// outageFile tells the owner's other processes of an outage: its time is that of the file.
// Each that waits would try as long again, and the last one's client would give up.
type outageFile string

// writtenSince reports an outage since a process began to wait.
func (f outageFile) writtenSince(began time.Time) bool {
	info, err := os.Stat(string(f))
	return err == nil && info.ModTime().After(began) && !info.ModTime().After(time.Now())
}

// note leaves the time for the others. Where that fails they try for themselves.
func (f outageFile) note(at time.Time) {
	if os.WriteFile(string(f), nil, 0o600) == nil {
		_ = os.Chtimes(string(f), at, at)
	}
}

// refresh gets a new access token in place of used, unless somebody has; refused says that the
// server does not take that any more.
func (c *Client) refresh(ctx context.Context, used string, refused bool) (e Entry, err error) {
	began := time.Now()
	err = c.withLock(ctx, func() error {
		if e, err = c.reload(); err != nil {
			return err
		}
		if e.AccessToken != used && e.token().Valid() {
			return nil
		}
		if e.RefreshToken == "" {
			return errors.New("there is no refresh token")
		}
		if c.last.err != nil && c.last.since.After(began) { // it failed while this call waited for the lock
			return c.last.err
		}
		shared := outageFile(c.lockName() + ".outage")
		if shared.writtenSince(began) {
			return &OutageError{c.key, errors.New("another process has just tried")}
		}
		fresh, err := c.renew(ctx, e)
		if err != nil {
			c.last = outage{time.Now(), err}
			if _, ok := errors.AsType[*OutageError](err); ok {
				shared.note(c.last.since)
			}
			return err
		}
		c.last = outage{}
		e.take(fresh)
		e.Unproven = e.Unproven || refused
		return c.save(e)
	})
	return e, err
}

// renew asks for a new token, again while the endpoint is out of order.
func (c *Client) renew(ctx context.Context, e Entry) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshBound)
	defer cancel()
	for try := 0; ; try++ {
		fresh, err := c.askAnew(ctx, e)
		switch {
		case err == nil:
			return fresh, nil
		case revoked(err):
			return nil, sanitizeError(err)
		case isLasting(err) || try == len(refreshWaits) || !pause(ctx, refreshWaits[try]):
			return nil, &OutageError{c.key, outageCause(err)}
		}
	}
}

// askAnew makes one request with the refresh token.
func (c *Client) askAnew(ctx context.Context, e Entry) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTry)
	defer cancel()
	style := e.AuthStyle
	if e.ClientSecret == "" {
		style = oauth2.AuthStyleInParams // a client without a secret has none to show
	}
	config := oauth2.Config{
		ClientID: e.ClientID, ClientSecret: e.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: e.TokenURL, AuthStyle: style},
	}
	stale := e.token()
	stale.AccessToken = ""
	// An entry of an earlier version does not say which resource its sign-in named.
	named := resourceTransport{c.o.HTTP.Transport, e.TokenURL, cmp.Or(e.Resource, c.key)}
	client := &http.Client{Transport: named, Timeout: c.o.HTTP.Timeout, CheckRedirect: noRedirect}
	return config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), stale).Token()
}

// pause waits; false when there is no time left.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// revoked reports an answer that a later attempt would get as well: the sign-in is over.
// Everything else is an outage: no connection, a gateway's page, 5xx, 429, an address that is not
// there.
func revoked(err error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || failed.Response == nil || isTransient(failed.Response.StatusCode) {
		return false
	}
	if failed.ErrorCode != "" {
		return !slices.Contains([]string{"temporarily_unavailable", "server_error", "slow_down"}, failed.ErrorCode)
	}
	// Some name no code. A page is not the endpoint's word.
	refused := failed.Response.StatusCode == http.StatusBadRequest || failed.Response.StatusCode == http.StatusUnauthorized
	return refused && !strings.Contains(failed.Response.Header.Get("Content-Type"), "html")
}

// isTransient reports a status that may be another in a moment.
func isTransient(status int) bool {
	return status >= 500 || slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}, status)
}

// isLasting reports an answer that is the same in some seconds, and yet does not end the sign-in:
// the endpoint has moved, or something stands before it.
func isLasting(err error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && failed.Response != nil && failed.Response.StatusCode >= 400 && !isTransient(failed.Response.StatusCode) && failed.ErrorCode == ""
}

// outageCause is the cause of an outage in words that can be shown.
func outageCause(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok && failed.Response != nil {
		return fmt.Errorf("the token endpoint answered HTTP %d %s", failed.Response.StatusCode, http.StatusText(failed.Response.StatusCode))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the token endpoint did not answer in time")
	}
	return sanitizeError(err)
}
