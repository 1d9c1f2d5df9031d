// Package slacktest plays a workspace of Slack for tests: it answers as Slack's Web API does, keeps the messages that it
// gets, and makes the signed requests that Slack sends when a user clicks.
package slacktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What an app of the workspace has, and where its bot may write.
const (
	Team    = "T1"
	Channel = "C1"
	Token   = "TOKEN"
	Signing = "SIGNING"
)

// ClickPath is the path at the centre to which Slack sends clicks.
const ClickPath = "/slack/interactions"

// Unconfirmed is the beginning of the e-mail address of a user who has not confirmed it.
const Unconfirmed = "unconfirmed "

// Workspace is a workspace on the loopback interface.
type Workspace struct {
	URL string

	mu     sync.Mutex
	calls  []Call
	users  map[string]string // id to e-mail address
	clicks int
	news   chan struct{}
}

// Call is a call of the Web API that the workspace has answered.
type Call struct {
	Method string
	Text   string // as it was sent
	Body   map[string]any
	TS     string // the name of the message that it made
}

// Start starts a workspace with users, whose e-mail addresses it knows. It ends with the test.
func Start(t testing.TB, users map[string]string) *Workspace {
	w := &Workspace{users: users, news: make(chan struct{}, 1)}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

// ServeHTTP answers a call of the Web API.
func (w *Workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	if r.Header.Get("Authorization") != "Bearer "+Token {
		_, _ = io.WriteString(out, `{"ok":false,"error":"invalid_auth"}`)
		return
	}
	if method == "users.info" {
		id := r.URL.Query().Get("user")
		address := w.users[id]
		_ = json.NewEncoder(out).Encode(map[string]any{"ok": address != "", "error": "user_not_found", "user": map[string]any{
			"id": id, "team_id": Team, "is_email_confirmed": !strings.HasPrefix(address, Unconfirmed), "profile": map[string]any{"email": strings.TrimPrefix(address, Unconfirmed)},
		}})
		return
	}
	text, _ := io.ReadAll(r.Body)
	call := Call{Method: method, Text: string(text)}
	_ = json.Unmarshal(text, &call.Body)
	w.mu.Lock()
	call.TS = fmt.Sprintf("%d.0", len(w.calls)+1)
	w.calls = append(w.calls, call)
	w.mu.Unlock()
	_, _ = fmt.Fprintf(out, `{"ok":true,"ts":%q}`, call.TS)
	select {
	case w.news <- struct{}{}:
	default: // one who waits looks at all calls
	}
}

// Await returns the first call of a method whose text has all these words.
func (w *Workspace) Await(t testing.TB, method string, has ...string) Call {
	t.Helper()
	over := time.After(time.Minute)
	for {
		w.mu.Lock()
		calls := slices.Clone(w.calls)
		w.mu.Unlock()
		for _, c := range calls {
			if c.Method == method && !slices.ContainsFunc(has, func(word string) bool { return !strings.Contains(c.Text, word) }) {
				return c
			}
		}
		select {
		case <-w.news:
		case <-over:
			said := ""
			for _, c := range calls {
				said += "\n" + c.Method + " " + c.Text
			}
			t.Fatalf("no %s with %q came, but:%s", method, has, said)
		}
	}
}

// Count returns how many calls of a method came.
func (w *Workspace) Count(method string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.Method == method {
			n++
		}
	}
	return n
}

// FindButton returns the value of a button of a message; false if the message has no such button.
func (c *Call) FindButton(action string) (value string, ok bool) {
	blocks, _ := c.Body["blocks"].([]any)
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		elements, _ := block["elements"].([]any)
		for _, e := range elements {
			if one, _ := e.(map[string]any); one["action_id"] == action {
				value, ok = one["value"].(string)
				return value, ok
			}
		}
	}
	return "", false
}

// Click returns the request that Slack sends to a centre when a user clicks on a button. No two are the same.
func (w *Workspace) Click(t testing.TB, centre, user, action, value string) *http.Request {
	t.Helper()
	w.mu.Lock()
	w.clicks++
	number := w.clicks
	w.mu.Unlock()
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "team": map[string]any{"id": Team}, "user": map[string]any{"id": user, "team_id": Team}, "channel": map[string]any{"id": Channel}, "trigger_id": number,
		"actions": []any{map[string]any{"action_id": action, "value": value}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, centre+ClickPath, strings.NewReader(url.Values{"payload": {string(payload)}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	Sign(t, r, Signing, time.Now())
	return r
}

// Sign signs a request by a secret, as if it was made at a time.
func Sign(t testing.TB, r *http.Request, secret string, at time.Time) {
	t.Helper()
	body, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + string(text)))
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}
