package gate

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// A refusal quotes nothing that the gate must mask, and the call stays as it is.
func TestMaskDenial(t *testing.T) {
	d := mcp.Denial{What: policy.Call{Method: "a secret/call", Names: []string{"t", "the secret"}}, Reason: "no secret", Description: "a secret of the owner's rule"}
	for _, mask := range []func(string) string{nil, func(text string) string { return strings.ReplaceAll(text, "secret", "mark") }} {
		s := sessionOf(t, newJournal(), byName, Options{Mask: mask})
		got := s.MaskDenial(d)
		want := "a secret/call the secret no secret"
		if mask != nil {
			want = mask(want)
		}
		if is := got.What.Method + " " + got.What.Names[1] + " " + got.Reason; is != want || got.Description != d.Description || d.What.Names[1] != "the secret" {
			t.Errorf("%q, not %q", is, want)
		}
	}
}
