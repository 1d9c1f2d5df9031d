package proxy

import (
	"bytes"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// unreadable deals with a line that is not passed on: it is recorded, and
// whoever would wait for it in vain is told. line is nil when it was too long
// to keep.
func (l *lane) unreadable(line []byte, refusal *frame.Refusal) {
	if l.from == mcp.ServerToClient && line != nil && !likeFrame(line) {
		l.chatter(line)
		return
	}
	ev := &audit.Event{Code: refusal.Code, Reason: refusal.Reason, ID: refusal.ID, Bytes: len(line)}
	if refusal.Request || len(refusal.ID) == 0 {
		record := l.dropped(ev)
		if answer := mcp.Refused(refusal, record); answer != nil {
			l.answer(l.burst, answer)
		}
		return
	}
	r := &reply{lane: l, burst: l.burst}
	c, _ := l.s.table.claim(l.opposite(), refusal.ID, r)
	if c == nil {
		l.dropped(ev)
		return
	}
	r.call = c
	r.refused(&frame.Frame{ID: refusal.ID, Raw: line}, refusal)
}

// likeFrame tells a broken frame from a print statement on the server's stdout.
func likeFrame(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\xef\xbb\xbf")
	return len(line) > 0 && (line[0] == '[' || line[0] == '{') && bytes.Contains(line, []byte("jsonrpc"))
}
