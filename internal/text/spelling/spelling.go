// Package spelling finds the word that a person probably meant to type.
package spelling

// NearestWord returns the word that a person probably meant; "" if no word is similar enough. At
// most a third of a word's letters may differ.
func NearestWord(word string, words []string) string {
	best, found := 0, ""
	for _, w := range words {
		far := EditDistance(word, w)
		if far <= (len(w)+2)/3 && (found == "" || far < best) {
			best, found = far, w
		}
	}
	return found
}

// longest is the maximum length of a word that is compared, because some words come from strangers.
const longest = 256

// EditDistance returns the smallest number of edits that turn a into b. An edit adds, removes or
// changes a letter, or swaps two adjacent letters.
func EditDistance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
