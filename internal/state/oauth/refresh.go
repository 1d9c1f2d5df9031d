package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/oauth2"
)

// OutageError means that a token endpoint currently returns no token. The refresh token is kept:
// the same call may succeed in a moment, and no page is opened.
type OutageError struct {
	Server string
	Cause  error // with a text that is safe to show
}

func (e *OutageError) Error() string {
	return fmt.Sprintf("the sign-in at %s cannot be renewed now (%v); it is kept, call again in a moment, or sign in anew with: clawai auth login %s", e.Server, e.Cause, e.Server)
}

func (e *OutageError) Unwrap() error { return e.Cause }

// refreshBound is how long a call waits for a token endpoint that fails. A client gives up after a
// minute, and may ask twice. A single attempt without an answer may use all of this time: the
// endpoint may have replaced the refresh token and be slow to answer, and a second request with
// the old refresh token would end the sign-in.
const refreshBound = 15 * time.Second

// refreshWaits are the pauses between the attempts of one call.
var refreshWaits = []time.Duration{300 * time.Millisecond, 1200 * time.Millisecond}

// outage is the last failure of a token endpoint.
type outage struct {
	since time.Time
	until time.Time // calls before this time fail with err at once
	err   error
}

// isRecent reports whether a call that began at the given time fails with this outage, without a
// request of its own. It does if the outage began while the call waited for the lock, or a moment
// ago. The moment lasts as long as the failed attempt, so a slow endpoint delays few calls and a
// quick endpoint is asked again soon.
func (o outage) isRecent(began time.Time) bool {
	return o.err != nil && (o.since.After(began) || time.Now().Before(o.until))
}

// outageFile reports an outage to the owner's other processes by the file's modification time.
// Otherwise each waiting process would try for as long again, and the client of the last one would
// give up.
type outageFile string

// writtenSince reports whether there was an outage since a process began to wait.
func (f outageFile) writtenSince(began time.Time) bool {
	info, err := os.Stat(string(f))
	return err == nil && info.ModTime().After(began) && !info.ModTime().After(time.Now())
}

// noteOutage stores the time for the other processes. If this fails, they try themselves.
func (f outageFile) noteOutage(at time.Time) {
	if os.WriteFile(string(f), nil, 0o600) == nil {
		_ = os.Chtimes(string(f), at, at)
	}
}

// refreshToken gets a new access token to replace used, unless another call already has. refused
// means that the server no longer accepts used.
func (c *Client) refreshToken(ctx context.Context, used string, refused bool) (e StoredSignIn, err error) {
	began := time.Now()
	err = c.withLock(ctx, func() error {
		if e, err = c.reloadEntry(); err != nil {
			return err
		}
		if e.AccessToken != used && e.oauthToken().Valid() {
			return nil
		}
		if e.RefreshToken == "" {
			return errors.New("there is no refresh token")
		}
		if c.last.isRecent(began) {
			return c.last.err
		}
		shared := outageFile(c.lockName() + ".outage")
		if shared.writtenSince(began) {
			return &OutageError{c.key, errors.New("another process has just tried")}
		}
		asked := time.Now()
		fresh, err := c.renewToken(ctx, e)
		if err != nil {
			c.last = outage{since: time.Now(), err: err}
			if _, ok := errors.AsType[*OutageError](err); ok {
				c.last.until = c.last.since.Add(time.Since(asked))
				shared.noteOutage(c.last.since)
			}
			return err
		}
		c.last = outage{}
		e.setToken(fresh)
		e.Unproven = e.Unproven || refused
		return c.saveEntry(e)
	})
	return e, err
}

// renewToken requests a new token. It tries again while the endpoint reports a temporary failure
// or accepts no connection.
func (c *Client) renewToken(ctx context.Context, e StoredSignIn) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshBound)
	defer cancel()
	for try := 0; ; try++ {
		fresh, err := c.askAnew(ctx, e)
		switch {
		case err == nil:
			return fresh, nil
		case isRevoked(err):
			return nil, sanitizeError(err)
		case isLasting(err) || try == len(refreshWaits) || !sleepContext(ctx, refreshWaits[try]):
			return nil, &OutageError{c.key, outageCause(err)}
		}
	}
}

// askAnew sends one request with the refresh token.
func (c *Client) askAnew(ctx context.Context, e StoredSignIn) (*oauth2.Token, error) {
	style := e.AuthStyle
	if e.ClientSecret == "" {
		style = oauth2.AuthStyleInParams // without a secret there is nothing to put into the header
	}
	config := oauth2.Config{
		ClientID: e.ClientID, ClientSecret: e.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: e.TokenURL, AuthStyle: style},
	}
	stale := e.oauthToken()
	stale.AccessToken = ""
	// An entry of an earlier version does not contain the resource of its sign-in.
	named := resourceTransport{c.o.HTTP.Transport, e.TokenURL, cmp.Or(e.Resource, c.key)}
	client := &http.Client{Transport: named, Timeout: c.o.HTTP.Timeout, CheckRedirect: noRedirect}
	return config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), stale).Token()
}

// sleepContext waits for d. It returns false when ctx ends before.
func sleepContext(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// revokedCodes are the errors by which a token endpoint reports that a refresh token or its client
// is no longer valid: the codes of RFC 6749 (section 5.2), and codes that providers use instead.
var revokedCodes = []string{
	"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type",
	"bad_refresh_token", "expired_token", "incorrect_client_credentials", "invalid_refresh_token", "invalid_token", "token_expired", "token_revoked",
}

// isRevoked reports whether the token endpoint no longer accepts the refresh token or the client,
// so that the owner must sign in again. Every other error is an outage: no connection, a page or
// JSON of a gateway, 5xx, 429, 404.
func isRevoked(err error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && failed.Response != nil && !isTransient(failed.Response.StatusCode) && slices.Contains(revokedCodes, failed.ErrorCode)
}

// isTransient reports whether a status may soon be a different one.
func isTransient(status int) bool {
	return status >= 500 || slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}, status)
}

// isLasting reports whether an outage will probably last longer than some seconds: the endpoint has
// moved, or a gateway answers in its place.
func isLasting(err error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && failed.Response != nil && !isTransient(failed.Response.StatusCode) &&
		!slices.Contains([]string{"temporarily_unavailable", "server_error", "slow_down"}, failed.ErrorCode)
}

// outageCause returns the cause of an outage with a text that is safe to show.
func outageCause(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok && failed.Response != nil {
		return fmt.Errorf("the token endpoint answered HTTP %d %s", failed.Response.StatusCode, http.StatusText(failed.Response.StatusCode))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the token endpoint did not answer in time")
	}
	return sanitizeError(err)
}
