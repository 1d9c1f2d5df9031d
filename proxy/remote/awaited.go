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

// awaited returns the waiting requests that an answer may be for, if the answer came with rt. These
// are the requests of rt. If none of them matches, they are the requests of all round trips. The
// result cannot be used to find the request of an answer without an id, because NameError has
// handled such answers before. The proxy repairs answers in the same way, but it does not know
// which answer came with which request.
func (u *Upstream) awaited(rt *roundTrip) frame.Pending {
	return frame.Pending{Waiting: func(id []byte) []byte {
		u.mu.Lock()
		defer u.mu.Unlock()
		_, found := u.waitingID(rt, id)
		return found
	}}
}

// waitingID returns the only waiting request that the server may mean by this id: its round trip
// and its id. Both are nil when no request or several requests match. The requests of rt are
// searched first. The caller holds u.mu.
func (u *Upstream) waitingID(rt *roundTrip, token []byte) (owner *roundTrip, id []byte) {
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
		case found == nil, other == owner:
		case id != nil:
			return nil, nil
		default:
			owner, id = other, found
		}
	}
	return owner, id
}

// matchID returns the only unanswered id of rt with this LooseID. It returns nil when no id or
// several ids match.
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

// onlyID returns the id of the only unanswered request of rt, or nil if rt has none or several.
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

// parseAnswers returns the messages in a line. It repairs them in the same way as the proxy does.
func (u *Upstream) parseAnswers(rt *roundTrip, line []byte) (all []frame.Frame) {
	for _, e := range splitMessages(line) {
		f, err := frame.Parse(e, u.o.Limits)
		if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			if f, _, ok = frame.RepairLine(e, u.o.Limits, refusal, u.awaited(rt)); !ok {
				continue
			}
		}
		if f.Kind != frame.Batch { // a nested array is skipped, because the proxy refuses it
			all = append(all, f)
		}
	}
	return all
}

// splitMessages returns the elements of an array, or the line itself if it is not an array.
func splitMessages(line []byte) [][]byte {
	if elements := frame.SplitArray(line); elements != nil {
		return elements
	}
	return [][]byte{line}
}

// holdsUnnamed reports whether a frame holds an answer with an id that no request has, such as "".
func (u *Upstream) holdsUnnamed(f *frame.Frame) bool {
	for e := range f.Messages {
		if e.Kind == frame.Response && frame.LooseID(e.ID) == "" && !u.isInFlight(e.ID) {
			return true
		}
	}
	return false
}

func (u *Upstream) isInFlight(id []byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.inFlight[frame.IDKey(id)] != nil
}

// withoutUnnamed drops the answers without a usable id and returns the rest of the line. Such an
// answer belongs to a request of its own POST, so no other call may get it. If several requests of
// that POST wait, the line stays whole and the proxy decides. The line also stays whole on the
// single stream of HTTP+SSE.
func (u *Upstream) withoutUnnamed(rt *roundTrip, line []byte) (rest [][]byte) {
	all := splitMessages(line)
	rest = slices.DeleteFunc(slices.Clone(all), func(e []byte) bool {
		return frame.IsUnnamed(e) && !u.isInFlight([]byte(gjson.GetBytes(e, "id").Raw))
	})
	if len(rest) == len(all) || u.postEndpoint() != "" || u.waitsForSeveral(rt) {
		return [][]byte{line}
	}
	u.o.Note("unnamed", fmt.Sprintf("an answer that does not say which request it is for was dropped: sha256 of what came is %x", sha256.Sum256(line)))
	if len(all) == 1 && u.onlyID(rt) != nil { // not for an array, because another element of the array may answer the request
		u.failRequests(rt, "the server's answer does not say which request it is for")
	}
	return rest
}

// waitsForSeveral reports whether at least two requests of rt have no answer.
func (u *Upstream) waitsForSeveral(rt *roundTrip) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return rt != nil && len(rt.unanswered) > 1
}

// NameError returns line with the given id, if line is an error without a usable id, or an array
// with one such error. id is the id of the request that the error answers. NameError returns nil
// for any other line.
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

// attachRequestID returns line with the given id, if line is an error without a usable id. It
// returns nil for any other line.
func attachRequestID(line, id []byte, l frame.Limits) []byte {
	if was := gjson.GetBytes(line, "id"); frame.LooseID([]byte(was.Raw)) != "" || !gjson.GetBytes(line, "error").Exists() {
		return nil
	}
	_, err := frame.Parse(line, l)
	refusal, ok := errors.AsType[*frame.Refusal](err)
	if !ok { // a valid line: its id is an empty string
		refusal = &frame.Refusal{Code: frame.CodeID}
	}
	f, _, ok := frame.RepairLine(line, l, refusal, frame.Pending{Only: id})
	if !ok || f.Error == nil {
		return nil
	}
	return f.Raw
}

// ServerError returns the JSON-RPC error in the body of an error status, with the given id. It
// returns nil if there is none.
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
	if frame.IDKey(f.ID) != frame.IDKey(id) { // the error has another id, because the server made it before it read the id
		return mcp.ErrorLine(id, f.Error)
	}
	return f.Raw
}
