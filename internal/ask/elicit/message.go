package elicit

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// Limits of a form. A client shows it in a box without paging; a longer question is asked
// elsewhere.
const (
	maxLines = 80
	maxBytes = 12 << 10
)

var errTooLong = errors.New("the call holds more than a client's form can show")

// renderMessage returns the question as one text. The client may show it as plain text, Markdown
// or HTML. So text from the wire stands between fences, where Markdown has no markup, and without
// characters that begin HTML or a link.
func renderMessage(v view.Question, q gate.Question) (string, error) {
	lines := v.Lines(0)
	if d := q.Rule.Description; d != "" {
		lines = append(lines, "rule       "+term.VisibleValue(d))
	}
	// The hidden middle of a value cannot be looked up from here. Only a call that needs no care
	// may be asked about in spite of that.
	body, ok := fitBody(append(slices.Clip(lines), v.EntireLines(0)...))
	if !ok && len(v.Dangers) == 0 {
		body, ok = fitBody(lines)
	}
	if !ok {
		return "", errTooLong
	}
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	var b strings.Builder
	what, pending := "this call", "Nothing is done"
	if q.Reply {
		what, pending = "the answer to this call", "The answer is held"
	}
	b.WriteString("clawai asks the owner: let " + what + " through?\n\n")
	b.WriteString(fence + "\n" + body + "\n" + fence + "\n\n")
	if !q.Deadline.IsZero() {
		b.WriteString("No answer by " + q.Deadline.Local().Format(time.TimeOnly) + " denies it. ")
	}
	b.WriteString(pending + " before you answer.")
	return b.String(), nil
}

// fitBody returns the lines as the text between the fences, if a form can hold it.
func fitBody(lines []string) (body string, ok bool) {
	body = escapeMarkup(strings.Join(lines, "\n"))
	return body, len(lines) <= maxLines && len(body) <= maxBytes
}

// escapeMarkup escapes the start of HTML tags and entities, of Markdown links, and of addresses that
// programs turn into links. It writes \u{…}, like the other escapes. Fences do not help against HTML
// and such addresses.
func escapeMarkup(s string) string {
	return strings.NewReplacer(
		"<", `\u{3c}`,
		"&", `\u{26}`,
		"](", `]\u{28}`,
		"://", `\u{3a}//`,
	).Replace(s)
}

// longestRun returns the length of the longest run of c.
func longestRun(s string, c byte) (longest int) {
	run := 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
