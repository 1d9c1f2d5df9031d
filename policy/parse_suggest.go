package policy

import (
	"fmt"
	"strings"
)

// maxSuggest is the longest word worth comparing.
const maxSuggest = 32

// suggest hints at the nearest right spelling, or else at all of them.
func suggest(word string, words []string, otherwise string) string {
	if near := nearest(word, words); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// nearest is the word that was probably meant; "" when none is near.
func nearest(word string, words []string) string {
	word = strings.ToLower(word)
	if word == "" || len(word) > maxSuggest {
		return ""
	}
	best, found := 3, ""
	for _, w := range words {
		d := distance(word, w)
		if len(word) > 2 && strings.HasPrefix(w, word) {
			d = min(d, 1)
		}
		if limit := (len(w) + 2) / 3; d <= limit && d < best {
			best, found = d, w
		}
	}
	return found
}

// distance counts the letters to insert, drop, change or swap with a neighbour
// to turn a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
