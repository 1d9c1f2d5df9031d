package view

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Offer is one possible scope of an answer beyond one call: what a session answer covers, and the
// rule that a lasting answer writes.
type Offer struct {
	Scope   string // "exact", "file", "folder", "tool": the word on the command line
	Title   string // for people: "this tool in ~/projects/x"
	Session string // what a session answer allows, for people: "Edit files below ~/projects/x"; "" when a session answer cannot have this scope
	Allow   string // the TOML that allows; "" when it cannot be written
	Deny    string // the TOML that denies; "" when it cannot be written
	Example string // another call that the rule would allow; "" when none is known
}

// ScopeLabel returns the label of a scope where each has one line.
func ScopeLabel(scope string) string {
	switch scope {
	case "exact":
		return "This exact call"
	case "file":
		return "This file, whatever else"
	case "folder":
		return "Its folder"
	}
	return "All of it"
}

// RuleText returns the TOML that a lasting answer would write; "" when it cannot be written.
func (o *Offer) RuleText(allows bool) string {
	if allows {
		return o.Allow
	}
	return o.Deny
}

// ForSession lists the possible scopes of a session answer, the preset first: the folder if there
// is one, then the narrower ones first. One of them is the call alone.
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
