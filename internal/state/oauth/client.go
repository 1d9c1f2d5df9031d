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

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/text/term"
)

// Options are the options of New. Server, Store, Lock and Browse are required.
type Options struct {
	Server *url.URL
	Store  Store
	Lock   string // beginning of the paths of lock files, which all processes of this user share; for each server, only one process at a time signs in or refreshes

	// Browse opens the sign-in page for the owner. The address is http or https, and comes from
	// the server.
	Browse func(ctx context.Context, page string) error

	// Person is the owner, if the owner has started the sign-in. It is nil if a call has started
	// the sign-in.
	Person Person

	// ReadFile reads a file that only the owner may read, such as the client's key.
	ReadFile func(path string) ([]byte, error)

	// Choices are the owner's choices for a sign-in with Anew. Without Anew, the choices of the
	// earlier sign-in are used.
	Choices

	// ClientID and ClientSecret belong to an OAuth client that the owner has registered. ClientID
	// may also be the https address of a client metadata document. If ClientID is "", the client of
	// the earlier sign-in is used if the owner has registered that client. Otherwise clawai
	// registers a new client.
	ClientID, ClientSecret string

	// Anew makes SignIn ignore the earlier sign-in. The earlier sign-in is kept until the new one
	// succeeds.
	Anew bool

	// Pages is the minimum time between two sign-in pages that a server can open, and between two
	// pages for a wider scope. The default is 1 min. A negative value means no minimum; it is for a
	// sign-in that the owner has started.
	Pages time.Duration

	Network egress.Network // the way to other machines
	HTTP    *http.Client   // for discovery and tokens; the default client refuses addresses that a server must not choose
	Wait    time.Duration  // how long a person may take to sign in; the default is 5 min
}

// Client holds the owner's sign-in at one server. It is safe for concurrent use.
type Client struct {
	o   Options
	key string // ServerKey of the server's address

	mu     sync.Mutex // guards entry, loaded and barred
	entry  StoredSignIn
	loaded bool    // entry was loaded; if its server is "", there is no sign-in
	barred barrier // the last 403 that did not ask for a sign-in

	signing chan struct{} // holds one element while a goroutine signs in or refreshes, so that only one does
	last    outage        // protected by signing, not by mu
}

// New returns a client. It reads no files and sends no requests.
func New(o Options) *Client {
	o.Wait = cmp.Or(o.Wait, 5*time.Minute)
	o.Pages = cmp.Or(o.Pages, time.Minute)
	if o.HTTP == nil {
		o.HTTP = newHTTP(o.Server, o.Network)
	}
	client := *o.HTTP
	if client.Transport == nil {
		client.Transport = o.Network.NewTransport(egress.Options{})
	}
	client.Transport = answerTransport{client.Transport}
	o.HTTP = &client
	return &Client{o: o, key: ServerKey(o.Server), signing: make(chan struct{}, 1)}
}

// Apply adds the token to a request to the server. If the token has expired, Apply first refreshes
// it. Without a sign-in, Apply adds nothing, and the server's answer shows whether the server wants
// a sign-in.
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
	if !e.oauthToken().Valid() && e.IsRenewable() {
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

// currentEntry returns the entry from this process's memory, or loads it.
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

func (c *Client) saveEntry(e StoredSignIn) error {
	c.mu.Lock()
	c.entry, c.loaded = e, true
	c.mu.Unlock()
	return c.o.Store.Save(e)
}

// reloadEntry loads the entry again, because another process may have signed in.
func (c *Client) reloadEntry() (StoredSignIn, error) {
	c.mu.Lock()
	c.loaded = false
	c.mu.Unlock()
	return c.currentEntry()
}

// Challenged handles the answer 401 or 403. It refreshes a token that has become invalid. If that
// does not help, the owner signs in. If the server wants a wider scope, the sign-in asks for that
// scope. The result again means that the request should be sent again. The sign-in may continue
// after ctx has ended.
func (c *Client) Challenged(ctx context.Context, resp *http.Response) (again bool, err error) {
	used := bearerToken(resp.Request)
	challenge := &http.Response{StatusCode: resp.StatusCode, Header: resp.Header.Clone(), Body: http.NoBody, Request: resp.Request}
	return runOn(ctx, c.o.Wait, func(ctx context.Context) (bool, error) { return c.answerChallenge(ctx, challenge, used) })
}

// runOn calls the function do and waits for its end. If ctx ends earlier, runOn returns, and the
// function continues to run for at most the time bound. The function must not be cancelled, because
// an answer may contain a token that the server issues only once.
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

// Accepted notes that the server has accepted the token of r. If the server later refuses the same
// token, it is refreshed. A token that was never accepted is not refreshed, because a server that
// refuses every token would otherwise cause a refresh for each call.
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
	_ = c.withLock(now, func() error { // an error is ignored: if the lock is not free in time, another sign-in is in progress and will store another token
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
		return true, nil // another call or process has stored a new token meanwhile
	}
	if resp.StatusCode == http.StatusUnauthorized && used != "" {
		if err == nil && e.Unproven {
			return false, fmt.Errorf("the server at %s refuses the token that was renewed for it; sign in again with: %s", c.key, e.terms().loginCommand(c.key))
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

// withLock calls the function do while no other process of the owner signs in or refreshes at this
// server.
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

func (c *Client) lockName() string {
	sum := sha256.Sum256([]byte(c.key))
	return c.o.Lock + "." + hex.EncodeToString(sum[:8])
}

// sanitizeError returns an error without texts of a server, for people and their terminals. A
// server's text may repeat a secret or tell people what to do, so only standard error codes remain.
// Any other error text is shortened, and its control characters are made visible.
func sanitizeError(err error) error {
	if moved, ok := errors.AsType[*issuerChangedError](err); ok {
		return moved
	}
	if own, ok := errors.AsType[*egress.Error](err); ok {
		return own
	}
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := ""
		if failed.Response != nil && failed.Response.StatusCode != http.StatusOK {
			status = http.StatusText(failed.Response.StatusCode)
		}
		return &refusal{"the token endpoint", cmp.Or(errorCode(failed.ErrorCode), status)}
	}
	if failed, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return &refusal{"the registration", errorCode(failed.ErrorCode)}
	}
	if _, ok := errors.AsType[*refusal](err); ok {
		return err
	}
	if _, ok := errors.AsType[*shownError](err); ok {
		return err
	}
	text := err.Error()
	for _, quoting := range []string{"failed to decode successful registration response", "failed to decode registration error response", "registration failed with status"} {
		if strings.Contains(text, quoting) { // this error quotes the whole body of the answer
			return &refusal{where: "the registration"}
		}
	}
	if strings.Contains(text, "token exchange failed") && strings.Contains(text, "oauth2:") {
		return errors.New("the token endpoint's answer holds no token")
	}
	return &shownError{term.VisibleText(truncateText(text)), err}
}

// shownError is an error with a text that is safe to show.
type shownError struct {
	text string
	err  error
}

func (t *shownError) Error() string { return t.text }

func (t *shownError) Unwrap() error { return t.err }

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// mergeScopes returns the scopes to request: the scopes granted before and the new scopes (MCP
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
