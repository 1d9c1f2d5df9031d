package redact

import "bytes"

// span is a secret inside a text.
type span struct {
	from, to int
	kind     string
}

// findSecret returns the first secret in s at or after from. A text is read once,
// word by word: only where a word begins, and at the few bytes that announce a
// secret, is more looked at than a table.
func findSecret(s []byte, from int) (at span, found bool) { return search(s, from, true) }

// search is findSecret; named is whether the value of a name is one.
func search(s []byte, from int, named bool) (at span, found bool) {
	for i := from; i < len(s); {
		c := s[i]
		if isWord[c] {
			begin := i
			if escaped := i > 0 && (s[i-1] == '\\' || s[i-1] == '%'); escaped || mayBegin(s, i) && (i == 0 || !isWord[s[i-1]]) {
				at = wordAt(s, i, from)
			}
			for i++; i < len(s) && isWord[s[i]]; i++ {
				if s[i] == '_' && at.to == 0 && mayBegin(s, i+1) { // example_KEY
					at = formAt(s, i+1, from)
				}
			}
			if i-begin >= 40 && s[i-1] == 'k' && at.to == 0 {
				at = innerAt(s, i-len("_mmk"), from)
			}
		} else {
			if announces[c] || c == '.' && i+7 < len(s) && s[i+7] == '.' {
				at = markAt(s, i, from, named)
			}
			i++
		}
		if at.to > at.from {
			return at, true
		}
		at.to = 0
	}
	return span{}, false
}

// wordAt looks at the word that begins at s[i], and behind an escape that it may
// begin with, such as \n of JSON in a text or %3D of a URL.
func wordAt(s []byte, i, from int) span {
	if at := startAt(s, i, from); at.to > 0 || i == 0 {
		return at
	}
	switch s[i-1] {
	case '\\':
		return startAt(s, i+1, from)
	case '%':
		return startAt(s, i+2, from)
	}
	return span{}
}

// markAt looks at a byte that announces a secret, or stands inside one.
func markAt(s []byte, i, from int, named bool) (at span) {
	switch s[i] {
	case '=':
		return assigned(s, i, from, named)
	case ':':
		if at = userinfo(s, i); at.to == 0 {
			at = dsnAt(s, i)
		}
		if at.to == 0 {
			at = assigned(s, i, from, named)
		}
		if at.to > 0 {
			return at
		}
	case '-':
		return dashed(s, i, from, named)
	}
	return innerAt(s, i, from)
}

var announces = func() (t [256]bool) {
	for _, c := range "=:-|~" {
		t[c] = true
	}
	return t
}()

// isWord are the bytes that a word's later ones stand behind.
var isWord = func() (t [256]bool) {
	t = isAlnum
	t['_'] = true
	return t
}()

// afterEscape: what looks like the end of a word is that of an escape, such as \n
// of JSON in a text or %3D of a URL.
func afterEscape(before []byte) bool {
	n := len(before)
	return n > 1 && before[n-2] == '\\' || n > 2 && before[n-3] == '%' && classes[before[n-1]]&hexes != 0 && classes[before[n-2]]&hexes != 0
}

// dashed reads what a dash begins: a private key, an option, or the end of a key.
func dashed(s []byte, i, from int, named bool) span {
	if n, kind := pemAt(s[i:]); n > 0 {
		return span{i, i + n, kind}
	}
	if i > 0 && isWord[s[i-1]] {
		return innerAt(s, i, from)
	}
	at := span{}
	if i == 0 || s[i-1] == ' ' {
		at = credentialAt(s, i, from)
	}
	if at.to == 0 && named {
		at = flagged(s, i)
	}
	return at
}

// assigned reads name=value, name: value and "name":"value" around s[i].
func assigned(s []byte, i, from int, named bool) span {
	end := i
	for end > from && (s[end-1] == ' ' || s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') {
		end--
	}
	start := end
	for start > from && end-start < 64 && (isAlnum[s[start-1]] || bytes.IndexByte([]byte("_-.%"), s[start-1]) >= 0) {
		start--
	}
	name := s[start:end]
	if len(name) == 0 {
		return span{}
	}
	inQuery := s[i] == '=' && start > 0 && (s[start-1] == '?' || s[start-1] == '&' || s[start-1] == '#')
	level := nameSecrecy(name)
	if !named { // only what the place of a value gives away is more than the value of a name
		s = s[:min(len(s), i+maxLook)]
	}
	if level == harmless && (!inQuery || !isQuerySecret(name)) {
		return span{}
	}
	if s[i] == '=' && i+1 < len(s) && s[i+1] == '>' { // name => value
		i++
	}
	from, to := valueAfter(s, i+1, inQuery, isHeader(name))
	if level == counting && isNumber(s[from:to]) || !bytes.ContainsFunc(s[from:to], isWordRune) {
		return span{}
	}
	switch {
	case inQuery && signature(name, s[from:to]):
		return span{from, to, "sas"}
	case level == secret && isAuth(name) && isPair(s[from:to]):
		return span{from, to, "basic"}
	case level == secret && s[i] == '=' && connects(s, start, to):
		return span{from, to, placedKind}
	case !named:
		return span{}
	}
	return span{from, to, "value"}
}

// isHeader says whether all of the line behind a name is its value.
func isHeader(name []byte) bool {
	for _, end := range []string{"authorization", "cookie"} {
		if len(name) >= len(end) && bytes.EqualFold(name[len(name)-len(end):], []byte(end)) {
			return true
		}
	}
	return false
}

// isAuth reports a name under which programs keep what Basic authentication sends.
func isAuth(name []byte) bool {
	const auth = "auth"
	return isHeader(name) || len(name) >= len(auth) && bytes.EqualFold(name[len(name)-len(auth):], []byte(auth))
}

// valueAfter finds the value that begins at s[i]: quoted, a whole header line,
// or up to the next separator.
func valueAfter(s []byte, i int, inQuery, header bool) (from, to int) {
	for i < len(s) && !inQuery && (s[i] == ' ' || s[i] == '\t' || s[i] == '\\') {
		i++
	}
	stop := []byte(" \t\r\n\"'`\\,;&)}]>|")
	switch {
	case inQuery:
		stop = []byte("&# \t\r\n\"'`<>\\")
	case i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`'):
		stop = []byte{s[i], '\\'}
		i++
	case header:
		stop = []byte("\r\n\"'`\\")
	}
	n := bytes.IndexAny(s[i:], string(stop))
	if n < 0 {
		return i, len(s)
	}
	return i, i + n
}

// userinfo reads scheme://user:password@ with the colon at s[i].
func userinfo(s []byte, i int) span {
	if i == 0 || !isAlnum[s[i-1]] || !bytes.HasPrefix(s[i:], []byte("://")) {
		return span{}
	}
	start := i + len("://")
	authority := s[start:]
	if n := bytes.IndexAny(authority, "/?#\\ \t\r\n\"'<>"); n >= 0 {
		authority = authority[:n]
	}
	at := bytes.LastIndexByte(authority, '@')
	if at <= 0 {
		return span{}
	}
	if colon := bytes.IndexByte(authority[:at], ':'); colon >= 0 {
		from := start + colon + 1
		if own, found := findSecret(authority[:colon], 0); found && own.kind != "value" { // a key as the name
			from = start
		}
		return span{from, start + at, placedKind}
	}
	if at < 16 && !bytes.HasPrefix(s[max(0, i-5):], []byte("http")) && !bytes.HasPrefix(s[max(0, i-4):], []byte("http")) {
		return span{} // ssh://git@host: a name, not a secret
	}
	return span{start, start + at, placedKind}
}

// flagged reads --password VALUE.
func flagged(s []byte, i int) span {
	if i > 0 && s[i-1] != ' ' || !bytes.HasPrefix(s[i:], []byte("--")) {
		return span{}
	}
	n := i + 2
	for n < len(s) && (isAlnum[s[n]] || s[n] == '-' || s[n] == '_') {
		n++
	}
	if n == len(s) || s[n] != ' ' || nameSecrecy(s[i+2:n]) != secret {
		return span{}
	}
	from, to := valueAfter(s, n, false, false)
	return span{from, to, "value"}
}

// bearer reads "Bearer TOKEN" (RFC 6750); a token without a digit is prose.
func bearer(s []byte, i int) span {
	const word = "bearer "
	if len(s)-i < len(word)+8 || !bytes.EqualFold(s[i:i+len(word)], []byte(word)) {
		return span{}
	}
	from, to, digit := i+len(word), i+len(word), false
	for to < len(s) && (isAlnum[s[to]] || bytes.IndexByte([]byte("-._~+/=|:%@"), s[to]) >= 0) {
		digit = digit || s[to] >= '0' && s[to] <= '9'
		to++
	}
	if !digit || to-from < 8 {
		return span{}
	}
	return span{from, to, "bearer"}
}

func isWordRune(r rune) bool { return r > 127 || isAlnum[byte(r)] }

func isNumber(s []byte) bool {
	return len(s) > 0 && len(bytes.Trim(s, "0123456789.,")) == 0
}
