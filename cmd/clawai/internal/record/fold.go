package record

import "github.com/clawai/clawai/internal/event"

// window is the maximum number of rows that wait for a reply to the first of them. A later reply
// gets a separate line.
const window = 1024

// Folder joins a call and its reply into one row. The rows are in the order of the calls.
type Folder struct {
	Emit func(*Row) error
	Lone func(*event.Entry) bool // reports whether to show a reply whose call is not shown; nil means never

	rows []*Row          // rows that are read but not emitted
	open map[string]*Row // rows that still wait for a reply, by the record's id
}

// Add takes the next entry of the record.
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
	row.Entry.Raw = nil // Raw is large and is not printed
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

// settleSession marks the open calls of a session that has ended, because no reply will follow.
func (f *Folder) settleSession(session string) {
	for id, row := range f.open {
		if row.Entry.Session == session {
			row.Over = true
			delete(f.open, id)
		}
	}
}

// Close emits all rows that still wait.
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
