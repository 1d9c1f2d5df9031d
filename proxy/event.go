package proxy

import (
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// describeFrame fills in the fields of a frame's event that the proxy knows. An event is large:
// it is written in place, never copied.
func (rc *receiver) describeFrame(ev *event.Event, f *frame.Frame, calls []policy.Call) {
	ev.Server, ev.ServerGuess, ev.Direction = rc.s.o.Name, rc.s.o.Guess, rc.from.String()
	ev.Method, ev.ID = f.Method, f.ID
	if len(calls) > 0 {
		ev.Subject, ev.Names, ev.Args, ev.Extra = calls[0].Subject.RuleKey(), calls[0].Names, calls[0].Args, calls[0].Extra
	}
}

// recordDrop records a dropped frame and returns the record's id.
func (rc *receiver) recordDrop(ev *event.Event) (record string) {
	ev.Kind, ev.Stage = event.Dropped, "frame"
	ev.ServerGuess, ev.Direction = rc.s.o.Guess, rc.from.String()
	rc.s.recordEvent(ev)
	return ev.Record
}

// recordChatter records a server's line that is not a frame, for example a print statement.
func (rc *receiver) recordChatter(line []byte) {
	const most = 500
	text := string(line[:min(len(line), most)])
	rc.s.recordEvent(&event.Event{
		Kind: event.Chatter, ServerGuess: rc.s.o.Guess, Direction: rc.from.String(), Bytes: len(line), Detail: text,
	})
}

// recordEvent records an event that is not an exchange. No forwarding depends on this record, so a
// failure changes nothing here; the gate refuses every later exchange.
func (s *session) recordEvent(ev *event.Event) {
	ev.Server = s.o.Name
	_ = s.o.Gate.NoteEvents(ev)
}

// panicEvent returns the event that records a panic in the proxy.
func panicEvent(cause any, stack []byte) *event.Event {
	return &event.Event{Kind: event.Dropped, Stage: "proxy", Code: "panic", Reason: fmt.Sprint(cause), Detail: string(stack)}
}
