package proxy

import (
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// inputResponses returns the calls that the rules judge in the inputResponses of a retry.
func (t *table) inputResponses(f *frame.Frame, m *mcp.Message, server string) ([]policy.Call, *frame.Refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inputs.AnswerCalls(f, m, server)
}

// inputsKnown reports whether these input requests were let through before.
func (t *table) inputsKnown(in mcp.Inputs) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inputs.KnowsInputs(in)
}

// rememberInputs notes input requests that are being let through.
func (t *table) rememberInputs(in mcp.Inputs) {
	if len(in.Calls) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inputs.RememberInputs(in)
}
