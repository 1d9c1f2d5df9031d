package remote

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// awaited are the requests that an answer which came with rt can be for.
type awaited struct {
	u  *Upstream
	rt *roundTrip // nil: any
}

var _ frame.Pending = awaited{}

// Waiting is the id of the one request that waits and may have this id to the server: of those
// that the answer came with, or else of all.
func (a awaited) Waiting(id []byte) []byte {
	a.u.mu.Lock()
	defer a.u.mu.Unlock()
	_, found := a.u.waitingID(a.rt, id)
	return found
}

// waitingID gives the round trip of the one request that waits and may have this id to the server,
// and the id; nil without one. u.mu is held.
func (u *Upstream) waitingID(rt *roundTrip, token []byte) (of *roundTrip, id []byte) {
	loose := frame.LooseID(token)
	if loose == "" {
		return nil, nil
	}
	if rt != nil {
		if id := matchID(rt, loose); id != nil {
			return rt, id
		}
	}
	for _, other := range u.inFlight {
		found := matchID(other, loose)
		switch {
		case found == nil, other == of:
		case id != nil:
			return nil, nil
		default:
			of, id = other, found
		}
	}
	return of, id
}

// matchID gives the one id of rt's that is without an answer and has this LooseID; nil for none.
func matchID(rt *roundTrip, loose string) (id []byte) {
	for _, one := range rt.unanswered {
		if frame.LooseID(one) != loose {
			continue
		}
		if id != nil {
			return nil
		}
		id = one
	}
	return id
}

// Only is nil: the pump, which repairs what is handed on, does not know what came with which
// request. NameError has looked before.
func (a awaited) Only() []byte { return nil }

// onlyID gives the id of the request that was posted, where it was one and has no answer.
func (u *Upstream) onlyID(rt *roundTrip) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if rt == nil || len(rt.unanswered) != 1 {
		return nil
	}
	for _, id := range rt.unanswered {
		return id
	}
	return nil
}

// parseAnswers reads a line as the answers that it holds, repaired where the pump repairs them.
func (u *Upstream) parseAnswers(rt *roundTrip, line []byte) (all []frame.Frame) {
	for _, e := range splitMessages(line) {
		f, err := frame.Parse(e, u.o.Limits)
		if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			if f, _, ok = frame.RepairLine(e, u.o.Limits, refusal, awaited{u, rt}); !ok {
				continue
			}
		}
		if f.Kind != frame.Batch { // the pump takes no answer out of an array in an array
			all = append(all, f)
		}
	}
	return all
}

// splitMessages gives the messages of an array, or the one that a line is.
func splitMessages(line []byte) [][]byte {
	if elements := frame.SplitArray(line); elements != nil {
		return elements
	}
	return [][]byte{line}
}

// holdsUnnamed reports whether a frame holds an answer whose id is that of no request, such as
// the id "".
func (u *Upstream) holdsUnnamed(f *frame.Frame) bool {
	if f.Kind != frame.Batch {
		return f.Kind == frame.Response && frame.LooseID(f.ID) == "" && !u.isInFlight(f.ID)
	}
	return slices.ContainsFunc(f.Elements, func(e frame.Frame) bool { return u.holdsUnnamed(&e) })
}

func (u *Upstream) isInFlight(id []byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.inFlight[frame.IDKey(id)] != nil
}

// withoutUnnamed drops the answers of a line that name no request, and gives the rest. Such an
// answer belongs to the request of its own POST, so no other call may get it. If several requests
// of that POST wait, the pump decides. On the one stream of HTTP+SSE all answers stay.
func (u *Upstream) withoutUnnamed(rt *roundTrip, line []byte) (rest [][]byte) {
	all := splitMessages(line)
	rest = slices.DeleteFunc(slices.Clone(all), func(e []byte) bool {
		return frame.IsUnnamed(e) && !u.isInFlight([]byte(gjson.GetBytes(e, "id").Raw))
	})
	if len(rest) == len(all) || u.postEndpoint() != "" || u.waitsForSeveral(rt) {
		return [][]byte{line}
	}
	u.o.Note("unnamed", fmt.Sprintf("an answer that does not say which request it is for was dropped: sha256 of what came is %x", sha256.Sum256(line)))
	if len(all) == 1 && u.onlyID(rt) != nil { // among others it may be about those
		u.failRequests(rt, "the server's answer does not say which request it is for")
	}
	return rest
}

// waitsForSeveral reports an array of requests of which more than one has no answer.
func (u *Upstream) waitsForSeveral(rt *roundTrip) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return rt != nil && len(rt.unanswered) > 1
}

// NameError gives line with the id of the request that it came with, where it is an error that
// does not say which request it is about, or an array of one; nil for any other line.
func NameError(line, id []byte, l frame.Limits) []byte {
	if !bytes.HasPrefix(line, []byte{'['}) {
		return attachRequestID(line, id, l)
	}
	elements := frame.SplitArray(line)
	if len(elements) != 1 {
		return nil
	}
	if e := attachRequestID(elements[0], id, l); e != nil {
		return frame.SplicePart(line, elements[0], e)
	}
	return nil
}

// attachRequestID gives an error that does not say which request it is about, under the id of the request
// that it came with; nil for any other line.
func attachRequestID(line, id []byte, l frame.Limits) []byte {
	if was := gjson.GetBytes(line, "id"); frame.LooseID([]byte(was.Raw)) != "" || !gjson.GetBytes(line, "error").Exists() {
		return nil
	}
	_, err := frame.Parse(line, l)
	refusal, ok := errors.AsType[*frame.Refusal](err)
	if !ok { // an id that is an empty text
		refusal = &frame.Refusal{Code: frame.CodeID}
	}
	f, _, ok := frame.RepairLine(line, l, refusal, postedAs(id))
	if !ok || f.Error == nil {
		return nil
	}
	return f.Raw
}

// postedAs is the one request of a POST.
type postedAs []byte

var _ frame.Pending = postedAs(nil)

func (postedAs) Waiting([]byte) []byte { return nil }

func (id postedAs) Only() []byte { return id }

// ServerError gives the JSON-RPC error in the body of a status that is no answer, under id; nil
// without one.
func ServerError(body, id []byte, l frame.Limits) []byte {
	line := OneLine(bytes.Clone(body))
	if elements := frame.SplitArray(line); len(elements) == 1 {
		line = elements[0]
	}
	if said := attachRequestID(line, id, l); said != nil {
		return said
	}
	f, err := frame.Parse(line, l)
	if err != nil || f.Kind != frame.Response || f.Error == nil {
		return nil
	}
	if frame.IDKey(f.ID) != frame.IDKey(id) { // of an error before the id was read
		return mcp.RelayedError(id, f.Error)
	}
	return f.Raw
}
