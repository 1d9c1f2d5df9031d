package view

import (
	"slices"
	"strings"
)

// inspectUnseen looks for the names of files that run later. It searches all texts of a call that
// may write, the names of its members, and each word of a patch. It is for calls that no person
// sees.
func (l *dangerFinder) inspectUnseen(leaves []leaf) {
	if !l.mayWrite {
		return
	}
	for i := range leaves {
		a := &leaves[i]
		l.matchPlaces(a.key)
		l.matchPlaces(a.text)
		if !slices.Contains(patchKeys, plainKey(a.key)) {
			continue
		}
		words := strings.Fields(a.text)
		for _, s := range words[:min(len(words), maxTokens)] {
			l.matchPlaces(s)
		}
		if len(words) > maxTokens {
			l.addFinding(whyTooLong, "")
		}
	}
}
