package view

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Offer is one possible scope of an answer that is for more than one call. It says what a session
// answer would allow, and which rule a lasting answer would write.
type Offer struct {
	Scope   string // "exact", "file", "folder" or "tool", as on the command line
	Title   string // for people: "this tool in ~/projects/x"
	Session string // what a session answer would allow, for people: "Edit files below ~/projects/x"; "" if there is no session answer of this scope
	Allow   string // TOML of the rule that allows; "" if it cannot be written
	Deny    string // TOML of the rule that denies; "" if it cannot be written
	Example string // another call that the rule would allow; "" if none is known
}

// ScopeLabel returns a short label of a scope for lists.
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

// RuleText returns the TOML that a lasting answer would write; "" if it cannot be written.
func (o *Offer) RuleText(allows bool) string {
	if allows {
		return o.Allow
	}
	return o.Deny
}

// ForSession lists the possible scopes of a session answer. A folder comes first, because it is
// selected at the start; the others are sorted from narrow to wide. One scope is the call alone.
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
