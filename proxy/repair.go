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

// repairAnswer handles a refused line of the server if the line is still an answer. It returns
// false for any other line, which stays refused. Without a repair, the answer to a call that was
// made would be lost. docs/frames.md lists the repairs.
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
	// An answer without an id is never repaired here. It waits until its request is certain
	// (holdUnnamed).
	f, words, ok := frame.RepairLine(line, rc.frameLimits(), refusal, frame.Pending{Waiting: rc.waitingID})
	if !ok {
		return false
	}
	rc.forwardRepaired(ctx, line, &f, words)
	return true
}

// takeApart handles each answer in a refused array as a separate message. This is needed because
// most versions have no arrays. In the one version with arrays, a single bad answer would otherwise
// make the proxy refuse all the other answers. takeApart refuses the elements that are not answers.
// It returns false if the array has no answer.
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

// isArray reports whether the first character of a line, after blanks, is '['.
func isArray(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte{'['}) }

// isAnswer reports whether an element is certainly a response.
func isAnswer(element []byte) bool {
	trimmed := bytes.TrimSpace(element)
	return len(trimmed) > 0 && trimmed[0] == '{' && answersOnly(trimmed)
}

// handleOddID handles an answer whose id is not exactly the id of a request. It returns true if the
// answer was repaired or is held.
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

// withWaitingID repairs an answer in which the server has written the id in another form. It
// returns the answer with the id of its request, or nil if no request matches or several do.
func (rc *receiver) withWaitingID(f *frame.Frame) *frame.Frame {
	id := rc.waitingID(f.ID)
	if id == nil {
		return nil
	}
	repaired, err := frame.Parse(frame.SplicePart(f.Raw, f.ID, id), rc.frameLimits())
	if err != nil {
		return nil // with the other id, the frame is longer than the limit
	}
	return &repaired
}

// forwardRepaired records a repair and handles the repaired answer. It refuses a repaired answer
// that is longer than the client reads.
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

// noteRepair records a repair. It must run before any part of the answer is forwarded.
func (rc *receiver) noteRepair(ev *event.Event) {
	ev.Kind, ev.Stage, ev.Code = event.Passed, "frame", codeRepaired
	ev.ServerGuess, ev.Direction = rc.s.o.Guess, rc.from.String()
	rc.s.recordEvent(ev)
}

// waitingID returns the id of the only waiting request that the other side may mean by this id.
func (rc *receiver) waitingID(id []byte) []byte {
	return rc.s.table.waitingID(rc.oppositeDirection(), rc.scope, id)
}

// frameLimits returns the limits for frames of this side.
func (rc *receiver) frameLimits() frame.Limits {
	limits := rc.s.o.Limits
	limits.AllowBatch = rc.s.table.batches.Load()
	if rc.from == mcp.ClientToServer {
		limits.MaxResult = 0 // MaxResult is only for results that a client reads
	}
	return limits
}

// checkStrictly checks a result that holds input requests. It refuses the result if it was repaired
// or is nested deeper than a request may be, because the rules judge the input requests. It returns
// nil if the result passes.
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
