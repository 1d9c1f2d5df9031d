package screening

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/release"
	"github.com/clawai/clawai/policy"
)

// outlet keeps what became of an exchange.
type outlet struct {
	sent   string
	denied gate.Verdict
	done   chan struct{}
}

func (o *outlet) Forward(x *gate.Exchange) error {
	o.sent = string(x.Raw)
	close(o.done)
	return nil
}

func (o *outlet) Refuse(_ *gate.Exchange, v gate.Verdict) {
	o.denied = v
	close(o.done)
}

func (o *outlet) Waiting(*gate.Exchange, time.Duration) {}

// notebook is a record in memory.
type notebook struct{}

func (notebook) Record(events ...*event.Event) error {
	for _, ev := range events {
		ev.Record = "r-1"
	}
	return nil
}

// releasingSession is a session whose rules withhold what is hidden, take secrets out, and ask about
// cards.
func releasingSession(t testing.TB, s release.Store, upstream string) *gate.Session {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(on("reply", "deny", `find = ["hidden"]`)+on("reply", "prompt", `find = ["template-token"]`)+
		on("reply", "redact", `find = ["secret"]`)+"[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{
		Policy: p, Recorder: notebook{}, Approver: ask.Never{Reason: "a test"}, Concluder: gate.None{}, Labels: gate.None{},
		Inspector: New("s", nil, nil), Releases: s, Upstream: upstream, AskPerMinute: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// hear lets a session judge the answer to a call.
func hear(t testing.TB, g *gate.Session, c policy.Call, text string) (*gate.Exchange, *outlet) {
	t.Helper()
	out := &outlet{done: make(chan struct{})}
	x := exchange("tools/call", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"`+text+`"}]}}`, c)
	x.Out, x.Event.Direction = out, "server"
	g.Observe(t.Context(), x)
	<-out.done
	return x, out
}

func stateFolder(t testing.TB, key string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "record.key"), []byte(strings.Repeat(key, 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const unseen = "he\U000E0069\U000E0067llo "

// What a person releases is the next answer to that one call: no other call, server, argument or
// session's server, and nothing a second time. It is fenced, and no secret passes.
func TestOnlyTheNextAnswerOfTheReleasedCallPasses(t *testing.T) {
	dir := stateFolder(t, "k")
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Now()
		store := release.Store{State: dir, Now: func() time.Time { return now }}
		_ = os.RemoveAll(filepath.Join(dir, "releases"))
		sessions := []*gate.Session{releasingSession(t, store, "a"), releasingSession(t, store, "b"), releasingSession(t, store, "a")}
		defer func() {
			for _, g := range sessions {
				g.Close()
			}
		}()
		anyCall := rapid.Custom(func(rt *rapid.T) policy.Call {
			c := tool(rapid.SampledFrom([]string{"read", "write"}).Draw(rt, "tool"))
			c.Args = []byte(rapid.SampledFrom([]string{`{"path":"/a"}`, `{"path":"/b"}`, `{"path":"/a" }`}).Draw(rt, "args"))
			c.Extra = []byte(rapid.SampledFrom([]string{"", `{"task":{}}`}).Draw(rt, "extra"))
			return c
		})
		released, at := anyCall.Draw(rt, "released"), rapid.IntRange(0, 2).Draw(rt, "session")
		x, _ := hear(t, sessions[at], released, unseen)
		if x.Event.Release == "" || x.Event.Decision != "deny" {
			rt.Fatalf("it cannot be released: %+v", x.Event)
		}
		if _, err := store.Grant(x.Event.Release, gate.Release{Record: "r-1", By: "ana"}); err != nil {
			rt.Fatal(err)
		}
		waits, since := true, now
		for range rapid.IntRange(1, 6).Draw(rt, "answers") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "minutes")) * time.Minute)
			c, on := anyCall.Draw(rt, "call"), rapid.IntRange(0, 2).Draw(rt, "on")
			text := rapid.SampledFrom([]string{unseen + token, unseen, "a <|im_start|> b", "plain " + token, "plain"}).Draw(rt, "text")
			x, out := hear(t, sessions[on], c, text)
			if strings.Contains(out.sent, token) {
				rt.Fatalf("a secret went on: %s", out.sent)
			}
			passes := out.sent != ""
			if strings.HasPrefix(text, "plain") {
				if !passes || x.Event.Code == gate.CodeReleased {
					rt.Fatalf("%q: %q, %s", text, out.sent, x.Event.Code)
				}
				continue
			}
			same := string(c.Args) == string(released.Args) && c.Names[0] == released.Names[0] && string(c.Extra) == string(released.Extra) && on%2 == at%2
			if want := same && waits && now.Sub(since) < release.Holds; passes != want {
				rt.Fatalf("%q of %s on %d passed: %v, want %v", text, c.Args, on, passes, want)
			}
			if !passes {
				continue
			}
			if waits = false; x.Event.Code != gate.CodeReleased || !strings.Contains(out.sent, "[clawai:untrusted ") || !strings.Contains(x.Event.Reason, "ana released") {
				rt.Fatalf("not fenced or not recorded: %s %+v", out.sent, x.Event)
			}
		}
	})
}

// A release opens no call, no list, no message that nobody asked for, and nothing that could not be
// looked at.
func TestWhatCannotBeReleased(t *testing.T) {
	store := release.Store{State: stateFolder(t, "k")}
	g := releasingSession(t, store, "a")
	defer g.Close()
	list := policy.Call{Server: "s", Method: "tools/list", Subject: policy.MethodSubject, Names: []string{"tools/list"}}
	for name, change := range map[string]func(x *gate.Exchange){
		"unasked":               func(x *gate.Exchange) { x.Unasked = true },
		"the client's":          func(x *gate.Exchange) { x.Event.Direction = "client" },
		"no call":               func(x *gate.Exchange) { x.Answered = nil },
		"a method":              func(x *gate.Exchange) { x.Answered = []policy.Call{list} },
		"what is not an answer": func(x *gate.Exchange) { x.Raw = []byte("{") },
	} {
		out := &outlet{done: make(chan struct{})}
		x := exchange("tools/call", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"`+unseen+`"}]}}`, tool("read"))
		x.Out, x.Event.Direction = out, "server"
		change(x)
		if g.Observe(t.Context(), x); x.Event.Release != "" || out.sent != "" || out.denied.Releasable {
			t.Errorf("%s: %q, sent %q", name, x.Event.Release, out.sent)
		}
	}
	x, out := hear(t, g, tool("read"), unseen)
	if d := out.denied.NewDenial(tool("read")); x.Event.Release == "" || !d.Releasable || !strings.Contains(d.Reason, "found hidden (1)") {
		t.Errorf("%q, %+v", x.Event.Release, d)
	}
	if out.denied.Code != gate.CodeWithheld || x.Event.Names[0] != "read" {
		t.Errorf("%s of %v", out.denied.Code, x.Event.Names)
	}
}
