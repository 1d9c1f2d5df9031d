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
func (ch *channel) unreadable(line []byte, refusal *frame.Refusal) {
	if !refusal.Request && ch.failReply(line, refusal) {
		return
	}
	if ch.from == mcp.ServerToClient && !refusal.Request && !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		ch.chatter(line) // a print statement, or a log in JSON
		return
	}
	record := ch.dropped(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: refusal.ID, Bytes: len(line),
	})
	if answer := mcp.Refused(refusal, record); answer != nil {
		ch.respond(ch.burst, answer)
	}
}

// failReply gives an error to the call that an unreadable answer belongs to,
// and reports whether there is one. The answer's id may be read wrongly here:
// then a wrong call fails, nothing crosses.
func (ch *channel) failReply(line []byte, refusal *frame.Refusal) bool {
	members := gjson.GetManyBytes(line, "method", "result", "error", "id")
	if members[0].Exists() || !members[1].Exists() && !members[2].Exists() {
		return false
	}
	id := members[3].Raw
	if id == "" && refusal.Code == frame.CodeTooLong {
		// Many servers write the id last, behind what was skipped.
		id = ch.s.table.onlyPending(ch.opposite(), ch.scope)
	}
	resp := &response{ch: ch, burst: ch.burst}
	req, _ := ch.s.table.claim(ch.opposite(), ch.scopedKey([]byte(id)), resp)
	if req == nil {
		return false
	}
	resp.request = req
	if req.elicitation != nil {
		ch.failElicitation(req, line, refusal)
		return true
	}
	resp.reject(&frame.Frame{ID: req.id, Raw: line}, refusal)
	return true
}
