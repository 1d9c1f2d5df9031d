package redact

import (
	"bytes"
	"strings"
)

// span is the place of a secret in a text.
type span struct {
	from, to int
	kind     string
}

// findSecret returns the first secret in s at or after the given offset. If another secret begins
// inside this secret and ends later, the span covers both, because the value of a name may end in
// the middle of a key.
func findSecret(s []byte, from int) (at span, found bool) {
	r := reading{s: s}
	if at, found = r.search(from, len(s), true); !found {
		return at, false
	}
	for next, nested := at.from, 0; next < at.to; nested++ {
		in, ok := r.search(next, at.to, false)
		if !ok {
			break
		}
		if in.to > at.to {
			at.to, at.kind = in.to, in.kind
		}
		if next = in.from + 1; nested >= maxNested {
			next = in.to
		}
	}
	return at, true
}

// maxNested is the maximum number of secrets inside one secret for which findSecret checks whether
// they end later.
const maxNested = 8

// reading is the search of one text. It remembers what it has read, so that no part of the text is
// read again for each word.
type reading struct {
	s       []byte
	unread  int                               // the first place where a search was given up, plus one; 0 for none
	token   struct{ from, to, end, dots int } // the last token that jwtAt has read
	brace   struct{ from, to int }            // the last braces that bracesAt has read
	address struct {                          // the last word that could be a JDBC address
		read, begin int
		jdbc, cut   bool // cut: the word begins before the part that was read
	}
	dsn struct {
		from, to int
		host     bool // the text between from and to ends with the host of a DSN
		searched bool
		any      bool // the text has the host of a DSN
	}
	commands int        // bytes that long searches for a program have read so far
	quotes   [2]int     // for each sort of quote, 1 + the index of the first such quote; 0: not known yet
	blocks   int        // bytes that were read in long YAML blocks so far
	kinds    *kindWords // places that name Kubernetes kinds; nil: not searched yet
	named    bool       // a search that ignores values of names has skipped, or may have skipped, such a value
}

// giveUp records that a secret may begin at this place, and that its end was not searched.
func (r *reading) giveUp(at int) {
	if r.unread == 0 || at < r.unread {
		r.unread = at + 1
	}
}

// search finds the first secret whose beginning, or whose first sign, is before the offset until.
// It goes through the text once, word by word, and skips what skipPlain skips. If the parameter
// named is false, search ignores the values of names.
func (r *reading) search(from, until int, named bool) (at span, found bool) {
	s := r.s
	for i := skipPlain(s, from, until); i < until; i = skipPlain(s, i, until) {
		c := s[i]
		if isWord[c] {
			begin := i
			if escaped := i > 0 && (s[i-1] == '\\' || s[i-1] == '%'); escaped || mayBegin(s, i) && (i == 0 || !isWord[s[i-1]]) {
				at = r.wordAt(i, from)
			}
			for ; i < len(s) && isWord[s[i]]; i++ {
				if s[i] == '_' && at.to == 0 && mayBegin(s, i+1) { // after an underscore, as in _KEY_ of Markdown or in example_KEY
					if at = r.formAt(i+1, from); at.to == 0 && beginsAt(s, i+1) {
						at = r.startAt(i+1, from)
					}
				}
			}
			if i-begin >= longWord && s[i-1] == 'k' && at.to == 0 {
				at = innerAt(s, i-len("_mmk"), from)
			}
		} else {
			switch {
			case announces[c] || c == '.' && i+7 < len(s) && s[i+7] == '.':
				at = r.markAt(i, from, named)
			case c == '[' || c == esc || c == csi:
				if end := terminalEscape(s, i); end > 0 && mayBegin(s, end) {
					at = r.startAt(end, from)
				}
			}
			i++
		}
		if at.to > at.from {
			if at.kind == placedKind && at.from > i { // the user name before this password may be a key too
				if in, ok := r.search(i, at.from, false); ok && in.from < at.from {
					at.from, at.to = in.from, max(in.to, at.to)
				}
			}
			return at, true
		}
		at.to = 0
	}
	return span{}, false
}

// skipPlain returns the next place in s[i:until] at which search may find something: the start of a
// word, or another byte. For most bytes it needs only one look into a table.
func skipPlain(s []byte, i, until int) int {
	if i > 0 && i < until && isWord[s[i]] && (signs[s[i-1]] == escapes || isWord[s[i-1]]) { // an escape, or the middle of a word
		return i
	}
	for i < until {
		switch signs[s[i]] {
		case letter, underscore:
			begin := i
			if mayBegin(s, i) {
				return begin
			}
			for {
				for i < len(s) && signs[s[i]] == letter {
					i++
				}
				if i == len(s) || signs[s[i]] != underscore {
					break
				}
				if mayBegin(s, i+1) {
					return begin
				}
				i++
			}
			if i-begin >= longWord && s[i-1] == 'k' {
				return begin
			}
		case nothing:
			i++
		case escapes:
			if i++; i < until && isWord[s[i]] {
				return i
			}
		case middle:
			if i+7 < len(s) && s[i+7] == '.' {
				return i
			}
			i++
		default:
			return i
		}
	}
	return i
}

// signs tells what skipPlain does at each byte.
var signs = func() (t [256]uint8) {
	for c := range t {
		switch {
		case isAlnum[c]:
			t[c] = letter
		case announces[c] || c == '[' || c == esc || c == csi:
			t[c] = mark
		}
	}
	t['_'], t['\\'], t['%'], t['.'] = underscore, escapes, escapes, middle
	return t
}()

const (
	nothing    uint8 = iota
	letter           // a letter or digit: the word continues
	underscore       // a word may also begin after it
	escapes          // a word may begin in the rest of an escape
	middle           // a dot that can separate the parts of a token
	mark             // a sign that can be in a secret, or before one
)

// longWord is the minimum length of a word that ends with k and can be a key of MaxMind.
const longWord = 40

const (
	esc = 0x1b
	csi = 0x9b // the second UTF-8 byte of U+009B
)

// terminalEscape returns the end of the terminal escape that begins at s[i]; 0 if there is none.
// s[i] may also be the bracket of the escape, because the ESC before it may be missing or written
// in another way.
func terminalEscape(s []byte, i int) (end int) {
	whole := s[i] != '['
	switch {
	case s[i] == csi && (i == 0 || s[i-1] != 0xc2):
		return 0
	case s[i] == esc && i+1 < len(s) && s[i+1] == '[':
		i++
	case s[i] == esc:
		for i++; i < len(s) && s[i] >= ' ' && s[i] < '0'; i++ {
		}
		if i < len(s) && s[i] >= '0' && s[i] <= '~' {
			return i + 1
		}
		return 0
	}
	for i++; i < len(s) && s[i] >= '0' && s[i] <= '?'; i++ {
	}
	if i == len(s) || s[i] < '@' || s[i] > '~' || !whole && s[i] != 'm' && s[i] != 'K' {
		return 0
	}
	return i + 1
}

// wordAt finds a secret in the word at s[i]. The word may begin with an escape, such as \n of JSON
// or %3D of a URL.
func (r *reading) wordAt(i, from int) span {
	if at := r.startAt(i, from); at.to > 0 || i == 0 {
		return at
	}
	switch r.s[i-1] {
	case '\\':
		if at := r.startAt(i+1, from); at.to > 0 {
			return at
		}
		if n := codeLength(r.s[i:]); n > 0 {
			return r.startAt(i+n, from)
		}
	case '%':
		return r.startAt(i+2, from)
	}
	return span{}
}

// codeLength returns the length of a character's code that follows a backslash, such as u0022, x1b
// or 033; 0 if there is none.
func codeLength(s []byte) int {
	n, of := 3, decimal
	switch {
	case len(s) > 0 && s[0] == 'u':
		n, of = 5, hexes
	case len(s) > 0 && s[0] == 'x':
		of = hexes
	}
	if len(s) < n || !ofClass(s[1:n], of) || classes[s[0]]&(decimal|lowerRest) == 0 {
		return 0
	}
	return n
}

// markAt finds a secret that begins after s[i], or that contains s[i].
func (r *reading) markAt(i, from int, named bool) (at span) {
	s := r.s
	switch s[i] {
	case '=':
		return r.assignmentAt(i, from, named)
	case ':':
		if at = userinfoSpan(s, i); at.to == 0 {
			at = r.dsnAt(i)
		}
		if at.to == 0 {
			at = pgpassAt(s, i)
		}
		if at.to == 0 {
			at = r.assignmentAt(i, from, named)
		}
		if at.to > 0 {
			return at
		}
	case '-':
		return r.dashAt(i, from, named)
	case '<':
		return r.elementAt(i, named)
	}
	return innerAt(s, i, from)
}

var announces = func() (t [256]bool) {
	for _, c := range "=:-|~<" {
		t[c] = true
	}
	return t
}()

// isWord is true for the bytes that a word can have.
var isWord = func() (t [256]bool) {
	t = isAlnum
	t['_'] = true
	return t
}()

// afterEscape reports whether a text ends with an escape: \n of JSON, %3D of a URL, [32m of a
// terminal. It returns false if the text ends with a word.
func afterEscape(before []byte) bool {
	n := len(before)
	if n > 1 && (before[n-1] == 'm' || before[n-1] == 'K') { // the last letter of a colour escape
		i := n - 2
		for i > 0 && n-i < 24 && before[i] >= '0' && before[i] <= '?' {
			i--
		}
		if before[i] == '[' {
			return true
		}
	}
	return n > 1 && before[n-2] == '\\' || n > 5 && before[n-6] == '\\' && before[n-5] == 'u' && ofClass(before[n-4:], hexes) || n > 2 && before[n-3] == '%' && classes[before[n-1]]&hexes != 0 && classes[before[n-2]]&hexes != 0
}

// beginsAt reports whether a word can begin at s[i]: after a sign, a character beyond ASCII, an
// escape, or underscores of Markdown.
func beginsAt(s []byte, i int) bool {
	n := i
	for n > 0 && s[n-1] == '_' && i-n < len("___") {
		n--
	}
	return n == 0 || !isWord[s[n-1]] || afterEscape(s[:n])
}

// dashAt finds a secret at a dash: a private key, an option, or a key that ends with the dash and a
// few characters after it.
func (r *reading) dashAt(i, from int, named bool) span {
	s := r.s
	n, unread := pemAt(s[i:])
	if unread {
		r.giveUp(i)
	}
	if n > 0 {
		return span{i, i + n, "pem"}
	}
	if i > 0 && isWord[s[i-1]] {
		return innerAt(s, i, from)
	}
	at := span{}
	if i == 0 || strings.IndexByte(" \t\n\"'", s[i-1]) >= 0 {
		at = r.credentialAt(i)
	}
	end := 0
	if at.to == 0 {
		end = secretFlag(s, i)
	}
	switch {
	case end == 0:
		return at
	case !named:
		r.named = true
		return span{}
	}
	begin, to := valueAfter(s, end, false, false)
	return span{begin, to, "value"}
}

// assignmentAt finds the value in name=value, name: value or "name":"value". The sign is s[i].
func (r *reading) assignmentAt(i, from int, named bool) span {
	s := r.s
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
	if classes[name[0]] == decimal || name[0] == 'm' || name[0] == 'K' { // the name is after a colour escape, whose last bytes look like a part of the name
		if n := bytes.IndexAny(name, "mK"); n >= 0 && n < len(name)-1 && afterEscape(s[from:start+n+1]) {
			name = name[n+1:]
		}
	}
	inQuery := s[i] == '=' && (start > 0 && strings.IndexByte("?&#", s[start-1]) >= 0 || bytes.HasSuffix(s[:start], []byte("&amp;")))
	if and := []byte("u0026"); start > 0 && s[start-1] == '\\' && bytes.HasPrefix(name, and) { // \u0026 is the & of an address in JSON
		name, inQuery = name[len(and):], s[i] == '='
	}
	level := nameSecrecy(name)
	if level == harmless && (!inQuery || !isQuerySecret(name)) {
		switch {
		case isValueName(name):
			return r.pairedAt(start, i, named)
		case s[i] == '=' && isNaming(name) && !bytes.EqualFold(name, []byte("id")):
			return r.namedElement(i, named)
		}
		if s[i] == ':' && len(name) <= len("dp") {
			if from, to := valueAfter(s[:min(len(s), i+maxKeyPart)], i+1, false, false); isKeyPart(s, from, name, s[from:to]) {
				return span{from, to, placedKind}
			}
		}
		return span{}
	}
	if s[i] == '=' && i+1 < len(s) && s[i+1] == '>' { // the form name => value
		i++
	}
	near := s
	if !named { // values of names are ignored, so return only a value that is recognized by its place
		r.named = true
		near = s[:min(len(s), i+maxLook)]
	}
	from, to := valueAfter(near, i+1, inQuery, isHeader(name))
	if level == counting && isNumber(near[from:to]) || !bytes.ContainsFunc(near[from:to], isWordRune) {
		return span{}
	}
	kind := ""
	switch {
	case inQuery && isSignature(name, near[from:to]):
		kind = "sas"
	case level == secret && isEnvironment(s, start, end, i, name) && isChosen(near[from:to]):
		kind = placedKind
	case level == secret && (isAccountKey(name, near[from:to]) || isNamedKey(name, near[from:to], inQuery, s[i] == ':')):
		kind = placedKind
	case level == secret && isRegistryKey(s[:start], name, near[from:to]):
		to = from + len(beforeMarkup(near[from:to]))
		kind = placedKind
	case level == secret && isAuth(name):
		to := from + len(beforeMarkup(near[from:to]))
		if !named && to == len(near) && ofClass(bytes.TrimRight(near[from:to], "="), alnum|slashes) {
			for near = s; to < len(s) && classes[s[to]]&(alnum|slashes) != 0; to++ {
			}
			for ; to < len(s) && s[to] == '='; to++ {
			}
		}
		if isPair(s[from:to]) {
			return span{from, to, "basic"}
		}
		if name[len(name)-1]|0x20 == 'n' { // n is the last letter of Authorization
			if from, to, is := authorizationSpan(s, from, to); is {
				return span{from, to, placedKind}
			}
		}
	}
	if kind == "" && level == secret && s[i] == '=' {
		end := to
		if quote := s[from-1]; isQuote(quote) {
			for end < len(s) && (s[end] == '\\' || s[end] == quote) {
				end++
			}
		} else if near[from] == '{' && !inQuery {
			end = from + braceEnd(near[from:min(len(near), from+maxLook)], to-from)
		}
		if c, is := r.connects(start, end, inQuery); is {
			from, to = valueAfter(s, i+1, inQuery, false)
			return span{from, r.settingEnd(from, to, &c), placedKind}
		}
	}
	switch {
	case kind != "":
		if to == len(near) { // the value may go on after the part that was read
			from, to = valueAfter(s, i+1, inQuery, isHeader(name))
		}
		return span{from, to, kind}
	case !named:
		return span{}
	}
	return span{from, to, "value"}
}

// isRegistryKey reports whether value is the credential of an npm registry. In .npmrc the address
// of the registry and a colon are before the name.
func isRegistryKey(before, name, value []byte) bool {
	switch string(name) {
	case "_auth", "_authToken", "_password":
		return bytes.HasSuffix(before, []byte("/:")) && len(value) >= 16 && bytes.ContainsAny(value, "0123456789")
	}
	return false
}

// isHeader reports whether the value of a name is the whole rest of the line, as for a header.
func isHeader(name []byte) bool {
	for _, end := range []string{"authorization", "cookie"} {
		if len(name) >= len(end) && bytes.EqualFold(name[len(name)-len(end):], []byte(end)) {
			return true
		}
	}
	return false
}

// isAuth reports whether programs store credentials of Basic authentication under this name.
func isAuth(name []byte) bool {
	const auth = "auth"
	return isHeader(name) || len(name) >= len(auth) && bytes.EqualFold(name[len(name)-len(auth):], []byte(auth))
}

// valueAfter returns the range of the value at s[i]. The value is in quotes, or is a whole header
// line, or ends at the next separator.
func valueAfter(s []byte, i int, inQuery, header bool) (from, to int) {
	for i < len(s) && !inQuery && (s[i] == ' ' || s[i] == '\t' || s[i] == '\\') {
		i++
	}
	if i < len(s) && s[i] == '&' && !inQuery {
		if from, to = referenceSpan(s, i); to >= 0 {
			return from, to
		}
		i = from
	}
	stop := []byte(" \t\r\n\"'`\\,;&)}]>|")
	switch {
	case inQuery:
		stop = []byte("&# \t\r\n\"'`<>\\")
	case i < len(s) && isQuote(s[i]):
		if end := quotedEnd(s, i); end >= 0 {
			return i + 1, end
		}
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

// userinfoSpan finds the password in scheme://user:password@. s[i] is the colon.
func userinfoSpan(s []byte, i int) span {
	if i == 0 || !isAlnum[s[i-1]] || !bytes.HasPrefix(s[i:], []byte("://")) {
		return span{}
	}
	start := i + len("://")
	authority := s[start:]
	if n := bytes.IndexAny(authority, "/?#\\ \t\r\n\"'<>"); n >= 0 {
		authority = quotedAuthority(s, i, start, start+n)
	}
	at := bytes.LastIndexByte(authority, '@')
	if at < 0 && bytes.IndexByte(authority, ':') >= 0 {
		return rawPassword(s, i, start, len(authority))
	}
	if at <= 0 {
		return span{}
	}
	if colon := bytes.IndexByte(authority[:at], ':'); colon >= 0 {
		return span{start + colon + 1, start + at, placedKind}
	}
	if at < 16 && !bytes.HasPrefix(s[max(0, i-5):], []byte("http")) && !bytes.HasPrefix(s[max(0, i-4):], []byte("http")) {
		return span{} // ssh://git@host has a name but no secret
	}
	return span{start, start + at, placedKind}
}

// quotedAuthority returns the authority that begins at s[start]. s[end] is the first sign that may
// end it. A password may contain quotes, but not the quote that encloses the address.
func quotedAuthority(s []byte, i, start, end int) []byte {
	colon := bytes.IndexByte(s[start:end], ':') + 1
	if colon == 0 || !isQuote(s[end]) || len(bytes.Trim(s[start+colon:end], "0123456789")) == 0 {
		return s[start:end]
	}
	rest := s[start:min(len(s), end+maxLook)]
	if n := bytes.IndexAny(rest, "/?#\\ \t\r\n<>"); n >= 0 {
		rest = rest[:n]
	}
	rest = rest[:outerEnd(s, i, start, start+len(rest))-start]
	if at := bytes.LastIndexByte(rest, '@'); at < end-start || at+1 == len(rest) || classes[rest[at+1]]&alnum == 0 && rest[at+1] != '[' {
		return s[start:end]
	}
	return rest
}

// rawPassword finds a password that contains an unescaped /, # or ?, which drivers of databases
// accept. s[start] begins an authority of n bytes that has a colon but no @. A browser would end
// the authority at such a sign and would take the text before it for a host and a port.
func rawPassword(s []byte, i, start, n int) span {
	scheme := i
	for scheme > 0 && (isAlnum[s[scheme-1]] || s[scheme-1] == '+') && i-scheme < maxScheme {
		scheme--
	}
	for _, plain := range plainSchemes {
		if bytes.EqualFold(s[scheme:i], []byte(plain)) {
			return span{}
		}
	}
	colon := start + bytes.IndexByte(s[start:start+n], ':')
	port := bytes.TrimLeft(s[colon+1:start+n], "0123456789")
	rest := s[colon+1 : min(len(s), colon+1+maxLook)]
	if end := bytes.IndexAny(rest, "\\ \t\r\n\"'<>`"); end >= 0 {
		rest = rest[:end]
	}
	host := bytes.LastIndexByte(rest, '@')
	switch {
	case len(port) == 0 || port[0] == ',' || colon == start+n-1:
	case host < n-(colon+1-start) || host+1 == len(rest) || classes[rest[host+1]]&alnum == 0:
	default:
		return span{colon + 1, colon + 1 + host, placedKind}
	}
	return span{}
}

const maxScheme = 24

// plainSchemes are schemes whose programs end the host at the first slash.
var plainSchemes = [...]string{"http", "https", "ws", "wss", "ssh", "git", "git+ssh", "git+https", "svn+ssh", "file", "docker", "oci"}

// secretFlag returns the end of an option whose value is a secret and follows a blank, such as
// --password; 0 for other text.
func secretFlag(s []byte, i int) int {
	if i > 0 && s[i-1] != ' ' || !bytes.HasPrefix(s[i:], []byte("--")) {
		return 0
	}
	n := i + 2
	for n < len(s) && (isAlnum[s[n]] || s[n] == '-' || s[n] == '_') {
		n++
	}
	if n == len(s) || s[n] != ' ' || nameSecrecy(s[i+2:n]) != secret {
		return 0
	}
	return n
}

// bearerSpan finds the token in "Bearer TOKEN" (RFC 6750). A token without a digit is a word of
// prose.
func bearerSpan(s []byte, i int) span {
	const word = "bearer "
	if len(s)-i < len(word)+8 || !bytes.EqualFold(s[i:i+len(word)], []byte(word)) {
		return span{}
	}
	from := skipBytes(s, i+len(word), " ")
	to, digit := from, false
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
