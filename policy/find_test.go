package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

func sampled(texts ...string) Call {
	return Call{Method: "sampling/createMessage", Subject: SamplingSubject, Names: texts}
}

// What is found in a call is a condition like others: where nothing has looked, a deny and
// a prompt hold, and nothing goes on that was to be altered.
func TestFindOnCalls(t *testing.T) {
	deny := "[[rule]]\naction = 'deny'\ntool = '*'\nfind = ['secret', 'card']\n"
	allow := "[[rule]]\naction = 'allow'\ntool = '*'\n"
	redact := "[[rule]]\naction = 'redact'\nsampling = '**'\nfind = 'secret'\n"
	ask := "[[rule]]\naction = 'prompt'\nsampling = '**'\n"
	tool, sampling := *toolCall("post", `{"a":"b"}`), sampled("a", "b")
	for name, c := range map[string]struct {
		rules    string
		call     Call
		screened bool
		finds    string
		want     string
	}{
		"found":                      {deny + allow, tool, true, "hidden card", "deny by 0"},
		"of another kind":            {deny + allow, tool, true, "hidden", "allow by 1"},
		"nothing":                    {deny + allow, tool, true, "", "allow by 1"},
		"not looked":                 {deny + allow, tool, false, "", "deny by 0"},
		"redacted and asked":         {redact + ask, sampling, true, "secret hidden", "prompt by 1; redact by 0 of 0 secret"},
		"nothing to redact":          {redact + ask, sampling, true, "hidden", "prompt by 1"},
		"redaction opens nothing":    {redact, sampling, true, "secret", "deny"},
		"nor where nothing is found": {redact, sampling, true, "", "deny"},
		"nobody looked for it":       {redact + ask, sampling, false, "", "deny by 0: nothing has looked for what the rule takes out"},
		"denied, nothing is altered": {redact + strings.Replace(ask, "prompt", "deny", 1), sampling, true, "secret", "deny by 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parseReply(t, c.rules, Options{})
			c.call.Screened, c.call.Finds = c.screened, strings.Fields(c.finds)
			if got := shownReply(p.Decide(&c.call)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if got := shownReply(p.DecideAll([]Call{c.call})); got != c.want {
				t.Errorf("of all: %s\nwant %s", got, c.want)
			}
			if len(p.Sources()) != len(p.Rules()) {
				t.Error("a rule is left out")
			}
		})
	}
}

// No answer about what was found becomes an allow.
func TestNarrowOfWhatWasFound(t *testing.T) {
	p := parseReply(t, "[[rule]]\naction = 'prompt'\ntool = 'post'\nfind = 'card'\n", Options{})
	c := *toolCall("post", "")
	c.Finds, c.Screened = []string{"card"}, true
	if n, err := p.NarrowRule(p.Rules()[0], &c, Tool, Allow); err == nil {
		t.Errorf("allowed by\n%s", n.Text)
	}
	n, err := p.NarrowRule(p.Rules()[0], &c, Tool, Deny)
	if err != nil || !strings.Contains(n.Text, `find = "card"`) {
		t.Errorf("%v %+v", err, n)
	}
}

// A trace tells what each rule says of a reading, and which rules judge something else.
func TestTraceOfReplies(t *testing.T) {
	p := parseReply(t, ruleText("call", "deny", "x", "", "")+ruleText("reply", "fence", "x", "", "server = 's'")+
		ruleText("reply", "redact", "x", "secret,*", "not.server = 't'")+ruleText("call", "prompt", "x", "card", ""), Options{})
	c := *toolCall("x", "")
	c.Server, c.Screened = "s", true
	show := func(p *Policy) string {
		var out []string
		for _, s := range p.Trace(&c).Steps {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%v %d %s %v %s", s.Match, s.At.Kind, s.At.Key, s.At.Want, s.At.Got)))
		}
		return strings.Join(out, "; ")
	}
	other := fmt.Sprint(int(OtherOn))
	call := fmt.Sprint(int(CallCondition))
	for _, at := range []struct {
		finds []string
		on    On
		want  string
	}{
		{nil, OnReply, "no " + other + "  [call] reply; yes 0  []; no " + call + " find [[\"secret\", \"*\"]] nothing; no " + other + "  [call] reply"},
		{[]string{"card"}, OnReply, "no " + other + "  [call] reply; no " + call + " find [nothing: the whole is judged] card; yes 0  []; no " + other + "  [call] reply"},
		{[]string{"hidden"}, OnCall, "yes 0  []; no " + other + "  [reply] call; no " + other + "  [reply] call; no " + call + " find [\"card\"] hidden"},
	} {
		c.Finds = at.finds
		if got := show(p.PolicyFor(at.on)); got != at.want {
			t.Errorf("%v: %s\nwant %s", at.finds, got, at.want)
		}
	}
	c.Server, c.Finds = "t", []string{"secret"}
	if s := p.PolicyFor(OnReply).Trace(&c).Steps[2]; s.Match != where.No || !s.At.Not || s.At.Key != "server" {
		t.Errorf("an exception: %+v", s)
	}
	c.Screened = false
	if s := p.Trace(&c).Steps[3]; s.Match != where.Maybe || s.At.Got != "" {
		t.Errorf("not looked: %+v", s)
	}
	for _, s := range p.Sources()[3].Calls {
		if s.MeetCondition(&c); p.Trace(&c).Steps[3].Match != where.Yes {
			t.Errorf("not met by %+v", c)
		}
		if s.MissCondition(&c); p.Trace(&c).Steps[3].Match != where.No {
			t.Errorf("not missed by %+v", c)
		}
	}
	wide := parseReply(t, ruleText("call", "deny", "x", "*", ""), Options{})
	if wide.Sources()[0].Calls[0].MeetCondition(&c); wide.Decide(&c).Rule == nil {
		t.Errorf("not met by %+v", c)
	}
}

// Rules that judge what comes back are no rules about calls to whoever reads them.
func TestSourcesOfReplies(t *testing.T) {
	text := "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"x\"\nfind = \"secret\"\n"
	p := parseReply(t, text+ruleText("call", "allow", "x", "", ""), Options{})
	s := p.Sources()
	if s[0].Subject != NoSubject || s[0].About != ToolSubject || s[0].On != OnReply || fmt.Sprint(s[0].Finds) != "[secret]" || s[1].Subject != ToolSubject {
		t.Errorf("%+v", s)
	}
	if s = p.PolicyFor(OnReply).Sources(); s[1].Subject != NoSubject {
		t.Errorf("%+v", s)
	}
	if got := p.sources[0].formatTOML(); got != text {
		t.Errorf("written\n%s", got)
	}
	like := parseReply(t, text, Options{})
	if !p.AltersAlike(like, OnReply) || !p.AltersAlike(&Policy{}, OnList) || p.AltersAlike(parseReply(t, text+text, Options{}), OnReply) || p.AltersAlike(&Policy{}, OnReply) {
		t.Error("alike are those with the same rules about what comes back")
	}
	for got, want := range map[string]string{OnList.String(): "list", On(9).String(): "On(9)", Action(9).String(): "Action(9)", Fence.String(): "fence"} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	timed := parseReply(t, ruleText("reply", "warn", "x", "", "when = { from = '09:00', to = '10:00' }"), Options{})
	if !timed.Timed() || p.Timed() {
		t.Error("what time it is counts for replies too")
	}
	extends := func(Extension) (string, []byte, error) {
		return "base", []byte(ruleText("reply", "deny", "*", "", "")), nil
	}
	if q := parseReply(t, "extends = ['profile:base']\n", Options{Extend: extends}); len(q.Rules()) != 1 {
		t.Error("a rule about replies is not the one that closes a policy")
	}
	windows := *toolCall("x", `{"path":"C:\\Data\\A"}`)
	windows.OS = Windows
	w := parseReply(t, ruleText("reply", "deny", "x", "", "args.path = 'c:/data/**'"), Options{})
	if d := w.DecideReply(OnReply, []Call{windows}, nil); d.Action != Deny {
		t.Errorf("on Windows: %s", shownReply(d))
	}
	if _, err := Parse("p", []byte(ruleText("reply", "deny", "x", "", "args.a = ''")), Options{}); err == nil {
		t.Error("a wrong glob loads")
	}
}
