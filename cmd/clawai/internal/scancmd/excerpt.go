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

// secretPlaces holds the places of the secrets and likely secrets of a text. The first excerpt
// searches for them.
type secretPlaces struct {
	text  string
	spans [2][]redact.Span // secrets, and likely secrets; sorted, without overlap
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

// maxExcerpt limits how many bytes of a finding are read: an excerpt is one line.
const maxExcerpt = 4 << 10

// excerpt returns the text of a finding for people (shows), with tag characters replaced by the letters
// that they stand for. shows is "" if the text contains a secret or a likely secret in any spelling. words
// are the words of the text without the marks around them; they are returned even if shows is "".
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

// showFindings returns the excerpt of each finding. An excerpt is also "" if it has a part of a secret
// that is spread over several findings, or of a secret whose name stands before the findings.
func showFindings(text string, found []inspect.Found) (shows []string) {
	p := secretPlaces{text: text}
	shows = make([]string, len(found))
	words := make([]string, len(found))
	rows := map[inspect.Kind][]int{} // the findings with words, by kind; "" has all of them
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

const nearRow = 512 // bytes that are read before a finding and after it

// hideRow joins the words of the findings in row to one text, with the text between the findings if
// between is true. It empties the excerpts that have a part of a secret of this text.
func (p *secretPlaces) hideRow(found []inspect.Found, row []int, words, shows []string, between bool) {
	for n, first := range row {
		at := found[first].Start
		joined := spellTags(p.text[max(0, at-nearRow):at])
		begin := len(joined)
		limit := begin + len(words[first]) + nearRow
		var ends []int // offsets in joined where the words of each finding end
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
		for _, from := range []int{0, begin} { // also without the text before: a word there may hide where a key begins
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

// decodeTags returns the letters that tags and variation selectors mean to a model.
func decodeTags(text string) string {
	return strings.Map(tagLetter, text)
}

// spellTags returns a text with the letters that its tags and variation selectors mean, and without
// other characters that are not drawn.
func spellTags(text string) string {
	return strings.Map(func(r rune) rune {
		if textclass.OddInReply(r) {
			return tagLetter(r)
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// tagLetter returns the letter that a tag or a variation selector means; -1 for none.
func tagLetter(r rune) rune {
	switch {
	case r >= 0xe0020 && r < 0xe007f:
		return r - 0xe0000
	case r >= 0xe0100 && r <= 0xe01ef: // hidden bytes 16 to 255
		return r - 0xe0100 + 16
	}
	return -1
}
