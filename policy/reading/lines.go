package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/internal/effort"
)

// readLines reads a value with line breaks or tabs. Three cases are special:
//   - The value starts like a path or a URL: patterns about paths refuse it. Other patterns read it
//     as text, because it may be a source file with a comment at its top.
//   - The value is a URL: readLines adds a reading without the breaks, because URL parsers remove
//     them (WHATWG URL, basic URL parser).
//   - The value has breaks only at its ends: readLines adds a reading without them, because programs
//     trim such values.
func (rd *Reader) readLines(rs []Reading, v string, path bool, fold *CaseFolder, left *effort.Left) []Reading {
	url := SchemeLen(v) > 0 || isURL(joinLines(v, 64))
	r := Reading{Text: v, Raw: v, PathOnly: path || url}
	rs = append(rs, r)
	if r.PathOnly {
		rs = append(rs, refusedFor(r, "control character in a path"))
	} else {
		rs = rd.readClimb(rs, r, left)
	}
	if url {
		left.Spend(len(v))
		whole := joinLines(v, len(v))
		rs = append(rs, Reading{Text: whole, Raw: whole})
		if why, text := urlRefusal(whole); why != "" && !text && !proseLike(whole) {
			rs = append(rs, refusedFor(Reading{Text: v, Raw: v}, why))
		}
	}
	line, first := strings.TrimSpace(v), len(rs)
	if rd.Windows {
		line = trimQuotes(v)
	}
	if line == "" || strings.ContainsAny(line, "\n\r\t") {
		return rs
	}
	rs = rd.Read(rs, line, fold, left)
	for i := range rs[first:] {
		rs[first+i].Raw = v
	}
	return rs
}

// proseLike reports whether a value that is refused as a path or URL may be prose. Such a value
// begins with a path or URL. It may be prose if it has blanks after the host or in the host,
// because URLs have no blanks there.
func proseLike(s string) bool {
	if why, _ := urlRefusal(s); why != "" {
		s, _, _ = splitValue(s)
		if strings.ContainsAny(s, `@\%[]`) {
			return false
		}
	}
	return strings.ContainsFunc(strings.TrimSpace(s), unicode.IsSpace)
}

// joinLines removes the breaks from a text, as a URL parser does. It returns at most limit bytes.
func joinLines(v string, limit int) string {
	v = strings.TrimLeftFunc(v, isBlank)
	var b strings.Builder
	for i := 0; i < len(v) && b.Len() < limit; i++ {
		if c := v[i]; c != '\t' && c != '\n' && c != '\r' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isBlank reports whether programs remove the character r if it stands in front of a URL. The
// programs are browsers, Python's strip and JavaScript's trim.
func isBlank(r rune) bool { return r <= ' ' || r == '\uFEFF' || unicode.IsSpace(r) }

// readClimb reads a text with a component "..". It adds a reading of the path in which ".." is
// resolved.
func (rd *Reader) readClimb(rs []Reading, r Reading, left *effort.Left) []Reading {
	r.Transforms, r.Climbs = slashed|cleaned, true
	for range maxDecodings + 1 {
		left.Spend(len(r.Text))
		if hasDotDot(r.Text) {
			c := r
			c.Text = cleanPath(strings.ReplaceAll(r.Text, `\`, "/"))
			c.findRoot(rd)
			rs = append(rs, c)
		}
		next := unescapeOnce(r.Text)
		if next == r.Text {
			break
		}
		r.Text, r.Transforms = next, r.Transforms|decoded
	}
	return rs
}

// isBlankedURL reports whether v is a URL with blanks before or after it, which programs remove.
func isBlankedURL(v string) bool {
	return (mayBlank(v[0]) || mayBlank(v[len(v)-1])) && isTrimmedURL(v)
}

// mayBlank reports whether a byte may be part of a blank character.
func mayBlank(c byte) bool { return c <= ' ' || c >= utf8.RuneSelf }

func isTrimmedURL(v string) bool {
	t := strings.TrimFunc(v, isBlank)
	return len(t) < len(v) && isURL(t)
}

// isURL reports whether a text is a URL that programs open, or a text with such a URL inside; see
// unwrapURL.
func isURL(s string) bool {
	s = unwrapURL(s)
	return isWeb(s) || IsFile(s)
}

// readBlanked reads a URL that has blanks around it: once with the blanks, and once without.
func (rd *Reader) readBlanked(rs []Reading, v string, fold *CaseFolder, left *effort.Left) []Reading {
	first := len(rs)
	rs = append(rs, Reading{Text: v, Raw: v, PathOnly: true}, refusedFor(Reading{Text: v, Raw: v, PathOnly: true}, "blanks around a URL"))
	rs = rd.Read(rs, strings.TrimFunc(v, isBlank), fold, left)
	for i := range rs[first:] {
		rs[first+i].Raw = v
	}
	return rs
}
