package proxy

import (
	"bytes"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// handleUnreadable handles a refused line, or the beginning of one. It records the line. If the
// line is a request or an answer, it answers the caller with an error, because the caller would
// otherwise wait in vain.
func (rc *receiver) handleUnreadable(line []byte, refusal *frame.Refusal) {
	if (!refusal.Request || answersOnly(line)) && (rc.failReply(line, refusal) || rc.from == mcp.ServerToClient && rc.failReplies(line, refusal)) {
		return
	}
	if rc.from == mcp.ServerToClient && !refusal.Request && !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		rc.recordChatter(line) // for example the output of a print statement, or a log in JSON
		return
	}
	record := rc.recordDrop(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: refusal.ID, Bytes: len(line),
	})
	if answer := mcp.RefusalAnswer(refusal, record); answer != nil {
		rc.answerSender(rc.burst, answer)
	}
}

// isTooLong reports whether a server's line is longer than the client reads.
func (rc *receiver) isTooLong(line []byte) bool {
	most := rc.s.longest.Load()
	return most > 0 && int64(len(line)) > most && rc.from == mcp.ServerToClient
}

// tooLong returns the refusal of a line that is too long for the client.
func tooLong() *frame.Refusal {
	return &frame.Refusal{Code: codeTooLongForClient, Reason: "it is longer than the client reads on one line, and would end its session"}
}

// refuseLong refuses a line that is longer than the client reads. It answers the requests in the
// line with errors.
func (rc *receiver) refuseLong(line []byte) {
	refusal := tooLong()
	f, err := frame.Parse(line, rc.frameLimits())
	switch {
	case err == nil && f.Kind == frame.Batch:
		rc.refuseBatch(&f, refusal)
		return
	case err == nil && f.Kind == frame.Request:
		refusal.ID, refusal.Request = f.ID, true
	}
	rc.handleUnreadable(line, refusal)
}

const codeTooLongForClient = "too_long_for_client"

// setLongest sets the length of the longest line that the client with this name reads.
func (s *session) setLongest(client string) {
	if s.o.LongestLine != nil {
		s.longest.Store(int64(s.o.LongestLine(client)))
	}
}

// answersOnly reports whether a message has a result or an error, and its method is missing or
// null.
func answersOnly(line []byte) bool {
	members := gjson.GetManyBytes(line, "method", "result", "error")
	return members[0].Type == gjson.Null && (members[1].Exists() || members[2].Exists())
}

// failReplies handles an array that cannot be split. It fails each call that the array answers,
// even in nested arrays. It returns false if there is no such call.
func (rc *receiver) failReplies(line []byte, refusal *frame.Refusal) bool {
	return isArray(line) && rc.failElements(gjson.ParseBytes(line), refusal, maxArrays)
}

// maxArrays is the depth to which failReplies parses nested arrays. It is small because each level
// costs a pass over the line.
const maxArrays = 4

func (rc *receiver) failElements(array gjson.Result, refusal *frame.Refusal, depth int) (found bool) {
	array.ForEach(func(_, element gjson.Result) bool {
		switch {
		case element.IsArray() && depth > 1:
			found = rc.failElements(element, refusal, depth-1) || found
		case element.IsObject():
			found = rc.failReply([]byte(element.Raw), refusal) || found
		}
		return true
	})
	return found
}

// failReply fails the call that an unreadable answer is for. It returns false if there is no such
// call. The id in an unreadable answer may be wrong. Then the wrong call fails, but nothing is
// forwarded.
func (rc *receiver) failReply(line []byte, refusal *frame.Refusal) bool {
	if !answersOnly(line) {
		return false
	}
	id := gjson.GetBytes(line, "id").Raw
	if (id == "" || id == "null") && (refusal.Code == frame.CodeTooLong || refusal.Code == codeTooLongForClient) {
		// The id may be in the skipped part, because many servers write it last.
		id = rc.s.table.onlyPending(rc.oppositeDirection(), rc.scope)
	}
	resp := &response{rc: rc, burst: rc.burst}
	req, why := rc.s.table.claimRequest(rc.oppositeDirection(), rc.scopedKey([]byte(id)), resp)
	if other := rc.waitingID([]byte(id)); req == nil && why == codeUnsolicited && other != nil {
		req, _ = rc.s.table.claimRequest(rc.oppositeDirection(), rc.scopedKey(other), resp)
	}
	if req == nil {
		return false
	}
	resp.request = req
	if req.elicitation != nil {
		rc.failElicitation(req, line, refusal)
		return true
	}
	resp.rejectReply(&frame.Frame{ID: req.id, Raw: line}, refusal)
	return true
}
