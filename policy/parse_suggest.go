package policy

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/spelling"
)

// maxSuggest is the length of the longest word for which nearestWord searches.
const maxSuggest = 32

// suggestWord returns a hint with the nearest of the words, or fallback if no word is near.
func suggestWord(word string, words []string, fallback string) string {
	if near := nearestWord(word, words); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return fallback
}

// nearestWord returns the word that the author probably meant; "" if no word is near.
func nearestWord(word string, words []string) string {
	word = strings.ToLower(word)
	if word == "" || len(word) > maxSuggest {
		return ""
	}
	best, found := 3, ""
	for _, w := range words {
		d := spelling.EditDistance(word, w)
		if len(word) > 2 && strings.HasPrefix(w, word) {
			d = min(d, 1)
		}
		if limit := (len(w) + 2) / 3; d <= limit && d < best {
			best, found = d, w
		}
	}
	return found
}
