package widen

import (
	"encoding/json"

	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/policy"
)

// maxTried is the maximum number of globs in a rule that are tried for an example.
const maxTried = 16

// ShowRules returns, for each rule that opens tools of a server, an example call that the two
// policies answer differently. The examples come from the last globs of the rule. A rule without
// such an example is left out.
func ShowRules(old, next *policy.Policy, server string) (all []diff.Change) {
	sources := next.Sources()
	for i := range sources {
		s := &sources[i]
		if !opens(s) || s.Servers != nil && !meetAny(s.Servers, []string{server}) {
			continue
		}
		for back := range maxTried {
			call := sampleCall(s, server, back)
			was, is := old.Decide(call), next.Decide(call)
			before, after := diff.Answer{Action: was.Action, Rule: was.Rule}, diff.Answer{Action: is.Action, Rule: is.Rule}
			if kind := diff.KindOf(before, after); kind != "" {
				all = append(all, diff.Change{Kind: kind, Old: before, New: after, Example: call})
				break
			}
		}
	}
	return all
}

// sampleCall returns a call that a rule matches. Each argument has a text that one glob of the rule
// matches. The parameter back is the number of globs after this glob; if the rule has too few
// globs, the first glob is used.
func sampleCall(s *policy.Source, server string, back int) *policy.Call {
	args := map[string]any{}
	for _, a := range s.Args {
		setMember(args, a.Path, sample(a.Globs[max(len(a.Globs)-1-back, 0)]))
	}
	return newCall(s, server, args)
}

// newCall returns a call of the first tool in a rule.
func newCall(s *policy.Source, server string, args map[string]any) *policy.Call {
	src, _ := json.Marshal(args) // the error is ignored, because texts and objects can always be encoded
	return &policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{sampleName(s.Names[0])}, Args: src, Screened: true}
}
