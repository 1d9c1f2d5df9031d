package record

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// Row is what one line tells: an entry and, of a call, its reply.
type Row struct {
	Entry event.Entry
	Reply *event.Entry // nil: there is none yet, or none is on record
	Over  bool         // no reply will come: the session ended
	Call  *Row         // of a reply that has a row of its own: what it replies to; nil: not known
}

// isWithheld says that a call's reply did not go on.
func (r *Row) isWithheld() bool {
	return r.Reply != nil && r.Reply.Kind == event.Decision && r.Reply.Decision != "allow"
}

// ReplyTime gives how long the reply took.
func (r *Row) ReplyTime() time.Duration { return max(0, r.Reply.Time.Sub(r.Entry.Time)) }

// Duration is a time span in a few characters.
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

// isReply says that an entry tells how another went on.
func isReply(e *event.Entry) bool {
	return e.Ref != "" && (e.Kind == event.Outcome || e.Kind == event.Listed)
}

// judgesReply says that an entry is a decision about a reply: it has a row of its own, and
// is how its call went on.
func judgesReply(e *event.Entry) bool {
	return e.Kind == event.Decision && e.Ref != "" && e.Subject == ""
}

// awaitsReply says that a reply to what an entry tells of may follow.
func awaitsReply(e *event.Entry) bool {
	return len(e.ID) > 0 && !judgesReply(e) && (e.Kind == event.Decision && e.Decision == "allow" || e.Kind == event.Passed)
}
