package audit

import "bytes"

// span is a secret inside a text.
type span struct {
	from, to int
	kind     string
}

// findSecret returns the first secret in s at or after from. A text is read
// once, byte by byte; only a byte that can begin or announce a secret costs
// more than a look at a table.
func findSecret(s []byte, from int) (span, bool) {
	for i := from; i < len(s); i++ {
		if !announces[s[i]] {
			continue
		}
		var at span
		switch c := s[i]; c {
		case '=':
			at = assigned(s, i, from)
		case ':':
			if at = userinfo(s, i); at.to == 0 {
				at = assigned(s, i, from)
			}
		case '-':
			if n, kind := pemAt(s[i:]); n > 0 {
				at = span{i, i + n, kind}
			} else {
				at = flagged(s, i)
			}
		case 'B', 'b':
			at = bearer(s, i)
		default:
			if i > 0 && (isAlnum[s[i-1]] || s[i-1] == '_') {
				continue
			}
			if n, kind := shapeAt(s[i:]); n > 0 {
				at = span{i, i + n, kind}
			}
		}
		if at.to > at.from {
			return at, true
		}
	}
	return span{}, false
}

var announces = func() (t [256]bool) {
	for _, sh := range shapes {
		t[sh.start[0]] = true
	}
	for _, c := range "=:-eBb" {
		t[c] = true
	}
	return t
}()

// assigned reads name=value, name: value and "name":"value" around s[i].
func assigned(s []byte, i, from int) span {
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
	how := nameSecrecy(name)
	if how == harmless && (!inQuery || !isQuerySecret(name)) {
		return span{}
	}
	from, to := valueAfter(s, i+1, inQuery, bytes.EqualFold(name, []byte("authorization")) || bytes.HasSuffix(bytes.ToLower(name), []byte("cookie")))
	if how == counting && isNumber(s[from:to]) || !bytes.ContainsFunc(s[from:to], isWordRune) {
		return span{}
	}
	return span{from, to, "value"}
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
		return span{start + colon + 1, start + at, "password"}
	}
	if at < 16 && !bytes.HasPrefix(s[max(0, i-5):], []byte("http")) && !bytes.HasPrefix(s[max(0, i-4):], []byte("http")) {
		return span{} // ssh://git@host: a name, not a secret
	}
	return span{start, start + at, "password"}
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
	for to < len(s) && (isAlnum[s[to]] || bytes.IndexByte([]byte("-._~+/="), s[to]) >= 0) {
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
