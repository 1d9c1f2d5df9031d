package record

import (
	"io"

	"github.com/clawai/clawai/internal/event"
)

// Live prints entries when they arrive. It prints a call at once. On a terminal it adds the reply
// to the line of the call, if that is still the last line. Otherwise the reply gets a separate
// line, which names the call's tool.
type Live struct {
	Printer
	Lone func(*event.Entry) bool // reports whether to show a reply whose call was not shown

	calls openCalls
	last  *Row // the row whose line has no line end yet; nil if there is none
}

// Add prints the next entry of the record.
func (l *Live) Add(e *event.Entry) error {
	if judgesReply(e) {
		if call := l.calls.rows[e.Ref]; call != nil && call == l.last {
			call.Reply = e
			if err := l.finishLine(call); err != nil {
				return err
			}
		}
		delete(l.calls.rows, e.Ref)
	}
	if isReply(e) {
		call := l.calls.rows[e.Ref]
		delete(l.calls.rows, e.Ref)
		switch {
		case call != nil && call == l.last:
			call.Reply = e
			return l.finishLine(call)
		case call != nil:
			reply := *e
			reply.Names, reply.Args, reply.Method = call.Entry.Names, call.Entry.Args, call.Entry.Method
			if l.Width > 0 {
				reply.Ref = "" // this line already shows the tool and the argument of the call
			}
			return l.showRow(&Row{Entry: reply, Call: call})
		case l.Lone == nil || !l.Lone(e):
			return nil
		}
	}
	row := &Row{Entry: *e}
	row.Entry.Raw = nil
	if awaitsReply(e) {
		l.calls.addCall(row)
	}
	return l.showRow(row)
}

// openCalls has the latest calls that wait for a reply. The constant window is their maximum
// number.
type openCalls struct {
	rows  map[string]*Row // by the record's id
	order []string        // record ids, the oldest first
}

func (o *openCalls) addCall(row *Row) {
	if o.rows == nil {
		o.rows = map[string]*Row{}
	}
	if len(o.order) == window {
		delete(o.rows, o.order[0])
		o.order = o.order[1:]
	}
	o.rows[row.Entry.Record] = row
	o.order = append(o.order, row.Entry.Record)
}

// showRow prints the line of a row. If a reply may still be added to the line, it prints no line
// end.
func (l *Live) showRow(row *Row) error {
	if err := l.Close(); err != nil {
		return err
	}
	if l.Width == 0 || l.calls.rows[row.Entry.Record] != row {
		return l.Print(row)
	}
	if err := l.printDate(row); err != nil {
		return err
	}
	l.last = row
	_, err := io.WriteString(l.Out, l.fitRow(row))
	return err
}

// finishLine prints the line of a row again, with its reply and with a line end.
func (l *Live) finishLine(row *Row) error {
	l.last = nil
	_, err := io.WriteString(l.Out, "\r"+l.fitRow(row)+"\n")
	return err
}

// Close prints the line end that the last line may still need.
func (l *Live) Close() error {
	if l.last == nil {
		return nil
	}
	l.last = nil
	_, err := io.WriteString(l.Out, "\n")
	return err
}
