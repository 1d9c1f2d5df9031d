package record

import "github.com/clawai/clawai/internal/event"

// window is the largest number of rows that wait for the reply of the first of them. A later
// reply gets a line of its own.
const window = 1024

// Folder joins a call and its reply into one row. Rows keep the order of their entries.
type Folder struct {
	Emit func(*Row) error
	Lone func(*event.Entry) bool // reports whether a reply is shown when its call is not; nil: never

	rows []*Row          // read but not yet emitted
	open map[string]*Row // rows whose reply may still come, by record
}

// Add takes the next entry and stores it.
func (f *Folder) Add(e *event.Entry) error {
	call := f.open[e.Ref]
	if call != nil && (isReply(e) || judgesReply(e)) {
		reply := *e
		reply.Raw = nil
		call.Reply = &reply
		delete(f.open, e.Ref)
	}
	if isReply(e) {
		if call != nil {
			return f.flushRows(false)
		}
		if f.Lone == nil || !f.Lone(e) {
			return nil
		}
	}
	row := &Row{Entry: *e}
	row.Entry.Raw = nil // it is the largest part and is not printed
	f.rows = append(f.rows, row)
	switch {
	case awaitsReply(e):
		if f.open == nil {
			f.open = map[string]*Row{}
		}
		f.open[e.Record] = row
	case e.Kind == event.End:
		f.settleSession(e.Session)
	}
	return f.flushRows(false)
}

// settleSession marks the open calls of an ended session: no reply will come.
func (f *Folder) settleSession(session string) {
	for id, row := range f.open {
		if row.Entry.Session == session {
			row.Over = true
			delete(f.open, id)
		}
	}
}

// Close emits all waiting rows.
func (f *Folder) Close() error { return f.flushRows(true) }

func (f *Folder) flushRows(all bool) error {
	for len(f.rows) > 0 {
		row := f.rows[0]
		if f.open[row.Entry.Record] == row && !all && len(f.rows) <= window {
			return nil
		}
		delete(f.open, row.Entry.Record)
		f.rows = f.rows[1:]
		if err := f.Emit(row); err != nil {
			return err
		}
	}
	return nil
}
