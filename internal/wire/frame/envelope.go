package frame

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The members of an envelope in JSON-RPC 2.0.
const (
	mVersion = iota
	mID
	mMethod
	mParams
	mResult
	mError
	members
)

var memberNames = [members]string{"jsonrpc", "id", "method", "params", "result", "error"}

// memberOf returns the index of the member with exactly this name, or -1.
func memberOf(key []byte) int {
	for m, name := range memberNames {
		if name == string(key) {
			return m
		}
	}
	return -1
}

// envelope is the outermost object of one message during the scan.
type envelope struct {
	*Frame
	token [members][]byte // the JSON text of each member's value; nil if the member is absent
	at    [members]int    // offset of each member's value; if the member is absent, offset of the envelope
	seen  [members]int    // how often each member occurs; a name that differs only in case is counted as two members
}

// scanEnvelope scans the object at offset i as one message. It notes the message's faults in s.
func (s *scanner) scanEnvelope(e *envelope, i, depth int) (end int) {
	if i >= len(s.b) || s.b[i] != '{' {
		at := i
		if i = s.scanValue(i, depth); i >= 0 {
			s.noteFault(CodeNotObject, at)
		}
		return i
	}
	from := i
	for m := range e.at {
		e.at[m] = from
	}
	s.enterLevel(i, depth)
	if i = s.skipBlank(i + 1); i < len(s.b) && s.b[i] == '}' {
		i++
	} else {
		i = s.scanFields(e, i, depth)
	}
	if i >= 0 {
		e.Raw = s.b[from:i:i]
		s.shapeFrame(e)
	}
	return i
}

// scanFields scans the members of the envelope. The first member is at offset i.
func (s *scanner) scanFields(e *envelope, i, depth int) int {
	for more := true; more; {
		n, v := s.scanMember(i)
		if v < 0 {
			return v
		}
		if i = s.scanField(e, n, v, depth); i < 0 {
			return i
		}
		i, more = s.scanNext(i, '}')
	}
	return i
}

// scanField scans the value of one member of the envelope and stores the value in e.token.
func (s *scanner) scanField(e *envelope, n name, v, depth int) int {
	m := s.findMember(e, n)
	end, object := 0, v < len(s.b) && s.b[v] == '{'
	switch {
	case m >= mParams && object:
		s.payload = payload{from: v, depth: depth + 1}
		s.params = m == mParams
		most := s.depth
		if m == mResult {
			s.depth = s.result
		}
		end = s.scanObject(v, depth+1, m != mResult)
		s.depth = most
		if s.params = false; m == mError && end >= 0 {
			s.errorObject(v, end)
		}
		e.Index, e.Unambiguous = s.payload.index, s.payload.unambiguous
		s.payload = payload{}
	default:
		end = s.scanValue(v, depth)
	}
	if end >= 0 && m >= 0 {
		e.token[m], e.at[m] = s.b[v:end:end], v
	}
	return end
}

// findMember returns the index of the member with this name, or -1 for a name that JSON-RPC does
// not define. A name that differs from a member's name only in case counts as a duplicate of the
// member, because some readers ignore case.
func (s *scanner) findMember(e *envelope, n name) int {
	m := memberOf(s.nameKey(n, false, 0))
	if m >= 0 {
		if e.seen[m]++; e.seen[m] > 1 {
			s.noteFault(CodeDuplicate, n.from)
		}
		return m
	}
	if m = memberOf(s.nameKey(n, true, 0)); m >= 0 {
		e.seen[m] += 2
		s.noteFault(CodeFolded, n.from)
		return -1
	}
	s.noteFault(CodeUnknown, n.from)
	return -1
}

// shapeFrame sets the fields of the frame from the envelope. It notes a fault if the frame is no
// request, notification or response.
func (s *scanner) shapeFrame(e *envelope) {
	e.ID, e.Params, e.Result, e.Error = e.token[mID], e.token[mParams], e.token[mResult], e.token[mError]
	e.Method = string(jsonscan.ValueOf(stringText(e.token[mMethod])))
	method, reply := e.seen[mMethod] > 0, e.seen[mResult]+e.seen[mError] > 0
	switch {
	case !method:
		e.Kind = Response
	case e.ID == nil:
		e.Kind = Notification
	default:
		e.Kind = Request
	}
	s.noteUnless(string(stringText(e.token[mVersion])) == "2.0", CodeVersion, e.at[mVersion])
	s.noteUnless(method != reply && (e.Result == nil || e.Error == nil) && (method || e.Params == nil), CodeShape, e.at[mVersion])
	if string(e.Params) == "null" { // readers that accept null treat it as absent
		e.Params = nil
	}
	s.noteUnless(e.Kind == Notification || validID(e.ID), CodeID, e.at[mID])
	s.noteUnless(!method || e.Method != "", CodeMethod, e.at[mMethod])
	s.noteUnless(e.Params == nil || e.Params[0] == '{', CodeParams, e.at[mParams])
	s.noteUnless(e.Result == nil || e.Result[0] == '{', CodeResult, e.at[mResult])
	s.noteUnless(e.Error == nil || e.Error[0] == '{', CodeErr, e.at[mError])
}

func (s *scanner) noteUnless(ok bool, code string, at int) {
	if !ok {
		s.noteFault(code, at)
	}
}

// errorObject checks the error object s.b[i:end]. In every version, MCP's schema requires an
// integer code and a string message.
func (s *scanner) errorObject(i, end int) {
	code, message := false, false
	for name, value := range jsonscan.ValueOf(s.b[i:end]).IndexedMembers(&s.payload.index) {
		switch name.Text() {
		case "code":
			code = validInt(value.Bytes())
		case "message":
			message = value.Kind() == jsonscan.String
		}
	}
	s.noteUnless(code && message, CodeErr, i)
}

// stringText returns the decoded text of a string token. It returns nil if the token is no string.
func stringText(token []byte) []byte {
	if len(token) == 0 || token[0] != '"' {
		return nil
	}
	text := token[1 : len(token)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return escape.UndoEscapes(nil, text)
}

// claimRequest notes in a refusal that the frame is a request, and the id of the request. It does
// so only if every reader would agree. The frame must have been scanned to its end.
func (e *envelope) claimRequest(r *Refusal) {
	if e.Method == "" || e.seen[mResult]+e.seen[mError] > 0 || e.seen[mID] == 0 {
		return
	}
	r.Request = true
	if e.seen[mID] == 1 && validID(e.ID) {
		r.ID = bytes.Clone(e.ID)
	}
}
