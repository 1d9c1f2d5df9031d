package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/ask/queue"
)

// list holds requests with a cursor. The cursor stays on its request when other requests come or
// go. If the request under the cursor is resolved, it stays in the list until the cursor moves.
type list struct {
	all    []queue.Request
	at     string // id under the cursor; "" for none
	top    int    // first visible row
	marks  map[string]bool
	filter string
	newest bool                        // the newest request comes first; if false, the requests that need care come first
	care   func(*queue.Request) bool   // reports whether a request needs care; nil: no request needs care
	text   func(*queue.Request) string // returns the text that the filter searches, in lower case
}

// matchingRequests returns the requests that match the filter, in order.
func (l *list) matchingRequests() []*queue.Request {
	var rows []*queue.Request
	wanted := strings.ToLower(l.filter)
	for i := range l.all {
		r := &l.all[i]
		if l.filter == "" || strings.Contains(l.text(r), wanted) {
			rows = append(rows, r)
		}
	}
	return rows
}

func (l *list) findRequest(id string) *queue.Request {
	for i := range l.all {
		if l.all[i].ID == id {
			return &l.all[i]
		}
	}
	return nil
}

// cursorRequest returns the request under the cursor; nil if there is none or the filter hides the
// request.
func (l *list) cursorRequest() *queue.Request {
	if i := l.cursorIndex(); i >= 0 {
		return l.matchingRequests()[i]
	}
	return nil
}

func (l *list) cursorIndex() int {
	return slices.IndexFunc(l.matchingRequests(), func(r *queue.Request) bool { return r.ID == l.at })
}

// moveCursor moves the cursor and reports whether it moved.
func (l *list) moveCursor(by int) bool {
	rows := l.matchingRequests()
	if len(rows) == 0 {
		return false
	}
	to := max(0, min(l.cursorIndex()+by, len(rows)-1))
	was := l.at
	l.at = rows[to].ID
	if l.at == was {
		return false
	}
	if r := l.findRequest(was); r != nil && !l.newest && r.Status != queue.Pending {
		l.dropRequest(was)
	}
	return true
}

// nextPending moves the cursor to the next pending request and reports whether there is one.
func (l *list) nextPending() bool {
	rows := l.matchingRequests()
	i := l.cursorIndex()
	for j := i + 1; j < len(rows); j++ {
		if rows[j].Status == queue.Pending {
			return l.moveCursor(j - i)
		}
	}
	for j := i - 1; j >= 0; j-- {
		if rows[j].Status == queue.Pending {
			return l.moveCursor(j - i)
		}
	}
	return false
}

func (l *list) dropRequest(id string) {
	l.all = slices.DeleteFunc(l.all, func(r queue.Request) bool { return r.ID == id })
}

// setRequests replaces the whole list by the list in the parameter next, and returns the requests
// that are new. The parameter keep is a request that stays even if the new list does not contain
// it, or nil.
func (l *list) setRequests(next []queue.Request, keep *queue.Request) (came []queue.Request) {
	known := map[string]bool{}
	for i := range l.all {
		known[l.all[i].ID] = true
	}
	next = slices.Clone(next)
	for i := range next {
		if !known[next[i].ID] {
			came = append(came, next[i])
		}
	}
	if keep != nil {
		next = append(next, *keep)
	}
	slices.SortStableFunc(next, func(a, b queue.Request) int {
		if l.newest {
			return cmp.Or(b.Decided.Compare(a.Decided), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(carefulFirst(l.care, &a, &b), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	l.all = next
	for id := range l.marks {
		if r := l.findRequest(id); r == nil || r.Status != queue.Pending {
			delete(l.marks, id)
		}
	}
	return came
}

func carefulFirst(care func(*queue.Request) bool, a, b *queue.Request) int {
	switch {
	case care == nil, care(a) == care(b):
		return 0
	case care(a):
		return -1
	}
	return 1
}

// resolveRequest replaces a request by its resolved form.
func (l *list) resolveRequest(r queue.Request) {
	delete(l.marks, r.ID)
	if old := l.findRequest(r.ID); old != nil {
		calls := old.Calls // show the original calls: a resolved request may hold redacted ones
		*old = r
		old.Calls = calls
	}
}

// ensureCursor moves the cursor to the first row if the cursor is on no row. It reports whether it
// moved the cursor.
func (l *list) ensureCursor() bool {
	if l.cursorIndex() >= 0 {
		return false
	}
	rows := l.matchingRequests()
	if len(rows) == 0 {
		return false
	}
	l.at = rows[0].ID
	return true
}

// toggleMark marks the request with this id, or removes its mark. One answer can be for all marked
// requests.
func (l *list) toggleMark(id string) {
	if l.marks == nil {
		l.marks = map[string]bool{}
	}
	if l.marks[id] {
		delete(l.marks, id)
		return
	}
	l.marks[id] = true
}

// markedRequests returns the marked requests, in order.
func (l *list) markedRequests() (rows []*queue.Request) {
	for i := range l.all {
		if l.marks[l.all[i].ID] {
			rows = append(rows, &l.all[i])
		}
	}
	return rows
}

// windowRows returns the rows that are visible in a window of n rows. The row of the cursor is one
// of them.
func (l *list) windowRows(n int) []*queue.Request {
	rows := l.matchingRequests()
	i := max(0, l.cursorIndex())
	if i < l.top {
		l.top = i
	}
	if i >= l.top+n {
		l.top = i - n + 1
	}
	l.top = max(0, min(l.top, len(rows)-n))
	return rows[l.top:min(l.top+n, len(rows))]
}
