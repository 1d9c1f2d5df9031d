package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// Secrets that are recognized only by their place: a password in an address or after an option, in
// netrc, in a header of Basic authentication; the data of a Kubernetes Secret; the signature of a
// shared access signature. Their letters do not matter.

// placedKind is the kind of a secret that is recognized only by its place.
const placedKind = "password"

// basicSpan finds the credentials in "Basic CREDENTIALS" (RFC 7617): base64 of a name, a colon and
// a password.
func basicSpan(s []byte, i int) span {
	const word = "basic"
	if len(s)-i < len(word)+5 || !bytes.EqualFold(s[i:i+len(word)], []byte(word)) {
		return span{}
	}
	from := skipBytes(s, i+len(word), " \t\r\n<")
	if bytes.HasPrefix(s[i+len(word):], []byte("%20")) {
		from += len("%20")
	}
	if from == i+len(word) {
		return span{}
	}
	to := from
	for to < len(s) && classes[s[to]]&(wordish|slashes|equals) != 0 {
		to++
	}
	if _, is := pairName(s[from:to]); !is {
		return span{}
	}
	return span{from, to, "basic"}
}

// isPair reports whether s is base64 of a name, a colon and a password. The word Basic need not be
// before it.
func isPair(s []byte) bool {
	name, is := pairName(s)
	return is && ofClass(name, wordish|dot|at|percent)
}

// pairName decodes base64 of a name, a colon and a password, and returns the name. The name or the
// password may be empty.
func pairName(s []byte) (name []byte, is bool) {
	s = bytes.TrimRight(s, "=")
	if len(s) < 3 || !ofClass(s, alnum|slashes) {
		return nil, false
	}
	said, err := base64.RawStdEncoding.DecodeString(string(s))
	colon := bytes.IndexByte(said, ':')
	if err != nil || colon < 0 || string(said) == "Aladdin:open sesame" /* the example of RFC 7617 */ || !isPrintable(said) {
		return nil, false
	}
	if colon == len(said)-1 { // the password is empty, and the name may be a key
		alone := reading{s: said}
		if _, is = alone.search(0, colon, false); !is {
			return nil, false
		}
	}
	return said[:colon], true
}

// isPrintable reports whether s is UTF-8 text, or Latin-1 text with few letters outside ASCII.
func isPrintable(s []byte) bool {
	if utf8.Valid(s) {
		return !bytes.ContainsFunc(s, func(r rune) bool { return r < ' ' })
	}
	others := 0
	for _, c := range s {
		switch {
		case c < ' ', c >= 0x7f && c < 0xc0:
			return false
		case c >= 0xc0:
			others++
		}
	}
	return others*4 < len(s)
}

// dsnAt finds the password in user:password@tcp(host:port)/name, the address format of MySQL's
// driver for Go. s[i] is the first colon. Text between two blanks is read only once, even if it has
// many colons.
func (r *reading) dsnAt(i int) span {
	s, d := r.s, &r.dsn
	if i == 0 || !isWord[s[i-1]] || !r.hasHost() {
		return span{}
	}
	if i < d.from || i >= d.to {
		d.from, d.to, d.host = i, i, false
		for ; d.to < len(s) && s[d.to] > ' ' && !(isQuote(s[d.to]) && (d.to == i+1 || endsElement(s[d.to+1:]))); d.to++ {
			if d.host = s[d.to] == '@' && (bytes.HasPrefix(s[d.to:], []byte("@tcp(")) || bytes.HasPrefix(s[d.to:], []byte("@unix("))); d.host {
				break
			}
		}
	}
	if !d.host || d.to == i+1 {
		return span{}
	}
	return span{i + 1, d.to, placedKind}
}

// hasHost reports whether the text has the host of a DSN somewhere. It searches the text only in
// the first call.
func (r *reading) hasHost() bool {
	if !r.dsn.searched {
		r.dsn.searched = true
		r.dsn.any = bytes.Contains(r.s, []byte("@tcp(")) || bytes.Contains(r.s, []byte("@unix("))
	}
	return r.dsn.any
}

// oracleAt finds the password in jdbc:oracle:thin:user/password@.
func (r *reading) oracleAt(i int) span {
	const scheme = "jdbc:oracle:thin:"
	s := r.s
	if !bytes.HasPrefix(s[i:], []byte(scheme)) {
		return span{}
	}
	from := i + len(scheme)
	rest := s[from:min(len(s), from+maxConnection)]
	for _, blank := range []byte(" \t\r\n") {
		if end := bytes.IndexByte(rest, blank); end >= 0 {
			rest = rest[:end]
		}
	}
	if len(rest) == maxConnection {
		r.giveUp(i)
	}
	rest = rest[:outerEnd(s, i, from, from+len(rest))-from]
	slash := bytes.IndexByte(rest, '/')
	end := bytes.LastIndexByte(rest, '@')
	if slash <= 0 || end <= slash+1 {
		return span{}
	}
	return span{from + slash + 1, from + end, placedKind}
}

// servers are the names of connection settings that hold the server.
var servers = [...]string{"server", "data source", "host", "hostname", "hostaddr", "address", "addr", "driver", "endpoint"}

// Limits on the distance between a password and the server of the same connection, in bytes and in
// settings. A text with too many words beside the settings is no connection string.
const (
	maxConnection = 4 << 10
	maxSettings   = 16
)

// connects reports whether a setting belongs to a connection to a server. The name of the setting
// begins at s[start]; its value ends before s[to]. Settings are separated by semicolons in ADO,
// ODBC and JDBC, by blanks in libpq, and by commas in the arguments of a function.
func (r *reading) connects(start, to int, inQuery bool) (c connection, is bool) {
	s := r.s
	c.between = ' '
	if r.isBehindJDBC(start) {
		if c.between = ';'; inQuery {
			c.between = '&'
		}
		if begin := r.address.begin; begin > 0 {
			c.open = begin
		}
		return c, true
	}
	before := s[max(0, start-maxLook):start]
	words := bytes.TrimRight(before, " ")
	behind := bytes.IndexByte(words[bytes.LastIndexAny(words, " ;")+1:], '=') > 0 && len(words) < len(before) // the words before the name end with a setting and a blank
	if bytes.HasSuffix(words, []byte(";")) || !behind && bytes.HasPrefix(bytes.TrimLeft(s[to:min(len(s), to+maxLook)], "} "), []byte(";")) {
		c.between = ';'
	} else if start > 0 && strings.IndexByte("&?#,;/$@", s[start-1]) >= 0 {
		return c, false
	} else if rest := s[to:min(len(s), to+maxLook)]; !behind {
		if n := bytes.IndexAny(rest, "; \t\r\n"+endSettings); n >= 0 && rest[n] == ';' && beginsSetting(rest[n+1:]) {
			c.between = ';'
		}
	}
	between := c.between
	least, most := max(0, start-maxConnection), min(len(s), to+maxConnection)
	for end := start; c.more(); { // read backwards the settings before this one
		inner := end // the place where a quoted value begins
		if n := end - 1; n > least && (s[n] == '"' || s[n] == '\'') {
			if open := bytes.LastIndexByte(s[least:n], s[n]); open > 0 && s[least+open-1] == '=' {
				inner = least + open
			}
		}
		from := least + bytes.LastIndexByte(s[least:inner], between) + 1
		quote := bytes.LastIndexAny(s[from:inner], endSettings)
		if quote < 0 && from == least && least > 0 {
			c.stop()
		}
		c.take(s[from+quote+1 : end])
		if quote >= 0 || from == least {
			c.open = from + quote + 1
			break
		}
		end = from - 1
	}
	c.settings, c.others = 0, 0
	for from := to; from < most && c.more(); {
		inner := from // the place where a quoted value ends
		if n := bytes.IndexByte(s[from:most], '='); n >= 0 && from+n+1 < most && bytes.IndexByte(s[from:from+n], between) < 0 {
			if q := s[from+n+1]; q == '"' || q == '\'' {
				inner = from + n + 2
				inner += bytes.IndexByte(s[inner:most], q) + 1
			}
		}
		end := bytes.IndexByte(s[inner:most], between)
		if end < 0 {
			end = most - inner
		}
		quote := bytes.IndexAny(s[inner:inner+end], endSettings)
		if quote >= 0 {
			c.take(s[from : inner+quote])
			break
		}
		if end += inner; end == most && most < len(s) {
			c.stop()
			break
		}
		c.take(s[from:end])
		from = end + 1
	}
	if c.known > 1 {
		return c, true
	}
	if c.cut {
		r.giveUp(start)
	}
	return c, false
}

// isBehindJDBC reports whether the word that continues at s[start] is a JDBC address, or has one as
// its value. If each call has a greater offset than the call before it, all calls together read the
// text only once. A call with a smaller offset reads at most maxConnection bytes.
func (r *reading) isBehindJDBC(start int) bool {
	const scheme = "jdbc:"
	s, w := r.s, &r.address
	if least := max(0, start-maxConnection); start < w.read || least > w.read {
		w.read, w.begin, w.jdbc, w.cut = least, least, false, least > 0
	}
	for ; w.read < start; w.read++ {
		switch c := s[w.read]; {
		case c == ' ', strings.IndexByte(endSettings, c) >= 0:
			w.begin, w.jdbc, w.cut = w.read+1, false, false
		case c == ':' && bytes.HasSuffix(s[w.begin:w.read+1], []byte(scheme)):
			w.jdbc = w.jdbc || beginsAt(s, w.read+1-len(scheme))
		}
	}
	if w.cut && !w.jdbc {
		r.giveUp(start)
	}
	return w.jdbc
}

const endSettings = "\"'`<>\r\n\t"

// connection counts the settings around a password, to find out whether they describe a connection.
type connection struct {
	between                 byte
	known, settings, others int  // known: 2 for each name in servers, 1 for each name in accounts; others: parts that are no settings
	cut                     bool // there are more settings than were read
	open                    int  // start of the connection: after a quote, a tag or a line end
}

// more reports whether the next part should be read.
func (c *connection) more() bool {
	if c.settings == maxSettings {
		c.stop()
	}
	return c.settings < maxSettings && c.others < maxSettings
}

// stop records that settings continue after a limit. If many parts were no settings, the text is
// probably a program, and stop records nothing.
func (c *connection) stop() { c.cut = c.cut || c.others <= c.settings/4 }

// take counts one part, such as host=db. A setting can also be the value of a name: URL=host=db.
func (c *connection) take(part []byte) {
	if len(part) == 0 {
		return
	}
	name, value, is := bytes.Cut(part, []byte("="))
	switch {
	case !is || c.between == ' ' && part[len(part)-1] == ',':
		c.others++
		return
	case bytes.IndexByte(part, '(') >= 0:
		c.others++
	default:
		c.settings++
	}
	for ; is && len(value) > 0; name, value, is = bytes.Cut(value, []byte("=")) {
		switch {
		case endsWithName(name, servers[:]):
			c.known += 2
			return
		case endsWithName(name, accounts[:]):
			c.known++
			return
		}
	}
}

var accounts = [...]string{"user", "dbname", "port"}

// endsWithName reports whether the text before an equals sign ends with one of the names. A
// sentence or the sign of a diff may stand before the name. The name of an object, as in
// config.host, must not stand before it.
func endsWithName(s []byte, names []string) bool {
	whole := bytes.TrimSpace(s)
	for _, name := range names {
		at := len(whole) - len(name)
		switch {
		case at < 0 || !bytes.EqualFold(whole[at:], []byte(name)):
		case at == 0:
			return true
		case beginsAt(whole, at) && strings.IndexByte(".>$", whole[at-1]) < 0 && len(whole) == len(bytes.TrimLeft(s, " ")):
			return true
		}
	}
	return false
}

// Limits for a Kubernetes Secret: the distance between its data and its kind, and the bytes of YAML
// blocks that are read.
const (
	manifest  = 2 << 10
	maxData   = 64 << 10
	maxBlocks = 8 // limit for the bytes of long blocks, as a multiple of the text's length
)

// dataAt finds the values of a Kubernetes Secret in YAML or JSON, and returns them as one secret.
// The key "data" or "stringData" begins at s[i].
func (r *reading) dataAt(i, from int) span {
	s, n := r.s, 0
	for _, key := range []string{"data", "stringData"} {
		if bytes.HasPrefix(s[i:], []byte(key)) {
			n = len(key)
		}
	}
	behind := skipBytes(s, i+n, quotesAndBlanks) // the place after the key and its quotes, where the colon is
	if n == 0 || behind == len(s) || s[behind] != ':' {
		return span{}
	}
	if r.kinds == nil {
		r.kinds = findKinds(s)
	}
	if !r.kinds.secret {
		return span{}
	}
	behind++
	value := skipBytes(s, behind, beforeValue)
	for range 2 { // skip a tag and an anchor of YAML
		if value == len(s) || s[value] != '!' && s[value] != '&' {
			break
		}
		name := s[value:min(len(s), value+maxLook)]
		length := bytes.IndexAny(name, " \t\r\n")
		if length < 0 {
			if len(name) == maxLook {
				r.giveUp(i)
			}
			return span{}
		}
		value = skipBytes(s, value+length, beforeValue)
	}
	start, end := 0, 0
	if value < len(s) && s[value] == '{' {
		start, end = r.bracesAt(i+n, value)
	} else {
		start, end = r.blockAt(i, behind)
	}
	if start == end || start < from || !r.ofSecret(i, end) {
		return span{}
	}
	return span{start, end, "kubernetes"}
}

// Bytes that can be between a key, its colon and its value.
const (
	quotesAndBlanks = "\"'\\ \t"
	beforeValue     = quotesAndBlanks + "\r\n"
)

// skipBytes skips the given bytes, from s[at] on. It returns the index of the first other byte.
func skipBytes(s []byte, at int, some string) int {
	for at < len(s) && strings.IndexByte(some, s[at]) >= 0 {
		at++
	}
	return at
}

// kindWords are the places where a text names the kind of a Kubernetes object.
type kindWords struct {
	all    []kindWord
	secret bool // one of the kinds is Secret
}

type kindWord struct {
	at     int
	secret bool
}

// ofSecret reports whether the data between two offsets belongs to an object of the kind Secret.
// The text must name the kind Secret near the data. If the text names no kind near the data, it is
// enough that it names Secret somewhere else.
func (r *reading) ofSecret(from, to int) bool {
	all := r.kinds.all
	near, _ := slices.BinarySearchFunc(all, from-manifest, func(k kindWord, at int) int { return k.at - at })
	other := false
	for ; near < len(all) && all[near].at <= to+manifest; near++ {
		if all[near].secret {
			return true
		}
		other = true
	}
	return !other
}

// findKinds returns the places where a text names the kind of a Kubernetes object, such as kind:
// Secret.
func findKinds(s []byte) *kindWords {
	k := &kindWords{}
	for at := 0; ; {
		n := bytes.Index(s[at:], []byte("kind"))
		if n < 0 {
			return k
		}
		at += n + len("kind")
		word := bytes.TrimLeft(s[at:], `\":'`+" \t\r\n")
		if len(word) == 0 || len(word) == len(s)-at || word[0] < 'A' || word[0] > 'Z' {
			continue
		}
		secret := false
		if rest, is := bytes.CutPrefix(word, []byte("Secret")); is {
			rest = bytes.TrimPrefix(rest, []byte("List"))
			secret = len(rest) == 0 || !isAlnum[rest[0]]
		}
		k.all, k.secret = append(k.all, kindWord{at, secret}), k.secret || secret
	}
}

// blockAt returns the range of the lines after the key at s[i] that are indented more than the key.
// The colon of the key ends at s[behind]. A limit stops the reading of long blocks.
func (r *reading) blockAt(i, behind int) (start, end int) {
	rest := r.s[behind:]
	start, end, open := yamlBlock(r.s, i, rest[:min(len(rest), maxData)])
	if open && len(rest) > maxData {
		if r.blocks += len(rest); r.blocks > maxBlocks*len(r.s) {
			r.giveUp(i)
			return 0, 0
		}
		start, end, _ = yamlBlock(r.s, i, rest)
	}
	return behind + start, behind + end
}

// yamlBlock returns the range of the lines in rest that are indented more than the key at s[i]. The
// result open means that no line ends the block. After the colon of the key only a comment, a tag
// or an anchor may follow.
func yamlBlock(s []byte, i int, rest []byte) (start, end int, open bool) {
	if i > 0 && s[i-1] == '\'' { // do not count the quote of the key
		i--
	} else if i > 0 && s[i-1] == '"' && bytes.IndexByte(s[i:min(len(s), i+len(`stringData"`))], '"') > 0 {
		i--
	}
	indent := 0
	for i-indent > 0 && (s[i-indent-1] == ' ' || s[i-indent-1] == '-' || s[i-indent-1] == '+') {
		indent++
	}
	isDiff := indent == 1 || indent > 0 && s[i-indent] == '+'
	sign := s[max(0, i-indent-maxSign) : i-indent] // the text that a tool writes before each line
	sign = sign[bytes.LastIndexByte(sign, '\n')+1:]
	if bytes.HasSuffix(sign, []byte{'"'}) { // the quote begins a string of JSON that contains the YAML
		sign = nil
	}
	line := bytes.IndexByte(rest, '\n')
	if len(sign) == maxSign || line < 0 {
		return 0, 0, false
	}
	if said := bytes.TrimSpace(rest[:line]); len(said) > 0 && bytes.IndexByte([]byte("#&!"), said[0]) < 0 {
		return 0, 0, false
	}
	open = true
	for at := line + 1; at < len(rest) && open; {
		next := bytes.IndexByte(rest[at:], '\n')
		if next < 0 {
			next = len(rest) - at
		}
		text := rest[at : at+next]
		signs, signed := signLength(text, sign)
		text = text[signs:]
		deep := 0
		if isDiff && len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			text, deep = text[1:], 1
		}
		deep += len(text) - len(bytes.TrimLeft(text, " "))
		at += next + 1
		if said := bytes.TrimSpace(text); len(said) == 0 || signed && said[0] == '#' {
			continue
		}
		if open = signed && deep > indent; open {
			end = min(len(rest), at)
		}
	}
	if end == 0 {
		return 0, 0, open
	}
	block := bytes.TrimLeft(rest[line:end], " \t\r\n")
	start = end - len(block)
	return start, start + len(bytes.TrimRight(block, " \t\r\n")), open
}

// maxSign is the maximum length of the text that a tool writes before each line.
const maxSign = 128

// signLength returns the length of the sign at the start of a line. A sign is text that a tool
// writes before each line, such as the mark of a quotation or a line number. sign is the sign of an
// earlier line. Line numbers may differ. grep writes a dash instead of a colon in lines that are
// only context.
func signLength(line, sign []byte) (n int, is bool) {
	for i := 0; i < len(sign); i++ {
		c := sign[i]
		switch of := classes[c]; {
		case of == decimal || c == ' ':
			from := n
			for n < len(line) && (classes[line[n]] == decimal && of == decimal || line[n] == ' ' && c == ' ') {
				n++
			}
			if of == decimal && n == from {
				return 0, false
			}
			for i+1 < len(sign) && (classes[sign[i+1]] == decimal && of == decimal || sign[i+1] == ' ' && c == ' ') {
				i++
			}
		case n < len(line) && (line[n] == c || c == ':' && line[n] == '-'):
			n++
		default:
			return 0, false
		}
	}
	return n, true
}

// bracesAt returns the range inside the braces at s[at]. The key before them ends at s[key]. For
// braces inside other braces, the range ends where the outer braces end.
func (r *reading) bracesAt(key, at int) (start, end int) {
	s := r.s
	if at < r.brace.from || at >= r.brace.to {
		r.brace.from, r.brace.to = at, closingBrace(s, key, at+1)
	}
	inside := s[at+1 : r.brace.to]
	block := bytes.TrimLeft(inside, " \t\r\n")
	start = r.brace.to - len(block)
	return start, start + len(bytes.TrimRight(block, " \t\r\n"))
}

// closingBrace returns the index of the first closing brace outside quotes, from s[at] on; len(s)
// if there is none. The number of backslashes at s[key] tells how often the JSON is escaped. A
// quote with the same number of backslashes begins or ends a string. A quote with more backslashes
// is part of a string. A quote with fewer backslashes ends the text in which the JSON stands.
func closingBrace(s []byte, key, at int) int {
	level := 0
	for key+level < len(s) && s[key+level] == '\\' {
		level++
	}
	quote, backslashes := byte(0), 0
	for ; at < len(s); at++ {
		c := s[at]
		switch {
		case c == '\\':
			backslashes++
			continue
		case c == '}' && quote == 0:
			return at
		case c == '"' && backslashes < level: // this quote ends the text around the JSON
			return at
		case c == quote && (c == '\'' || (backslashes-level)/(level+1)%2 == 0):
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' && bytes.IndexByte([]byte(" :,{["), s[at-1]) >= 0):
			quote = c
		}
		backslashes = 0
	}
	return at
}

// isAccountKey reports whether name is a usual name for the key of an Azure account, and value has
// the form of such a key.
func isAccountKey(name, value []byte) bool {
	var fold [64]byte
	plain := fold[:0]
	for _, c := range name[max(0, len(name)-len(fold)):] {
		if isAlnum[c] {
			plain = append(plain, c|0x20)
		}
	}
	return (bytes.HasSuffix(plain, []byte("accountkey")) || bytes.HasSuffix(plain, []byte("sharedaccesskey"))) && len(value) >= 40 && ofClass(value, alnum|slashes|equals)
}

// isSignature reports whether value is a shared access signature (Azure Storage) in the query of a
// URL.
func isSignature(name, value []byte) bool {
	return string(name) == "sig" && len(value) >= 40
}
