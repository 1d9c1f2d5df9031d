package policy

import (
	"errors"
	"fmt"

	"github.com/clawai/clawai/policy/policytext"
)

// errMoved means that the policy's text is not the text that the rule was read from.
var errMoved = errors.New("the policy has changed since it was read; nothing is written")

// InsertAbove puts text, a rule, above rule r of the policy src, and above the comment lines
// directly above r. Every byte of src stays; the text takes on src's line ends and indentation.
// It must consist of whole lines without multi-line strings, as NarrowRule writes it.
//
// The error means that r is not in src, or that the result is not a valid policy.
func InsertAbove(src []byte, r Rule, text string) ([]byte, error) {
	out, found := policytext.InsertAbove(src, r.Index, r.Pos.Line, text)
	if !found {
		return nil, errMoved
	}
	if _, errs := parseSource(r.Pos.File, out); len(errs) > 0 {
		return nil, fmt.Errorf("the policy would not load with the new rule: %w", errs)
	}
	return out, nil
}
