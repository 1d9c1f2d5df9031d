package queue_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Secrets are assembled here, so that this file holds none.
var marker = "hunter" + "2" + "zz"

// secretive is a request with the secret wherever one can be; n makes it as long
// as that.
func secretive(n int) queue.Request {
	args := fmt.Sprintf(`{"pass`+`word":"%s%s","path":"a"}`, marker, strings.Repeat("p", n))
	r := write(args)
	url := "https://me:" + marker + "@host/" + strings.Repeat("u", n)
	r.Calls[0].Names = []string{url}
	r.Calls[0].Malformed = "not good: " + url
	r.Calls[0].Extra = []byte(`{"env":{"to` + `ken":"` + marker + `"}}`)
	r.Calls = append(r.Calls, r.Calls[0], policy.Call{Subject: policy.SamplingSubject, Args: []byte(`"--pass` + `word ` + marker + `"`)})
	r.Preview = []byte(`{"output":"` + marker + `"}`)
	r.Reason, r.Findings, r.NoOffer = url, []byte(`{"to`+`ken":"`+marker+`"}`), url
	return r
}

// holding lists the files that have the secret in them.
func holding(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var b []byte
		if err == nil && !e.IsDir() {
			b, err = os.ReadFile(path)
		}
		if bytes.Contains(b, []byte(marker)) {
			files = append(files, e.Name())
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir { // the queue removes what a dead proxy has left
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Arguments are there as they will be executed for as long as somebody has to
// decide. A moment later they are in no file any more, while others still wait.
func TestSecretsGo(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, end := range map[string]func(*queue.Queue, *queue.Proxy, *queue.Ticket) error{
		"decide": func(q *queue.Queue, _ *queue.Proxy, k *queue.Ticket) error {
			_, err := q.Decide(ctx, k.ID(), answer(gate.AllowAlways, "me"))
			return err
		},
		"settle": func(_ *queue.Queue, _ *queue.Proxy, k *queue.Ticket) error {
			_, _, err := k.Resolve(ctx, queue.Expired, queue.Answer{}, "")
			return err
		},
		"close": func(_ *queue.Queue, p *queue.Proxy, _ *queue.Ticket) error { return p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			o := queue.Options{Check: time.Hour}
			asker, bystander, q := open(t, dir, o), open(t, dir, o), open(t, dir, o)
			p, others := attach(t, asker, "s1"), attach(t, bystander, "s2")
			if err := others.SetGrants(ctx, []queue.Grant{{ID: "g", Calls: secretive(0).Calls}}); err != nil {
				t.Fatal(err)
			}
			const n = 150 / scale
			for i := range n {
				put(t, others, `{"other":"waits"}`)
				ticket, err := p.Put(ctx, secretive(rand.IntN(1+i*20)))
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					if r, err := q.Get(ctx, ticket.ID()); err != nil || !bytes.Contains(r.Calls[0].Args, []byte(marker)) || !bytes.Contains(r.Preview, []byte(marker)) {
						t.Fatal("a person sees something else", err)
					}
					if got := holding(t, dir); len(got) == 0 {
						t.Fatal("this test sees nothing")
					}
				}
				if name == "close" && i < n-1 {
					continue
				}
				if err := end(q, p, ticket); err != nil {
					t.Fatal(err)
				}
				if name == "decide" {
					if _, err := ticket.Wait(soon(t)); err != nil {
						t.Fatal(err)
					}
				}
			}
			asker.TidyUp()
			q.TidyUp()
			if got := holding(t, dir); len(got) != 0 {
				t.Errorf("left in %v", got)
			}
			past, err := q.History(ctx, 1000)
			if err != nil || len(past) != n {
				t.Fatal(len(past), err)
			}
			for _, r := range past {
				if all := fmt.Sprintf("%+v %s %s", r, r.Findings, r.Calls[0].Args); strings.Contains(all, marker) {
					t.Fatal(all)
				}
				if r.Digest != [32]byte{} || r.Offers != nil || len(r.Calls) != 3 || !json.Valid(r.Calls[1].Args) ||
					!strings.Contains(string(r.Calls[0].Args), `"path":"a"`) {
					t.Fatalf("%+v", r)
				}
			}
		})
	}
}

// A value that only its proxy knows to be secret goes as well, whoever resolves the request.
func TestKnownValuesGo(t *testing.T) {
	const value = "plain-words-of-the-vault"
	known := redact.NewKnown([][]byte{[]byte(value)})
	for name, end := range map[string]func(*testing.T, *queue.Queue, *queue.Proxy, *queue.Ticket) error{
		"decide": func(_ *testing.T, q *queue.Queue, _ *queue.Proxy, k *queue.Ticket) error {
			_, err := q.Decide(ctx, k.ID(), answer(gate.AllowOnce, "me"))
			return err
		},
		"an older one decides": func(t *testing.T, q *queue.Queue, _ *queue.Proxy, k *queue.Ticket) error {
			_, err := open(t, q.Dir(), old).Decide(ctx, k.ID(), answer(gate.AllowOnce, "me"))
			return err
		},
		"settle": func(_ *testing.T, _ *queue.Queue, _ *queue.Proxy, k *queue.Ticket) error {
			_, _, err := k.Resolve(ctx, queue.Expired, queue.Answer{}, "")
			return err
		},
		"close": func(_ *testing.T, _ *queue.Queue, p *queue.Proxy, _ *queue.Ticket) error { return p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			q, asker := open(t, dir, queue.Options{Check: time.Hour}), open(t, dir, queue.Options{Check: time.Hour})
			p, err := asker.Attach(queue.Session{ID: "s1", Server: "files", Known: func() *redact.Known { return known }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			r := write(`{"a":"` + value + `","b":"` + base64.StdEncoding.EncodeToString([]byte(value)) + `","path":"kept"}`)
			r.Calls[0].Names, r.Calls[0].Malformed, r.Reason, r.Findings = []string{"https://h.test/" + value}, "not "+value, "because of "+value, []byte(`["`+value+`"]`)
			r.Calls = append(r.Calls, policy.Call{Subject: policy.SamplingSubject, Args: []byte(`"` + value + `"`)})
			if err := p.SetGrants(ctx, []queue.Grant{{ID: "g", Calls: r.Calls, Reach: "all of " + value}}); err != nil {
				t.Fatal(err)
			}
			if g, err := q.Grants(ctx); err != nil || len(g) != 1 || strings.Contains(fmt.Sprintf("%+v %s", g, g[0].Calls[0].Args), value) {
				t.Errorf("a grant: %+v %v", g, err)
			}
			ticket, err := p.Put(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := q.Get(ctx, ticket.ID()); err != nil || !strings.Contains(string(r.Calls[0].Args), value) {
				t.Fatal("a person sees something else", err)
			}
			if err := end(t, q, p, ticket); err != nil {
				t.Fatal(err)
			}
			past, err := q.History(ctx, 10)
			if err != nil || len(past) != 1 {
				t.Fatal(len(past), err)
			}
			shown := fmt.Sprintf("%+v %s %s %s", past[0], past[0].Calls[0].Args, past[0].Calls[1].Args, past[0].Findings)
			if name == "an older one decides" { // it does not know what was kept, which goes with the next request
				if _, err := q.Decide(ctx, put(t, p, `{}`).ID(), answer(gate.AllowOnce, "me")); err != nil {
					t.Fatal(err)
				}
				q.TidyUp()
				if n := q.CountKept(t); n != 0 {
					t.Errorf("%d are kept", n)
				}
				return
			}
			if strings.Contains(shown, value) || !strings.Contains(shown, `"path":"kept"`) || !strings.Contains(shown, "[redacted:vault:") || len(past[0].Calls) != 2 {
				t.Error(shown)
			}
			asker.TidyUp()
			q.TidyUp()
			err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				if bytes.Contains(b, []byte(value)) || bytes.Contains(b, []byte(base64.StdEncoding.EncodeToString([]byte(value)))) {
					t.Errorf("left in %s", e.Name())
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What is tidied up is so by itself, soon.
func TestTidiesByItself(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	p, other, dir := newQueue(t)
	put(t, p, `{"other":"waits"}`)
	ticket, err := p.Put(ctx, secretive(10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Decide(ctx, ticket.ID(), answer(gate.DenyOnce, "me")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(holding(t, dir)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still there")
		}
	}
}

// What a killed proxy left goes with the next thing that is resolved, though
// nobody looks.
func TestKilledProxysSecretsGo(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	p, _, dir := newQueue(t)
	c := start(t, "secret", dir)
	c.expect("ready")
	c.kill()
	if len(holding(t, dir)) == 0 {
		t.Fatal("this test sees nothing")
	}
	if _, _, err := put(t, p, `{}`).Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(holding(t, dir)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still there")
		}
	}
}

func init() {
	// secret: asks something with a secret in it and waits to be killed.
	roles["secret"] = func(dir string, _ []string) error {
		return asProxy(dir, "secret", queue.Options{}, func(_ *queue.Queue, p *queue.Proxy) error {
			if _, err := p.Put(ctx, secretive(100)); err != nil {
				return err
			}
			fmt.Println("ready")
			untilTold()
			return nil
		})
	}
}

// Old requests go, and too many; those that wait, or whose outcome nobody told,
// stay.
func TestPrune(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, o := range map[string]queue.Options{
		"many": {Keep: 10},
		"old":  {KeepFor: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			begin := time.Now()
			past := open(t, dir, queue.Options{Clock: func() time.Time { return begin.Add(-2 * time.Hour) }})
			p := attach(t, past, "s1")
			waits, untold := put(t, p, `{}`), put(t, p, `{}`)
			if _, err := past.Decide(ctx, untold.ID(), answer(gate.AllowOnce, "me")); err != nil {
				t.Fatal(err)
			}
			for range 600 / scale { // more than one transaction removes
				if _, _, err := put(t, p, `{}`).Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil {
					t.Fatal(err)
				}
			}
			past.TidyUp()
			q := open(t, dir, o)
			late := attach(t, q, "s2")
			for range 9 {
				if _, _, err := put(t, late, `{}`).Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil {
					t.Fatal(err)
				}
			}
			q.TidyUp()
			all, err := q.History(ctx, 10_000)
			if want := map[string]int{"many": 11, "old": 10}[name]; err != nil || len(all) != want {
				t.Errorf("%d are left of more than 100, not %d (%v)", len(all), want, err)
			}
			if all, err := q.Pending(ctx); err != nil || len(all) != 1 || all[0].ID != waits.ID() {
				t.Error(all, err)
			}
			if err := untold.Outcome(ctx, "went on"); err != nil {
				t.Error(err)
			}
		})
	}
}
