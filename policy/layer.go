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

// decide is the answer of a policy and of the layers above it.
func (p *Policy) decide(c *Call, left effort.Left) (Decision, effort.Left) {
	if len(p.options.Above) == 0 {
		return p.own(c, left)
	}
	d, left := p.own(c, left)
	for _, layer := range p.options.Above {
		var e Decision
		e, left = layer.own(c, left)
		rates, alters := append(d.Rates, e.Rates...), append(d.Alters, e.Alters...)
		if e.overrules(&d) {
			d = e
		}
		if d.Rates, d.Alters = rates, alters; d.Action == Deny {
			d.Rates, d.Alters = nil, nil
		}
	}
	return d, left
}

// overrules says that d, a layer's answer, holds rather than the other. Where both ask, the
// layer's rule is the one to name, as an answer about the other would not do.
func (d *Decision) overrules(other *Decision) bool {
	if d.Action != other.Action {
		return d.Action < other.Action
	}
	return d.Action == Prompt && !other.stricter(d)
}

// Layers are the policies above this one, from the outermost in. What they say is
// in every Decision; Rules, Sources and the steps of a Trace are the policy's own.
func (p *Policy) Layers() []*Policy { return p.options.Above }

// Layer is what the policy is called as a layer; "" for a policy by itself.
func (p *Policy) Layer() string { return p.options.Layer }

// File is what the policy's text is called in positions.
func (p *Policy) File() string { return p.file }

// revise names the texts the policy was read from, and those of the layers.
func (p *Policy) revise(texts [][]byte) {
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
