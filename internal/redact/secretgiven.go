package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"
)

// What is a secret by the place where it stands, whatever its letters are: a password in an
// address or behind an option, in netrc, in the header of Basic authentication, the data of a
// Kubernetes Secret, the signature of a shared access signature.

// placedKind is the kind of a secret that only its place gives away.
const placedKind = "password"

// basic reads "Basic CREDENTIALS" (RFC 7617): base64 of a name, a colon and a password.
func basic(s []byte, i int) span {
	const word, longest = "basic ", 1024
	if len(s)-i < len(word)+4 || !bytes.EqualFold(s[i:i+len(word)], []byte(word)) {
		return span{}
	}
	from := i + len(word)
	to := from
	for to < len(s) && to-from < longest && classes[s[to]]&(wordish|slashes|equals) != 0 {
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

// pairName is the name in base64 of a name, which may be empty, a colon and a password.
func pairName(s []byte) (name []byte, is bool) {
	if len(s) < 4 || len(s) > 1024 {
		return nil, false
	}
	said, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(s, "=")))
	colon := bytes.IndexByte(said, ':')
	if err != nil || colon < 0 || string(said) == "Aladdin:open sesame" /* the standard's own */ || colon == len(said)-1 || !utf8.Valid(said) || bytes.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
		return nil, false
	}
	return said[:colon], true
}

// netrcAt reads the password of "machine HOST login USER password PASSWORD", in any order, and
// of the entry that is for all hosts.
func netrcAt(s []byte, i, from int) span {
	begin, at := field(s, i)
	switch string(begin) {
	case "machine":
		_, at = field(s, at)
	case "default":
	default:
		return span{}
	}
	password, login := span{}, false
	for range 3 {
		key, next := field(s, at)
		value, end := field(s, next)
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
	const longest = 128
	if i == 0 || !isWord[s[i-1]] {
		return span{}
	}
	for at := i + 1; at < len(s) && at-i < longest && s[at] > ' ' && s[at] != '"' && s[at] != '\''; at++ {
		if s[at] == '@' && at > i+1 && (bytes.HasPrefix(s[at:], []byte("@tcp(")) || bytes.HasPrefix(s[at:], []byte("@unix("))) {
			return span{i + 1, at, placedKind}
		}
	}
	return span{}
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

// connects reports whether a setting, its name at s[start] and its value before s[to], stands among
// those of a connection to a server: between semicolons, as ADO, ODBC and JDBC have them, or
// between blanks, as libpq has them. In a program's call there are commas.
func connects(s []byte, start, to int) bool {
	const near = 512
	const quotes = "\"'`<>\r\n\t"
	before := s[max(0, start-near):start]
	before = before[bytes.LastIndexAny(before, quotes)+1:]
	behind := s[to:min(len(s), to+near)]
	if n := bytes.IndexAny(behind, quotes); n >= 0 {
		behind = behind[:n]
	}
	word := before[bytes.LastIndexByte(before, ' ')+1:]
	if bytes.HasPrefix(word, []byte("jdbc:")) || bytes.Contains(word, []byte("=jdbc:")) {
		return true
	}
	between := byte(' ')
	if bytes.HasSuffix(bytes.TrimRight(before, " "), []byte(";")) || bytes.HasPrefix(bytes.TrimLeft(behind, "} "), []byte(";")) {
		between = ';'
	} else if len(before) > 0 && before[len(before)-1] != ' ' {
		return false
	}
	known := 0
	for _, part := range [][][]byte{bytes.Split(before, []byte{between}), bytes.Split(behind, []byte{between})} {
		for _, one := range part {
			name, value, is := bytes.Cut(one, []byte("="))
			name = bytes.ToLower(bytes.TrimSpace(name))
			switch {
			case between == ' ' && len(one) > 0 && (!is || bytes.HasSuffix(one, []byte(","))):
				continue
			case is && len(value) > 0 && slices.Contains(servers[:], string(name)):
				known += 2
			case is && len(value) > 0 && (string(name) == "user" || string(name) == "dbname" || string(name) == "port"):
				known++
			}
		}
	}
	return between == ';' && known > 1 || known > 2
}

// field is the next word of netrc at s[i], and where it ends.
func field(s []byte, i int) (word []byte, end int) {
	const longest = 512
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	for end = i; end < len(s) && end-i < longest && s[end] > ' '; end++ {
	}
	return s[i:end], end
}

// around of a Kubernetes Secret's data: how far its kind is looked for, and how long the data
// may be.
const (
	manifest = 2 << 10
	maxData  = 64 << 10
)

// dataAt reads the values of a Kubernetes Secret, in YAML or JSON, as one: its key, "data" or
// "stringData", begins at s[i].
func dataAt(s []byte, i, from int) span {
	rest, n := s[i:], 0
	for _, key := range []string{"data", "stringData"} {
		if bytes.HasPrefix(rest, []byte(key)) && len(rest) > len(key) && (rest[len(key)] == ':' || rest[len(key)] == '"') {
			n = len(key)
		}
	}
	if n == 0 {
		return span{}
	}
	rest = rest[n:min(len(rest), n+maxData)]
	start, size := 0, 0
	if rest[0] == ':' {
		start, size = yamlBlock(s, i, rest)
	} else {
		start, size = jsonBlock(rest)
	}
	start += i + n
	if size == 0 || start < from || !ofSecret(s[max(0, i-manifest):min(len(s), start+size+manifest)]) {
		return span{}
	}
	return span{start, start + size, "kubernetes"}
}

// ofSecret reports a text that names the kind.
func ofSecret(text []byte) bool {
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte("kind"))
		if n < 0 {
			return false
		}
		at += n + len("kind")
		word := bytes.TrimLeft(text[at:min(len(text), at+16)], `\"':`+" \t")
		if len(word) < 16 && bytes.HasPrefix(word, []byte("Secret")) && (len(word) == len("Secret") || !isAlnum[word[len("Secret")]]) {
			return true
		}
	}
}

// yamlBlock is the lines behind "data:" that are indented more than it.
func yamlBlock(s []byte, i int, rest []byte) (start, size int) {
	indent := 0
	for i-indent > 0 && s[i-indent-1] == ' ' {
		indent++
	}
	line := bytes.IndexByte(rest, '\n')
	if i-indent > 0 && s[i-indent-1] != '\n' || line < 0 || len(bytes.TrimSpace(rest[1:line])) > 0 {
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

// jsonBlock is what stands between the braces behind `data"`.
func jsonBlock(rest []byte) (start, size int) {
	open := bytes.IndexByte(rest, '{')
	if open < 0 || len(bytes.Trim(rest[:open], `":`+" \t\r\n\\")) > 0 {
		return 0, 0
	}
	inside := rest[open+1:]
	if n := bytes.IndexByte(inside, '}'); n >= 0 {
		inside = inside[:n]
	}
	block := bytes.TrimSpace(inside)
	return open + 1 + bytes.Index(inside, block), len(block)
}

// signature is that of a shared access signature (Azure Storage), in a query.
func signature(name, value []byte) bool {
	return string(name) == "sig" && len(value) >= 40
}
