package redact

import (
	"bytes"
	"encoding/base64"
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
	said, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(s[from:to], "=")))
	colon := bytes.IndexByte(said, ':')
	if err != nil || colon < 0 || string(said) == "Aladdin:open sesame" /* the standard's own */ || colon == len(said)-1 || !utf8.Valid(said) || bytes.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
		return span{}
	}
	return span{from, to, "basic"}
}

// netrcAt reads the password of "machine HOST login USER password PASSWORD".
func netrcAt(s []byte, i, from int) span {
	at := i
	for _, key := range []string{"machine", "login", "password"} {
		word, next := field(s, at)
		if key == "login" && string(word) == "account" {
			_, next = field(s, next)
			word, next = field(s, next)
		}
		if string(word) != key {
			return span{}
		}
		if at = next; key != "password" {
			_, at = field(s, at)
		}
	}
	value, end := field(s, at)
	if end-len(value) < from {
		return span{}
	}
	return span{end - len(value), end, placedKind}
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
