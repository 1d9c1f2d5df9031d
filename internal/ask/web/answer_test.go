package web

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// asked is a site whose page shows all of one request.
func asked(t *testing.T, change func(*queue.Request)) (*site, *stream, *queue.Request) {
	st := newSite(t, nil).enter()
	r := st.q.put(1, change)
	sm := st.open()
	sm.next("pending")
	st.do("GET", requestPath+r.ID, "", nil)
	return st, sm, r
}

func TestEveryAnswerReachesTheQueue(t *testing.T) {
	for reply, want := range map[string]gate.Reply{
		"deny": gate.DenyOnce, "allow": gate.AllowOnce, "session": gate.AllowSession, "always": gate.AllowAlways, "never": gate.DenyAlways,
	} {
		st, _, r := asked(t, nil)
		more := map[string]any{"words": " not today "}
		if want == gate.AllowAlways || want == gate.DenyAlways {
			more["scope"], more["confirmed"] = "exact", true
		}
		resp, body := st.answer(r, reply, more)
		given := st.q.given()
		if resp.StatusCode != http.StatusOK || len(given) != 1 {
			t.Fatalf("%s: %s %s", reply, resp.Status, body)
		}
		a := given[0]
		if a.Reply != want || a.Channel != "web" || a.By != "ana" || a.Words != "not today" || (a.Scope == "exact") != (more["scope"] != nil) {
			t.Errorf("%s: %+v", reply, a)
		}
		if want.Allows() && !strings.Contains(body, "went on") {
			t.Errorf("%s does not say what became of it: %s", reply, body)
		}
	}
}

// An answer for the session reaches as far as the page offered, once it is confirmed.
func TestAnAnswerForTheSessionReaches(t *testing.T) {
	reaching := func(r *queue.Request) {
		r.Offers = append(r.Offers, view.Offer{Scope: "folder", Title: "below /p", Session: "Edit files below /p"}, view.Offer{Scope: "tool", Title: "all", Allow: "[[rule]]\n"})
	}
	for scope, want := range map[string]int{"folder": 200, "exact": 200, "tool": 400, "file": 400} {
		for _, confirmed := range []bool{true, false} {
			st, _, r := asked(t, reaching)
			resp, body := st.answer(r, "session", map[string]any{"scope": scope, "confirmed": confirmed})
			status := want
			if !confirmed && want == 200 {
				status = 409
			}
			given := st.q.given()
			if resp.StatusCode != status || (len(given) == 1) != (status == 200) || len(given) == 1 && (given[0].Reply != gate.AllowSession || given[0].Scope != scope) {
				t.Errorf("%s, confirmed %v: %s %s %+v", scope, confirmed, resp.Status, body, given)
			}
		}
	}
	st, _, r := asked(t, reaching)
	_, body := st.do("GET", requestPath+r.ID, "", nil)
	if want := `"session":[{"scope":"folder","lets":"Edit files below /p","title":"below /p"},{"scope":"exact","lets":"This exact call","title":"this exact call again, and no other"}]`; !strings.Contains(body, want) {
		t.Errorf("%s is not in %s", want, body)
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	slow.Test(t)
	dangerous := func(r *queue.Request) { r.Risk = "dangerous" }
	unknown := func(r *queue.Request) { r.Risk = "" }
	for name, c := range map[string]struct {
		change func(*queue.Request)
		reply  string
		more   map[string]any
		status int
	}{
		"no digest":                  {nil, "allow", map[string]any{"digest": ""}, 409},
		"another digest":             {nil, "deny", map[string]any{"digest": strings.Repeat("0", 64)}, 409},
		"the digest in capitals":     {nil, "allow", map[string]any{"digest": strings.ToUpper(digestOf(1))}, 409},
		"no answer":                  {nil, "", nil, 400},
		"an unknown answer":          {nil, "yes", nil, 400},
		"an unknown member":          {nil, "deny", map[string]any{"by": "root"}, 400},
		"a long note":                {nil, "deny", map[string]any{"words": strings.Repeat("é", 501)}, 400},
		"a long body":                {nil, "deny", map[string]any{"words": strings.Repeat("a", maxBody)}, 413},
		"always without a scope":     {nil, "always", map[string]any{"confirmed": true}, 400},
		"always, unconfirmed":        {nil, "always", map[string]any{"scope": "exact"}, 409},
		"a scope nobody offered":     {nil, "always", map[string]any{"scope": "tool", "confirmed": true}, 400},
		"never without its rule":     {func(r *queue.Request) { r.Offers[0].Deny = "" }, "never", map[string]any{"scope": "exact", "confirmed": true}, 400},
		"a session that cannot hold": {func(r *queue.Request) { r.Lasting = false }, "session", nil, 409},
		"not read to its end":        {nil, "allow", map[string]any{"read": false}, 409},
		"a session, not read":        {nil, "session", map[string]any{"read": false}, 409},
		"always, not read":           {nil, "always", map[string]any{"read": false, "scope": "exact", "confirmed": true}, 409},
		"in bulk, not read":          {nil, "allow", map[string]any{"read": false, "bulk": true}, 409},
		"dangerous, unconfirmed":     {dangerous, "allow", nil, 409},
		"a risk nobody knows":        {unknown, "allow", nil, 409},
		"dangerous in bulk":          {dangerous, "allow", map[string]any{"bulk": true, "confirmed": true}, 409},
		"a session in bulk":          {nil, "session", map[string]any{"bulk": true}, 409},
		"always in bulk":             {nil, "always", map[string]any{"bulk": true, "scope": "exact", "confirmed": true}, 409},
		"no whole id":                {nil, "deny", map[string]any{"id": "0f8fad5b"}, 409},
		"an id that is a path":       {nil, "deny", map[string]any{"id": "../../etc/passwd"}, 404},
		"what is damaged":            {damaged, "allow", map[string]any{"confirmed": true}, 409},
		"what is damaged, for good":  {damaged, "always", map[string]any{"confirmed": true, "scope": "exact"}, 409},
		"what cannot be shown":       {func(r *queue.Request) { r.Calls[0].Args = []byte(`{`) }, "allow", map[string]any{"confirmed": true}, 409},
	} {
		st, _, r := asked(t, c.change)
		resp, body := st.answer(r, c.reply, c.more)
		if resp.StatusCode != c.status || len(st.q.given()) > 0 {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
	}
}

// A row of the list does not show a long question to its end. Nothing allows it
// before the page has got all of it, and denying does not wait.
func TestAllowNeedsTheWholeQuestion(t *testing.T) {
	for name, args := range map[string]string{
		"many":   `{"list":[` + strings.Repeat("0,", 100) + `0]}`,
		"folded": `{"text":"` + strings.Repeat("all work and no play ", 100) + `"}`,
	} {
		for _, bulk := range []bool{false, true} {
			st := newSite(t, nil).enter()
			long := func(r *queue.Request) {
				r.Calls[0].Args = []byte(args)
			}
			allowed, denied := st.q.put(1, long), st.q.put(2, long)
			sm := st.open()
			if list := sm.next("pending"); strings.Contains(list, `"brief":true`) {
				t.Error(list)
			}
			if resp, body := st.answer(allowed, "allow", map[string]any{"bulk": bulk}); resp.StatusCode != http.StatusConflict || !strings.Contains(body, "to its end") {
				t.Errorf("%s: %s %s", name, resp.Status, body)
			}
			if resp, body := st.answer(denied, "deny", map[string]any{"bulk": bulk, "read": false}); resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s %s", name, resp.Status, body)
			}
			st.do("GET", requestPath+allowed.ID, "", nil)
			if resp, body := st.answer(allowed, "allow", nil); resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s %s", name, resp.Status, body)
			}
		}
	}
}

// What a row shows to its end can be allowed from the list; a change to a file is
// more than it shows.
func TestARowThatIsAllOfIt(t *testing.T) {
	for _, writes := range []bool{false, true} {
		st := newSite(t, func(o *Options) { o.ReadFile = func(string) ([]byte, error) { return []byte("old\n"), nil } }).enter()
		st.q.put(1, func(r *queue.Request) {
			if writes {
				r.Calls[0].Names, r.Calls[0].Args = []string{"write_file"}, []byte(`{"path":"/home/ana/projects/x/a","content":"new\n"}`)
			}
		})
		if list := st.open().next("pending"); strings.Contains(list, `"brief":true`) == writes {
			t.Errorf("writes %v: %s", writes, list)
		}
	}
}

func damaged(r *queue.Request) { r.Calls, r.Damage = nil, queue.ErrBroken }

func TestADamagedOneIsNamedAndDenied(t *testing.T) {
	st, _, r := asked(t, damaged)
	if _, body := st.do("GET", requestPath+r.ID, "", nil); !strings.Contains(body, `"broken":"its row in the queue is damaged; deny it`) {
		t.Error(body)
	}
	if resp, body := st.answer(r, "deny", nil); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status, body)
	}
}

func digestOf(n int) string {
	r := newFakeQueue().put(n, nil)
	return hex.EncodeToString(r.Digest[:])
}

func TestADangerousOneIsAllowedAloneAndConfirmedAndDeniedAtOnce(t *testing.T) {
	dangerous := func(r *queue.Request) { r.Risk = "dangerous" }
	for _, c := range []struct {
		reply string
		more  map[string]any
	}{
		{"allow", map[string]any{"confirmed": true}}, {"deny", nil}, {"deny", map[string]any{"bulk": true}},
	} {
		st, _, r := asked(t, dangerous)
		if resp, body := st.answer(r, c.reply, c.more); resp.StatusCode != http.StatusOK {
			t.Errorf("%+v: %s %s", c, resp.Status, body)
		}
	}
}

func TestBodiesThatAreNoAnswer(t *testing.T) {
	slow.Test(t)
	st, _, r := asked(t, nil)
	good := `{"id":"` + r.ID + `","digest":"` + hex.EncodeToString(r.Digest[:]) + `","reply":"allow"}`
	for name, c := range map[string]struct {
		body, kind string
		status     int
	}{
		"text":          {good, "text/plain", 415},
		"a form":        {good, "application/x-www-form-urlencoded", 415},
		"multipart":     {good, "multipart/form-data; boundary=x", 415},
		"no type":       {good, "", 415},
		"another JSON":  {good, "application/json-patch+json", 415},
		"other letters": {good, "application/json; charset=utf-7", 415},
		"two objects":   {good + good, "application/json", 400},
		"a tail":        {good + "]", "application/json", 400},
		"nothing":       {"", "application/json", 400},
		"a list":        {"[" + good + "]", "application/json", 400},
		"a long tail":   {good + strings.Repeat(" ", maxBody), "application/json", 413},
	} {
		resp, body := st.do("POST", "/answer", c.body, func(r *http.Request) {
			if r.Header.Set("Content-Type", c.kind); c.kind == "" {
				r.Header.Del("Content-Type")
			}
		})
		if resp.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
	}
	if len(st.q.given()) > 0 {
		t.Error("something was answered")
	}
}

func TestAnAnswerBeforeTheQuestionWasInSight(t *testing.T) {
	slow.Test(t)
	st := newSite(t, nil).enter()
	st.s.grace = 300 * time.Millisecond
	r := st.q.put(1, nil)
	if resp, body := st.answer(r, "allow", nil); resp.StatusCode != http.StatusTooEarly {
		t.Errorf("never sent: %s %s", resp.Status, body)
	}
	at := time.Now() // before the question can be in sight
	sm := st.open()
	sm.next("pending")
	if resp, body := st.answer(r, "allow", nil); resp.StatusCode != http.StatusTooEarly && time.Since(at) < st.s.grace {
		t.Errorf("just sent: %s %s", resp.Status, body)
	}
	eventually(t, "an answer counts", func() bool {
		resp, _ := st.answer(r, "allow", nil)
		return resp.StatusCode == http.StatusOK
	})
	if took := time.Since(at); took < st.s.grace-10*time.Millisecond {
		t.Errorf("counted after %v", took)
	}
}

func TestOneOfFiftyWins(t *testing.T) {
	slow.Test(t)
	st, _, r := asked(t, nil)
	var mu sync.Mutex
	status := map[int]int{}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			reply := []string{"deny", "allow"}[i%2]
			body := `{"id":"` + r.ID + `","digest":"` + hex.EncodeToString(r.Digest[:]) + `","reply":"` + reply + `","read":true}`
			resp, err := st.client.Do(st.request("POST", "/answer", body, nil))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var v struct{ Text string }
			if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || resp.StatusCode == http.StatusConflict && !strings.HasPrefix(v.Text, "Too late: ") {
				t.Errorf("%s %q %v", resp.Status, v.Text, err)
			}
			mu.Lock()
			status[resp.StatusCode]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if status[200] != 1 || status[409] != 49 || len(st.q.given()) != 1 {
		t.Errorf("%v, %d answers", status, len(st.q.given()))
	}
}

func TestTooLateSaysWhatHappened(t *testing.T) {
	for want, settle := range map[string]func(*fakeQueue, *queue.Request){
		"nothing was executed": func(q *fakeQueue, r *queue.Request) {
			_, _ = q.settle(r.ID, queue.Expired, queue.Answer{}, "")
		},
		"the call was withdrawn; nothing was executed": func(q *fakeQueue, r *queue.Request) {
			_, _ = q.settle(r.ID, queue.Expired, queue.Answer{}, "the call was withdrawn")
		},
		"denied at": func(q *fakeQueue, r *queue.Request) {
			_, _ = q.settle(r.ID, queue.Denied, queue.Answer{Channel: "console", By: "ben"}, "")
		},
		"in the console, by ben": func(q *fakeQueue, r *queue.Request) {
			_, _ = q.settle(r.ID, queue.Approved, queue.Answer{Channel: "console", By: "ben", Reply: gate.AllowOnce}, "went on")
		},
		"no longer in the queue": func(q *fakeQueue, r *queue.Request) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.requests = nil
		},
	} {
		st, _, r := asked(t, nil)
		settle(st.q, r)
		if resp, body := st.do("GET", requestPath+r.ID, "", nil); resp.StatusCode != http.StatusOK || !strings.HasPrefix(body, `{"ended":"Too late: `) || !strings.Contains(body, want) {
			t.Errorf("opened, %s: %s %s", want, resp.Status, body)
		}
		resp, body := st.answer(r, "allow", nil)
		if resp.StatusCode != http.StatusConflict || !strings.Contains(body, "Too late: ") || !strings.Contains(body, want) {
			t.Errorf("%s: %s %s", want, resp.Status, body)
		}
	}
}

func TestABrokenQueueAllowsNothing(t *testing.T) {
	slow.Test(t)
	st, sm, r := asked(t, nil)
	st.q.mu.Lock()
	st.q.broken = errors.New(errBroken.Error() + " \x1b[2J")
	st.q.mu.Unlock()
	st.q.tick()
	if text := sm.next("trouble"); !strings.Contains(text, "database is locked") || strings.Contains(text, "\x1b") || strings.Contains(text, `\u001b`) {
		t.Error(text)
	}
	if resp, body := st.answer(r, "allow", nil); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "nothing was answered") {
		t.Errorf("%s %s", resp.Status, body)
	}
	st.q.mu.Lock()
	st.q.broken = nil
	st.q.mu.Unlock()
	st.q.tick()
	if text := sm.next("trouble"); text != `{"text":""}` {
		t.Error(text)
	}
	if resp, _ := st.answer(r, "allow", nil); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
}

func TestAGrantIsRevokedOnce(t *testing.T) {
	st := newSite(t, nil).enter()
	st.q.grants = []queue.Grant{{ID: "g1", Server: "files", Since: time.Now(), Uses: 2, Calls: []policy.Call{
		{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read\u202e"}, Args: []byte(`{}`)}}}}
	sm := st.open()
	if list := sm.next("grants"); !strings.Contains(list, `"g1"`) || !strings.Contains(list, `read\\u{202e}`) {
		t.Error(list)
	}
	if resp, body := st.do("POST", "/revoke", `{"id":"g1"}`, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, body)
	}
	if list := sm.next("grants"); list != "[]" {
		t.Error(list)
	}
	if resp, _ := st.do("POST", "/revoke", `{"id":"g1"}`, nil); resp.StatusCode != http.StatusConflict {
		t.Error(resp.Status)
	}
}
