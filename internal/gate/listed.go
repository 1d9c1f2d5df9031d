package gate

import (
	"sync"

	"github.com/clawai/clawai/policy"
)

// Bounds of the list of tools in memory. A tool beyond these bounds counts as never listed.
const (
	maxListed      = 1 << 12
	maxListedBytes = 256 << 10 // bytes of all names together
)

// listedTools holds the assurances that the servers of a session gave for their tools. It keeps an
// assurance only if the server gave it in every listing of the tool.
type listedTools struct {
	mu    sync.Mutex
	tools map[listedTool]policy.Assurances
	bytes int
}

// listedTool identifies a tool by its server, because another server may use the same
// tool name.
type listedTool struct{ server, name string }

// NoteTools adds the tools of a server's tools/list answer. The caller must do this before the
// client sees the answer.
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

// annotateCalls sets Assurances in the calls about tools.
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
