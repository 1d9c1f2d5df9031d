package client

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeString decodes a string or a bare name that the reader has accepted. A lone surrogate
// becomes U+FFFD.
func decodeString(raw []byte) string {
	if raw[0] == '"' || raw[0] == '\'' {
		raw = raw[1 : len(raw)-1]
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		if raw[0] != '\\' {
			out = append(out, raw[0])
			raw = raw[1:]
			continue
		}
		r, size := decodeEscape(raw)
		if r >= 0 {
			out = utf8.AppendRune(out, r)
		}
		raw = raw[size:]
	}
	return string(out)
}

const shortEscapes, shortMeanings = `bfnrtv0`, "\b\f\n\r\t\v\x00"

// decodeEscape decodes one escape. size is its length in bytes. r is -1 for an escaped line end,
// which stands for no character.
func decodeEscape(raw []byte) (r rune, size int) {
	c := raw[1]
	switch {
	case c == 'u':
		r = parseHex(raw[2:6])
		if utf16.IsSurrogate(r) && hexDigits(raw[min(7, len(raw)):], 'u', 4) && raw[6] == '\\' {
			if pair := utf16.DecodeRune(r, parseHex(raw[8:12])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	case c == 'x':
		return parseHex(raw[2:4]), 4
	case c == '\r' && len(raw) > 2 && raw[2] == '\n':
		return -1, 3
	case c == '\n' || c == '\r':
		return -1, 2
	}
	if i := strings.IndexByte(shortEscapes, c); i >= 0 {
		return rune(shortMeanings[i]), 2
	}
	r, size = utf8.DecodeRune(raw[1:])
	if r == '\u2028' || r == '\u2029' {
		r = -1
	}
	return r, 1 + size
}

func parseHex(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 32)
	return rune(n)
}

// quoteText returns s as a string in double quotes that is valid in JSON, JSON5, TOML and YAML.
func quoteText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
