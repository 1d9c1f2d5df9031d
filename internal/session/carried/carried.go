// Package carried finds what goes with a call that rules ask about: keys in its arguments,
// marks of what was withheld. The proxy's gate asks it, and the hook's.
package carried

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy"
)

// FindCarried looks into the arguments of a call and what stands beside them, or into the texts of a
// server's request, for the kinds that the policy's rules about calls name. Wanted says what
// else of them only the caller can find. shown gives the escapes as which characters were
// shown in what the session has read; nil where nothing is read.
func FindCarried(c *policy.Call, p gate.Policy, shown func() []string) ([]reply.Finding, reply.Wanted, error) {
	kinds, _ := p.Screens(policy.OnCall)
	wanted, err := WantedKinds(kinds, p)
	if err != nil {
		return nil, wanted, err
	}
	if wanted.Marker && shown != nil {
		wanted.Shown = shown()
	}
	all, err := reply.FindInCall([][]byte{c.Args, c.Extra}, c.RequestTexts(), wanted)
	return all, wanted, err
}

// WantedKinds reads kinds, those of the policy's packs among them.
func WantedKinds(kinds []string, p gate.Policy) (reply.Wanted, error) {
	var own []*inspect.Pack
	for _, pack := range p.Packs() {
		one, ok := pack.(*inspect.Pack)
		if !ok {
			return reply.Wanted{}, fmt.Errorf("nobody here looks for %s", pack.Kind())
		}
		own = append(own, one)
	}
	return reply.ParseWanted(kinds, own...)
}

// SumFindings gives findings by kind and place.
func SumFindings(all []reply.Finding) (sum []gate.Found) {
	for i := range all {
		f := &all[i]
		at := slices.IndexFunc(sum, func(s gate.Found) bool { return s.Kind == f.Kind && s.At == f.Pointer })
		if at < 0 {
			at = len(sum)
			sum = append(sum, gate.Found{Kind: f.Kind, At: f.Pointer})
		}
		sum[at].N++
	}
	return sum
}
