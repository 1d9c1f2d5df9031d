package redact

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
)

// Secrets whose name is itself a value or an element: {"name": "DB_PASSWORD", "value": "x"},
// <password>x</password>, <add key="token" value="x"/>.

// Limits on the distance between a name and its value, in bytes.
const (
	maxPair    = 256
	maxElement = 1 << 10
)

// isNaming reports whether a member with this name can hold the name of the value beside it.
func isNaming(name []byte) bool {
	var fold [16]byte
	if len(name) == 0 || len(name) > len(fold) {
		return false
	}
	plain := fold[:0]
	for _, c := range name {
		if c != '_' && c != '-' {
			plain = append(plain, c|0x20)
		}
	}
	switch string(plain) {
	case "name", "key", "k", "id", "label", "field", "header", "variable", "var", "env", "envvar", "param", "parameter", "option", "setting", "property",
		"keyname", "parameterkey", "parametername", "variablename", "fieldname", "headername", "optionname", "settingname", "envname":
		return true
	}
	return false
}

// isValueName reports whether a member with this name can hold a value whose name is in a member
// beside it.
func isValueName(name []byte) bool {
	const longest = len("parametervalue")
	n := len(name)
	if n == 0 || n > longest+1 || name[n-1]|0x20 != 'e' && n > 1 {
		return false
	}
	if n == 1 {
		return name[0]|0x20 == 'v'
	}
	return n >= len("value") && bytes.EqualFold(name[n-len("value"):], []byte("value")) &&
		(n == len("value") || bytes.EqualFold(name, []byte("parametervalue")) || bytes.EqualFold(name, []byte("optionvalue")) ||
			bytes.EqualFold(name, []byte("stringvalue")) || bytes.EqualFold(name, []byte("defaultvalue")) || bytes.EqualFold(name, []byte("fieldvalue")))
}

// pairedAt finds a value whose name is another value of the same object, list entry or tag. The
// name of its member begins at s[start]; s[i] is the sign before the value.
func (r *reading) pairedAt(start, i int, named bool) span {
	s := r.s
	from, to := valueAfter(s[:min(len(s), i+maxElement)], i+1, false, false)
	if from == to {
		return span{}
	}
	before := s[max(0, start-maxPair):start]
	before = before[pairStart(before):]
	secretly := namesBeside(before)
	if !secretly {
		behind := s[to:min(len(s), to+maxPair)]
		secretly = namesBeside(behind[:pairEnd(behind)])
	}
	if !secretly {
		return span{}
	}
	// Find out whether the value is in a tag that is a field of a form. A field often holds a token
	// of its page, which is no secret.
	open := bytes.LastIndexByte(s[max(0, start-2*maxPair):start], '<')
	form := open >= 0 && isFormTag(s[max(0, start-2*maxPair)+open+1:start])
	return r.namedElsewhere(from, to, named, !form)
}

// namedElsewhere returns the span of a value that another place names as a secret. If sure is true
// and the value itself looks like a secret, the span has the kind of secrets that are recognized by
// their place. Otherwise it has the kind of values that only a name marks, and it is returned only
// if the parameter named is true.
func (r *reading) namedElsewhere(from, to int, named, sure bool) span {
	switch value := r.s[from:to]; {
	case sure && isChosen(value):
		return span{from, to, placedKind}
	case !named:
		r.named = true
		return span{}
	case !bytes.ContainsFunc(value, isWordRune):
		return span{}
	}
	return span{from, to, "value"}
}

// isChosen reports whether a value looks like a secret. It returns false for a word, a number, a
// path, and a reference to the place of a secret.
func isChosen(value []byte) bool {
	const least = 8
	if len(value) < least || bytes.IndexByte(value, ' ') >= 0 || isNumber(value) || bytes.IndexByte([]byte("/$~.{(<%["), value[0]) >= 0 {
		return false
	}
	if n := bytes.IndexByte(value, ':'); n > 0 && ofClass(value[:n], wordish) && n < maxScheme && (n+1 == len(value) || bytes.IndexByte([]byte("/:"), value[n+1]) >= 0 || n < len("secret")) {
		return false // arn:…, op://…, vault:… are addresses of a secret
	}
	letters, digits := 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case isAlnum[c]:
			letters++
		}
	}
	return digits > 0 && letters > 1
}

// pairStart returns the place after the last sign in s that ends another object, entry or tag; 0 if
// there is none.
func pairStart(s []byte) int {
	at := bytes.LastIndexAny(s, "{}<>")
	for n := len(s) - 1; n > at; n-- {
		if s[n] != '\n' {
			continue
		}
		line := bytes.TrimLeft(s[n+1:], " \t")
		if len(line) > 1 && line[0] == '-' && line[1] == ' ' {
			return len(s) - len(line) + 1
		}
		if before := bytes.TrimRight(s[:n], " \t\r"); len(before) > 0 && before[len(before)-1] == '\n' {
			return n
		}
	}
	return at + 1
}

// pairEnd returns the place of the first sign in s that begins another object, entry or tag; len(s)
// if there is none.
func pairEnd(s []byte) int {
	at := bytes.IndexAny(s, "{}<>")
	if at < 0 {
		at = len(s)
	}
	for n := 0; n < at; n++ {
		if s[n] != '\n' {
			continue
		}
		line := bytes.TrimLeft(s[n+1:], " \t\r")
		if len(line) == 0 || line[0] == '\n' || line[0] == '-' {
			return n
		}
	}
	return at
}

// namesBeside reports whether a text has a member whose value is the name of a secret.
func namesBeside(s []byte) bool {
	for at := 0; at < len(s); {
		n := bytes.IndexAny(s[at:], ":=")
		if n < 0 {
			return false
		}
		at += n
		end := at
		for end > 0 && (s[end-1] == ' ' || isQuote(s[end-1]) || s[end-1] == '\\') {
			end--
		}
		start := end
		for start > 0 && (isWord[s[start-1]] || s[start-1] == '-') {
			start--
		}
		at++
		if !isNaming(s[start:end]) {
			continue
		}
		from, to := valueAfter(s, at, false, false)
		if isSecretName(s[from:to]) {
			return true
		}
		at = max(to, at)
	}
	return false
}

// isSecretName reports whether a text is the name of a secret and has one to three words:
// DB_PASSWORD, "API key".
func isSecretName(text []byte) bool {
	const longest, words = 64, 3
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > longest || bytes.Count(text, []byte(" ")) >= words {
		return false
	}
	for _, c := range text {
		if !isWord[c] && bytes.IndexByte([]byte("-. :/%[]"), c) < 0 {
			return false
		}
	}
	last := bytes.TrimRight(text, "-_0123456789sS")
	return nameSecrecy(text) == secret && !hasSuffixFold(last, "cookie") // the value beside the name of a cookie is often harmless
}

func hasSuffixFold(s []byte, end string) bool {
	return len(s) >= len(end) && bytes.EqualFold(s[len(s)-len(end):], []byte(end))
}

// IsNamedBeside reports whether another member of the same JSON object shows that the value of a
// member is a secret, as in {"name": "API_KEY", "value": ...}. The parameter name is the name of
// the member with the value. The other two parameters are the JSON texts before and after that
// member.
func IsNamedBeside(name string, before, behind []byte) bool {
	if !isValueName(bytesOf(name)) {
		return false
	}
	before, behind = before[max(0, len(before)-maxPair):], behind[:min(len(behind), maxPair)]
	before, behind = before[pairStart(before):], behind[:pairEnd(behind)]
	for _, part := range [...][]byte{before, behind} {
		if bytes.IndexByte(part, '\\') >= 0 {
			part = escape.UndoEscapes(nil, part)
		}
		if namesBeside(part) {
			return true
		}
	}
	return false
}

// isFormTag reports whether an HTML tag is a field or a button of a form, a link, or metadata of
// the page.
func isFormTag(tag []byte) bool {
	return bytes.HasPrefix(tag, []byte("input")) || bytes.HasPrefix(tag, []byte("meta")) || bytes.HasPrefix(tag, []byte("button")) || bytes.HasPrefix(tag, []byte("a "))
}

// elementAt finds the text of an XML element whose name is the name of a secret. An attribute, or
// the element before it, can also have the name of the secret. s[i] is the first byte of the tag.
func (r *reading) elementAt(i int, named bool) span {
	s := r.s
	end := i + 1
	for end < len(s) && end-i <= 64 && (isWord[s[end]] || s[end] == '-' || s[end] == '.' || s[end] == ':') {
		end++
	}
	tag := s[i+1 : end]
	if len(tag) < 2 || end == len(s) || tag[0] == '-' {
		return span{}
	}
	if n := bytes.IndexByte(tag, ':'); n >= 0 {
		tag = tag[n+1:]
	}
	level := nameSecrecy(tag)
	naming := level == harmless && s[end] == '>' && isNaming(tag)
	if level != secret && !naming && !(s[end] == '>' && isValueName(tag)) {
		return span{}
	}
	open := bytes.IndexByte(s[end:min(len(s), end+maxPair)], '>')
	if open < 0 || s[end+open-1] == '/' {
		return span{}
	}
	from, to, behind := elementText(s, end+open+1)
	switch {
	case from == to:
		return span{}
	case level == secret:
		return r.namedElsewhere(from, to, named, true)
	}
	next := nextElement(s, behind)
	if next == 0 {
		return span{}
	}
	content, last, _ := elementText(s, next)
	switch {
	case content == last:
	case naming && isSecretName(s[from:to]):
		return r.namedElsewhere(content, last, named, true)
	case !naming && isSecretName(s[content:last]) && isNaming(tagBefore(s, next)):
		return r.namedElsewhere(from, to, named, true)
	}
	return span{}
}

// namedElement finds the text of an element with an attribute that is the name of a secret: <string
// name="api_key">x</string>. s[i] is the equals sign of the attribute.
func (r *reading) namedElement(i int, named bool) span {
	s := r.s
	near := s[:min(len(s), i+maxPair)]
	from, to := valueAfter(near, i+1, false, false)
	if from == to || from == i+1 || !isSecretName(near[from:to]) {
		return span{}
	}
	open := bytes.IndexAny(near[to:], "<>{}\n")
	if open < 1 || near[to+open] != '>' || near[to+open-1] == '/' {
		return span{}
	}
	tag := bytes.LastIndexByte(s[max(0, i-maxPair):i], '<')
	if tag < 0 || isFormTag(s[max(0, i-maxPair)+tag+1:i]) {
		return span{}
	}
	begin, last, _ := elementText(s, to+open+1)
	if begin == last {
		return span{}
	}
	return r.namedElsewhere(begin, last, named, true)
}

// elementText returns the text of an element, without the blanks around it, and the place after its
// end tag. The text begins at s[at]. from and to are equal if the element holds other elements or
// is too long.
func elementText(s []byte, at int) (from, to, behind int) {
	rest := s[at:min(len(s), at+maxElement)]
	from = at + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	rest = s[from:min(len(s), from+maxElement)]
	if cdata := []byte("<![CDATA["); bytes.HasPrefix(rest, cdata) {
		from += len(cdata)
		if n := bytes.Index(rest[len(cdata):], []byte("]]>")); n >= 0 {
			return from, from + n, from + n + len("]]>")
		}
		return at, at, at
	}
	n := bytes.IndexByte(rest, '<')
	if n < 0 || n+1 == len(rest) || rest[n+1] != '/' {
		return at, at, at
	}
	to = from + len(bytes.TrimRight(rest[:n], " \t\r\n"))
	return from, max(from, to), from + n
}

// nextElement returns the place after the tag of the next element, if s[at] is in an end tag or
// before it. It returns 0 if there is text between the two tags.
func nextElement(s []byte, at int) int {
	near := s[:min(len(s), at+maxPair)]
	for range 2 { // first the end tag, then the next tag
		n := skipBytes(near, at, " \t\r\n")
		if n == len(near) || near[n] != '<' {
			return 0
		}
		end := bytes.IndexByte(near[n:], '>')
		if end < 0 {
			return 0
		}
		at = n + end + 1
		if near[n+1] != '/' {
			return at
		}
	}
	return 0
}

// tagBefore returns the name in the tag that ends before s[at].
func tagBefore(s []byte, at int) []byte {
	tag := s[max(0, at-maxPair) : at-1]
	tag = tag[bytes.LastIndexByte(tag, '<')+1:]
	if n := bytes.IndexAny(tag, " \t\r\n/"); n >= 0 {
		tag = tag[:n]
	}
	return tag
}

// isEnvironment reports whether a name and its value are an environment variable in a list or map
// of Docker, Compose or Kubernetes: "DB_PASSWORD=x" or - DB_PASSWORD=x in a list, --env
// DB_PASSWORD=x, DB_PASSWORD: x in a map. s[start:end] is the name with its quotes; s[i] is the
// sign after it.
func isEnvironment(s []byte, start, end, i int, name []byte) bool {
	parts := false
	for _, c := range name {
		if !isWord[c] || c >= 'a' && c <= 'z' {
			return false
		}
		parts = parts || c == '_'
	}
	if !parts {
		return false
	}
	if start == 0 { // s is the whole text of a member of a message, or of an element in a list
		return s[i] == ':' && memberEnd(s) == i+len(`:"`) || s[i] == '=' && len(s) <= maxElement && !bytes.ContainsAny(s, " \n")
	}
	before := s[max(0, start-maxPair):start]
	quoted := len(before) > 0 && isQuote(before[len(before)-1])
	plain := bytes.TrimRight(before, "\"'`\\")
	bare := bytes.TrimRight(plain, " \t")
	if s[i] == ':' { // an entry of a map
		line := plain[bytes.LastIndexByte(plain, '\n')+1:]
		return quoted && end < i && len(bare) > 0 && bytes.IndexByte([]byte("{,\n\r"), bare[len(bare)-1]) >= 0 ||
			!quoted && len(line) > 1 && len(bytes.TrimSpace(line)) == 0 && len(line) < len(plain)
	}
	switch {
	case quoted && len(bare) > 0 && bytes.IndexByte([]byte("[,\n"), bare[len(bare)-1]) >= 0:
		return true
	case bytes.HasSuffix(bare, []byte(" -e")), bytes.HasSuffix(bare, []byte(" --env")), bytes.HasSuffix(plain, []byte(" --env=")):
		return true
	}
	line := bare[bytes.LastIndexByte(bare, '\n')+1:]
	return string(bytes.TrimSpace(line)) == "-" && len(bare) < len(plain)
}
