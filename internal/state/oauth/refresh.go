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

	"github.com/clawai/clawai/internal/state/egress"
)

// OutageError means that a token endpoint returns no token at the moment. The refresh token is
// kept, because the same call may succeed soon. No sign-in page is opened.
type OutageError struct {
	Server string
	Cause  error  // the error of the endpoint; its text is safe to show
	login  string // the command that signs in anew
}

func (e *OutageError) Error() string {
	return fmt.Sprintf("the sign-in at %s cannot be renewed now (%v); it is kept, call again in a moment, or sign in again with: %s", e.Server, e.Cause, e.login)
}

func (e *OutageError) Unwrap() error { return e.Cause }

// refreshBound is how long a call waits for a token endpoint that fails. The time is short because
// an MCP client gives up after a minute, and one call may need two refreshes. One attempt may use
// all of this time. If the endpoint has replaced the refresh token but answers slowly, a second
// request with the old refresh token would make the sign-in invalid.
const refreshBound = 15 * time.Second

// refreshWaits are the pauses between the attempts of one call.
var refreshWaits = []time.Duration{300 * time.Millisecond, 1200 * time.Millisecond}

// outage is the last failure of a token endpoint.
type outage struct {
	since time.Time // time of the failure
	until time.Time // calls before this time fail at once with err
	err   error     // error of the failure; nil for no failure
}

// isRecent reports whether a call fails with this outage at once, without a request. began is the
// time at which the call began to wait for the lock. The call fails if the outage came after this
// time. Later calls fail too, for a time as long as the failed attempt. So a slow endpoint delays
// only few calls, and clawai soon asks an endpoint again that has failed fast.
func (o outage) isRecent(began time.Time) bool {
	return o.err != nil && (o.since.After(began) || time.Now().Before(o.until))
}

// outageFile is the path of a file. Its modification time tells the owner's other processes the
// time of the last outage. Without the file, each waiting process would try again, one after the
// other, and the client of the last process would give up.
type outageFile string

// writtenSince reports whether there was an outage after the time in the parameter began.
func (f outageFile) writtenSince(began time.Time) bool {
	info, err := os.Stat(string(f))
	return err == nil && info.ModTime().After(began) && !info.ModTime().After(time.Now())
}

// noteOutage stores the time of an outage for the other processes. If noteOutage cannot store it,
// the other processes send their own requests.
func (f outageFile) noteOutage(at time.Time) {
	if os.WriteFile(string(f), nil, 0o600) == nil {
		_ = os.Chtimes(string(f), at, at)
	}
}

// refreshToken gets a new access token. The parameter used is the token that it replaces. If
// another call or process already has a new token, refreshToken uses that token. The parameter
// refused means that the server no longer accepts the old token.
func (c *Client) refreshToken(ctx context.Context, used string, refused bool) (e StoredSignIn, err error) {
	began := time.Now()
	err = c.withLock(ctx, func() error {
		if e, err = c.reloadEntry(); err != nil {
			return err
		}
		if e.AccessToken != used && e.oauthToken().Valid() {
			return nil
		}
		if !e.IsRenewable() {
			return errors.New("there is no refresh token")
		}
		if c.last.isRecent(began) {
			return c.last.err
		}
		shared := outageFile(c.lockName() + ".outage")
		if shared.writtenSince(began) {
			return &OutageError{c.key, errors.New("another process has just tried"), e.terms().loginCommand(c.key)}
		}
		asked := time.Now()
		fresh, audience, err := c.renewToken(ctx, e)
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
		e.Audience = audience
		e.Unproven = e.Unproven || refused
		return c.saveEntry(e)
	})
	return e, err
}

// renewToken requests a new token. If the endpoint reports a temporary failure or accepts no
// connection, renewToken tries again, at most len(refreshWaits) times.
func (c *Client) renewToken(ctx context.Context, e StoredSignIn) (fresh *oauth2.Token, audience string, err error) {
	who, err := c.storedIdentity(e)
	if err != nil {
		return nil, "", &OutageError{c.key, err, e.terms().loginCommand(c.key)}
	}
	ctx, cancel := context.WithTimeout(ctx, refreshBound)
	defer cancel()
	for try := 0; ; try++ {
		fresh, err := c.askAnew(ctx, e, who)
		switch {
		case err == nil:
			return fresh, who.audience, nil
		case isRevoked(err):
			return nil, "", sanitizeError(err)
		case isLasting(err) || try == len(refreshWaits) || !sleepContext(ctx, refreshWaits[try]):
			return nil, "", &OutageError{c.key, outageCause(err), e.terms().loginCommand(c.key)}
		}
	}
}

// storedIdentity returns the OAuth client of the stored sign-in.
func (c *Client) storedIdentity(e StoredSignIn) (*identity, error) {
	key, err := c.readKey(e.Choices)
	if err != nil {
		return nil, err
	}
	who := &identity{e.ClientID, e.ClientSecret, e.AuthStyle, key, cmp.Or(e.Audience, e.Issuer)}
	if e.ClientSecret == "" {
		who.style = oauth2.AuthStyleInParams // without a secret, no header is needed
	}
	return who, nil
}

// askAnew sends one request for a new token, with the refresh token or with the client's own
// credentials.
func (c *Client) askAnew(ctx context.Context, e StoredSignIn, who *identity) (*oauth2.Token, error) {
	named := tokenTransport{next: c.o.HTTP.Transport, endpoints: []string{e.TokenURL}, who: who, token: e.TokenURL}
	if !e.NoResource {
		named.resource = cmp.Or(e.Resource, c.key) // an entry of an earlier version does not contain the resource of its sign-in
	}
	client := &http.Client{Transport: named, Timeout: c.o.HTTP.Timeout, CheckRedirect: noRedirect}
	if e.Grant == GrantClient {
		return tokenRequest{http: client, who: who, endpoint: e.TokenURL, scopes: e.Requested}.send(ctx)
	}
	config := oauth2.Config{
		ClientID: who.id, ClientSecret: who.secret,
		Endpoint: oauth2.Endpoint{TokenURL: e.TokenURL, AuthStyle: who.style},
	}
	stale := e.oauthToken()
	stale.AccessToken = ""
	return config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), stale).Token()
}

// sleepContext waits for d. It returns false if ctx ends earlier.
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

// revokedCodes are the error codes of a token endpoint for a refresh token or a client that is no
// longer valid: codes of RFC 6749 (section 5.2), and codes that providers use instead.
var revokedCodes = []string{
	"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type",
	"bad_refresh_token", "expired_token", "incorrect_client_credentials", "invalid_refresh_token", "invalid_token", "token_expired", "token_revoked",
}

// isRevoked reports whether the token endpoint no longer accepts the refresh token or the client.
// Then the owner must sign in again. Every other error is an outage: no connection, a page or JSON
// of a gateway, 5xx, 429, 404.
func isRevoked(err error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && failed.Response != nil && !isTransient(failed.Response.StatusCode) && slices.Contains(revokedCodes, failed.ErrorCode)
}

// isTransient reports whether an HTTP status means a failure that may be over soon.
func isTransient(status int) bool {
	return status >= 500 || slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}, status)
}

// isLasting reports whether an outage will probably last longer than a few seconds: the endpoint has
// moved, a gateway answers instead of the endpoint, or a certificate is not accepted.
func isLasting(err error) bool {
	if own, ok := errors.AsType[*egress.Error](err); ok {
		return own.Lasting
	}
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && failed.Response != nil && !isTransient(failed.Response.StatusCode) &&
		!slices.Contains([]string{"temporarily_unavailable", "server_error", "slow_down"}, failed.ErrorCode)
}

// outageCause returns the cause of an outage. Its text is safe to show.
func outageCause(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok && failed.Response != nil {
		return fmt.Errorf("the token endpoint answered HTTP %d %s", failed.Response.StatusCode, http.StatusText(failed.Response.StatusCode))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the token endpoint did not answer in time")
	}
	return sanitizeError(err)
}
