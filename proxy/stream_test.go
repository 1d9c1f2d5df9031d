package proxy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// sink keeps what leaves, "|" where it is flushed.
type sink struct {
	mu    sync.Mutex
	lines []string
	falls string // what a line holds that it panics at
}

func (s *sink) Add(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.falls != "" && strings.Contains(string(line), s.falls) {
		panic("a defect")
	}
	s.lines = append(s.lines, string(line))
	return nil
}

func (s *sink) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, "|")
}

// Messages of a stream that come together go together, and in order: a cancellation behind
// its call, or, of a call that waits for a person, instead of it. One that falls takes no
// other along.
func TestStreamTakesMessagesTogether(t *testing.T) {
	broken := tool(`"broken"`, "ok") // whose second is refused, which cannot be said
	for name, c := range map[string]struct {
		lines, out []string
		back       int // answers of ours
		code       string
	}{
		"in order":    {lines: []string{tool("1", "ok"), tool("2", "ok"), tool("3", "ok")}, out: []string{tool("1", "ok"), tool("2", "ok"), tool("3", "ok"), "|"}},
		"one refused": {lines: []string{tool("1", "ok"), tool("2", "no"), tool("3", "ok")}, out: []string{tool("1", "ok"), tool("3", "ok"), "|"}, back: 1},
		"cancelled":   {lines: []string{tool("1", "ok"), cancel("1"), tool("2", "ok")}, out: []string{tool("1", "ok"), cancel("1"), tool("2", "ok"), "|"}},
		"withdrawn":   {lines: []string{tool("1", "ask"), cancel("1"), tool("2", "ok")}, out: []string{tool("2", "ok"), "|"}, code: gate.CodeWithdrawn},
		"twice":       {lines: []string{tool("1", "ok"), tool("1", "ok")}, out: []string{tool("1", "ok"), "|"}, back: 1, code: "duplicate_id"},
		"a defect":    {lines: []string{tool("1", "ok"), broken, broken, tool("2", "ok")}, out: []string{tool("1", "ok"), broken, tool("2", "ok"), "|"}, code: "panic"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, asked := &record{}, make(chan gate.Question, 1)
			guard, err := gate.New(gate.Options{
				Policy: p, Recorder: r, Approver: &person{asked: asked}, WaitEvery: time.Hour,
				Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
			})
			if err != nil {
				t.Fatal(err)
			}
			out, back := &sink{}, &sink{falls: "broken"}
			session := proxy.NewSession(proxy.Options{Gate: guard, Name: "fs"})
			lines := make([][]byte, len(c.lines))
			for i := range lines {
				lines[i] = []byte(c.lines[i])
			}
			session.NewStream(mcp.ClientToServer, "", out, back).HandleLines(t.Context(), lines...)
			guard.Close()
			if !slices.Equal(out.lines, c.out) {
				t.Errorf("the server gets\n%s", strings.Join(out.lines, "\n"))
			}
			if n := len(slices.DeleteFunc(back.lines, func(line string) bool { return line == "|" })); n != c.back {
				t.Errorf("%d answers: %s", n, back.lines)
			}
			if c.code != "" && !slices.ContainsFunc(r.events, func(ev event.Event) bool { return ev.Code == c.code }) {
				t.Errorf("nothing is recorded with %s", c.code)
			}
		})
	}
}
