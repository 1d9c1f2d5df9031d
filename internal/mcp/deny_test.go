package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

func TestDenialBytes(t *testing.T) {
	tool := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"shell"}}
	for _, c := range []struct {
		name string
		d    Denial
		to   Caller
		want string
	}{
		{
			"a denied tool is a result", Denial{What: tool, Stage: "policy", Code: "denied_by_rule", Description: "No shells", Record: "r1"},
			Caller{ID: []byte(`7`), Method: "tools/call"},
			`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"Refused by the owner's policy: the tool \"shell\" (No shells). Trying again will not help. The owner finds it as record r1."}],"isError":true,"_meta":{"io.github.clawai/denial":{"decision":"deny","stage":"policy","code":"denied_by_rule","record":"r1"}}}}`,
		},
		{
			"of type complete in the modern era", Denial{What: tool, Stage: "policy", Code: "no_rule", Reason: "no rule allows it", Record: "r2"},
			Caller{ID: []byte(`"a"`), Method: "tools/call", Modern: true},
			`{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[{"type":"text","text":"Refused by the owner's policy: the tool \"shell\": no rule allows it. Trying again will not help. The owner finds it as record r2."}],"isError":true,"_meta":{"io.github.clawai/denial":{"decision":"deny","stage":"policy","code":"no_rule","record":"r2"}}}}`,
		},
		{
			"or an error when its owner wants one", Denial{What: tool, Stage: "ask", Code: "not_answered", Reason: "nobody answered in 45 s", Record: "r3", Unanswered: true, AsError: true},
			Caller{ID: []byte(`7`), Method: "tools/call", Modern: true},
			`{"jsonrpc":"2.0","id":7,"error":{"code":4403,"message":"Not done: the tool \"shell\" needs the owner's approval: nobody answered in 45 s. Only the owner can allow it: when asked (clawai approve shows the question), or with a rule in the policy. The owner finds it as record r3.","data":{"decision":"deny","stage":"ask","code":"not_answered","record":"r3"}}}`,
		},
		{
			"a limit says when to come back", Denial{What: tool, Stage: "rate", Code: "limit", Description: "A few", Reason: "at most 3 a minute; try again in 12 s", Record: "r5"},
			Caller{ID: []byte(`7`), Method: "tools/call"},
			`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"Refused by the owner's policy: the tool \"shell\" (A few): at most 3 a minute; try again in 12 s. The owner finds it as record r5."}],"isError":true,"_meta":{"io.github.clawai/denial":{"decision":"deny","stage":"rate","code":"limit","record":"r5"}}}}`,
		},
		{
			"anything else is an error", Denial{What: policy.Call{Subject: policy.ResourceSubject, Names: []string{"file:///a", "file:///b"}}, Stage: "policy", Code: "no_rule", Record: "r4"},
			Caller{ID: []byte(`7`), Method: "subscriptions/listen", Modern: true},
			`{"jsonrpc":"2.0","id":7,"error":{"code":4403,"message":"Refused by the owner's policy: the resource \"file:///a\" and 1 more. Trying again will not help. The owner finds it as record r4.","data":{"decision":"deny","stage":"policy","code":"no_rule","record":"r4"}}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(c.d.AnswerFrame(c.to)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDenialNamesWhatWasRefused(t *testing.T) {
	for want, c := range map[string]policy.Call{
		`the prompt "p"`:                             {Subject: policy.PromptSubject, Names: []string{"p"}},
		`a sampling request of the server`:           {Subject: policy.SamplingSubject, Names: []string{"secret text"}},
		`a question of the server to its user`:       {Subject: policy.ElicitationSubject},
		`the method "roots/list"`:                    {Subject: policy.MethodSubject, Method: "roots/list"},
		`the tool of a "tools/call" that names none`: {Subject: policy.ToolSubject, Method: "tools/call"},
	} {
		if got := (Denial{What: c}).DescribeDenial(); !strings.Contains(got, want+". ") {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

func TestDenialMakesHostileTextHarmless(t *testing.T) {
	name := "a\x1b[2J\" (allowed). \\ \u202e\u200b\U000e0041\ufe0f" + strings.Repeat("x", 1000)
	text := Denial{What: policy.Call{Subject: policy.ToolSubject, Names: []string{name}}}.DescribeDenial()
	if want := `the tool "a\u{1b}[2J\" (allowed). \\ \u{202e}\u{200b}\u{e0041}\u{fe0f}xxx`; !strings.Contains(text, want) {
		t.Errorf("%q does not hold %q", text, want)
	}
	if len(text) > 500 || !strings.Contains(text, `x…". Trying`) {
		t.Errorf("%q was not cut", text)
	}
}

func TestRefused(t *testing.T) {
	r := &frame.Refusal{Code: "duplicate", Reason: "two members named \"id\"", ID: []byte(`"q"`), Request: true}
	want := `{"jsonrpc":"2.0","id":"q","error":{"code":4400,"message":"Refused: the request can be read in more than one way or breaks the protocol: two members named \"id\".","data":{"decision":"deny","stage":"frame","code":"duplicate","record":"r9"}}}`
	if got := string(RefusalAnswer(r, "r9")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, silent := range []*frame.Refusal{{Request: true}, {ID: []byte("1")}} {
		if got := RefusalAnswer(silent, "r9"); got != nil {
			t.Errorf("%+v was answered: %s", silent, got)
		}
	}
}

func TestUnusable(t *testing.T) {
	want := `{"jsonrpc":"2.0","id":"q","error":{"code":4400,"message":"The call was passed on, but its answer cannot be: result is not an object.","data":{"decision":"deny","stage":"frame","code":"result","record":"r9"}}}`
	if got := string(UnusableAnswer([]byte(`"q"`), &frame.Refusal{Code: "result", Reason: "result is not an object"}, "r9")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGone(t *testing.T) {
	want := `{"jsonrpc":"2.0","id":3,"error":{"code":4502,"message":"The server ended before it answered: exit code 1."}}`
	if got := string(ServerEndedAnswer([]byte("3"), "exit code 1")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `{"jsonrpc":"2.0","id":3,"error":{"code":4502,"message":"The server ended before it answered."}}`
	if got := string(ServerEndedAnswer([]byte("3"), "")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProgressIncreasesAndStaysBelowOne(t *testing.T) {
	last := 0.0
	for n := 1; n < 1000; n++ {
		var m struct {
			Method string
			Params struct {
				ProgressToken json.RawMessage
				Progress      float64
				Message       string
			}
		}
		if err := json.Unmarshal(ProgressNotification([]byte(`"t\u00e9"`), n, "Waiting for the owner"), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method != "notifications/progress" || string(m.Params.ProgressToken) != `"t\u00e9"` || m.Params.Message != "Waiting for the owner" {
			t.Fatalf("%+v", m)
		}
		if m.Params.Progress <= last || m.Params.Progress >= 1 {
			t.Fatalf("progress %v after %v", m.Params.Progress, last)
		}
		last = m.Params.Progress
	}
}

func TestCodesLieOutsideReservedRanges(t *testing.T) {
	for _, code := range []int{CodeRefused, CodeDenied, CodeGone} {
		if code >= -32768 && code <= -32000 {
			t.Errorf("%d is reserved by JSON-RPC", code)
		}
	}
}

// A method that the caller's version has no longer got is denied as one that is
// not there; the machine fields are the same.
func TestDenialOfARemovedMethod(t *testing.T) {
	for _, c := range []struct {
		method string
		modern bool
		want   string
	}{
		{"tasks/result", true, `"code":-32601`}, {"tasks/result", false, `"code":4403`},
		{"tasks/get", true, `"code":4403`}, {"vendor/x", true, `"code":4403`},
	} {
		d := Denial{What: policy.Call{Method: c.method, Subject: policy.MethodSubject}, Stage: "policy", Code: "malformed", Record: "r-1"}
		got := string(d.AnswerFrame(Caller{ID: []byte("1"), Method: c.method, Modern: c.modern}))
		if !strings.Contains(got, c.want) || !strings.Contains(got, `"malformed"`) || !strings.Contains(got, `"r-1"`) {
			t.Errorf("%s, modern %v: %s", c.method, c.modern, got)
		}
	}
}
