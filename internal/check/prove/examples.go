package prove

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
)

// longText is a length that is too long for most constraints on the length of a text.
const longText = 1 << 12

var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`) })

// exampleValues returns values that may meet a typed constraint. The policy later checks whether
// they do. text is the value of the constraint as TOML.
func exampleValues(key, text string) []any {
	words := quotedStrings(text)
	var out []any
	switch key {
	case "under":
		for _, w := range words {
			out = append(out, strings.TrimRight(w, "/")+"/x", w)
		}
	case "host":
		for _, w := range words {
			name, _, _ := strings.Cut(unstarGlob(w), "/") // the first address of a network
			if strings.Contains(name, ":") {
				name = "[" + strings.Trim(name, "[]") + "]"
			}
			out = append(out, "https://"+name+"/")
		}
	case "scheme":
		for _, w := range words {
			out = append(out, w+"://example.com/")
		}
	case "public":
		out = append(out, "https://example.com/", "https://93.184.216.34/", "http://127.0.0.1/")
	case "sql":
		out = append(out, "SELECT 1", "select a from t")
	case "command":
		for _, w := range words {
			out = append(out, unstarGlob(w))
			if strings.HasPrefix(w, "-") { // the element is an option, so make an example from the first command and this option
				out = append(out, strings.TrimSuffix(unstarGlob(words[0]), " x")+" "+w)
			}
		}
	case "regex":
		for _, w := range words {
			out = append(out, sampleMatch(w))
		}
	case "type":
		out = append(out, "x", 1, true, nil, map[string]any{"x": 1}, []any{"x"}, map[string]any{}, []any{})
	case "present":
		out = append(out, "x", strings.Repeat("x", longText), []any{}, map[string]any{})
	case "max_length":
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, strings.Repeat("x", min(n, longText)))
		}
		out = append(out, "x", "")
	default: // one_of, min or max
		for _, w := range words {
			out = append(out, w)
		}
		for number := range strings.FieldsFuncSeq(quotedText().ReplaceAllString(text, ""), func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
			if json.Valid([]byte(number)) {
				out = append(out, json.RawMessage(number), number)
			}
		}
		out = append(out, "x", 0, true, false) // also values of other kinds, because a server may read one as a listed value
	}
	return out
}

// quotedStrings returns the strings in a TOML text.
func quotedStrings(text string) (out []string) {
	for _, q := range quotedText().FindAllString(text, -1) {
		var s string
		if q[0] == '\'' {
			s = q[1 : len(q)-1]
		} else if json.Unmarshal([]byte(q), &s) != nil {
			continue
		}
		out = append(out, s)
	}
	return out
}

// unstarGlob returns a text that a glob matches, with one letter in place of each wildcard.
func unstarGlob(glob string) string {
	return regexp.MustCompile(`\*+|\?`).ReplaceAllString(glob, "x")
}

// sampleMatch returns a text that a simple regular expression matches.
func sampleMatch(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	spellRegexp(&b, re.Simplify(), 0)
	return b.String()
}

const maxSpelling = 1 << 10

func spellRegexp(b *strings.Builder, re *syntax.Regexp, depth int) {
	if depth > 100 || b.Len() > maxSpelling {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(fromClass(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpPlus:
		spellRegexp(b, re.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			spellRegexp(b, sub, depth+1)
		}
	case syntax.OpRepeat:
		for range re.Min {
			spellRegexp(b, re.Sub[0], depth+1)
		}
	}
}

// fromClass returns a plain character from a class of a regular expression.
func fromClass(ranges []rune) rune {
	for _, want := range "x0a-_" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
