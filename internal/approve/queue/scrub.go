package queue

import (
	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// scrubbed is what stays of a request when nobody has to decide it any more:
// secrets are redacted as in the record, rules that would hold its arguments
// are gone, and so is the digest, with which a short secret could be tried out.
func scrubbed(r Request) Request {
	r.Calls = scrubCalls(r.Calls)
	r.Reason = audit.ScrubText(r.Reason)
	r.Findings = audit.ScrubJSON(r.Findings)
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
				names[j] = audit.ScrubText(n)
			}
			c.Names = names
		}
		c.Server, c.Method = audit.ScrubText(c.Server), audit.ScrubText(c.Method)
		c.Args, c.Extra = audit.ScrubJSON(c.Args), audit.ScrubJSON(c.Extra)
		c.Malformed = audit.ScrubText(c.Malformed)
		out[i] = c
	}
	return out
}
