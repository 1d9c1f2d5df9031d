package shell

import (
	"slices"
	"strings"
	"testing"
)

// A path goes up if one of its parts is "..".
func TestGoesUp(t *testing.T) {
	parts := []string{"", "a", ".", "..", "...", "a..", "..a"}
	ends := []string{"/", `\`, "=", ":", ",", " "}
	for _, a := range parts {
		for _, b := range parts {
			for _, end := range ends {
				for _, text := range []string{a + end + b, end + a + b, a + b + end} {
					want := slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`/\=:,`, r) }), "..")
					if goesUp(text) != want {
						t.Errorf("%q: want %v", text, want)
					}
				}
			}
		}
	}
}
