package queue

import (
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// scrubRequest returns the part of a request that is kept after its end: secrets are redacted as
// in the record; rules that would hold its arguments are removed, and so is the digest, because a
// short secret could be guessed from it.
func scrubRequest(r Request) Request {
	r.Calls = scrubCalls(r.Calls)
	r.Reason = redact.ScrubText(r.Reason)
	r.Findings = redact.ScrubJSON(r.Findings)
	r.Digest = [32]byte{}
	r.Offers, r.NoOffer = nil, ""
	return r
}

func scrubCalls(calls []policy.Call) []policy.Call {
	out := make([]policy.Call, len(calls))
	for i, c := range calls {
		if c.Names != nil {
			names := make([]string, len(c.Names))
			for j, n := range c.Names {
				names[j] = redact.ScrubText(n)
			}
			c.Names = names
		}
		c.Server, c.Method = redact.ScrubText(c.Server), redact.ScrubText(c.Method)
		c.Args, c.Extra = redact.ScrubJSON(c.Args), redact.ScrubJSON(c.Extra)
		c.Malformed = redact.ScrubText(c.Malformed)
		out[i] = c
	}
	return out
}
