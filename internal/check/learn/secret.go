package learn

import (
	"path"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/textclass"
)

// secretGlobs returns the globs of keys and secrets. A learned policy denies them below every
// folder.
func secretGlobs() (globs []string) {
	for _, p := range textclass.SecretPlaces {
		globs = append(globs, p.Shut...)
	}
	return globs
}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, p := range textclass.SecretPlaces {
		for _, pattern := range p.Names {
			if ok, _ := path.Match(pattern, name); ok {
				return true
			}
		}
	}
	return false
}

// maxValue is the maximum length of a text in a learned policy.
const maxValue = 200

// isWritable reports whether a text may be in a learned policy: it is visible, has no wildcards,
// and does not look like a secret.
func isWritable(s string) bool {
	if s == "" || len(s) > maxValue || redact.IsRedacted(s) || strings.ContainsAny(s, `*?\%`) || strings.TrimSpace(s) != s {
		return false
	}
	for _, r := range s {
		if !textclass.IsSeen(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	if redact.ScrubText(s) != s {
		return false
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("/ =:,;&", r) }) {
		if looksRandom(word) {
			return false
		}
	}
	return true
}

// looksRandom reports whether a word looks random, like a token, a hash, or a name that is used
// only once.
func looksRandom(word string) bool {
	if len(word) < 16 {
		return false
	}
	digits, letters, turns, before := 0, 0, 0, ' '
	for _, r := range word {
		kind := ' '
		switch {
		case unicode.IsDigit(r):
			digits++
			kind = '0'
		case unicode.IsLetter(r):
			letters++
			kind = 'a'
		}
		if kind != before {
			turns++
		}
		before = kind
	}
	return digits >= 3 && letters >= 3 && turns >= 5
}
