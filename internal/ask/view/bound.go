package view

import (
	"slices"
	"strings"
)

// ofBound are the reasons for care that lie in where a tool works and what it is for.
// How far an answer for the session reaches says as much, so that it may cover them.
var ofBound = []string{whyOutside, whyNoFolder, whyShell}

// BoundReasons gives the reasons why a call needs care, without their examples. False means
// that one of them is about what this very call holds: no answer to another covers it.
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
