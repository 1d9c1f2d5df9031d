package view

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Offer is how far an answer can reach beyond one call: what it holds for until the
// session ends, and the rule that it writes.
type Offer struct {
	Scope   string // "exact", "file", "folder", "tool": the word on the command line
	Title   string // for people: "this tool in ~/projects/x"
	Session string // what an answer for the session lets through, for people: "Edit files below ~/projects/x"; "" when it does not reach so far
	Allow   string // the TOML that allows; "" when it cannot be written
	Deny    string // the TOML that denies; "" when it cannot be written
	Example string // a call it would let through beside this one; "" when there is none
}

// RuleText gives the TOML that an answer for good would write; "" when it cannot be written.
func (o *Offer) RuleText(allows bool) string {
	if allows {
		return o.Allow
	}
	return o.Deny
}

// ForSession lists how far an answer for the session can reach, the preset first: the
// folder where there is one, and then the narrower first. One of them is the call alone.
func ForSession(offers []Offer) []Offer {
	all := []Offer{{Scope: policy.Exact.String(), Title: "this exact call again, and no other", Session: "This exact call"}}
	for _, o := range offers {
		switch {
		case o.Session == "":
		case o.Scope == policy.Folder.String():
			all = slices.Insert(all, 0, o)
		default:
			all = append(all, o)
		}
	}
	return all
}
