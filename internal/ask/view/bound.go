package view

import (
	"slices"
	"strings"
)

// ofBound are the reasons for care about a tool's place and purpose. The scope of a session
// answer states the same facts, so it may cover these reasons.
var ofBound = []string{whyOutside, whyNoFolder, whyShell}

// BoundReasons returns the reasons why a call needs care, without their examples. ok is false
// when a reason is about the content of this very call: then no answer to another call covers it.
func BoundReasons(dangers []string) (reasons []string, ok bool) {
	for _, d := range dangers {
		reason, _, _ := strings.Cut(d, ": ")
		if cut := strings.LastIndex(reason, " ("); cut > 0 && strings.HasSuffix(reason, " times)") {
			reason = reason[:cut]
		}
		if !slices.Contains(ofBound, reason) {
			return nil, false
		}
		reasons = append(reasons, reason)
	}
	return reasons, true
}
