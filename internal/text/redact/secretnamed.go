package redact

import "bytes"

// Secrets that are recognized by their name and their form together. One of the two alone is not
// enough.

// leastRandom is the minimum length of a value that looks random.
const leastRandom = 20

// isRandom reports whether a value of at least the given length looks as if a program had generated
// it: its mixture of letters and digits occurs in no word and no number.
func isRandom(value []byte, least int) bool {
	body := bytes.TrimRight(value, "=")
	if len(body) < least || !ofClass(body, wordish|slashes|dot|tilde) {
		return false
	}
	digits, lower, upper, changes := 0, 0, 0, 0
	for i, c := range body {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		}
		if i > 0 && (classes[c] == decimal) != (classes[body[i-1]] == decimal) {
			changes++
		}
	}
	return lower+upper > 1 && changes > 2 && (digits > 3 || digits > 1 && lower > 1 && upper > 1)
}

// isNamedKey reports whether a value has the form of the keys that usually have this name. asHeader
// means that a colon follows the name.
func isNamedKey(name, value []byte, inQuery, asHeader bool) bool {
	var fold [64]byte
	plain := fold[:0]
	for _, c := range name[max(0, len(name)-len(fold)):] {
		if isAlnum[c] {
			plain = append(plain, c|0x20)
		}
	}
	ends := func(word string) bool { return bytes.HasSuffix(plain, []byte(word)) }
	switch {
	case ends("secretaccesskey"), ends("awssecretkey"): // a key of AWS
		return len(value) == 40 && isRandom(value, 40)
	case ends("sessiontoken"):
		return isRandom(value, 100)
	case ends("privatekey"): // a key of WireGuard
		return len(value) == 44 && value[43] == '=' && isRandom(value, 43)
	case inQuery:
		return (ends("accesstoken") || ends("refreshtoken") || ends("idtoken") || ends("clientsecret")) && isRandom(value, leastRandom)
	case asHeader && bytes.IndexByte(name, '-') > 0: // a header such as X-Api-Key or PRIVATE-TOKEN
		return (ends("apikey") || ends("token")) && isRandom(value, leastRandom) && !bytes.HasPrefix(value, []byte("MII")) // MII begins a public key or a certificate
	}
	return false
}

// authorizationSpan returns the range of the credentials in s[from:to], which is the value of an
// Authorization header. This is the text after the name of a scheme, or the whole value. It leaves
// Bearer and Basic to bearerSpan and basicSpan.
func authorizationSpan(s []byte, from, to int) (int, int, bool) {
	const least = 16
	value := s[from:to]
	if scheme, rest, found := bytes.Cut(value, []byte(" ")); found {
		if len(scheme) == 0 || !ofClass(scheme, wordish) || bytes.EqualFold(scheme, []byte("bearer")) || bytes.EqualFold(scheme, []byte("basic")) {
			return 0, 0, false
		}
		from += len(value) - len(bytes.TrimLeft(rest, " "))
	}
	end := from
	for end < to && classes[s[end]]&(wordish|slashes|equals|dot|tilde) != 0 || end < to && s[end] == ':' {
		end++
	}
	token := s[from:end]
	if before, behind, found := bytes.Cut(token, []byte(":")); found { // the AWS form KEY:SIGNATURE
		return from, end, ofClass(before, wordish) && isRandom(behind, least)
	}
	return from, end, isRandom(token, least)
}

// keyParts are the members of a JSON Web Key (RFC 7518) that are secret.
var keyParts = [...]string{"d", "k", "p", "q", "dp", "dq", "qi"}

// maxKeyPart is the maximum length in bytes of a value that is checked as a part of a JSON Web Key.
const maxKeyPart = 2 << 10

// isKeyPart reports whether a member with this name and value is a secret part of a JSON Web Key.
// The name begins at s[at].
func isKeyPart(s []byte, at int, name, value []byte) bool {
	const near, least = 4 << 10, 40
	is := false
	for _, part := range keyParts {
		is = is || string(name) == part
	}
	return is && len(value) >= least && ofClass(value, wordish) && isRandom(value, least) &&
		bytes.Contains(s[max(0, at-near):min(len(s), at+len(value)+near)], []byte(`kty`))
}

// pgpassAt finds the password in a line of .pgpass (PostgreSQL): host:port:database:user:password.
// The first colon is at s[i].
func pgpassAt(s []byte, i int) span {
	// Check the port first, because a port follows few of the colons in a text.
	port := i + 1
	for port < len(s) && port-i <= len("65535") && classes[s[port]] == decimal {
		port++
	}
	if n := port - i - 1; n == 0 && port < len(s) && s[port] == '*' {
		port++
	} else if n < 3 {
		return span{}
	}
	if port == len(s) || s[port] != ':' {
		return span{}
	}
	begin := i
	for begin > 0 && i-begin < maxLook && (classes[s[begin-1]]&(wordish|dot|slashes) != 0 || s[begin-1] == '*') {
		begin--
	}
	if begin == i || begin > 0 && bytes.IndexByte([]byte(" \t\r\n\"'`>#"), s[begin-1]) < 0 && !afterEscape(s[:begin]) || !isHost(s[begin:i]) {
		return span{}
	}
	line := s[port+1 : min(len(s), i+maxLook)]
	if n := bytes.IndexAny(line, " \t\r\n\"'`<>"); n >= 0 {
		line = line[:n]
	}
	database, rest, _ := bytes.Cut(line, []byte(":"))
	user, password, found := bytes.Cut(rest, []byte(":"))
	if !found || len(database) == 0 || len(user) == 0 || classes[user[0]] == decimal || user[0] == '-' {
		return span{}
	}
	if len(password) < 6 || !bytes.ContainsAny(password, "0123456789") {
		return span{}
	}
	if n := bytes.IndexByte(password, '\\'); n >= 0 && n+1 < len(password) && password[n+1] != ':' && password[n+1] != '\\' { // here the text is inside a JSON string: its \n ends the line
		password = password[:n]
	}
	from := port + 1 + len(database) + 1 + len(user) + 1
	return span{from, from + len(password), placedKind}
}

// isHost reports whether a text can be the host of a connection. A number cannot.
func isHost(s []byte) bool {
	return string(s) == "*" || bytes.ContainsFunc(s, func(r rune) bool { return isAlnum[byte(r)] && classes[byte(r)] != decimal }) || bytes.Count(s, []byte(".")) == 3
}

// identifiedAt finds the password in a statement of SQL: IDENTIFIED BY 'x', WITH PASSWORD 'x'. The
// first word begins at s[i].
func identifiedAt(s []byte, i int) span {
	const identified, password, statement = "identified", "password", 256
	at := 0
	switch rest := s[i:]; {
	case len(rest) > len(identified) && bytes.EqualFold(rest[:len(identified)], []byte(identified)):
		at = i + len(identified)
		by := bytes.Index(bytes.ToLower(s[at:min(len(s), at+64)]), []byte(" by "))
		if by < 0 {
			return span{}
		}
		at += by + len(" by ")
	case len(rest) > len(password) && bytes.EqualFold(rest[:len(password)], []byte(password)) && rest[len(password)] == ' ':
		if quote := skipBytes(s, i+len(password), " \\"); quote == len(s) || s[quote] != '\'' && s[quote] != '"' {
			return span{}
		}
		before := bytes.ToLower(s[max(0, i-statement):i])
		if n := bytes.LastIndexAny(before, ";\n"); n >= 0 {
			before = before[n:]
		}
		if !bytes.Contains(before, []byte("role ")) && !bytes.Contains(before, []byte("user ")) {
			return span{}
		}
		at = i + len(password)
	default:
		return span{}
	}
	at = skipBytes(s, at, " \\")
	if at == len(s) || s[at] != '\'' && s[at] != '"' {
		return span{}
	}
	end := quotedEnd(s, at)
	if end < at+5 || !bytes.ContainsAny(s[at:end], "0123456789") {
		return span{}
	}
	return span{at + 1, end, placedKind}
}
