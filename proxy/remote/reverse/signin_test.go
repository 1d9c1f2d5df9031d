package reverse_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// owner is signed in when it wants to be.
type owner struct {
	refuses error
	token   atomic.Bool
}

func (o *owner) Apply(_ context.Context, r *http.Request) error {
	if o.token.Load() {
		r.Header.Set("Authorization", "Bearer owner")
	}
	return nil
}

func (*owner) Accepted(*http.Request) {}

func (o *owner) Challenged(context.Context, *http.Response) (bool, error) {
	if o.refuses == nil {
		o.token.Store(true)
	}
	return o.refuses == nil, o.refuses
}

// guarded is a server that wants the owner's token, or the client's own.
func guarded(t *testing.T, cred remote.Credentials) *harness {
	return newHarness(t, &server{serve: func(w http.ResponseWriter, r *http.Request, body string) {
		if a := r.Header.Get("Authorization"); a != "Bearer owner" && a != "Bearer mine" {
			w.Header().Set("Www-Authenticate", `Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idOf(body))
	}}, func(o *reverse.Options) {
		up := o.Upstreams["s"]
		up.Credentials = cred
		o.Upstreams["s"] = up
	})
}

func TestTheOwnerSignsIn(t *testing.T) {
	w := guarded(t, &owner{})
	if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"result"`) {
		t.Error(got)
	}
}

// A client that brought no credentials is not told 401: it would look for a sign-in
// here, where there is none, and not show what it is told. One that brought its own
// is shown the server's challenge.
func TestWhoIsNotSignedIn(t *testing.T) {
	for name, cred := range map[string]remote.Credentials{"nobody": nil, "refused": &owner{refuses: errors.New("no browser could be opened")}} {
		t.Run(name, func(t *testing.T) {
			w := guarded(t, cred)
			resp := w.post(call(1, "ok"))
			why := map[string]string{"nobody": "sign in with: clawai auth login", "refused": "no browser could be opened"}[name]
			if got := says(resp); !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":1,"error":`) || !strings.Contains(got, why) || resp.Header.Get("Www-Authenticate") != "" {
				t.Error(got)
			}
			if got := says(w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); got != "502 " {
				t.Errorf("a notification: %q", got)
			}
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				r := w.request(t.Context(), "")
				r.Method, r.Body, r.ContentLength = method, nil, 0
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if got := says(resp); got != "502 " {
					t.Errorf("%s: %q", method, got)
				}
			}
			resp = w.post(call(2, "ok"), "Authorization", "Bearer stale")
			if got := says(resp); !strings.HasPrefix(got, `401 {"jsonrpc":"2.0","id":2,"error":`) || resp.Header.Get("Www-Authenticate") == "" {
				t.Error(got)
			}
			if got := says(w.post(call(3, "ok"), "Authorization", "Bearer mine")); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"result"`) {
				t.Error(got)
			}
		})
	}
}

// A client that looks for a sign-in all the same is told where it is. Nothing of
// the server's metadata comes through: it speaks of another address (RFC 9728,
// section 3.3).
func TestNoSignInHere(t *testing.T) {
	back := &server{}
	w := newHarness(t, back)
	path, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource" + path.Path,
		"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/register", "/authorize?x=1", "/token",
	} {
		resp, err := http.Get(w.front.URL + at)
		if err != nil {
			t.Fatal(err)
		}
		if got := says(resp); !strings.HasPrefix(got, "404 ") || !strings.Contains(got, "clawai auth login") || strings.Contains(got, secret) {
			t.Errorf("%s: %s", at, got)
		}
	}
	if back.all() != "" {
		t.Errorf("the server heard %s", back.all())
	}
}
