package queue

import (
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// scrubRequest returns the form of a request that is kept after its end. Secrets are redacted as in
// the record. Offered rules are removed, because they can contain arguments. The digest is removed
// too, because a short secret could be guessed from it.
func scrubRequest(r Request, k *redact.Known) Request {
	r.Calls = scrubCalls(r.Calls, k)
	r.Reason = k.ScrubText(r.Reason)
	r.Findings = k.ScrubJSON(r.Findings)
	r.Digest = [32]byte{}
	r.Offers, r.NoOffer, r.Preview = nil, "", nil
	return r
}

func scrubCalls(calls []policy.Call, k *redact.Known) []policy.Call {
	out := make([]policy.Call, len(calls))
	for i, c := range calls {
		if c.Names != nil {
			names := make([]string, len(c.Names))
			for j, n := range c.Names {
				names[j] = k.ScrubText(n)
			}
			c.Names = names
		}
		c.Server, c.Method = k.ScrubText(c.Server), k.ScrubText(c.Method)
		c.Args, c.Extra = k.ScrubJSON(c.Args), k.ScrubJSON(c.Extra)
		c.Malformed = k.ScrubText(c.Malformed)
		out[i] = c
	}
	return out
}
