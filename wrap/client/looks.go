package client

import (
	"slices"
	"strings"
	"unicode"
)

// visibleLength returns how many bytes of a word of a command line may be shown. The rest of the
// word must be hidden. It is one of these:
//   - the query of a URL
//   - random-looking text in the path of a URL
//   - the random-looking value of a one-letter option, because the meaning of the option is unknown
//
// The parameter before is the previous word, which may be the option.
func visibleLength(word, before string) int {
	if strings.Contains(word, "://") {
		return visibleURLLength(word)
	}
	letter, value := shortOption(before), word
	if letter == "" {
		if letter = shortOption(word); letter == "" {
			return len(word)
		}
		value = word[len(letter):]
	}
	if looksRandom(value) {
		return len(word) - len(value)
	}
	return len(word)
}

// shortOption returns the one-letter option at the start of a word: -k for the words -k and
// -kVALUE, and -k= for the word -k=VALUE. It returns "" if there is none.
func shortOption(word string) string {
	if len(word) < 2 || word[0] != '-' || !unicode.IsLetter(rune(word[1])) {
		return ""
	}
	if len(word) > 2 && word[2] == '=' {
		return word[:3]
	}
	return word[:2]
}

func visibleURLLength(word string) int {
	path := strings.Index(word, "://") + len("://")
	if slash := strings.IndexAny(word[path:], "/?#"); slash >= 0 {
		path += slash
	} else {
		return len(word)
	}
	end := len(word)
	if query := strings.IndexAny(word[path:], "?#"); query >= 0 {
		end = path + query + 1
		if value := strings.IndexByte(word[end:], '='); value >= 0 {
			end += value + 1
		}
	}
	for _, run := range runs().FindAllStringIndex(word[path:end], -1) {
		if isMixed(word[path+run[0] : path+run[1]]) {
			return path + run[0]
		}
	}
	return end
}

// runs matches a run of 10 or more letters and digits.
var runs = lazyPattern(`[A-Za-z0-9]{10,}`)

// looksRandom reports whether a value looks random. Words, names, versions, paths, hosts and
// packages do not look random.
func looksRandom(value string) bool {
	if strings.ContainsAny(value, " \t\\@:") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, ".") || strings.HasPrefix(value, "~") {
		return false
	}
	if strings.Contains(value, "/") {
		return len(value) >= 32 && isMixed(strings.ReplaceAll(value, "/", "")) // long enough for base64, which can have slashes
	}
	return slices.ContainsFunc(runs().FindAllString(value, -1), isMixed)
}

// isMixed reports whether a run changes between letters and digits, or from small letters to
// capitals, more often than a name does.
func isMixed(run string) bool {
	if !strings.ContainsAny(run, "0123456789") {
		return false
	}
	turns, last := 0, 0
	for _, c := range run {
		kind := 1
		switch {
		case unicode.IsDigit(c):
			kind = 2
		case unicode.IsUpper(c):
			kind = 3
		}
		if last != 0 && kind != last && (last != 3 || kind != 1) { // do not count a capital before small letters, as in CamelCase
			turns++
		}
		last = kind
	}
	return turns >= 3
}
