package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// What is a secret by the place where it stands, whatever its letters are: a password in an
// address or behind an option, in netrc, in the header of Basic authentication, the data of a
// Kubernetes Secret, the signature of a shared access signature.

// placedKind is the kind of a secret that only its place gives away.
const placedKind = "password"

// basicSpan reads "Basic CREDENTIALS" (RFC 7617): base64 of a name, a colon and a password.
func basicSpan(s []byte, i int) span {
	const word = "basic "
	if len(s)-i < len(word)+4 || !bytes.EqualFold(s[i:i+len(word)], []byte(word)) {
		return span{}
	}
	from := i + len(word)
	to := from
	for to < len(s) && classes[s[to]]&(wordish|slashes|equals) != 0 {
		to++
	}
	if _, is := pairName(s[from:to]); !is {
		return span{}
	}
	return span{from, to, "basic"}
}

// isPair reports base64 of a name, a colon and a password, where no word says so.
func isPair(s []byte) bool {
	name, is := pairName(s)
	return is && ofClass(name, wordish|dot|at|percent)
}

// pairName gives the name in base64 of a name, a colon and a password; one of the two may be empty.
func pairName(s []byte) (name []byte, is bool) {
	s = bytes.TrimRight(s, "=")
	if len(s) < 3 || !ofClass(s, alnum|slashes) {
		return nil, false
	}
	said, err := base64.RawStdEncoding.DecodeString(string(s))
	colon := bytes.IndexByte(said, ':')
	if err != nil || colon < 0 || string(said) == "Aladdin:open sesame" /* the standard's own */ || !utf8.Valid(said) || bytes.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
		return nil, false
	}
	if colon == len(said)-1 { // the name may be a key
		alone := reading{s: said}
		if _, is = alone.search(0, colon, false); !is {
			return nil, false
		}
	}
	return said[:colon], true
}

// netrcAt reads the password of "machine HOST login USER password PASSWORD", in any order, and
// of the entry that is for all hosts.
func netrcAt(s []byte, i, from int) span {
	begin, at := netrcWord(s, i)
	switch string(begin) {
	case "machine":
		_, at = netrcWord(s, at)
	case "default":
	default:
		return span{}
	}
	password, login := span{}, false
	for range 3 {
		key, next := netrcWord(s, at)
		value, end := netrcWord(s, next)
		switch string(key) {
		case "login":
			login = len(value) > 0
		case "account":
		case "password":
			password = span{end - len(value), end, placedKind}
		default:
			next = 0
		}
		if next == 0 {
			break
		}
		at = end
	}
	if value := bytes.TrimLeft(s[password.from:password.to], "'\""); len(value) > 0 {
		password.from = password.to - len(value)
		if n := bytes.IndexAny(value, "'\"`"); n >= 0 { // a command ends, or its words
			password.to = password.from + n
		}
	}
	if !login || password.from < from || string(begin) == "default" && !bytes.ContainsAny(s[password.from:password.to], "0123456789") { // prose has no such word
		return span{}
	}
	return password
}

// dsnAt reads the password of user:password@tcp(host:port)/name (MySQL's driver for Go), with the
// first colon at s[i].
func dsnAt(s []byte, i int) span {
	const longest = 512
	if i == 0 || !isWord[s[i-1]] {
		return span{}
	}
	for at := i + 1; ; at++ {
		n := bytes.IndexByte(s[at:min(len(s), i+longest)], '@')
		if n < 0 {
			return span{}
		}
		if at += n; at > i+1 && (bytes.HasPrefix(s[at:], []byte("@tcp(")) || bytes.HasPrefix(s[at:], []byte("@unix("))) {
			if bytes.ContainsFunc(s[i+1:at], func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' }) {
				return span{}
			}
			return span{i + 1, at, placedKind}
		}
		if at+1 >= min(len(s), i+longest) {
			return span{}
		}
	}
}

// oracleAt reads jdbc:oracle:thin:user/password@.
func oracleAt(s []byte, i int) span {
	const scheme, longest = "jdbc:oracle:thin:", 128
	if !bytes.HasPrefix(s[i:], []byte(scheme)) {
		return span{}
	}
	rest := s[i+len(scheme) : min(len(s), i+len(scheme)+longest)]
	slash, end := bytes.IndexByte(rest, '/'), bytes.IndexByte(rest, '@')
	if slash <= 0 || end <= slash+1 || bytes.ContainsAny(rest[:end], " \t\r\n\"'") {
		return span{}
	}
	return span{i + len(scheme) + slash + 1, i + len(scheme) + end, placedKind}
}

// servers are the settings of a connection that say where it leads.
var servers = [...]string{"server", "data source", "host", "hostname", "hostaddr", "address", "addr", "driver", "endpoint"}

// Bounds of how far around a password the server of a connection is looked for: in bytes, and in
// settings. Among as many other words there is no connection.
const (
	maxConnection = 4 << 10
	maxSettings   = 16
)

// connects reports whether a setting, its name at s[start] and its value before s[to], stands among
// those of a connection to a server: between semicolons, as ADO, ODBC and JDBC have them, or
// between blanks, as libpq has them. In a program's call there are commas.
func (r *reading) connects(start, to int) bool {
	s := r.s
	word := s[max(0, start-maxLook):start]
	word = word[bytes.LastIndexAny(word, endSettings+" ")+1:]
	if bytes.HasPrefix(word, []byte("jdbc:")) || bytes.Contains(word, []byte("=jdbc:")) {
		return true
	}
	blanks := start
	for blanks > 0 && s[blanks-1] == ' ' {
		blanks--
	}
	between := byte(' ')
	if blanks > 0 && s[blanks-1] == ';' || bytes.HasPrefix(bytes.TrimLeft(s[to:min(len(s), to+maxLook)], "} "), []byte(";")) {
		between = ';'
	} else if start > 0 && strings.IndexByte(endSettings+" ", s[start-1]) < 0 {
		return false
	}
	c := connection{between: between}
	least, most := max(0, start-maxConnection), min(len(s), to+maxConnection)
	for end := start; c.more(); { // towards the begin
		from := least + bytes.LastIndexByte(s[least:end], between) + 1
		quote := bytes.LastIndexAny(s[from:end], endSettings)
		if from == least && least > 0 && quote < 0 {
			c.stop()
			break
		}
		c.take(s[from+quote+1 : end])
		if quote >= 0 || from == 0 {
			break
		}
		end = from - 1
	}
	c.settings, c.others = 0, 0
	for from := to; from < most && c.more(); {
		end := bytes.IndexByte(s[from:most], between)
		if end < 0 {
			end = most - from
		}
		quote := bytes.IndexAny(s[from:from+end], endSettings)
		if quote >= 0 {
			c.take(s[from : from+quote])
			break
		}
		if from += end + 1; from > most && most < len(s) {
			c.stop()
			break
		}
		c.take(s[from-end-1 : from-1])
	}
	if between == ';' && c.known > 1 || c.known > 2 {
		return true
	}
	if c.cut {
		r.giveUp(start)
	}
	return false
}

const endSettings = "\"'`<>\r\n\t"

// connection counts what settings say where a connection leads.
type connection struct {
	between                 byte
	known, settings, others int
	cut                     bool // there are more than are read
}

// more reports whether one more part is to be taken.
func (c *connection) more() bool {
	if c.settings == maxSettings {
		c.stop()
	}
	return c.settings < maxSettings && c.others < maxSettings
}

// stop notes that settings go on behind a bound. Statements of a program are none.
func (c *connection) stop() { c.cut = c.cut || c.others <= c.settings/4 }

// take reads one part, such as host=db. A setting may be the value of a name: URL=host=db.
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
		name = bytes.TrimSpace(name)
		switch {
		case len(name) > len("data source"):
		case isAnyFold(name, servers[:]):
			c.known += 2
			return
		case isAnyFold(name, accounts[:]):
			c.known++
			return
		}
	}
}

var accounts = [...]string{"user", "dbname", "port"}

func isAnyFold(name []byte, words []string) bool {
	for _, word := range words {
		if len(name) == len(word) && bytes.EqualFold(name, []byte(word)) {
			return true
		}
	}
	return false
}

// netrcWord gives the next word of netrc at s[i], and where it ends.
func netrcWord(s []byte, i int) (word []byte, end int) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	for end = i; end < len(s) && s[end] > ' '; end++ {
	}
	return s[i:end], end
}

// around of a Kubernetes Secret's data: how near its kind stands as a rule, and how much of
// blocks of YAML is read.
const (
	manifest  = 2 << 10
	maxData   = 64 << 10
	maxBlocks = 8 // times the length of the text, of blocks that are longer
)

// dataAt reads the values of a Kubernetes Secret, in YAML or JSON, as one: its key, "data" or
// "stringData", begins at s[i].
func (r *reading) dataAt(i, from int) span {
	s := r.s
	rest, n := s[i:], 0
	for _, key := range []string{"data", "stringData"} {
		if bytes.HasPrefix(rest, []byte(key)) && len(rest) > len(key) && (rest[len(key)] == ':' || rest[len(key)] == '"') {
			n = len(key)
		}
	}
	if n == 0 {
		return span{}
	}
	if r.kinds == nil {
		r.kinds = findKinds(s)
	}
	if !r.kinds.secret {
		return span{}
	}
	start, size := 0, 0
	inJSON := rest[n] == '"'
	if inJSON {
		start, size = r.jsonBlock(i + n)
	} else {
		start, size = yamlBlock(s, i, rest[n:min(len(rest), n+maxData)])
	}
	start += i + n
	if size > 0 && !inJSON && start+size+1 >= i+n+maxData {
		if r.blocks += len(rest); r.blocks > maxBlocks*len(s) {
			r.giveUp(i)
			return span{}
		}
		start, size = yamlBlock(s, i, rest[n:])
		start += i + n
	}
	if size == 0 || start < from || !r.ofSecret(i, start+size) {
		return span{}
	}
	return span{start, start + size, "kubernetes"}
}

// kindWords are the places in a text that say of which kind an object is.
type kindWords struct {
	all    []kindWord
	secret bool // one of them does
}

type kindWord struct {
	at     int
	secret bool
}

// ofSecret reports data from one place to another of an object whose kind is Secret: that is said
// near it, or somewhere and nothing else is said near it.
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

// findKinds finds all kinds that a text names.
func findKinds(s []byte) *kindWords {
	k := &kindWords{}
	for at := 0; ; {
		n := bytes.Index(s[at:], []byte("kind"))
		if n < 0 {
			return k
		}
		at += n + len("kind")
		word := bytes.TrimLeft(s[at:min(len(s), at+16)], `\":'`+" \t")
		if len(word) == 0 || len(word) == 16 || word[0] < 'A' || word[0] > 'Z' {
			continue
		}
		secret := bytes.HasPrefix(word, []byte("Secret")) && (len(word) == len("Secret") || !isAlnum[word[len("Secret")]])
		k.all, k.secret = append(k.all, kindWord{at, secret}), k.secret || secret
	}
}

// yamlBlock gives the lines behind "data:" that are indented more than it.
func yamlBlock(s []byte, i int, rest []byte) (start, size int) {
	indent := 0
	for i-indent > 0 && (s[i-indent-1] == ' ' || s[i-indent-1] == '-') {
		indent++
	}
	line := bytes.IndexByte(rest, '\n')
	if i-indent > 0 && s[i-indent-1] != '\n' && s[i-indent-1] != '"' /* of a member */ || line < 0 || len(bytes.TrimSpace(rest[1:line])) > 0 {
		return 0, 0
	}
	end := line + 1
	for end < len(rest) {
		next := bytes.IndexByte(rest[end:], '\n')
		if next < 0 {
			next = len(rest) - end
		}
		text := rest[end : end+next]
		if deep := len(text) - len(bytes.TrimLeft(text, " ")); deep <= indent {
			break
		}
		end = min(len(rest), end+next+1)
	}
	block := bytes.TrimSpace(rest[line:end])
	return bytes.Index(rest, block), len(block)
}

// jsonBlock gives what stands between the braces behind `data"`, whose quote is s[i].
func (r *reading) jsonBlock(i int) (start, size int) {
	rest := r.s[i:]
	open := bytes.IndexByte(rest[:min(len(rest), maxLook)], '{')
	if open < 0 || len(bytes.Trim(rest[:open], `":`+" \t\r\n\\")) > 0 {
		return 0, 0
	}
	if i < r.brace.from || i+open >= r.brace.to {
		r.brace.from, r.brace.to = i, len(r.s)
		if n := bytes.IndexByte(rest[open+1:], '}'); n >= 0 {
			r.brace.to = i + open + 1 + n
		}
	}
	inside := r.s[i+open+1 : r.brace.to]
	block := bytes.TrimLeft(inside, " \t\r\n")
	return open + 1 + len(inside) - len(block), len(bytes.TrimRight(block, " \t\r\n"))
}

// isSignature is that of a shared access signature (Azure Storage), in a query.
func isSignature(name, value []byte) bool {
	return string(name) == "sig" && len(value) >= 40
}
