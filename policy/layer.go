package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/clawai/clawai/policy/internal/effort"
)

// A policy may have other policies above it, called layers, such as an organisation's or a
// project's. Each layer judges the call by itself. A layer does not decide a call that none of its
// rules matches. The strictest answer wins. So a layer can only make answers stricter: if the
// policy itself does not allow a call, no layer allows it.

// decideLayers returns the strictest answer of the policy and of the layers above it.
func (p *Policy) decideLayers(c *Call, left effort.Left) (Decision, effort.Left) {
	if len(p.options.Above) == 0 {
		return p.decideOwnRules(c, left)
	}
	d, left := p.decideOwnRules(c, left)
	for _, layer := range p.options.Above {
		var e Decision
		e, left = layer.decideOwnRules(c, left)
		rates, alters := append(d.Rates, e.Rates...), append(d.Alters, e.Alters...)
		switch {
		case d.Action == Prompt && e.Action == Prompt && d.Rule.clashes(e.Rule):
			d = Decision{Reason: clashReason}
		case e.overrulesDecision(&d):
			d = e
		}
		if d.Rates, d.Alters = rates, alters; d.Action == Deny {
			d.Rates, d.Alters = nil, nil
		}
	}
	return d, left
}

// overrulesDecision reports whether d, the answer of a layer, replaces the answer in the parameter
// other. If both answers ask a person, d replaces the other answer if d asks at least as strictly.
// The final Decision then names the layer's rule, because a person's answer about the other rule
// would not satisfy the layer.
func (d *Decision) overrulesDecision(other *Decision) bool {
	if d.Action != other.Action {
		return d.Action < other.Action
	}
	return d.Action == Prompt && !other.isStricter(d)
}

// Layers returns the policies above this one, the outermost first. Every Decision includes their
// answers; Rules, Sources and the steps of a Trace are the policy's own.
func (p *Policy) Layers() []*Policy { return p.options.Above }

// LayerName returns the name of the layer; "" for a policy that is not a layer.
func (p *Policy) LayerName() string { return p.options.Layer }

// FileName returns the file name in the policy's positions and errors.
func (p *Policy) FileName() string { return p.file }

// setRevision sets the policy's revision: a digest of the texts that the policy was read from, and
// of the layers. sums holds the digests of the texts; the digest of the policy's own text is first.
func (p *Policy) setRevision(sums [][sha256.Size]byte) {
	sum := sums[0]
	if len(sums)+len(p.options.Above) > 1 {
		h := sha256.New()
		for _, part := range sums {
			h.Write(part[:])
		}
		for _, layer := range p.options.Above {
			h.Write([]byte(layer.revision))
		}
		h.Sum(sum[:0])
	}
	p.revision = hex.EncodeToString(sum[:6])
}
