package gate

import (
	"sync"

	"github.com/clawai/clawai/policy"
)

// Bounds of what is kept of the tools that a server lists. One that does not fit is as
// one that was never listed.
const (
	maxListed      = 1 << 12
	maxListedBytes = 256 << 10 // of their names
)

// listed is what the servers of a session have said to the good of their tools: what each
// has said every time it listed them, whatever it says now.
type listed struct {
	mu    sync.Mutex
	tools map[listedTool]policy.Assurances
	bytes int
}

// listedTool is one of one server: another may call its own the same.
type listedTool struct{ server, name string }

// NoteTools takes in what a server's tools/list answers. Call it before the client sees the
// answer.
func (s *Session) NoteTools(server string, tools map[string]policy.Assurances) {
	l := &s.listed
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, said := range tools {
		k := listedTool{server, name}
		before, known := l.tools[k]
		switch {
		case known:
			l.tools[k] = before & said
		case len(l.tools) < maxListed && l.bytes+len(name) <= maxListedBytes:
			if l.tools == nil {
				l.tools = map[listedTool]policy.Assurances{}
			}
			l.tools[k], l.bytes = said, l.bytes+len(name)
		}
	}
}

// annotateCalls gives the calls of tools what was said to their good.
func (s *Session) annotateCalls(x *Exchange) {
	l := &s.listed
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tools) == 0 {
		return
	}
	for _, cs := range [][]policy.Call{x.Work, x.Calls} {
		for i := range cs {
			if c := &cs[i]; c.Subject == policy.ToolSubject && len(c.Names) == 1 {
				c.Assurances = l.tools[listedTool{c.Server, c.Names[0]}]
				x.Event.Assurances = c.Assurances
			}
		}
	}
}
