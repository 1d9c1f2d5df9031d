package prove

import "strings"

// base tells whether the beginning of a text shows that the text is a path relative to the working
// directory. It follows the way in which package policy reads paths. The base is baseDoubtful if
// policy would need later characters to decide.
type base uint8

const (
	baseStart    base = iota // the text has no character yet
	baseDot                  // "."
	baseDots                 // ".."
	baseLetter               // a letter, which begins a drive if a colon follows, or else a word
	baseDrive                // a letter and a colon
	baseDollar               // "$"
	baseWord                 // a word, which is a scheme if a colon follows
	baseScheme               // a word and a colon
	baseRelative             // a relative path
	baseOther                // the text is no relative path
	baseDoubtful
)

// baseRunes returns the characters by which relative paths differ from other texts, if the language
// has only relative paths. Otherwise it returns "", because the difference does not matter.
func (l *lang) baseRunes() string {
	if l.relative {
		return `/.~$:%`
	}
	return ""
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

func (b base) nextBase(r rune) base {
	switch b {
	case baseStart:
		switch {
		case r == '/', r == '~':
			return baseOther
		case r == '.':
			return baseDot
		case r == '$':
			return baseDollar
		case r == '%':
			return baseDoubtful
		case isLetter(r):
			return baseLetter
		}
	case baseDot:
		if r == '.' {
			return baseDots
		}
	case baseDots:
		if r == '/' {
			return baseOther
		}
	case baseLetter, baseWord:
		switch {
		case r == ':' && b == baseLetter:
			return baseDrive
		case r == ':':
			return baseScheme
		case isLetter(r), strings.ContainsRune("0123456789+-.", r):
			return baseWord
		}
	case baseDrive:
		if r != ' ' {
			return baseOther
		}
	case baseDollar:
		if isLetter(r) || r == '_' || r == '{' {
			return baseOther
		}
	case baseScheme:
		if r == '/' || r == '\\' {
			return baseOther
		}
		return baseDoubtful
	default:
		return b
	}
	return baseRelative
}

// isRelative reports whether a text with this base is surely a relative path, and whether it
// perhaps is one.
func (b base) isRelative() (surely, perhaps bool) {
	switch b {
	case baseStart, baseDots, baseDrive, baseOther:
		return false, false
	case baseDoubtful:
		return false, true
	}
	return true, true
}

func baseOf(s string) base {
	b := baseStart
	for _, r := range s {
		b = b.nextBase(r)
	}
	return b
}
