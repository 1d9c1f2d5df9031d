package record

import (
	"io"

	"github.com/clawai/clawai/internal/event"
)

// Live prints entries as they come. A call is shown at once. On a terminal its reply is added
// to its line if nothing else was shown since. Otherwise the reply gets a line of its own,
// which names the call's tool.
type Live struct {
	Printer
	Lone func(*event.Entry) bool // reports whether a reply is shown when its call was not

	calls openCalls
	last  *Row // row whose line has not ended yet; nil: the cursor is at the start of a line
}

// Add shows the next entry.
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
				reply.Ref = "" // its line names the tool and the argument
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

// openCalls holds the latest calls whose reply may come, at most window of them.
type openCalls struct {
	rows  map[string]*Row // by record
	order []string        // records, the oldest first
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

// showRow starts a line, and ends it when no reply can be added to it.
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

// finishLine writes the present line again, with the reply.
func (l *Live) finishLine(row *Row) error {
	l.last = nil
	_, err := io.WriteString(l.Out, "\r"+l.fitRow(row)+"\n")
	return err
}

// Close ends the present line if necessary.
func (l *Live) Close() error {
	if l.last == nil {
		return nil
	}
	l.last = nil
	_, err := io.WriteString(l.Out, "\n")
	return err
}
