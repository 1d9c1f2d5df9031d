package policy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/clawai/clawai/policy/policytext"
)

// errMoved means that the text of the policy has changed since the rule was read.
var errMoved = errors.New("the policy has changed since it was read; nothing is written")

// PlaceAbove returns the text of one or more rules in the form that must be written above rule r of
// the policy. If r comes from an extended text, or has the key "above" itself, the new rules get
// the key "above".
func (p *Policy) PlaceAbove(r Rule, text string) (string, error) {
	if r.Index < 0 || r.Index >= len(p.sources) || p.sources[r.Index].Rule != r {
		return "", errMoved
	}
	if name := cmp.Or(p.anchorOf(r.Index), p.sources[r.Index].above); name != "" {
		return policytext.PutAbove(text, name)
	}
	return text, nil
}

// InsertAbove puts text, which holds one or more rules, above rule r in src, the text of the
// policy. The rules go above the comment lines directly above r. Every byte of src stays. The new
// text gets src's line ends and indentation. The new text must consist of whole lines without
// multi-line strings; NarrowRule writes such a text. If r is a rule that the policy extends, the
// new text goes below the [[extends]], and the new rules get the key "above".
//
// The error means that r is not in src, or that the result is not a valid policy.
func (p *Policy) InsertAbove(src []byte, r Rule, text string) ([]byte, error) {
	text, err := p.PlaceAbove(r, text)
	if err != nil {
		return nil, err
	}
	s := &p.sources[r.Index]
	var out []byte
	var found bool
	switch {
	case s.from == "":
		out, found = policytext.InsertAbove(src, r.Pos.Line, text)
	case p.anchorOf(r.Index) == "":
		return nil, fmt.Errorf("the rule comes from %s, which the policy extends; write one of your own above it", s.from)
	default:
		out, found = policytext.InsertBelowExtension(src, s.entries-1, text)
	}
	if !found {
		return nil, errMoved
	}
	if _, errs := parseSource(r.Pos.File, out); len(errs) > 0 {
		return nil, fmt.Errorf("the policy would not load with the new rule: %w", errs)
	}
	return out, nil
}
