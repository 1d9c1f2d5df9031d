package scancmd

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/escape"
)

// secretPlaces has the places of secrets and likely secrets in a text. hasAny searches for them at
// its first call.
type secretPlaces struct {
	text  string
	spans [2][]redact.Span // secrets and likely secrets, each sorted and without overlap
	read  bool
}

// hasAny reports whether a part of the text contains a secret or a likely secret.
func (p *secretPlaces) hasAny(start, end int) bool {
	if !p.read {
		read := redact.Read(p.text)
		for i, find := range []func(int) (redact.Span, bool){read.Find, read.FindUnnamed} {
			for s, found := find(0); found; s, found = find(max(s.End, s.Start+1)) {
				p.spans[i] = append(p.spans[i], s)
			}
		}
		p.read = true
	}
	for _, spans := range p.spans {
		n, _ := slices.BinarySearchFunc(spans, start, func(s redact.Span, at int) int { return cmp.Compare(s.End, at+1) })
		if n < len(spans) && spans[n].Start < end {
			return true
		}
	}
	return false
}

// maxExcerpt is how many bytes of a finding are read. The excerpt is only one line.
const maxExcerpt = 4 << 10

// excerpt returns the text of a finding in two forms:
//   - shows is the text for a person, with letters in place of tag characters. It is "" if the text
//     contains a secret or a likely secret in any spelling.
//   - words is the text without the marks around it, such as the marks of a comment.
func (p *secretPlaces) excerpt(f inspect.Found) (shows, words string) {
	text := strings.ToValidUTF8(p.text[f.Start:min(f.End, f.Start+maxExcerpt)], "\ufffd")
	said := html.UnescapeString(string(escape.UndoEscapes(nil, []byte(text))))
	switch f.Kind {
	case inspect.Hidden:
		if strings.HasPrefix(text, `"`) { // a whole JSON string, which may hold other text
			return "", decodeTags(said)
		}
		if words = decodeTags(text); words != "" {
			text = `"` + words + `"`
		}
	case inspect.Control, inspect.TemplateToken, inspect.Comment, inspect.CSSHidden, inspect.ImageLink:
		words = surround().ReplaceAllString(said, "")
	default:
		return "", ""
	}
	drawn := strings.Map(func(r rune) rune {
		if textclass.OddInReply(r) {
			return -1
		}
		return r
	}, said)
	for _, reading := range []string{text, said, drawn, decodeTags(said)} {
		if _, is := redact.FindSecret(reading, 0); is {
			return "", words
		}
	}
	if p.hasAny(f.Start, f.End) {
		return "", words
	}
	return view.Cut(term.VisibleText(text), 60), words
}

// surround matches the marks around the words of a comment or of a terminal's title.
var surround = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^"?(?:<!--\s*|\x1b\][0-9;]*)?|(?:\s*-->|\x07|\x1b\\|\x{9c})?"?$`)
})

// showFindings returns an excerpt for each finding. An excerpt is "" if it contains a part of a
// secret. One secret may be spread over several findings, so showFindings also joins findings and
// searches them together with the text before them, which may have the name of the secret.
func showFindings(text string, found []inspect.Found) (shows []string) {
	p := secretPlaces{text: text}
	shows = make([]string, len(found))
	words := make([]string, len(found))
	rows := map[inspect.Kind][]int{} // indexes of the findings with words, by kind; the key "" is for all kinds
	for i, f := range found {
		if shows[i], words[i] = p.excerpt(f); words[i] != "" {
			rows[f.Kind] = append(rows[f.Kind], i)
			rows[""] = append(rows[""], i)
		}
	}
	for _, row := range rows {
		p.hideRow(found, row, words, shows, false)
	}
	p.hideRow(found, rows[inspect.Hidden], words, shows, true)
	return shows
}

const nearRow = 512 // how many bytes before and after a finding are read

// hideRow finds secrets that are spread over several findings. It joins the words of the findings
// whose indexes are in the parameter row. If the parameter between is true, it also includes the
// text between these words. Where the joined text contains a secret, it clears those excerpts in
// the parameter shows that have a part of this secret.
func (p *secretPlaces) hideRow(found []inspect.Found, row []int, words, shows []string, between bool) {
	for n, first := range row {
		at := found[first].Start
		joined := spellTags(p.text[max(0, at-nearRow):at])
		begin := len(joined)
		limit := begin + len(words[first]) + nearRow
		var ends []int // for each finding, the offset in joined where its words end
		for _, i := range row[n:] {
			if len(joined) > limit {
				break
			}
			if between && at < found[i].Start {
				joined += spellTags(p.text[at:min(found[i].Start, at+nearRow)])
			}
			at = found[i].End
			joined += words[i]
			ends = append(ends, len(joined))
		}
		if between {
			joined += spellTags(p.text[at:min(len(p.text), at+nearRow)])
		}
		// The second search omits the text before the findings, because a word there may hide the
		// start of a key.
		for _, from := range []int{0, begin} {
			read := joined[from:]
			for s, is := redact.FindSecret(read, 0); is; s, is = redact.FindSecret(read, max(s.End, s.Start+1)) {
				for k, end := range ends {
					if i := row[n+k]; from+s.Start < end && from+s.End > end-len(words[i]) {
						shows[i] = ""
					}
				}
			}
		}
	}
}

// decodeTags returns only the letters that a model reads in tags and variation selectors.
func decodeTags(text string) string {
	return strings.Map(tagLetter, text)
}

// spellTags replaces tags and variation selectors by their letters. It removes other invisible
// characters.
func spellTags(text string) string {
	return strings.Map(func(r rune) rune {
		if textclass.OddInReply(r) {
			return tagLetter(r)
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// tagLetter returns the letter that a tag or a variation selector encodes, or -1 if there is none.
func tagLetter(r rune) rune {
	switch {
	case r >= 0xe0020 && r < 0xe007f:
		return r - 0xe0000
	case r >= 0xe0100 && r <= 0xe01ef: // the bytes 16 to 255
		return r - 0xe0100 + 16
	}
	return -1
}
