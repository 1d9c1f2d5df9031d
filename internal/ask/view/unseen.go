package view

import (
	"slices"
	"strings"
)

// inspectUnseen searches every text of a call that may write, whatever its member's name, for
// files that run later: also member names, and each word of a patch.
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
