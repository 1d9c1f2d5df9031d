package record

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/escape"
)

// Printer prints rows for a person.
type Printer struct {
	Out    io.Writer
	Color  bool
	Home   string // the home folder, which becomes ~ in paths; "" shortens no path
	Width  int    // columns of a line on a terminal; 0 if lines are not shortened
	server int    // columns of the widest server name so far; used if lines are not shortened
	day    string // day of the previous row, on a terminal
}

// MaxText is the maximum length of one text in a line, in characters.
const MaxText = 100

// Print writes a row as one line. On a terminal, the line has only the parts that fit, and each new
// date is printed on a line before it. Elsewhere, the line has all parts.
func (p *Printer) Print(r *Row) error {
	if p.Width > 0 {
		if err := p.printDate(r); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.Out, p.fitRow(r))
		return err
	}
	e := &r.Entry
	server := serverName(e)
	p.server = max(p.server, utf8.RuneCountInString(server), 6)
	word, color := verdictWord(e)
	_, err := fmt.Fprintf(p.Out, "%s  %s  %s  %s  %s\n",
		e.Time.Local().Format("2006-01-02 15:04:05.000"),
		cmdline.Paint(p.Color, cmdline.Dim, fmt.Sprintf("%-13s", term.VisibleText(e.Record))),
		cmdline.Pad(server, p.server),
		cmdline.Paint(p.Color, color, fmt.Sprintf("%-8s", word)),
		strings.Join(append(lineDetails(e, p.Home), replyParts(r)...), "  "))
	return err
}

// serverName returns the server of an entry. If the name is only a guess, it adds a question mark.
func serverName(e *event.Entry) string {
	if e.Server == "" && e.ServerGuess != "" {
		return Short(e.ServerGuess, 23) + "?"
	}
	return Short(e.Server, 24)
}

// replyParts returns the parts of a full line that come from the call's reply.
func replyParts(r *Row) (parts []string) {
	switch {
	case r.Reply == nil && r.Over:
		return []string{"no reply"}
	case r.Reply == nil:
		return nil
	}
	if n := len(r.Reply.Declared); n > 0 {
		parts = append(parts, declaredText(r.Reply))
	}
	if r.isWithheld() {
		return append(parts, "withheld after "+Duration(r.ReplyTime()))
	}
	if r.Reply.IsError {
		return append(parts, "failed after "+Duration(r.ReplyTime()))
	}
	if r.Reply.Code == gate.CodeReleased {
		parts = append(parts, "released")
	}
	return append(parts, "done in "+Duration(r.ReplyTime()))
}

func declaredText(e *event.Entry) string {
	return fmt.Sprintf("%d declared: %s", len(e.Declared), Short(strings.Join(e.Declared, ", "), MaxText))
}

// verdictWord returns the word for the result of an entry, and the color of the word.
func verdictWord(e *event.Entry) (word, color string) {
	switch e.Kind {
	case event.Decision:
		if e.IsObserved() {
			return "observed", cmdline.Yellow
		}
		if isHandedOver(e) {
			return "prompted", cmdline.Yellow
		}
		if e.Decision == "allow" {
			return "allow", cmdline.Green
		}
		return Short(e.Decision, 8), cmdline.Red
	case event.Outcome:
		if e.IsError {
			return "failed", cmdline.Yellow
		}
		return "done", cmdline.Dim
	case event.Answered:
		return string(e.Kind), cmdline.Yellow
	case event.Start:
		if e.IsObserved() {
			return string(e.Kind), cmdline.Yellow
		}
		return string(e.Kind), cmdline.Dim
	case event.Dropped, event.Muted, event.Recovery, event.Upkeep:
		return string(e.Kind), cmdline.Yellow
	default: // also for kinds that only later versions of clawai write
		return Short(string(e.Kind), 8), cmdline.Dim
	}
}

// lineDetails returns the parts of a full line that follow the fixed columns.
func lineDetails(e *event.Entry, home string) []string {
	var parts []string
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	what := []string{}
	for _, s := range append([]string{e.Method}, e.Names...) {
		if s != "" && (len(what) == 0 || s != e.Method) {
			what = append(what, Short(s, MaxText))
		}
	}
	if len(what) > 0 {
		add("%s", strings.Join(what, " "))
	}
	if len(e.Args) > 0 {
		add("%s", Short(escape.ReadableJSON(e.Args), MaxText))
	}
	if len(e.Extra) > 0 {
		add("beside them %s", Short(escape.ReadableJSON(e.Extra), MaxText))
	}
	if len(e.Declared) > 0 {
		add("%s", declaredText(e))
	}
	if e.Answer != "" {
		add("%s (%s, after %.1f s)", Short(e.Answer, MaxText), renderAnswerer(e), e.Waited.Seconds())
	}
	switch {
	case e.IsObserved() && e.Kind == event.Decision:
		add("NOT ENFORCED (%s)", Short(wouldText(e), MaxText))
	case isHandedOver(e):
		add("its client asks")
	case e.WasAsked() && e.Kind == event.Decision:
		add("asked")
	}
	if e.RuleLine > 0 {
		add("%s:%d", term.VisibleText(shortenHome(e.RuleFile, home)), e.RuleLine)
	}
	if words := e.Labels.LabelWords(); len(words) > 0 {
		add("labels %s", strings.Join(words, ", "))
	}
	if e.Words != "" {
		add("told: %s", Short(e.Words, 2*MaxText))
	}
	detail := e.Detail
	// This text is from clawai itself, about the owner's files.
	if e.Kind == event.Start || e.Kind == event.Policy {
		detail = shortenHome(detail, home)
	}
	for _, s := range []string{e.RuleText, e.Reason, detail} {
		if s != "" {
			add("%s", Short(s, 2*MaxText))
		}
	}
	if e.Decision == "deny" && len(e.Finds) > 0 {
		add("found %s", Short(strings.Join(e.Finds, ", "), 2*MaxText))
	}
	if command := releaseCommand(e); command != "" {
		add("%s", command)
	}
	if e.Code != "" && e.RuleLine == 0 {
		add("[%s]", Short(e.Code, MaxText))
	}
	if e.Ref != "" {
		add("of %s", Short(e.Ref, MaxText))
	}
	return parts
}

// shortenHome replaces the home folder by ~ at the start of paths.
func shortenHome(text, home string) string {
	if home == "" {
		return text
	}
	if text == home {
		return "~"
	}
	below := home + string(filepath.Separator)
	if rest, ok := strings.CutPrefix(text, below); ok {
		text = "~" + string(filepath.Separator) + rest
	}
	return strings.ReplaceAll(text, " "+below, " ~"+string(filepath.Separator))
}

// renderAnswerer returns who answered: the channel, and the person if known.
func renderAnswerer(e *event.Entry) string {
	if e.By == "" {
		return Short(e.Channel, MaxText)
	}
	return Short(e.Channel, MaxText) + ", by " + Short(e.By, MaxText)
}

// isHandedOver reports whether the client asks its own user about a call. clawai does not learn
// that answer.
func isHandedOver(e *event.Entry) bool {
	return e.Kind == event.Decision && e.Code == gate.CodeHandedOver
}

// wouldText returns the decision that was not enforced, as a text.
func wouldText(e *event.Entry) string {
	switch w := e.UnenforcedDecision(); w {
	case "prompt":
		return "would ask"
	case "deny", "allow":
		return "would " + w
	}
	return "policy: " + e.Policy
}

// Short returns the text s, cut off after n characters and made safe for a terminal.
func Short(s string, n int) string {
	if utf8.RuneCountInString(s) > n {
		runes := []rune(s)
		return term.VisibleText(string(runes[:n-1])) + "…"
	}
	return term.VisibleText(s)
}

// ParseKind parses a kind from the command line. Lines show some kinds as other words, such as
// allow or done. For such a word, ParseKind returns an error that names the right option.
func ParseKind(word string) (event.Kind, error) {
	switch word {
	case "answer": // a word that older versions of clawai printed
		return event.Answered, nil
	case "allow", "deny":
		return "", cmdline.Usagef("--kind: %s is how a decision is printed; those alone are shown by --decision %s", word, word)
	case "observed":
		return "", cmdline.Usagef("--kind: observed is how a decision is printed that nothing enforced; say --kind decision")
	case "prompted":
		return "", cmdline.Usagef("--kind: prompted is how a decision is printed that the client's own dialog asks about; say --decision prompt")
	case "done", "failed":
		return "", cmdline.Usagef("--kind: %s is how an outcome is printed; say --kind outcome", word)
	}
	if !event.IsKind(word) {
		return "", cmdline.UnknownWord("--kind", "kind", word, event.KindWords())
	}
	return event.Kind(word), nil
}
