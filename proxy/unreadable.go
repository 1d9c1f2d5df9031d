package proxy

import (
	"bytes"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/tidwall/gjson"
)

// unreadable deals with a line that is not passed on, or with the beginning of
// one that was not kept: it is recorded, and whoever would wait in vain because
// of it is told.
func (l *lane) unreadable(line []byte, refusal *frame.Refusal) {
	if !refusal.Request && l.failReply(line, refusal) {
		return
	}
	if l.from == mcp.ServerToClient && !refusal.Request && !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		l.chatter(line) // a print statement, or a log in JSON
		return
	}
	record := l.dropped(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: refusal.ID, Bytes: len(line),
	})
	if answer := mcp.Refused(refusal, record); answer != nil {
		l.answer(l.burst, answer)
	}
}

// failReply gives an error to the call that an unreadable answer belongs to,
// and reports whether there is one. The answer's id may be read wrongly here:
// then a wrong call fails, nothing crosses.
func (l *lane) failReply(line []byte, refusal *frame.Refusal) bool {
	members := gjson.GetManyBytes(line, "method", "result", "error", "id")
	if members[0].Exists() || !members[1].Exists() && !members[2].Exists() {
		return false
	}
	id := members[3].Raw
	if id == "" && refusal.Code == frame.CodeTooLong {
		// Many servers write the id last, behind what was skipped.
		id = l.s.table.only(l.opposite(), l.scope)
	}
	r := &reply{lane: l, burst: l.burst}
	c, _ := l.s.table.claim(l.opposite(), l.key([]byte(id)), r)
	if c == nil {
		return false
	}
	r.call = c
	if c.asked != nil {
		l.unelicited(c, line, refusal)
		return true
	}
	r.refused(&frame.Frame{ID: c.id, Raw: line}, refusal)
	return true
}
