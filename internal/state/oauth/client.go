package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Options of New. Server, Store, Lock and Browse are required.
type Options struct {
	Server *url.URL
	Store  Store
	Lock   string // how the names of files begin that all processes of this user share: at each server one signs in, or refreshes, at a time

	// Browse opens a page for the owner to sign in at. The address is http or
	// https, and comes from the server.
	Browse func(ctx context.Context, page string) error

	// ClientID and ClientSecret are of a client the owner registered, or the id is the
	// https address of its metadata document. "" takes those of the sign-in before, if
	// the owner had registered them, and otherwise registers one.
	ClientID, ClientSecret string

	// Anew has SignIn take no notice of the sign-in before, which stays until there is
	// another.
	Anew bool

	// Pages is the least time between two pages that a server has opened to sign in,
	// and two for a wider scope; default 1 min, negative: none, for an owner who asks.
	Pages time.Duration

	HTTP *http.Client  // for discovery and tokens; default: one that goes only where a server may send it
	Wait time.Duration // how long a person may take to sign in; default 5 min
}

// Client is the owner's authority at one server. It is safe for concurrent use.
type Client struct {
	o   Options
	key string

	mu     sync.Mutex // guards entry, loaded and barred
	entry  StoredSignIn
	loaded bool
	barred barrier

	signing chan struct{} // held by whoever signs in or refreshes
	last    outage        // guarded by signing
}

// New makes a client; nothing is read or asked yet.
func New(o Options) *Client {
	o.Wait = cmp.Or(o.Wait, 5*time.Minute)
	o.Pages = cmp.Or(o.Pages, time.Minute)
	if o.HTTP == nil {
		o.HTTP = newHTTP(o.Server)
	}
	client := *o.HTTP
	client.Transport = answerTransport{client.Transport}
	o.HTTP = &client
	return &Client{o: o, key: ServerKey(o.Server), signing: make(chan struct{}, 1)}
}

// Apply puts the token on a request to the server, refreshed if it has expired.
// Without a sign-in it puts nothing: the server says whether it wants one.
func (c *Client) Apply(ctx context.Context, r *http.Request) error {
	if r.URL.Scheme != c.o.Server.Scheme || r.URL.Host != c.o.Server.Host {
		return errors.New("a token was about to leave the server it is for")
	}
	e, err := c.currentEntry()
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	if !e.oauthToken().Valid() && e.RefreshToken != "" {
		renewed, err := runOn(ctx, c.o.Wait, func(ctx context.Context) (StoredSignIn, error) { return c.refreshToken(ctx, e.AccessToken, false) })
		if out, ok := errors.AsType[*OutageError](err); ok && !time.Now().Before(e.Expiry) {
			return out
		}
		if err == nil {
			e = renewed
		}
	}
	if e.AccessToken == "" {
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+e.AccessToken)
	return nil
}

// currentEntry gives the entry as this process knows it.
func (c *Client) currentEntry() (StoredSignIn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		if c.entry.Server == "" {
			return StoredSignIn{}, ErrNone
		}
		return c.entry, nil
	}
	e, err := c.o.Store.Load(c.key)
	if err == nil || errors.Is(err, ErrNone) {
		c.entry, c.loaded = e, true
	}
	return e, err
}

// saveEntry stores a new state of the entry.
func (c *Client) saveEntry(e StoredSignIn) error {
	c.mu.Lock()
	c.entry, c.loaded = e, true
	c.mu.Unlock()
	return c.o.Store.Save(e)
}

// reloadEntry forgets what this process knows: another may have signed in.
func (c *Client) reloadEntry() (StoredSignIn, error) {
	c.mu.Lock()
	c.loaded = false
	c.mu.Unlock()
	return c.currentEntry()
}

// Challenged takes in a 401 or 403. A token that has become invalid is refreshed;
// otherwise the owner signs in, for the wider scope if that is what the server
// wants. The request whose answer this is may end before that has.
func (c *Client) Challenged(ctx context.Context, resp *http.Response) (again bool, err error) {
	used := bearerToken(resp.Request)
	challenge := &http.Response{StatusCode: resp.StatusCode, Header: resp.Header.Clone(), Body: http.NoBody, Request: resp.Request}
	return runOn(ctx, c.o.Wait, func(ctx context.Context) (bool, error) { return c.answerChallenge(ctx, challenge, used) })
}

// runOn runs do and waits for it. When ctx ends, runOn returns and do continues, for at most
// bound: the answer to its request may hold a token that the server gives only once.
func runOn[T any](ctx context.Context, bound time.Duration, do func(context.Context) (T, error)) (got T, err error) {
	type outcome struct {
		got T
		err error
	}
	done := make(chan outcome, 1)
	long, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	go func() {
		defer cancel()
		got, err := do(long)
		done <- outcome{got, err}
	}()
	select {
	case o := <-done:
		return o.got, o.err
	case <-ctx.Done():
		return got, context.Cause(ctx)
	}
}

// Accepted notes that the server has taken the token of r: when it refuses that token later, a
// refresh may help. One that refuses every token would cost a refresh for each call.
func (c *Client) Accepted(r *http.Request) {
	used := bearerToken(r)
	c.mu.Lock()
	proves := c.loaded && c.entry.Unproven && c.entry.AccessToken == used
	c.mu.Unlock()
	if !proves {
		return
	}
	now, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	_ = c.withLock(now, func() error { // whoever signs in meanwhile has another token soon
		e, err := c.reloadEntry()
		if err != nil || e.AccessToken != used {
			return err
		}
		e.Unproven = false
		return c.saveEntry(e)
	})
}

func bearerToken(r *http.Request) string {
	const scheme = "Bearer "
	if h := r.Header.Get("Authorization"); len(h) > len(scheme) {
		return h[len(scheme):]
	}
	return ""
}

func (c *Client) answerChallenge(ctx context.Context, resp *http.Response, used string) (again bool, err error) {
	if resp.StatusCode == http.StatusForbidden && !stepUp(resp) && (used != "" || !c.wantsSignIn(ctx, resp)) {
		return false, nil
	}
	e, err := c.reloadEntry()
	if err == nil && e.AccessToken != used && e.AccessToken != "" {
		return true, nil // somebody was faster
	}
	if resp.StatusCode == http.StatusUnauthorized && used != "" {
		if err == nil && e.Unproven {
			return false, fmt.Errorf("the server at %s refuses the token that was renewed for it; sign in anew with: clawai auth login %s", c.key, c.key)
		}
		_, err := c.refreshToken(ctx, used, true)
		if err == nil {
			return true, nil
		}
		if out, ok := errors.AsType[*OutageError](err); ok {
			return false, out
		}
	}
	if err := c.SignIn(ctx, resp, used); err != nil {
		return false, fmt.Errorf("sign-in at %s: %w", c.key, err)
	}
	return true, nil
}

// withLock runs do while no other process of the owner's signs in or refreshes at
// this server.
func (c *Client) withLock(ctx context.Context, do func() error) error {
	select {
	case c.signing <- struct{}{}:
		defer func() { <-c.signing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	lock := flock.New(c.lockName())
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another sign-in: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	return do()
}

// lockName gives the name of this server's lock.
func (c *Client) lockName() string {
	sum := sha256.Sum256([]byte(c.key))
	return c.o.Lock + "." + hex.EncodeToString(sum[:8])
}

// sanitizeError keeps what a server wrote from people and their terminals: what its
// endpoints answer may repeat a secret, or say what to do, and is left out but for the
// codes of RFC 6749; other text is bounded and made visible.
func sanitizeError(err error) error {
	if moved, ok := errors.AsType[*issuerChangedError](err); ok {
		return moved
	}
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if failed.Response != nil {
			status = failed.Response.StatusCode
		}
		return fmt.Errorf("the token endpoint refused: %s", errorCode(failed.ErrorCode, cmp.Or(http.StatusText(status), "no reason")))
	}
	if failed, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return fmt.Errorf("client registration was refused: %s", errorCode(failed.ErrorCode, "no reason"))
	}
	text := err.Error()
	for _, quoting := range []string{"failed to decode successful registration response", "failed to decode registration error response", "registration failed with status"} {
		if strings.Contains(text, quoting) { // and with it the whole body
			return errors.New("client registration was refused")
		}
	}
	if strings.Contains(text, "token exchange failed") && strings.Contains(text, "oauth2:") {
		return errors.New("the token endpoint's answer holds no token")
	}
	return &shownError{term.VisibleText(truncateText(text)), err}
}

// errorCodes are the errors that an authorization server may name (RFC 6749, sections
// 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2; OpenID Connect Core,
// section 3.1.2.6).
var errorCodes = []string{
	"access_denied", "account_selection_required", "consent_required", "interaction_required", "invalid_client", "invalid_client_metadata",
	"invalid_grant", "invalid_redirect_uri", "invalid_request", "invalid_scope", "invalid_software_statement", "invalid_target", "login_required",
	"server_error", "temporarily_unavailable", "unapproved_software_statement", "unauthorized_client", "unsupported_grant_type", "unsupported_response_type",
}

// errorCode gives a code of theirs; other words are a server's own.
func errorCode(code, otherwise string) string {
	if slices.Contains(errorCodes, code) {
		return code
	}
	return otherwise
}

// shownError is an error in words that can be shown.
type shownError struct {
	text string
	err  error
}

func (t *shownError) Error() string { return t.text }

func (t *shownError) Unwrap() error { return t.err }

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// mergeScopes gives the scopes to ask for: those granted before and the new ones (MCP
// 2025-11-25 basic/authorization, step-up).
func mergeScopes(had, wanted []string) []string {
	all := slices.Clone(had)
	for _, s := range wanted {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
