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

// Limits of a form. A client shows the form in a box that cannot be scrolled. For a longer question
// another channel is used.
const (
	maxLines = 80
	maxBytes = 12 << 10
)

var errTooLong = errors.New("the call holds more than a client's form can show")

// renderMessage returns the question as one text. The client may show the text as plain text,
// Markdown or HTML. For this reason text from the wire stands between fences, where Markdown has no
// markup. Characters that begin HTML or a link are escaped.
func renderMessage(v view.Question, q gate.Question) (string, error) {
	lines := v.Lines(0)
	if d := q.Rule.Description; d != "" {
		lines = append(lines, "rule       "+term.VisibleValue(d))
	}
	// A form cannot show the hidden middle of a value later. So the values are added in full,
	// unless they are too long and the call needs no care.
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

// fitBody returns the text between the fences. ok is false if a form cannot hold the lines.
func fitBody(lines []string) (body string, ok bool) {
	body = escapeMarkup(strings.Join(lines, "\n"))
	return body, len(lines) <= maxLines && len(body) <= maxBytes
}

// escapeMarkup escapes the first character of HTML tags and entities, of Markdown links, and of
// addresses that programs turn into links. It writes \u{…}, like the other escapes. The fences
// alone do not stop HTML and links.
func escapeMarkup(s string) string {
	return strings.NewReplacer(
		"<", `\u{3c}`,
		"&", `\u{26}`,
		"](", `]\u{28}`,
		"://", `\u{3a}//`,
	).Replace(s)
}

// longestRun returns the length of the longest run of the byte c in s.
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
