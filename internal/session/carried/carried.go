// Package carried searches a call for data that rules ask about. Examples are secrets in the call's
// arguments, and the marks that stand for withheld data. The proxy's gate and the hook's gate use
// it.
package carried

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy"
)

// FindCarried searches the arguments and other data of a call for the kinds in wanted. In a
// server's request it searches the texts.
func FindCarried(c *policy.Call, wanted reply.Wanted) ([]reply.Finding, error) {
	return reply.FindInCall([][]byte{c.Args, c.Extra}, c.RequestTexts(), wanted)
}

// WantedKinds parses the names of kinds, including the kinds of the policy's packs.
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

// SumFindings counts findings by kind and place.
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
