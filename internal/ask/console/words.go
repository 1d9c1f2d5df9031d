package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// AnswerText returns an answer in words, such as "allowed once".
func AnswerText(a queue.Answer) string {
	switch a.Reply {
	case gate.AllowOnce:
		return "allowed once"
	case gate.AllowSession:
		return "allowed until the session ends" + scopeText(a.Scope)
	case gate.AllowAlways:
		return "allowed always" + scopeText(a.Scope)
	case gate.DenyAlways:
		return "denied always" + scopeText(a.Scope)
	case gate.DenyOnce:
	}
	return "denied"
}

func scopeText(scope string) string {
	if scope == "" {
		return ""
	}
	return " (" + term.VisibleLine(scope) + ")"
}

// TooLateText tells, in one harmless sentence, how a request was resolved. It is for a person whose
// answer came too late.
func TooLateText(r queue.Request) string { return "too late: " + StatusText(r) }

// StatusText tells how a request was resolved, and the outcome of its call if it is known.
func StatusText(r queue.Request) string {
	at := r.Decided.Local().Format(time.TimeOnly)
	if r.Status == queue.Pending {
		return "it still waits"
	}
	if r.Status == queue.Expired {
		if timedOut(r.Outcome) {
			return "it expired at " + at + "; nothing was executed"
		}
		return "it ended at " + at + ": " + term.VisibleText(r.Outcome)
	}
	by := term.VisibleText(r.Answer.Channel)
	if r.Answer.By != "" {
		by += " (" + term.VisibleText(r.Answer.By) + ")"
	}
	fate := fmt.Sprintf("it was %s at %s by %s", AnswerText(r.Answer), at, by)
	if r.Outcome != "" {
		fate += "; " + term.VisibleText(r.Outcome)
	}
	return fate
}

// timedOut reports whether the outcome only repeats that the deadline has passed.
func timedOut(outcome string) bool {
	return outcome == "" || strings.HasPrefix(outcome, "expired") || strings.HasPrefix(outcome, "nobody answered")
}

// TookEffect reports whether the answer had the effect that the person wanted. For example, an
// allowed call may still be denied later.
func TookEffect(r queue.Request) bool {
	if strings.Contains(r.Outcome, "nothing was written") {
		return false
	}
	return !r.Answer.Reply.Allows() || !strings.HasPrefix(r.Outcome, "denied") && !strings.HasPrefix(r.Outcome, "too late")
}

// TimeLeft returns the time until the deadline of a pending request, as MM:SS.
func TimeLeft(r *queue.Request, now time.Time) string {
	if r.Deadline.IsZero() {
		return "   -"
	}
	d := max(0, r.Deadline.Sub(now)).Round(time.Second)
	return fmt.Sprintf("%2d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// ShortID returns the first 8 characters of an id, which are enough to name a request.
func ShortID(id string) string { return term.VisibleLine(id[:min(len(id), 8)]) }
