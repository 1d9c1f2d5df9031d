package model_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// textEvent is an event of text as Messages has it.
const textEvent = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a few words more\"}}\n\n"

// conversation returns a request as Claude Code sends it in its twentieth turn: 100 KiB, of which the
// tools and the instructions are a third. The last result is new each time, the others were there in the
// turns before.
func conversation(t testing.TB, turn int) string {
	text, err := os.ReadFile("server.go")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"go on"}]}`)
	for i := range 20 {
		result := string(escape.QuoteText(source[i*400:][:3400]))
		if i == 19 {
			result = `"` + strconv.Itoa(turn) + result[1:]
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/work/main%d.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, i, i, i, result)
	}
	b.WriteString(`],"system":[{"type":"text","text":"` + strings.Repeat("You are an agent.\\n", 500) + `"}],"tools":[`)
	for i := range 17 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"Tool%d","description":"%s","input_schema":{"type":"object","properties":{"file_path":{"type":"string","description":"The path"},"limit":{"type":"number"}},"required":["file_path"],"additionalProperties":false}}`, i, strings.Repeat("Reads a file.\\n", 90))
	}
	b.WriteString(`]}`)
	return b.String()
}

// firstToken returns the time from a request to the first event of its reply.
func firstToken(t testing.TB, url, request string) time.Duration {
	begun := time.Now()
	resp, err := http.Post(url, "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	_, _ = io.Copy(io.Discard, lines)
	return took
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// TestFirstToken prints how much later the first event comes than through the standard library's
// reverse proxy, in one run, by turns. With CLAWAI_BUDGET it takes 600 turns and holds the goal, which
// needs a quiet machine. Otherwise some turns show that the measurement works.
func TestFirstToken(t *testing.T) {
	turns, before := 1, 0 // without a budget nothing is compared
	if os.Getenv("CLAWAI_BUDGET") != "" {
		turns, before = 600, 20
	}
	for _, c := range []struct {
		judge  bool
		policy string
		rules  string
	}{
		{false, "a few rules", rules},
		{false, "coding-agent", starter(t, "coding-agent")},
		{true, "a few rules", rules},
		{true, "coding-agent", starter(t, "coding-agent")},
		{true, "coding-agent and default", starter(t, "coding-agent") + starter(t, "default")},
		{true, "uploads", uploadRule("redact", "tool = '**'") + uploadRule("prompt", "") + rules},
	} {
		s := makeSiteWith(t, "claude-code", c.judge, nobody{}, nil, c.rules, screening.New("claude-code", nil, nil))
		s.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, textEvent)
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond) // a model writes the rest later
			_, _ = io.WriteString(w, strings.Repeat(textEvent, 20))
		}
		urls := []string{s.url, library(t, s), s.far.URL}
		took := make([][]time.Duration, len(urls))
		for i := range before + turns {
			request := conversation(t, i)
			for j := range urls {
				way := (i + j) % len(urls)                                              // the first after a pause is slower
				if d := firstToken(t, urls[way]+"/v1/messages", request); i >= before { // connections are open
					took[way] = append(took[way], d)
				}
			}
		}
		ours, theirs, direct := took[0], took[1], took[2]
		ratio := float64(median(ours)) / float64(median(theirs))
		t.Logf("judge %v, %s: first event after %v, through net/http/httputil.ReverseProxy %v, direct %v: ratio %.3f, of the least %.3f (%v, %v)", c.judge, c.policy, median(ours), median(theirs), median(direct),
			ratio, float64(ours[0])/float64(theirs[0]), ours[0], theirs[0])
		if os.Getenv("CLAWAI_BUDGET") != "" && ratio > 1.05 {
			t.Errorf("judge %v, %s: the ratio is %.3f", c.judge, c.policy, ratio)
		}
	}
}

// BenchmarkTextEvent is what one event of text costs in a stream that is held for its calls, or
// heard.
func BenchmarkTextEvent(b *testing.B) {
	for _, judge := range []bool{false, true} {
		b.Run(fmt.Sprintf("judge=%v", judge), func(b *testing.B) {
			s := newSite(b, "claude-code", judge, nil)
			s.reply = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for range b.N {
					_, _ = io.WriteString(w, textEvent)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			resp, err := http.Post(s.url+"/v1/messages", "application/json", strings.NewReader(empty))
			if err != nil {
				b.Fatal(err)
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(b.N*len(textEvent)) {
				b.Fatalf("%d bytes, %v", n, err)
			}
		})
	}
}

// starter returns the rules of a starter policy.
func starter(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../fixtures/" + name + "/policy.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// library returns the address of the standard library's reverse proxy in front of a site's service.
func library(t testing.TB, s *site) string {
	t.Helper()
	to, err := url.Parse(s.far.URL)
	if err != nil {
		t.Fatal(err)
	}
	reverse := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }, Transport: &http.Transport{DisableCompression: true}})
	t.Cleanup(reverse.Close)
	return reverse.URL
}

// decisions measures the gate alone: how long it takes to decide one call.
func decisions(b *testing.B, g *gate.Session, tool, args string) (took []time.Duration) {
	b.Helper()
	for range 1000 {
		req, err := client.FindRow("claude-code").ReadModelCall(client.ModelCall{ID: "t", Tool: tool, Args: []byte(args), Cwd: "/work"})
		if err != nil {
			b.Fatal(err)
		}
		c := &req.Calls[0]
		out := &gone{}
		begun := time.Now()
		g.Do(b.Context(), &gate.Exchange{Raw: []byte(args), Calls: req.Calls, Out: out, Event: event.Event{Kind: event.Decision, Server: c.Server, Method: c.Method, Names: c.Names, Args: c.Args}})
		took = append(took, time.Since(begun))
		if !out.went {
			b.Fatal("the gate refuses the call")
		}
	}
	return took
}

// gone is an outlet of the gate that only tells whether a call went.
type gone struct{ went bool }

func (g *gone) Forward(*gate.Exchange) error          { g.went = true; return nil }
func (g *gone) Refuse(*gate.Exchange, gate.Verdict)   {}
func (g *gone) Waiting(*gate.Exchange, time.Duration) {}

// BenchmarkHeldCall is a whole reply with one call that is held, the same heard, and the same through the
// standard library's reverse proxy, each in turn. Both of ours decide before the reply ends, so what a held
// call adds beside the decision is held less heard; the decision alone is measured beside.
func BenchmarkHeldCall(b *testing.B) {
	args := `{"file_path":"/home/u/projects/a/main.go"}`
	for _, c := range []struct{ name, rules string }{
		{"two rules", "[[rule]]\naction = 'deny'\ntool = 'shell'\n\n[[rule]]\naction = 'allow'\ntool = 'read'\nargs.path = '/home/u/projects/**'\n"},
		{"init --mode ask", starter(b, "coding-agent") + starter(b, "default")},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := services[0].streamed([]asked{{tool: "Read", args: object{"file_path": "/home/u/projects/a/main.go"}}}, false)
			var gates []*gate.Session
			var urls []string
			for _, judge := range []bool{true, false} {
				s := makeSiteWith(b, "claude-code", judge, nobody{}, func(o *model.Options) { gates = append(gates, o.Gate) }, c.rules, screening.New("claude-code", nil, nil))
				s.reply = answerWith(b, text, "", true)
				urls = append(urls, s.url)
				if !judge {
					urls = append(urls, library(b, s))
				}
			}
			took := make([][]time.Duration, len(urls))
			for i := 0; b.Loop(); i++ {
				for j := range urls {
					way := (i + j) % len(urls)
					begun := time.Now()
					resp, err := http.Post(urls[way]+"/v1/messages", "application/json", strings.NewReader(empty))
					if err != nil {
						b.Fatal(err)
					}
					if got, err := io.ReadAll(resp.Body); err != nil || string(got) != text {
						b.Fatalf("%q %v", got, err)
					}
					_ = resp.Body.Close()
					took[way] = append(took[way], time.Since(begun))
				}
			}
			held, heard, plain, decided := median(took[0]), median(took[1]), median(took[2]), median(decisions(b, gates[0], "Read", args))
			for name, d := range map[string]time.Duration{"held": held, "heard": heard, "library": plain, "decision": decided, "added": held - heard, "added-to-library": held - decided - plain} {
				b.ReportMetric(float64(d.Nanoseconds())/1000, name+"-µs")
			}
		})
	}
}

// TestMemoryOfTurns: what is kept of conversations does not grow with their turns, and does not hold whole
// requests.
func TestMemoryOfTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	s := newSite(t, "claude-code", false, nil)
	s.reply = answerWith(t, textEvent, "", true)
	measure := func() uint64 {
		s.record.forget()
		s.kept.forget()
		s.mu.Lock()
		s.heads, s.targets, s.bodies = nil, nil, nil
		s.mu.Unlock()
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	turn := 0
	run := func(turns int) {
		for range turns {
			turn++
			request := strings.ReplaceAll(conversation(t, turn), "toolu_", fmt.Sprintf("toolu_%d_", turn))
			if got := s.post("/v1/messages", request); got.err != nil || got.body != textEvent {
				t.Fatal(got)
			}
			if turn%100 == 0 {
				s.record.forget()
				s.kept.forget()
			}
		}
	}
	const filled = 1000
	run(filled) // each turn has 20 calls that are new, so that everything is full now
	first := measure()
	turns := slow.Rounds(turnsMeasured, 10_000)
	run(turns - filled)
	last := measure()
	t.Logf("%d KiB after %d turns, %d KiB after %d", first>>10, filled, last>>10, turns)
	if last > first+8<<20 || last > 128<<20 {
		t.Errorf("%d KiB after %d turns, %d KiB after %d", first>>10, filled, last>>10, turns)
	}
}

// turnsMeasured are few, because each takes a millisecond or more.
const turnsMeasured = 2500

// BenchmarkReadRequest is what is looked at in a request before its calls are.
func BenchmarkReadRequest(b *testing.B) {
	text := []byte(conversation(b, 1))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if r, err := modelapi.ReadRequest(modelapi.Messages, text); err != nil || len(r.Results) != 20 {
			b.Fatal(len(r.Results), err)
		}
	}
}
