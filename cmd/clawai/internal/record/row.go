package record

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/term"
)

// Row is the content of one line: an entry and, if it is a call, its reply.
type Row struct {
	Entry event.Entry
	Reply *event.Entry // nil if the reply has not arrived or is not in the record
	Over  bool         // the session has ended, so no reply will arrive
	Call  *Row         // the call, if this row is a reply; nil if the call is not known
}

// isWithheld reports whether the reply to a call was withheld from the client.
func (r *Row) isWithheld() bool {
	return r.Reply != nil && r.Reply.Kind == event.Decision && r.Reply.Decision != "allow"
}

// ReplyTime returns the time between the call and its reply.
func (r *Row) ReplyTime() time.Duration { return max(0, r.Reply.Time.Sub(r.Entry.Time)) }

// Duration returns a duration in a few characters.
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

// isReply reports whether an entry is the outcome of another entry: Outcome or Listed.
func isReply(e *event.Entry) bool {
	return e.Ref != "" && (e.Kind == event.Outcome || e.Kind == event.Listed)
}

// judgesReply reports whether an entry is a decision about a reply. Such an entry gets a row of its
// own, and it is also the outcome of its call.
func judgesReply(e *event.Entry) bool {
	return e.Kind == event.Decision && e.Ref != "" && e.Subject == ""
}

// CanRelease reports whether clawai release accepts an entry. The entry must be a withheld reply. A
// release lets the next reply to the same call through.
func CanRelease(e *event.Entry) bool {
	return judgesReply(e) && e.Release != "" && e.Decision == "deny"
}

// releaseCommand returns the command that releases the next reply to a call, or "" if no command
// can do this.
func releaseCommand(e *event.Entry) string {
	if !CanRelease(e) {
		return ""
	}
	return "clawai release " + term.VisibleText(e.Record)
}

// awaitsReply reports whether an entry may still get a reply.
func awaitsReply(e *event.Entry) bool {
	return len(e.ID) > 0 && !judgesReply(e) && (e.Kind == event.Decision && e.Decision == "allow" || e.Kind == event.Passed)
}
