package proxy

import (
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// describeFrame sets those fields of a frame's event whose values the proxy knows. It writes to the
// event in place, because an event is too large to copy.
func (rc *receiver) describeFrame(ev *event.Event, f *frame.Frame, calls []policy.Call) {
	ev.Server, ev.ServerGuess, ev.Direction = rc.s.o.Name, rc.s.o.Guess, rc.from.String()
	ev.Method, ev.ID = f.Method, f.ID
	if len(calls) > 0 {
		ev.Subject, ev.Names, ev.Args, ev.Extra = calls[0].Subject.RuleKey(), calls[0].Names, calls[0].Args, calls[0].Extra
	}
}

// recordDrop records a dropped frame. It returns the id of the record.
func (rc *receiver) recordDrop(ev *event.Event) (record string) {
	ev.Kind, ev.Stage = event.Dropped, "frame"
	ev.ServerGuess, ev.Direction = rc.s.o.Guess, rc.from.String()
	rc.s.recordEvent(ev)
	return ev.Record
}

// recordChatter records a line of the server that is not a frame, for example the output of a print
// statement.
func (rc *receiver) recordChatter(line []byte) {
	const most = 500
	text := string(line[:min(len(line), most)])
	rc.s.recordEvent(&event.Event{
		Kind: event.Chatter, ServerGuess: rc.s.o.Guess, Direction: rc.from.String(), Bytes: len(line), Detail: text,
	})
}

// recordEvent records an event that is not an exchange. It ignores an error, because no message
// waits for this record. After an error the gate itself refuses every later exchange.
func (s *session) recordEvent(ev *event.Event) {
	ev.Server = s.o.Name
	_ = s.o.Gate.NoteEvents(ev)
}

// panicEvent returns the event for the record of a panic in the proxy.
func panicEvent(cause any, stack []byte) *event.Event {
	return &event.Event{Kind: event.Dropped, Stage: "proxy", Code: "panic", Reason: fmt.Sprint(cause), Detail: string(stack)}
}
