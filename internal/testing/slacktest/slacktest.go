// Package slacktest imitates a workspace of Slack for tests. It answers like Slack's Web API, and stores
// the messages that it receives. It makes the signed requests that Slack sends when a user clicks.
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

// The workspace, the channel in which the app's bot may write, the bot's token, and the secret that signs
// Slack's requests.
const (
	Team    = "T1"
	Channel = "C1"
	Token   = "TOKEN"
	Signing = "SIGNING"
)

// ClickPath is the path of the centre to which Slack sends the clicks of users.
const ClickPath = "/slack/interactions"

// Unconfirmed is a prefix of an e-mail address in the users of Start. It means that the user has not
// confirmed the address.
const Unconfirmed = "unconfirmed "

// Workspace is an imitated workspace. It listens on the loopback interface.
type Workspace struct {
	URL string

	mu     sync.Mutex
	calls  []Call
	users  map[string]string // e-mail addresses, by the id of the user
	clicks int
	news   chan struct{}
}

// Call is a call of the Web API that the workspace has answered.
type Call struct {
	Method string
	Text   string // the body of the request, unchanged
	Body   map[string]any
	TS     string // the id that the workspace has given to the message
}

// Start starts a workspace. users has the e-mail addresses of its users by their ids. The workspace ends with
// the test.
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
	default: // a value is already there, and its reader looks at all calls
	}
}

// Await waits for a call of the given method with a text that contains all the words `has`. It returns the
// first such call.
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

// Count returns how many calls of a method the workspace has answered.
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

// FindButton returns the value of a button in a message. ok is false if the message has no such button.
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

// Click returns the request that Slack sends to a centre when a user clicks on a button. All requests differ.
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

// Sign signs a request with a secret, as if it was made at the given time.
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
