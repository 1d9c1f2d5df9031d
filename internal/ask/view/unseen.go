package view

import (
	"slices"
	"strings"
)

// unseen looks in every text of a call that may write, whatever it is called, for what
// runs later: in names of members too, and in patches at each word.
func (l *dangerFinder) unseen(leaves []leaf) {
	if !l.mayWrite {
		return
	}
	for i := range leaves {
		a := &leaves[i]
		l.places(a.key)
		l.places(a.text)
		if !slices.Contains(patchKeys, plainKey(a.key)) {
			continue
		}
		words := strings.Fields(a.text)
		for _, s := range words[:min(len(words), maxTokens)] {
			l.places(s)
		}
		if len(words) > maxTokens {
			l.add(whyTooLong, "")
		}
	}
}
