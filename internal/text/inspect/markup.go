package inspect

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/inspect/injection"
)

// findTemplateTokens finds the tokens with which the templates of models separate speakers: ChatML
// and similar templates, Llama, Mistral, Gemma, DeepSeek.
func findTemplateTokens(f *findings) {
	f.visitWords(speakers, func(start, end int) {
		if open := f.text[start:end]; open == "<|" || open == "<｜" {
			n := tokenLen(f.text[end:])
			if n == 0 {
				return
			}
			end += n
		}
		f.addFinding(TemplateToken, "a speaker's mark of a model's template", start, end)
	})
}

var speakers = []string{"<|", "<｜", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[AVAILABLE_TOOLS]"}

// tokenLen returns the length of the rest of a template token, such as im_start|>, at the start of
// a text; 0 if there is none.
func tokenLen(rest string) int {
	n := strings.IndexFunc(rest, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '▁')
	})
	if n < 2 || n > 48 {
		return 0
	}
	for _, end := range []string{"|>", "｜>"} {
		if strings.HasPrefix(rest[n:], end) {
			return n + len(end)
		}
	}
	return 0
}

// visitWords visits each place of each word. It searches the text once for each word.
func (f *findings) visitWords(words []string, visit func(start, end int)) {
	for _, w := range words {
		for at := 0; ; {
			next := strings.Index(f.text[at:], w)
			if next < 0 {
				break
			}
			start := at + next
			at = start + len(w)
			visit(start, at)
		}
	}
}

const (
	commentStart = "<!--"
	linkMiddle   = "](" // the middle of a Markdown link
)

const longComment = 40 // bytes; a shorter comment is only a marker for a tool

// findComments finds HTML comments.
func findComments(f *findings) {
	f.visitComments(func(start, end int, inside string) {
		if len(strings.TrimSpace(inside)) >= longComment {
			f.addFinding(Comment, "an HTML comment", start, end)
		}
	})
}

// findConcealed finds text that a reader of the page does not see and whose wording is like an
// attack.
func findConcealed(f *findings) {
	f.visitComments(func(start, end int, inside string) {
		if len(inside) >= longComment && injection.TopScore(inside) >= injection.Likely {
			f.addFinding(Concealed, "words like those of prompt injections in an HTML comment", start, end)
		}
	})
	read := 0 // end of the hidden text read so far, because hidden texts may be nested
	f.visitTags(Concealed, func(t tag) {
		if t.start < read || !t.hidden && !t.hidesText() {
			return
		}
		from := t.start + strings.IndexByte(f.text[t.start:], '>') + 1 // t.end is too far if a quote in the tag is not closed
		if read = f.bodyEnd(t); from < read && injection.TopScore(f.text[from:read]) >= injection.Likely {
			f.addFinding(Concealed, "words like those of prompt injections in HTML that its tag hides", t.start, read)
		}
	})
}

// visitComments visits the HTML comments. A comment without an end reaches to the end of the text.
func (f *findings) visitComments(visit func(start, end int, inside string)) {
	for at := 0; ; {
		n := strings.Index(f.text[at:], commentStart)
		if n < 0 {
			return
		}
		start := at + n
		inside := f.text[start+len(commentStart):]
		end := len(f.text)
		if n := strings.Index(inside, "-->"); n >= 0 {
			inside, end = inside[:n], start+len(commentStart)+n+len("-->")
		}
		visit(start, end, inside)
		at = end
	}
}

func findCSSHidden(f *findings) {
	f.visitTags(CSSHidden, func(t tag) {
		if t.hidesText() {
			f.addFinding(CSSHidden, "HTML that its style hides", t.start, t.end)
		}
	})
}

func findImageLinks(f *findings) {
	const what = "an image whose address carries a query"
	f.visitTags(ImageLink, func(t tag) {
		if t.drawsQuery() {
			f.addFinding(ImageLink, what, t.start, t.end)
		}
	})
	f.visitWords([]string{linkMiddle}, func(at, from int) {
		start := strings.LastIndexByte(f.text[max(0, at-300):at], '[') + max(0, at-300)
		if start < 1 || f.text[start-1] != '!' || f.text[start] != '[' {
			return
		}
		end := min(from+tagLength, len(f.text))
		for _, stop := range []byte(")\n") {
			if n := strings.IndexByte(f.text[from:end], stop); n >= 0 {
				end = from + n
			}
		}
		if hasQuery(markdownAddress(f.text[from:end])) {
			f.addFinding(ImageLink, what, start-1, end)
		}
	})
	f.findReferences(what)
}

// findReferences finds Markdown images whose address is in a definition: ![x][label] or ![label]
// for the image, and a line "[label]: address". The image and the definition are both findings,
// because only the definition has the address.
func (f *findings) findReferences(what string) {
	places := map[string][2]int{} // start and end of each definition, by label
	f.visitWords([]string{definition}, func(at, from int) {
		window := f.text[max(0, at-300):at]
		start, line := strings.LastIndexByte(window, '['), strings.LastIndexByte(window, '\n')+1
		if start < line || line == 0 && len(window) < at || strings.Trim(window[line:start], " \t>") != "" {
			return
		}
		start += at - len(window)
		end := min(from+tagLength, len(f.text))
		address := strings.TrimLeft(f.text[from:end], " \t\r\n")
		if n := strings.IndexByte(address, '\n'); n >= 0 {
			address = address[:n]
		}
		if hasQuery(markdownAddress(address)) {
			places[foldLabel(f.text[start+1:at])] = [2]int{start, end - len(strings.TrimLeft(f.text[from:end], " \t\r\n")) + len(address)}
		}
	})
	if len(places) == 0 {
		return
	}
	f.visitWords([]string{"!["}, func(start, from int) {
		until := min(from+2*300, len(f.text))
		n := strings.IndexByte(f.text[from:until], ']')
		if n < 0 {
			return
		}
		label, end := f.text[from:from+n], from+n+1
		if rest := f.text[end:until]; strings.HasPrefix(rest, "[") {
			if n := strings.IndexByte(rest, ']'); n >= 0 {
				if end += n + 1; n > 1 {
					label = rest[1:n]
				}
			}
		}
		label = foldLabel(label)
		if place, known := places[label]; known {
			f.addFinding(ImageLink, what, start, end)
			if place[1] > 0 { // report each definition only once
				f.addFinding(ImageLink, what, place[0], place[1])
				places[label] = [2]int{}
			}
		}
	})
}

// definition is the text between the label and the address of a definition.
const definition = "]:"

func foldLabel(label string) string { return strings.ToLower(strings.Join(strings.Fields(label), " ")) }

// markdownAddress returns the address at the beginning of a text.
func markdownAddress(text string) string {
	text = strings.TrimPrefix(strings.TrimLeft(text, " \t\r\n\f"), "<")
	if n := strings.IndexAny(text, " \t\r\n\f>"); n >= 0 {
		text = text[:n]
	}
	if strings.IndexByte(text, '\\') >= 0 {
		text = markdownEscapes.Replace(text)
	}
	return html.UnescapeString(text)
}

var markdownEscapes = strings.NewReplacer(`\?`, "?", `\/`, "/", `\:`, ":", `\&`, "&")

// hasQuery reports whether an address has a host and a query. A program that draws an image from
// this address sends the query to the host. Like browsers, hasQuery accepts any number of / and \
// before the host.
func hasQuery(address string) bool {
	address = strings.Trim(address, white)
	for _, scheme := range [...]string{"https:", "http:", ""} {
		if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
			continue
		}
		rest := address[len(scheme):]
		host := strings.TrimLeft(rest, `/\`)
		return (scheme != "" || len(rest)-len(host) >= 2) && len(host) > 2 && strings.IndexByte(host[1:len(host)-1], '?') >= 0
	}
	return false
}

const (
	wideGap = 200 // number of blanks in one line
	longGap = 30  // number of lines without text
	white   = " \t\r\n\u00a0\u3000"
)

// findGaps finds text after a gap so large that a person must scroll. A gap is long, so it is
// enough to check every thirtieth byte.
func findGaps(f *findings) {
	t := f.text
	for at := 0; at < len(t); at += longGap {
		if c := t[at]; c > ' ' && c < 0x80 {
			continue
		}
		start := len(strings.TrimRight(t[:at], white))
		rest := strings.TrimLeft(t[at:], white)
		end := len(t) - len(rest)
		if rest != "" && end-start >= longGap && isWideGap(t[start:end]) {
			f.addFinding(Gap, "a gap that pushes text out of sight", start, end)
		}
		at = max(at, end)
	}
}

// isWideGap reports whether a run of blanks is a gap: too many blanks in a line, or too many lines.
func isWideGap(blanks string) bool {
	if strings.Count(blanks, "\n") > longGap {
		return true
	}
	for line := range strings.SplitSeq(blanks, "\n") {
		if utf8.RuneCountInString(line) >= wideGap {
			return true
		}
	}
	return false
}
