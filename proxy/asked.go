package proxy

import (
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// answers is what the rules judge in the inputResponses of a retry.
func (t *table) answers(f *frame.Frame, m *mcp.Message, server string) ([]policy.Call, *frame.Refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked.Answers(f, m, server)
}

// known reports input requests that were let through before.
func (t *table) known(in mcp.Inputs) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked.Known(in)
}

// remember notes input requests that are being let through.
func (t *table) remember(in mcp.Inputs) {
	if len(in.Calls) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked.Remember(in)
}
