package prove

// manner is an extra condition on texts, beside the languages.
type manner uint8

const (
	free  manner = iota
	named        // not empty
	tidy         // without readings other than the text as written, as far as its shape shows
)

// tidiness is a small automaton over the shape of a text: a path without
// doubled or closing slashes, dot segments, escapes, homes, and blanks at the
// ends. Such a witness is easy to read; other shapes are tried only when there
// is no tidy one.
type tidiness uint8

const (
	atStart  tidiness = iota
	inLetter          // one letter: a drive if a colon follows
	inWord            // letters: a scheme if :// follows
	inName
	afterRoot  // the text is "/"
	afterSlash // a name must follow
	afterDot   // also after a blank: a name must go on
	afterColon // // may follow
	afterColonSlash
	afterAuthority // ://
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
