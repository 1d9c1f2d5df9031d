package view

import (
	"slices"
	"strings"
)

// ofBound are the reasons for care that come from a tool's place or purpose. A session answer can
// cover these reasons, because its scope tells the person the same facts.
var ofBound = []string{whyOutside, whyNoFolder, whyShell}

// BoundReasons returns the reasons why a call needs care, without their examples. ok is false if a
// reason is about the content of this one call. An answer to another call cannot cover such a
// reason.
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
