package record

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/term"
)

// Row is the content of one line: an entry and, for a call, its reply.
type Row struct {
	Entry event.Entry
	Reply *event.Entry // nil: no reply yet, or no reply in the record
	Over  bool         // no reply will come: the session ended
	Call  *Row         // for a reply with a row of its own: its call; nil: not known
}

// isWithheld reports whether a call's reply was not passed on.
func (r *Row) isWithheld() bool {
	return r.Reply != nil && r.Reply.Kind == event.Decision && r.Reply.Decision != "allow"
}

// ReplyTime returns how long the reply took.
func (r *Row) ReplyTime() time.Duration { return max(0, r.Reply.Time.Sub(r.Entry.Time)) }

// Duration writes a time span in a few characters.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// isReply reports whether an entry is the outcome of another entry.
func isReply(e *event.Entry) bool {
	return e.Ref != "" && (e.Kind == event.Outcome || e.Kind == event.Listed)
}

// judgesReply reports whether an entry is a decision about a reply. Such an entry has a row of
// its own, and is also the outcome of its call.
func judgesReply(e *event.Entry) bool {
	return e.Kind == event.Decision && e.Ref != "" && e.Subject == ""
}

// CanRelease reports whether a person can release the next reply to the call of a withheld reply.
func CanRelease(e *event.Entry) bool {
	return judgesReply(e) && e.Release != "" && e.Decision == "deny"
}

// releaseCommand returns the command that releases the next reply; "" if none can be released.
func releaseCommand(e *event.Entry) string {
	if !CanRelease(e) {
		return ""
	}
	return "clawai release " + term.VisibleText(e.Record)
}

// awaitsReply reports whether a reply to an entry may follow.
func awaitsReply(e *event.Entry) bool {
	return len(e.ID) > 0 && !judgesReply(e) && (e.Kind == event.Decision && e.Decision == "allow" || e.Kind == event.Passed)
}
