package model_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/gate"
)

// What a rule about replies has changed in a result is judged on its way to the service, too.
func TestReplyAndUploadRules(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		for _, first := range []string{"action = 'redact'\nfind = ['iban']", "action = 'warn'\nfind = ['iban']", "action = 'fence'"} {
			t.Run(s.api+"/"+first, func(t *testing.T) {
				t.Parallel()
				site := newUploadSite(t, s, "[[rule]]\non = 'reply'\ntool = '**'\n"+first+"\n"+uploadRule("redact", "tool = '**'"), nobody{}, nil)
				body := s.request("x", jsonOf("pay to DE09370501980084739162 with "+token+" end"))
				var sent string
				for range 2 {
					got := site.post(s.path, body)
					if again := site.lastBody(); got.status != http.StatusOK || strings.Contains(again, token) || sent != "" && again != sent {
						t.Errorf("%d %s; sent %s", got.status, got.body, again)
					}
					sent = site.lastBody()
				}
			})
		}
	}
}

// Some services number the calls of each conversation anew: a result is that of the call in its own request.
func TestSameIDOfAnotherCall(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			t.Parallel()
			site := newUploadSite(t, s, "[[rule]]\naction = 'deny'\non = 'upload'\ntool = 'shell'\nargs.command = 'touch b'\ndescription = 'Not b'\n", nobody{}, nil)
			site.post(s.path, s.request("x", `"one"`))
			got := site.post(s.path, strings.Replace(s.request("x", `"two"`), "touch a", "touch b", 1))
			if sent := site.lastBody(); strings.Contains(sent, "two") || !strings.Contains(sent, "Not b") || got.status != http.StatusOK {
				t.Errorf("%d %s; sent %s", got.status, got.body, sent)
			}
		})
	}
}

// late lets all through when it is told to.
type late struct {
	yes
	now chan struct{}
}

func (a *late) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	<-a.now
	return a.yes.Ask(ctx, q)
}

// Requests that go side by side hold the same parts: a person is asked once about each.
func TestParallelUploads(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			t.Parallel()
			who := &late{now: make(chan struct{})}
			site := newUploadSite(t, s, uploadRule("prompt", ""), who, nil)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if got := site.post(s.path, s.request("use "+token, jsonOf("key "+token))); got.status != http.StatusOK {
						t.Errorf("%d %s", got.status, got.body)
					}
				})
			}
			close(who.now)
			all.Wait()
			if n := who.asked.Load(); n != 2 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// A body is judged whatever the method of its request.
func TestBodiesOfOtherMethods(t *testing.T) {
	t.Parallel()
	s := &services[0]
	for _, method := range []string{"GET", "HEAD", "DELETE", "PATCH", "PUT", "OPTIONS"} {
		for _, path := range []string{s.path, "/v1/other"} {
			t.Run(method+path, func(t *testing.T) {
				t.Parallel()
				site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
				for _, body := range []string{`{"messages":[{"role":"user","content":"` + token + `"}]}`, ""} {
					req, err := http.NewRequestWithContext(t.Context(), method, site.url+path, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					resp, err := plain.RoundTrip(req)
					if err != nil {
						t.Fatal(err)
					}
					_ = resp.Body.Close()
					if refused := resp.StatusCode == http.StatusBadRequest; refused != (body != "") || strings.Contains(site.lastBody(), token) {
						t.Errorf("%d; sent %s", resp.StatusCode, site.lastBody())
					}
				}
			})
		}
	}
}

// What stands behind the end of an encoded body may be read by a service, and is read, or the request is not.
func TestMoreBehindAnEncodedBody(t *testing.T) {
	t.Parallel()
	s := &services[0]
	for _, coding := range []string{"gzip", "deflate", "br", "zstd", "gzip, br", "identity, gzip"} {
		for i, more := range []string{token, string(encode(t, coding, []byte(token))), "\x00", strings.Repeat("\x00", 1<<16)} {
			t.Run(fmt.Sprintf("%s/%d", coding, i), func(t *testing.T) {
				t.Parallel()
				site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
				if got := site.post(s.path, string(encode(t, coding, []byte(`{"messages":[]}`)))+more, "Content-Encoding", coding); got.status != http.StatusBadRequest || site.lastBody() != "" {
					t.Errorf("%d; sent %q", got.status, site.lastBody())
				}
			})
		}
	}
}

// A result that cannot be read is withheld in its place, and the conversation goes on; who lets it through is
// asked once.
func TestUnreadResult(t *testing.T) {
	t.Parallel()
	s := &services[3]
	body := s.request("x", `{"a":"x","a":"y"}`)
	site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
	for range 2 {
		if got := site.post(s.path, body); got.status != http.StatusOK || strings.Contains(site.lastBody(), `"y"`) || !strings.Contains(site.lastBody(), "No key leaves") {
			t.Errorf("%d %s; sent %s", got.status, got.body, site.lastBody())
		}
	}
	who := &yes{}
	site = newUploadSite(t, s, uploadRule("prompt", ""), who, nil)
	for range 3 {
		if got := site.post(s.path, body); got.status != http.StatusOK || site.lastBody() != body {
			t.Errorf("%d %s; sent %s", got.status, got.body, site.lastBody())
		}
	}
	if n := who.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
