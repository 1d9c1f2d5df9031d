package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

const codeRepaired = "repaired"

// repairAnswer deals with a line of the server's that was refused and is an answer all the same,
// and reports whether it is: the call was made, and its answer would be lost (docs/frames.md
// has the repairs). Whatever is not an answer stays refused.
func (rc *receiver) repairAnswer(ctx context.Context, line []byte, refusal *frame.Refusal) bool {
	if rc.from != mcp.ServerToClient {
		return false
	}
	if array := bytes.TrimPrefix(bytes.TrimLeft(line, " \t"), []byte("\uFEFF")); isArray(array) {
		return rc.takeApart(ctx, array) || rc.failReplies(array, refusal)
	}
	if frame.IsUnnamed(line) {
		rc.holdUnnamed(ctx, line, refusal)
		return true
	}
	f, words, ok := frame.RepairLine(line, rc.frameLimits(), refusal, (*awaited)(rc))
	if !ok {
		return false
	}
	rc.forwardRepaired(ctx, line, &f, words)
	return true
}

// takeApart reads the answers of an array that was refused, each as a message of its own: in
// most versions there are no arrays, and in one that has them a single bad answer would take
// the others with it. What else is in it is refused. It reports whether there are any.
func (rc *receiver) takeApart(ctx context.Context, line []byte) bool {
	elements := frame.SplitArray(line)
	answers := 0
	for _, e := range elements {
		if isAnswer(e) {
			answers++
		}
	}
	if answers == 0 {
		return false
	}
	rc.noteRepair(&event.Event{Digest: sha256.Sum256(line), Bytes: len(line), Altered: []string{"repair array"}})
	for _, e := range elements {
		if isAnswer(e) {
			rc.handleLine(ctx, e)
			continue
		}
		other := &frame.Refusal{Code: frame.CodeBatch, Reason: "an array of answers holds something else"}
		if !rc.failReplies(e, other) {
			rc.recordDrop(&event.Event{Code: other.Code, Reason: other.Reason, Bytes: len(e)})
		}
	}
	return true
}

// isArray reports a line that begins as an array does.
func isArray(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte{'['}) }

// isAnswer reports an element that can only be an answer.
func isAnswer(element []byte) bool {
	trimmed := bytes.TrimSpace(element)
	return len(trimmed) > 0 && trimmed[0] == '{' && answersOnly(trimmed)
}

// handleOddID deals with an answer whose id is no request's as it stands, and reports whether it
// may be one's all the same.
func (rc *receiver) handleOddID(ctx context.Context, f *frame.Frame) bool {
	if rc.from != mcp.ServerToClient {
		return false
	}
	if frame.LooseID(f.ID) == "" {
		rc.holdUnnamed(ctx, f.Raw, &frame.Refusal{Code: frame.CodeID, Reason: "its id is empty"})
		return true
	}
	repaired := rc.withWaitingID(f)
	if repaired == nil {
		return false
	}
	rc.forwardRepaired(ctx, f.Raw, repaired, []string{"id"})
	return true
}

// withWaitingID gives the frame under the id of the request that it answers, when the server has
// written that id in another way; nil when there is none.
func (rc *receiver) withWaitingID(f *frame.Frame) *frame.Frame {
	id := (*awaited)(rc).Waiting(f.ID)
	if id == nil {
		return nil
	}
	repaired, err := frame.Parse(frame.SplicePart(f.Raw, f.ID, id), rc.frameLimits())
	if err != nil {
		return nil // it became too long
	}
	return &repaired
}

// forwardRepaired records what was done, and hands the answer on. A repair may have made it
// longer than the client reads.
func (rc *receiver) forwardRepaired(ctx context.Context, line []byte, f *frame.Frame, words []string) {
	if rc.isTooLong(f.Raw) {
		rc.handleUnreadable(f.Raw, tooLong())
		return
	}
	altered := make([]string, len(words))
	for i, word := range words {
		altered[i] = "repair " + word
	}
	rc.noteRepair(&event.Event{
		ID: f.ID, Digest: sha256.Sum256(bytes.TrimSpace(line)), Sent: sha256.Sum256(f.Raw), Bytes: len(line), Altered: altered,
	})
	rc.repaired = true
	rc.handleFrame(ctx, f)
	rc.repaired = false
}

// noteRepair records a repair before anything of the answer goes on.
func (rc *receiver) noteRepair(ev *event.Event) {
	ev.Kind, ev.Stage, ev.Code = event.Passed, "frame", codeRepaired
	ev.ServerGuess, ev.Direction = rc.s.o.Guess, rc.from.String()
	rc.s.recordEvent(ev)
}

// awaited are the requests whose answers this receiver reads.
type awaited receiver

var _ frame.Pending = (*awaited)(nil)

// Waiting is the id of the one request that waits and may have this id to the server.
func (a *awaited) Waiting(id []byte) []byte {
	rc := (*receiver)(a)
	return rc.s.table.waitingID(rc.oppositeDirection(), rc.scope, id)
}

// Only is nil: what has no id is held until it is certain whose it is.
func (a *awaited) Only() []byte { return nil }

// frameLimits gives those of what this side sends.
func (rc *receiver) frameLimits() frame.Limits {
	limits := rc.s.o.Limits
	limits.AllowBatch = rc.s.table.batches.Load()
	if rc.from == mcp.ClientToServer {
		limits.MaxResult = 0 // a server reads it
	}
	return limits
}

// checkStrictly reports that a result which asks something of the client was admitted as a request
// would be: rules look at what it asks.
func (rc *receiver) checkStrictly(f *frame.Frame) *frame.Refusal {
	if rc.repaired {
		return &frame.Refusal{Code: codeRepaired, Reason: "it asks something of the client, and is not well-formed"}
	}
	limits := rc.frameLimits()
	limits.MaxResult = 0
	var again frame.Frame
	if err := again.Parse(f.Raw, limits); err != nil {
		return &frame.Refusal{Code: frame.CodeDepth, Reason: "it asks something of the client, and is nested deeper than a request may be"}
	}
	return nil
}
