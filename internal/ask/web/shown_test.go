package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/viewtest"
	"github.com/clawai/clawai/policy"
)

// evil stands in every text that does not come through package view.
const evil = "a\x1b[2J\u202eb\u200bc\u2066<img src=x>\r\nallow"

// texts is every string of a JSON document, a line each.
func texts(t *testing.T, data string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(data))
	var lines []string
	for {
		token, err := d.Token()
		if err != nil {
			return strings.Join(lines, "\n")
		}
		if s, ok := token.(string); ok {
			lines = append(lines, s)
		}
	}
}

func TestTheHomeFolderIsShortOnThePage(t *testing.T) {
	st := newSite(t, func(o *Options) { o.Home = "/home/ana" }).enter()
	r := st.q.put(1, func(r *queue.Request) { r.Calls[0].Args = []byte(`{"path":"/home/ana/a"}`) })
	st.q.grants = []queue.Grant{{ID: "g", Project: "/home/ana/projects/y", Calls: r.Calls}}
	_, body := st.do("GET", requestPath+r.ID, "", nil)
	sm := st.open()
	for shown, want := range map[string]string{body: "~/projects/x", sm.next("pending"): "~/projects/x", sm.next("grants"): "~/projects/y"} {
		if !strings.Contains(shown, `"project":"`+want+`"`) {
			t.Errorf("%s is not in %s", want, shown)
		}
	}
	if !strings.Contains(body, `/home/ana/a`) {
		t.Errorf("the call's own value was changed: %s", body)
	}
}

func TestTheDetailsOfEveryHostileCallAreHarmless(t *testing.T) {
	slow.Test(t)
	st := newSite(t, nil).enter()
	for i, c := range viewtest.Cases() {
		r := st.q.put(i, func(r *queue.Request) {
			r.Calls, r.Server = c.Calls, c.Calls[0].Server
			r.Client, r.Project, r.Reason, r.NoOffer, r.Findings = evil, evil, evil, evil, []byte(evil)
			r.Offers = []view.Offer{{Scope: "exact", Title: evil, Allow: evil + "\n" + evil, Deny: evil, Example: evil}}
			r.Rule.Description, r.Rule.Pos.File, r.Rule.Pos.Line = evil, evil, 1
		})
		resp, body := st.do("GET", requestPath+r.ID, "", nil)
		if resp.StatusCode != 200 {
			t.Errorf("%s: %s %s", c.Name, resp.Status, body)
			continue
		}
		never := c
		never.Never = nil // what begins a line is the page's business
		viewtest.CheckHarmless(t, never, texts(t, body))
		if strings.Contains(body, "<img") {
			t.Errorf("%s: markup in %s", c.Name, body)
		}
	}
	rows, err := st.q.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sm := st.open()
	viewtest.CheckHarmless(t, viewtest.Case{Name: "rows"}, texts(t, sm.next("pending")))
	for _, r := range rows {
		if _, err := st.q.settle(r.ID, queue.Denied, queue.Answer{Channel: evil, By: evil, Words: evil}, evil); err != nil {
			t.Fatal(err)
		}
	}
	viewtest.CheckHarmless(t, viewtest.Case{Name: "gone"}, texts(t, sm.next("pending")))
	var past string
	for !strings.Contains(past, rows[0].ID) {
		past = sm.next("history")
	}
	viewtest.CheckHarmless(t, viewtest.Case{Name: "history"}, texts(t, past))
}

func TestHowARequestEnded(t *testing.T) {
	at := time.Date(2026, 1, 31, 12, 0, 45, 0, time.Local)
	for want, r := range map[string]queue.Request{
		"It still waits.": {Status: queue.Pending},
		"Allowed once at 12:00:45 on the page, by ana; it went on to the server.":                     {Status: queue.Approved, Answer: queue.Answer{Reply: gate.AllowOnce, Channel: "web", By: "ana"}, Outcome: "went on to the server"},
		"Allowed for the session (folder) at 12:00:45 on the page; it was denied: the rules changed.": {Status: queue.Approved, Answer: queue.Answer{Reply: gate.AllowSession, Scope: "folder", Channel: "web"}, Outcome: "denied: the rules changed"},
		"Always allowed at 12:00:45 in the console, by ana; the disk is full.":                        {Status: queue.Approved, Answer: queue.Answer{Reply: gate.AllowAlways, Channel: "console", By: "ana"}, Outcome: "the disk is full"},
		"Always denied at 12:00:45 in the terminal; nothing was executed.":                            {Status: queue.Denied, Answer: queue.Answer{Reply: gate.DenyAlways, Channel: "terminal"}, Outcome: "denied"},
		"Denied at 12:00:45 on the page; nothing was executed.":                                       {Status: queue.Denied, Answer: queue.Answer{Channel: "web"}, Outcome: "nothing was executed"},
		"Expired at 12:00:45; nothing was executed.":                                                  {Status: queue.Expired, Outcome: "expired at 12:00:45; nothing was executed"},
		"Expired at 12:00:45; the answer was withheld.":                                               {Status: queue.Expired, Findings: []byte(`[]`), Outcome: "expired at 12:00:45; the answer was withheld"},
		"Denied at 12:00:45 on the page; the answer was withheld.":                                    {Status: queue.Denied, Findings: []byte(`[]`), Answer: queue.Answer{Channel: "web"}},
		"Ended at 12:00:45: the session is over; nothing was executed.":                               {Status: queue.Expired, Outcome: "the session is over; nothing was executed"},
		"Ended at 12:00:45: the call was withdrawn; nothing was executed.":                            {Status: queue.Expired, Outcome: "the call was withdrawn"},
	} {
		r.Decided = at
		if got := endingSentence(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The title of a question, waiting or answered, says who wants what, with the end of a long path.
func TestTitles(t *testing.T) {
	s := &Server{o: Options{Home: "/home/ana"}}
	for _, c := range [][3]string{
		{"write_file", `{"content":"x","path":"/home/ana/a/b.go"}`, "files wants to write ~/a/b.go"},
		{"fetch", `{"query":"x","url":"https://x.example/a"}`, "files wants to fetch https://x.example/a"},
		{"bash", `{"command":"make\ntest"}`, `files wants to run "make\ntest"`},
		{"t", `{"path":7,"text":"x"}`, "files wants to call t"},
		{"read_file", `{"path":"/` + strings.Repeat("long/", 99) + `end.go"}`, "files wants to read /long/long/long/long/long/long/long/long/long…ng/long/long/long/long/long/long/long/end.go"},
		{"read_file", `{"path":"/a\u202e\u001bb"}`, `files wants to read "/a\u{202e}\u{1b}b"`},
	} {
		r := queue.Request{Server: "files", Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{c[0]}, Args: []byte(c[1])}}}
		if got := s.requestRow(&r).Title; got != c[2] {
			t.Errorf("%s %.60s: %s", c[0], c[1], got)
		}
		if got := s.resolvedRow(&r).Title; got != c[2] {
			t.Errorf("%s %.60s, answered: %s", c[0], c[1], got)
		}
	}
}
