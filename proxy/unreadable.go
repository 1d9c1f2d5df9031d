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
func (rc *receiver) unreadable(line []byte, refusal *frame.Refusal) {
	if !refusal.Request && rc.failReply(line, refusal) {
		return
	}
	if rc.from == mcp.ServerToClient && !refusal.Request && !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		rc.chatter(line) // a print statement, or a log in JSON
		return
	}
	record := rc.dropped(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: refusal.ID, Bytes: len(line),
	})
	if answer := mcp.Refused(refusal, record); answer != nil {
		rc.respond(rc.burst, answer)
	}
}

// failReply gives an error to the call that an unreadable answer belongs to,
// and reports whether there is one. The answer's id may be read wrongly here:
// then a wrong call fails, nothing crosses.
func (rc *receiver) failReply(line []byte, refusal *frame.Refusal) bool {
	members := gjson.GetManyBytes(line, "method", "result", "error", "id")
	if members[0].Exists() || !members[1].Exists() && !members[2].Exists() {
		return false
	}
	id := members[3].Raw
	if id == "" && refusal.Code == frame.CodeTooLong {
		// Many servers write the id last, behind what was skipped.
		id = rc.s.table.onlyPending(rc.opposite(), rc.scope)
	}
	resp := &response{rc: rc, burst: rc.burst}
	req, _ := rc.s.table.claim(rc.opposite(), rc.scopedKey([]byte(id)), resp)
	if req == nil {
		return false
	}
	resp.request = req
	if req.elicitation != nil {
		rc.failElicitation(req, line, refusal)
		return true
	}
	resp.reject(&frame.Frame{ID: req.id, Raw: line}, refusal)
	return true
}
