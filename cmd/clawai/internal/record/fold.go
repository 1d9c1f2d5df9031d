package record

import "github.com/clawai/clawai/internal/event"

// window is how many rows are held back at most until the reply of the first of them
// is read. A reply that comes later has a line of its own.
const window = 1024

// Folder makes one row of a call and its reply. Rows keep the order of their entries.
type Folder struct {
	Emit func(*Row) error
	Lone func(*event.Entry) bool // whether a reply is shown whose call is not; nil: none is

	rows []*Row          // read, not emitted yet
	open map[string]*Row // those of them whose reply may still come, by record
}

// Add takes the next entry, which it keeps.
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
	row.Entry.Raw = nil // the largest part, and nobody prints it
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

// settleSession settles what a session left without a reply.
func (f *Folder) settleSession(session string) {
	for id, row := range f.open {
		if row.Entry.Session == session {
			row.Over = true
			delete(f.open, id)
		}
	}
}

// Close emits what is held back.
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
