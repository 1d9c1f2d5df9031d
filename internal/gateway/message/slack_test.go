package message

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

var began = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

func newSlack(t testing.TB, payload bool, now func() time.Time) *Slack {
	t.Helper()
	s := DefaultSlack()
	s.Team, s.Payload, s.TokenEnv, s.SigningEnv = "T1", payload, "TOKEN", "SIGNING"
	s.Channels = []SlackChannel{{ID: "C1", Approvers: []string{"role:oncall"}}}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	slack, err := NewSlack(s, func(s Secret) (string, error) { return s.Env, nil }, now)
	if err != nil {
		t.Fatal(err)
	}
	return slack
}

func sign(at time.Time, secret, body string) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	h := http.Header{}
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return h
}

// TestSignatureOfSlackItself: the example of Slack's documentation has its signature.
func TestSignatureOfSlackItself(t *testing.T) {
	at := time.Unix(1531420618, 0)
	s := newSlack(t, true, func() time.Time { return at })
	s.signing = []byte("8f742231b10e8888abcd99yyyzzz85a5")
	body := "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	h := http.Header{}
	h.Set("X-Slack-Request-Timestamp", "1531420618")
	h.Set("X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")
	if err := s.CheckSignature(h, []byte(body)); err != nil {
		t.Error(err)
	}
}

func TestSignatures(t *testing.T) {
	now := began
	s := newSlack(t, true, func() time.Time { return now })
	now = now.Add(time.Hour)
	twice := func(name string) http.Header {
		h := sign(now, "SIGNING", "body")
		h[name] = append(h[name], h[name][0])
		return h
	}
	without := func(name, value string) http.Header {
		h := sign(now, "SIGNING", "body")
		h.Set(name, value)
		return h
	}
	for name, h := range map[string]http.Header{
		"none": {}, "another secret": sign(now, "other", "body"), "another body": sign(now, "SIGNING", "body2"), "old": sign(now.Add(-maxAge-time.Second), "SIGNING", "body"),
		"ahead": sign(now.Add(maxAge+time.Second), "SIGNING", "body"), "two times": twice("X-Slack-Request-Timestamp"), "two signatures": twice("X-Slack-Signature"),
		"no hex": without("X-Slack-Signature", "v0=zz"), "another version": without("X-Slack-Signature", strings.Replace(sign(now, "SIGNING", "body").Get("X-Slack-Signature"), "v0", "v1", 1)),
		"empty": without("X-Slack-Signature", "v0="), "no time": without("X-Slack-Request-Timestamp", "x"),
	} {
		if err := s.CheckSignature(h, []byte("body")); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	good := sign(now, "SIGNING", "body")
	if err := s.CheckSignature(good, []byte("body")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(maxAge - time.Second)
	if err := s.CheckSignature(good, []byte("body")); err == nil {
		t.Error("taken twice")
	}
	// What was signed before the centre started may have been taken by the one before.
	if err := newSlack(t, true, func() time.Time { return now }).CheckSignature(good, []byte("body")); err == nil {
		t.Error("taken twice, by two centres")
	}
}

// hostile is a question whose texts want to mention, to link and to add buttons.
func hostile(args string) *store.Question {
	const evil = "<!channel> <@U999> *bold* <https://evil.example|ok> :tada: `x`"
	return &store.Question{ID: "abc", State: enrolment.QuestionPending, Created: began, Expires: began.Add(time.Hour), Asked: enrolment.AskQuestion{
		Digest: strings.Repeat("1", 64), Server: evil, Client: evil, Why: evil, RuleText: evil, Approvers: []string{"role:oncall", "group:ärzte\u202e\u2028x"}, Approvals: 1,
		Calls: []enrolment.ShownCall{{Subject: "tool", Server: evil, Method: "tools/call", Names: []string{"run_" + evil + "\u202e"}, Args: json.RawMessage(args)}},
	}}
}

// walk calls look for each object in a document.
func walk(v any, look func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		look(v)
		for _, one := range v {
			walk(one, look)
		}
	case []any:
		for _, one := range v {
			walk(one, look)
		}
	}
}

// TestHostileTextsInSlack: texts of laptops stand in text elements of rich text alone, harmless; arguments stand
// in a message only if gateway.toml wants that, and only a message that shows everything has a button that allows.
func TestHostileTextsInSlack(t *testing.T) {
	long := `{"command":"` + strings.Repeat("rm -rf / ; ", 500) + `"}`
	for name, c := range map[string]struct {
		payload bool
		args    string
		allow   bool
	}{
		"names alone": {false, `{"command":"secret-word <!here>"}`, false}, "whole": {true, `{"command":"secret-word <!here>"}`, true}, "long": {true, long, false}, "long, names alone": {false, long, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlack(t, c.payload, func() time.Time { return began })
			n, err := NewNotice(hostile(c.args), enrolment.QuestionPending, "<!channel>\nlaptop", "*ana* (x#1)", "https://centre.example")
			if err != nil {
				t.Fatal(err)
			}
			src, err := json.Marshal((&slackWay{s, s.settings.Channels[0]}).message(n))
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(src, &m); err != nil {
				t.Fatal(err)
			}
			actions := map[string]bool{}
			walk(m, func(o map[string]any) {
				for key, v := range o {
					text, ok := v.(string)
					if ok && strings.ContainsAny(text, "<>*`\u202e") && !(key == "text" && o["type"] == "text") {
						t.Errorf("%s of %v has a laptop's text: %q", key, o["type"], text)
					}
					if ok && strings.ContainsAny(text, "\u202e\x00\x1b") {
						t.Errorf("%q is not harmless", text)
					}
				}
				switch o["type"] {
				case "mrkdwn", "link", "user", "usergroup", "broadcast", "emoji", "channel":
					t.Errorf("an element that is more than text: %v", o)
				case "button":
					actions[o["action_id"].(string)] = true
				}
			})
			if actions[allowAction] != c.allow || !actions[denyAction] || !actions["clawai_open"] || c.allow != s.ShowsWhole(hostile(c.args)) {
				t.Errorf("buttons: %v", actions)
			}
			if got := strings.Contains(string(src), "secret-word"); got != c.allow {
				t.Errorf("arguments shown: %v", got)
			}
			if m["link_names"] != false || m["mrkdwn"] != false || m["parse"] != "none" {
				t.Errorf("%v", m)
			}
			n.State = enrolment.QuestionDenied
			if src, err := json.Marshal((&slackWay{s, s.settings.Channels[0]}).message(n)); err != nil || strings.Contains(string(src), `"button"`) {
				t.Errorf("a question that is over has buttons: %s", src)
			}
		})
	}
}

func clickBody(change func(map[string]any)) string {
	said := map[string]any{
		"type": "block_actions", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U1", "team_id": "T1"}, "channel": map[string]any{"id": "C1"},
		"actions": []any{map[string]any{"action_id": allowAction, "value": "abc " + strings.Repeat("1", 64)}},
	}
	if change != nil {
		change(said)
	}
	src, _ := json.Marshal(said)
	return url.Values{"payload": {string(src)}}.Encode()
}

func TestClicks(t *testing.T) {
	s := newSlack(t, true, func() time.Time { return began })
	if c, ok, err := s.ReadClick([]byte(clickBody(nil))); err != nil || !ok || c != (Click{"U1", "C1", "abc", strings.Repeat("1", 64), true}) {
		t.Errorf("%+v, %v, %v", c, ok, err)
	}
	for name, change := range map[string]func(map[string]any){
		"another kind": func(m map[string]any) { m["type"] = "view_submission" }, "no action": func(m map[string]any) { m["actions"] = []any{} },
		"another team":      func(m map[string]any) { m["team"] = map[string]any{"id": "T2"} },
		"a guest's team":    func(m map[string]any) { m["user"] = map[string]any{"id": "U1", "team_id": "T2"} },
		"another channel":   func(m map[string]any) { m["channel"] = map[string]any{"id": "C2"} },
		"no user":           func(m map[string]any) { delete(m, "user") },
		"the page's button": func(m map[string]any) { m["actions"] = []any{map[string]any{"action_id": "clawai_open"}} },
		"no value":          func(m map[string]any) { m["actions"] = []any{map[string]any{"action_id": allowAction}} },
		"a bad question": func(m map[string]any) {
			m["actions"] = []any{map[string]any{"action_id": denyAction, "value": "../x 1"}}
		},
	} {
		if c, ok, _ := s.ReadClick([]byte(clickBody(change))); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, ok, err := newSlack(t, false, func() time.Time { return began }).ReadClick([]byte(clickBody(nil))); ok || err == nil {
		t.Error("allowed in Slack, where nothing is shown")
	}
}

func FuzzReadClick(f *testing.F) {
	f.Add(clickBody(nil))
	f.Add("payload={}")
	f.Add("payload=%zz")
	s := newSlack(f, true, func() time.Time { return began })
	f.Fuzz(func(t *testing.T, body string) {
		c, ok, err := s.ReadClick([]byte(body))
		if ok && (err != nil || !enrolment.IsName(c.Question) || !isSlackID(c.User, "UW") || c.Channel != "C1" || !strings.Contains(body, "T1")) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}
