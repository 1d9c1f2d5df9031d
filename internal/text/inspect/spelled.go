package inspect

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/textclass"
)

// A key whose form is known is also found if the text spells the key in another way: with escapes
// or HTML references, with tags or invisible characters between its letters, or encoded. A reader
// of the text can read the key from each of these spellings.

// respelledSecrets returns the keys that the text spells in another way, in order.
func (f *findings) respelledSecrets() (known []redact.Span) {
	known = f.escapedSecrets()
	for _, s := range packedSecrets(f.text) {
		known = insertSpan(known, s)
	}
	return known
}

// insertSpan inserts a span into a sorted list. It merges the span with spans that it overlaps.
func insertSpan(known []redact.Span, s redact.Span) []redact.Span {
	from, _ := slices.BinarySearchFunc(known, s, func(k, s redact.Span) int { return k.End - s.Start - 1 })
	to := from
	for ; to < len(known) && known[to].Start < s.End; to++ {
		s.Start, s.End = min(s.Start, known[to].Start), max(s.End, known[to].End)
	}
	return slices.Replace(known, from, to, s)
}

// hasForm reports whether a secret is a key that was found by its form, and is not an example.
func hasForm(secret string, s redact.Span) bool {
	return !s.Named && !s.Placed && s.Kind != "bearer" && isGenuine(secret, s)
}

// escapedSecrets finds keys in runs of letters. At least one letter of the run must be spelled in
// another way, or there must be something invisible between letters. It searches the plain letters
// of each run as one word.
func (f *findings) escapedSecrets() (known []redact.Span) {
	t := f.text
	for i, read := 0, 0; ; {
		if i = nextRespelled(t, i); i == len(t) {
			return known
		}
		if isQuote[t[i]] && !mayJoin(t, i) {
			i++
			continue
		}
		c, n := f.respellAt(i)
		if n == 0 || c != 0 && !keyLetters[c] {
			i += max(n, 1)
			continue
		}
		start := i
		for start > read && keyLetters[t[start-1]] {
			start--
		}
		word, from := append(f.word[:0], t[start:i]...), f.from[:0]
		for at := start; at < i; at++ {
			from = append(from, at)
		}
		for i < len(t) {
			c, n := t[i], 1
			if respells[c] {
				if said, length := f.respellAt(i); length > 0 {
					c, n = said, length
				}
			}
			if c == 0 && n > 0 && respells[t[i]] {
				i += n
				continue
			}
			if !keyLetters[c] {
				break
			}
			word, from = append(word, c), append(from, i)
			i += n
		}
		read, f.word, f.from = i, word, from
		if i < len(t) {
			i++
		}
		if len(word) < leastKey {
			continue
		}
		reading := redact.ReadBytes(word)
		for at := 0; ; {
			s, found := reading.FindUnnamed(at)
			if !found {
				break
			}
			at = max(s.End, at+1)
			if !hasForm(string(word[s.Start:s.End]), s) {
				continue
			}
			end := read
			if s.End < len(from) {
				end = from[s.End]
			}
			known = append(known, redact.Span{Start: from[s.Start], End: end, Kind: s.Kind})
		}
	}
}

// nextRespelled returns the next offset, from i on, at which respell may find something; the length
// of the text if there is none.
func nextRespelled(t string, i int) int {
	for ; i+8 <= len(t); i += 8 { // eight bytes at a time, because such places are rare
		if next := t[i : i+8]; respells[next[0]] || respells[next[1]] || respells[next[2]] || respells[next[3]] || respells[next[4]] || respells[next[5]] || respells[next[6]] || respells[next[7]] {
			break
		}
	}
	for i < len(t) && !respells[t[i]] {
		i++
	}
	return i
}

// leastKey is the minimum length of a key in another spelling.
const leastKey = 20

// keyLetters is true for the bytes that a key of a known form may contain.
var keyLetters = func() (t [256]bool) {
	t = base64Letters
	for _, c := range []byte(".~=:|") {
		t[c] = true
	}
	return t
}()

// respells is true for the first bytes of all spellings that respellAt can read.
var respells = func() (t [256]bool) {
	for _, c := range []byte("%&\\=<\x00\x1b\"'`") {
		t[c] = true
	}
	for c := utf8.RuneSelf; c < len(t); c++ {
		t[c] = true
	}
	return t
}()

// respellAt does the work of respell at the offset i of the text. If two strings of a program are
// joined there, it reads from the quote that ends the first to the quote that begins the second;
// then c is 0.
func (f *findings) respellAt(i int) (c byte, n int) {
	if isQuote[f.text[i]] {
		if !mayJoin(f.text, i) {
			return 0, 0
		}
		return 0, joinLength(f.text[i:], f.text[i-1])
	}
	return respell(f.text[i:])
}

// respell reads the start of a text. c is one ASCII byte that is spelled in another way; c is 0 for something
// invisible, such as a tag. n is the length that was read; 0 if the text begins with something else.
func respell(s string) (c byte, n int) {
	switch s[0] {
	case '%':
		return respellPercent(s)
	case '=': // quoted-printable
		if n = lineLength(s[1:]); n > 0 {
			return 0, 1 + n
		}
		if c, ok := hexByte(s[1:]); ok && c < utf8.RuneSelf && s[1] <= 'F' && s[2] <= 'F' {
			return c, 3
		}
	case '&':
		return respellReference(s)
	case '\\':
		return respellEscape(s)
	case '<':
		return 0, inlineTag(s)
	case 0x1b:
		return 0, colorLength(s[1:], 1)
	case 0:
		return 0, 1
	default:
		r, size := utf8.DecodeRuneInString(s)
		if c, ok := respellRune(r, s); ok {
			return c, size
		}
	}
	return 0, 0
}

// respellRune returns the ASCII byte that a character at the start of s imitates; 0 if the
// character is not drawn. ok is false for all other characters.
func respellRune(r rune, s string) (c byte, ok bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), r >= ' ' && r < 0x7f
	case r == utf8.RuneError:
		return 0, false
	case r == 0xad || textclass.OddInReply(r):
		return 0, true
	}
	if narrow := textclass.NarrowRune(r); narrow < utf8.RuneSelf {
		return byte(narrow), true
	}
	if r >= 0x1d400 && r < 0x1d800 { // letters for mathematics
		if said := norm.NFKC.PropertiesString(s).Decomposition(); len(said) == 1 {
			return said[0], true
		}
	}
	return 0, false
}

// maxJoin is the maximum length in bytes of a join between two strings.
const maxJoin = 64

// joins are the operators and methods that join two strings in a program.
var joins = strings.Fields("+ . .. & << || ++ <> ^ ~ += .concat .append .plus %")

// isQuote is true for the quotes of strings.
var isQuote = [256]bool{'"': true, '\'': true, '`': true}

// mayJoin reports whether the quote t[i] can end a string that is joined with the next one. This
// quick check saves most calls of joinLength: most quotes begin a string, or are followed by a
// colon or by a list element that is too short for the rest of a key.
func mayJoin(t string, i int) bool {
	if i == 0 || i+1 == len(t) || !keyLetters[t[i-1]] {
		return false
	}
	next := t[i+1]
	if next != ',' {
		return afterQuote[next]
	}
	at := i + 2
	for at < len(t) && (t[at] == ' ' || t[at] == '\n' || t[at] == '\r' || t[at] == '\t' || t[at] == '\\') {
		at++
	}
	return at+leastPiece < len(t) && isQuote[t[at]] && keyLetters[t[at+1]] && keyLetters[t[at+leastPiece/2]] && keyLetters[t[at+leastPiece]]
}

// afterQuote is true for the bytes that may follow the closing quote of a joined string.
var afterQuote = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte(" \t\r\n()\\_+.&<|^~%\"'`@$", byte(c)) >= 0
	}
	return t
}()

// leastPiece is the minimum length of a list element that can be the rest of a key.
const leastPiece = 8

// joinLength returns the length of the join at the start of s: from the quote that ends a string to
// the quote that begins the next string. It returns 0 if there is no join. The parameter before is
// the byte before s.
func joinLength(s string, before byte) int {
	if !keyLetters[before] && before != '\\' {
		return 0 // this quote begins a string
	}
	end := quotesLength(s)
	if end < len(s) && (s[end] == '_' || s[end] >= '0' && s[end] <= '9' || s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z') {
		if before == '_' || before == '-' || before >= '0' && before <= '9' { // after another byte the quote may begin a string such as f"…"
			return end // a shell joins these parts: ghp_"16C7…"
		}
		return 0
	}
	end += joinGap(s[end:])
	if end == len(s) || s[end] > '~' || joinStarts[s[end]] == 0 {
		return 0
	}
	list := s[end] == ','
	if list {
		end++
	} else {
		end += operatorLength(s[end:])
	}
	end += joinGap(s[end:])
	if end+1 < len(s) && strings.IndexByte(stringMarks, s[end]) >= 0 && quotesLength(s[end+1:]) > 0 {
		end++
	}
	next := quotesLength(s[end:])
	if next == 0 {
		return 0
	}
	if end += next; next%2 == 0 && end < maxJoin { // an empty string, which can be joined with a third string
		if more := joinLength(s[end-1:min(len(s), maxJoin)], '\\'); more > 0 {
			return end - 1 + more
		}
	}
	if list && !isPieceOfKey(s[end:]) {
		return 0
	}
	return end
}

// stringMarks are the letters before the quote of a string in Python, C, C# and other languages,
// such as f in f"…".
const stringMarks = "fFrRbBuUL@$"

// quotesLength returns the length of the quotes at the start of a text.
func quotesLength(s string) (n int) {
	for n < len(s) && n < 6 && (s[n] == '"' || s[n] == '\'' || s[n] == '`') {
		n++
	}
	return n
}

// joinGap returns the length of the blanks and brackets at the start of a text.
func joinGap(s string) (n int) {
	for n < len(s) && n < maxJoin && strings.IndexByte(" \t\r\n()\\", s[n]) >= 0 {
		n++
	}
	return n
}

// joinStarts is true for the bytes with which an operator or a method between two joined strings
// can begin.
var joinStarts = func() (t ['~' + 1]byte) {
	for _, c := range "+.&<|^~%,\"'`" + stringMarks {
		t[c] = 1
	}
	return t
}()

// operatorLength returns the length of the longest entry of joins at the start of a text.
func operatorLength(s string) (n int) {
	for _, join := range joins {
		if len(join) > n && strings.HasPrefix(s, join) {
			n = len(join)
		}
	}
	return n
}

// isPieceOfKey reports whether a list element can be the rest of a key: it has both letters and
// digits. Most lists only have words.
func isPieceOfKey(s string) bool {
	digits, letters := false, false
	n := 0
	for ; n < len(s) && keyLetters[s[n]]; n++ {
		isDigit := s[n] >= '0' && s[n] <= '9'
		digits, letters = digits || isDigit, letters || !isDigit
	}
	return n >= leastPiece && digits && letters
}

// respellPercent reads a percent escape such as %41. The percent sign may be escaped itself.
func respellPercent(s string) (c byte, n int) {
	for n = 1; strings.HasPrefix(s[n:], "25") && n < len("%252525"); n += len("25") {
		if _, ok := hexByte(s[n+len("25"):]); !ok {
			break
		}
	}
	if c, ok := hexByte(s[n:]); ok && c < utf8.RuneSelf {
		return c, n + 2
	}
	return 0, 0
}

// respellReference reads an HTML reference such as &#97; or &amp;. A reference by name must have a semicolon.
func respellReference(s string) (c byte, n int) {
	const longest = len("&ZeroWidthSpace;")
	end := 1
	for end < len(s) && end < longest && (s[end] == '#' || base64Letters[s[end]]) {
		end++
	}
	if end < len(s) && s[end] == ';' {
		end++
	} else if !strings.HasPrefix(s, "&#") {
		return 0, 0
	}
	said := html.UnescapeString(s[:end])
	r, size := utf8.DecodeRuneInString(said)
	if said == s[:end] {
		return 0, 0
	}
	if c, ok := respellRune(r, said); ok {
		return c, end - (len(said) - size) // the reference ends after its digits, even if letters follow without a semicolon
	}
	return 0, 0
}

// respellEscape reads an escape of a programming language, of Markdown or of a shell. The escape
// begins after one or more backslashes.
func respellEscape(s string) (c byte, n int) {
	const deepest = 16
	at := 0
	for at < len(s) && at < deepest && s[at] == '\\' {
		at++
	}
	rest := s[at:]
	if rest == "" {
		return 0, 0
	}
	if n = lineLength(rest); n > 0 { // a backslash at the end of a line: the text continues in the next line
		return 0, at + n + len(rest[n:]) - len(strings.TrimLeft(rest[n:], " \t"))
	}
	digits, base, n := "", 16, 0
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		if n = joinLength(rest, '\\'); n > 0 {
			return 0, at + n
		}
		return 0, 0
	case strings.IndexByte("_-.~:=|/+", rest[0]) >= 0:
		return rest[0], at + 1
	case rest[0] == 'e':
		if n = colorLength(rest[1:], at+1); n > 0 {
			return 0, n
		}
		return 0, 0
	case (rest[0] == 'u' || rest[0] == 'x') && strings.HasPrefix(rest[1:], "{"):
		inside, _, closed := strings.Cut(rest[2:min(len(rest), 10)], "}")
		if !closed {
			return 0, 0
		}
		digits, n = inside, len("u{}")+len(inside)
	case rest[0] == 'u' && len(rest) > 4:
		digits, n = rest[1:5], 5
	case rest[0] == 'U' && len(rest) > 8:
		digits, n = rest[1:9], 9
	case rest[0] == 'x' && len(rest) > 2:
		digits, n = rest[1:3], 3
	case rest[0] >= '0' && rest[0] <= '3' && len(rest) > 2:
		digits, base, n = rest[:3], 8, 3
	}
	if n == 0 || strings.ContainsFunc(digits, func(r rune) bool { return hexDigit(byte(r)) > 15 }) {
		return 0, 0
	}
	code, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil:
		return 0, 0
	case code == 0x1b:
		return 0, colorLength(rest[n:], at+n)
	case code == 0:
		return 0, at + n
	}
	if c, ok := respellRune(rune(code), string(rune(code))); ok {
		return c, at + n
	}
	return 0, 0
}

// hexByte returns the byte that two hexadecimal digits at the start of a text stand for.
func hexByte(s string) (c byte, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := hexDigit(s[0]), hexDigit(s[1])
	return high<<4 | low, high < 16 && low < 16
}

// hexDigit returns the value of a hexadecimal digit; 255 for any other byte.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// lineLength returns the length of the line end at the start of a text; 0 if there is none.
func lineLength(s string) int {
	switch {
	case strings.HasPrefix(s, "\n"):
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// colorLength returns the length of a terminal's colour escape (ECMA-48 SGR or EL). s begins after
// the ESC, and the parameter before is the length of the ESC. It returns 0 if there is no such
// escape.
func colorLength(s string, before int) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	n := 1
	for n < len(s) && n < 24 && s[n] >= '0' && s[n] <= '?' {
		n++
	}
	if n == len(s) || s[n] != 'm' && s[n] != 'K' {
		return 0
	}
	return before + n + 1
}

// inline are the HTML tags that can be inside a word.
var inline = strings.Fields("a abbr b bdi bdo big cite code del em font i ins kbd mark q s samp small span strike strong sub sup tt u var wbr")

// inlineTag returns the length of an inline tag or an HTML comment at the start of a text; 0 if there is none.
func inlineTag(s string) int {
	const longest = 256
	s = s[:min(len(s), longest)]
	if strings.HasPrefix(s, commentStart) {
		if n := strings.Index(s, "-->"); n >= 0 {
			return n + len("-->")
		}
		return 0
	}
	end := strings.IndexByte(s, '>')
	if end < 0 || strings.LastIndexByte(s[:end], '<') > 0 {
		return 0
	}
	name := strings.TrimPrefix(s[1:end], "/")
	if n := strings.IndexAny(name, " \t\r\n/"); n >= 0 {
		name = name[:n]
	}
	if !slices.Contains(inline, strings.ToLower(name)) {
		return 0
	}
	return end + 1
}

// leastPacked is the minimum length of base64 that can hold a key.
const leastPacked = leastKey * 4 / 3

// packedSecrets finds keys in base64 and in hexadecimal digits, one level deep.
func packedSecrets(t string) (known []redact.Span) {
	for at := leastPacked - 1; at < len(t); at += leastPacked {
		if !base64Letters[t[at]] {
			continue
		}
		start := at
		for start > 0 && base64Letters[t[start-1]] {
			start--
		}
		end := at + lettersAt(t[at:])
		at = end
		if end-start < leastPacked {
			continue
		}
		if s, found := packedSecret(t[start:end]); found {
			known = append(known, redact.Span{Start: start + s.Start, End: start + s.End, Kind: s.Kind})
		}
	}
	return known
}

// maxStarts is the maximum number of places in a run at which base64 is tried.
const maxStarts = 16

// packedSecret finds a key in a run of base64 letters. The base64 may also begin after a slash in
// the run, because the run may be the end of a path.
func packedSecret(run string) (redact.Span, bool) {
	from := 0
	for range maxStarts {
		if len(run)-from < leastPacked {
			break
		}
		if said, ok := unpack(run[from:]); ok {
			reading := redact.Read(said)
			for at := 0; ; {
				s, found := reading.FindUnnamed(at)
				if !found {
					break
				}
				at = max(s.End, at+1)
				if !s.Named && isGenuine(said[s.Start:s.End], s) {
					return redact.Span{Start: from, End: len(run), Kind: s.Kind}, true
				}
			}
		}
		n := strings.IndexByte(run[from:], '/')
		if n < 0 {
			break
		}
		from += n + 1
	}
	return redact.Span{}, false
}

// unpack decodes hexadecimal digits or base64. ok is true if the result is printable ASCII.
func unpack(run string) (said string, ok bool) {
	if len(run) >= 2*leastKey && len(run)%2 == 0 {
		if first, is := hexByte(run); is && isShown([]byte{first}) {
			if b, err := hex.DecodeString(run); err == nil && isShown(b) {
				return string(b), true
			}
		}
	}
	for at := range 2 { // for most runs that are no base64 of a text, the first six bytes already show this
		four := uint32(sixBits[run[4*at]])<<18 | uint32(sixBits[run[4*at+1]])<<12 | uint32(sixBits[run[4*at+2]])<<6 | uint32(sixBits[run[4*at+3]])
		for _, c := range [...]byte{byte(four >> 16), byte(four >> 8), byte(four)} {
			if c > 0 && !isShown([]byte{c}) { // a zero byte may be one half of a UTF-16 letter
				return "", false
			}
		}
	}
	run = plainBase64.Replace(run)
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(run)
	if b = narrowText(b); err != nil || !isShown(b) {
		return "", false
	}
	return string(b), true
}

// sixBits is the value of each base64 letter, for both alphabets.
var sixBits = func() (t [256]byte) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range letters {
		t[letters[i]] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

func isShown(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return len(b) > 0
}
