package prove

// manner is an extra condition on texts, beside the languages.
type manner uint8

const (
	free  manner = iota
	named        // not empty
	tidy         // in a shape that has no readings other than the text as written; see tidiness
)

// tidiness is the state of a small automaton that accepts tidy texts: paths without doubled or
// closing slashes, dot segments, escapes, a home folder, and blanks at the ends. Such a witness is
// easy to read. Other texts are tried only when no tidy text is found.
type tidiness uint8

const (
	atStart  tidiness = iota
	inLetter          // the text is one letter: a drive if a colon follows
	inWord            // the text is several letters: a scheme if "://" follows
	inName
	afterRoot       // the text is "/"
	afterSlash      // a name must follow
	afterDot        // after a dot or a blank: other characters of the name must follow
	afterColon      // "//" must follow
	afterColonSlash // after ":/"
	afterAuthority  // after "://"
	untidy
)

// nextState returns the state after a character.
func (t tidiness) nextState(m manner, r rune) tidiness {
	switch {
	case m != tidy:
		return inName
	case t == untidy:
		return untidy
	}
	switch r {
	case '/':
		return [...]tidiness{
			atStart: afterRoot, inLetter: afterSlash, inWord: afterSlash, inName: afterSlash,
			afterColon:      afterColonSlash,
			afterColonSlash: afterAuthority, afterAuthority: afterSlash,
			afterRoot: untidy, afterSlash: untidy, afterDot: untidy,
		}[t]
	case '.', ' ':
		if t == afterDot || t == afterColon || r == ' ' && t != inLetter && t != inWord && t != inName {
			return untidy
		}
		return afterDot
	case '~', '$', '%':
		if t == atStart || r == '%' {
			return untidy
		}
	case '\\':
		return untidy
	}
	switch {
	case t == afterColon, r == ':' && t != inWord:
		return untidy
	case r == ':':
		return afterColon
	case t == atStart && isLetter(r):
		return inLetter
	case (t == inLetter || t == inWord) && isLetter(r):
		return inWord
	}
	return inName
}

// mayEnd reports whether a text may end here.
func (t tidiness) mayEnd(m manner) bool {
	switch m {
	case tidy:
		return t == inLetter || t == inWord || t == inName || t == afterRoot
	case named:
		return t != atStart
	}
	return true
}
