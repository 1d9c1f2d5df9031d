package prove

// manner is a further condition on a text, besides the languages.
type manner uint8

const (
	free  manner = iota
	named        // the text is not empty
	tidy         // the text has only one reading: the text as written (tidiness)
)

// tidiness is the state of a small automaton for tidy texts: paths without doubled slashes, slashes
// at the end, dot segments, escapes, a home folder, and blanks at the ends. Such a text is easy to
// read in a witness. Other texts are tried only if there is no tidy one.
type tidiness uint8

const (
	atStart  tidiness = iota
	inLetter          // the text is one letter, which is a drive if a colon follows
	inWord            // the text is several letters, which are a scheme if "://" follows
	inName
	afterRoot       // the text is "/"
	afterSlash      // after a slash: a name must follow
	afterDot        // after a dot or a blank: another character of the name must follow
	afterColon      // after a colon: "//" must follow
	afterColonSlash // after ":/": a slash must follow
	afterAuthority  // after "://"
	untidy
)

// nextState returns the state after one more character.
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

// mayEnd reports whether a text that ends in this state is tidy.
func (t tidiness) mayEnd(m manner) bool {
	switch m {
	case tidy:
		return t == inLetter || t == inWord || t == inName || t == afterRoot
	case named:
		return t != atStart
	}
	return true
}
