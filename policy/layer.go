package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/clawai/clawai/policy/internal/effort"
)

// A policy may stand under others: an organisation's, a project's. Each of them
// judges the call by itself, and what none of its rules matches it leaves to the
// others. The strictest answer holds; so such a layer can tighten and open
// nothing, and if the policy itself does not allow a call, nothing does.

// decideLayers gives the answer of a policy and of the layers above it.
func (p *Policy) decideLayers(c *Call, left effort.Left) (Decision, effort.Left) {
	if len(p.options.Above) == 0 {
		return p.decideOwnRules(c, left)
	}
	d, left := p.decideOwnRules(c, left)
	for _, layer := range p.options.Above {
		var e Decision
		e, left = layer.decideOwnRules(c, left)
		rates, alters := append(d.Rates, e.Rates...), append(d.Alters, e.Alters...)
		if e.overrulesDecision(&d) {
			d = e
		}
		if d.Rates, d.Alters = rates, alters; d.Action == Deny {
			d.Rates, d.Alters = nil, nil
		}
	}
	return d, left
}

// overrulesDecision says that d, a layer's answer, holds rather than the other. Where both ask, the
// layer's rule is the one to name, as an answer about the other would not do.
func (d *Decision) overrulesDecision(other *Decision) bool {
	if d.Action != other.Action {
		return d.Action < other.Action
	}
	return d.Action == Prompt && !other.isStricter(d)
}

// Layers are the policies above this one, from the outermost in. What they say is
// in every Decision; Rules, Sources and the steps of a Trace are the policy's own.
func (p *Policy) Layers() []*Policy { return p.options.Above }

// LayerName gives what the policy is called as a layer; "" for a policy by itself.
func (p *Policy) LayerName() string { return p.options.Layer }

// FileName gives what the policy's text is called in positions.
func (p *Policy) FileName() string { return p.file }

// setRevision names the texts the policy was read from, and those of the layers.
func (p *Policy) setRevision(texts [][]byte) {
	sum := sha256.Sum256(texts[0])
	if len(texts)+len(p.options.Above) > 1 {
		h := sha256.New()
		for _, src := range texts {
			part := sha256.Sum256(src)
			h.Write(part[:])
		}
		for _, layer := range p.options.Above {
			h.Write([]byte(layer.revision))
		}
		h.Sum(sum[:0])
	}
	p.revision = hex.EncodeToString(sum[:6])
}
