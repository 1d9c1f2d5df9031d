package frame

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The members JSON-RPC 2.0 gives an envelope.
const (
	mVersion = iota
	mID
	mMethod
	mParams
	mResult
	mError
	members
)

// named is the member of exactly that name, or -1.
func named(key []byte) int {
	switch string(key) {
	case "jsonrpc":
		return mVersion
	case "id":
		return mID
	case "method":
		return mMethod
	case "params":
		return mParams
	case "result":
		return mResult
	case "error":
		return mError
	}
	return -1
}

// envelope is the outermost object of one message while it is read.
type envelope struct {
	*Frame
	token [members][]byte // of each member's value, as written; nil when absent
	at    [members]int    // where it stands, or where the envelope does
	seen  [members]int    // how often; a case variant counts twice
}

// envelope scans the object at i as one message and notes what is wrong with it.
func (s *scanner) envelope(e *envelope, i, depth int) (end int) {
	if i >= len(s.b) || s.b[i] != '{' {
		at := i
		if i = s.value(i, depth); i >= 0 {
			s.note(CodeNotObject, at)
		}
		return i
	}
	from := i
	for m := range e.at {
		e.at[m] = from
	}
	s.enter(i, depth)
	if i = s.blank(i + 1); i < len(s.b) && s.b[i] == '}' {
		i++
	} else {
		i = s.fields(e, i, depth)
	}
	if i >= 0 {
		e.Raw = s.b[from:i:i]
		s.shape(e)
	}
	return i
}

// fields scans the envelope's members, the first of which is at i.
func (s *scanner) fields(e *envelope, i, depth int) int {
	for more := true; more; {
		n, v := s.member(i)
		if v < 0 {
			return v
		}
		if i = s.field(e, n, v, depth); i < 0 {
			return i
		}
		i, more = s.after(i, '}')
	}
	return i
}

// field scans the value of one member of the envelope and keeps its token.
func (s *scanner) field(e *envelope, n name, v, depth int) int {
	m := s.which(e, n)
	end, object := 0, v < len(s.b) && s.b[v] == '{'
	switch {
	case m >= mParams && object:
		s.payload = payload{from: v, depth: depth + 1}
		s.params = m == mParams
		most := s.depth
		if m == mResult {
			s.depth = s.result
		}
		end = s.object(v, depth+1, m != mResult)
		s.depth = most
		if s.params = false; m == mError && end >= 0 {
			s.errorObject(v, end)
		}
		e.Index, e.Unambiguous = s.payload.index, s.payload.unambiguous
		s.payload = payload{}
	default:
		end = s.value(v, depth)
	}
	if end >= 0 && m >= 0 {
		e.token[m], e.at[m] = s.b[v:end:end], v
	}
	return end
}

// which finds the member a name stands for, or -1 for one JSON-RPC does not
// define. A name that some readers would fold onto a member is as good as a
// second one of it.
func (s *scanner) which(e *envelope, n name) int {
	m := named(s.key(n, false, 0))
	if m >= 0 {
		if e.seen[m]++; e.seen[m] > 1 {
			s.note(CodeDuplicate, n.from)
		}
		return m
	}
	if m = named(s.key(n, true, 0)); m >= 0 {
		e.seen[m] += 2
		s.note(CodeFolded, n.from)
		return -1
	}
	s.note(CodeUnknown, n.from)
	return -1
}

// shape makes the frame of the envelope and notes one that is no request, no
// notification and no response.
func (s *scanner) shape(e *envelope) {
	e.ID, e.Params, e.Result, e.Error = e.token[mID], e.token[mParams], e.token[mResult], e.token[mError]
	e.Method = string(jsonscan.Of(word(e.token[mMethod])))
	method, reply := e.seen[mMethod] > 0, e.seen[mResult]+e.seen[mError] > 0
	switch {
	case !method:
		e.Kind = Response
	case e.ID == nil:
		e.Kind = Notification
	default:
		e.Kind = Request
	}
	s.must(string(word(e.token[mVersion])) == "2.0", CodeVersion, e.at[mVersion])
	s.must(method != reply && (e.Result == nil || e.Error == nil) && (method || e.Params == nil), CodeShape, e.at[mVersion])
	if string(e.Params) == "null" { // none, to every reader that takes it
		e.Params = nil
	}
	s.must(e.Kind == Notification || validID(e.ID), CodeID, e.at[mID])
	s.must(!method || e.Method != "", CodeMethod, e.at[mMethod])
	s.must(e.Params == nil || e.Params[0] == '{', CodeParams, e.at[mParams])
	s.must(e.Result == nil || e.Result[0] == '{', CodeResult, e.at[mResult])
	s.must(e.Error == nil || e.Error[0] == '{', CodeErr, e.at[mError])
}

func (s *scanner) must(ok bool, code string, at int) {
	if !ok {
		s.note(code, at)
	}
}

// errorObject looks at the error object from i to end: MCP's schema requires an integer
// code and a string message in every version.
func (s *scanner) errorObject(i, end int) {
	code, message := false, false
	for name, value := range jsonscan.Of(s.b[i:end]).Indexed(&s.payload.index) {
		switch name.Text() {
		case "code":
			code = validInt(value.Bytes())
		case "message":
			message = value.Kind() == jsonscan.String
		}
	}
	s.must(code && message, CodeErr, i)
}

// word is what a string token says; nil when the token is no string.
func word(token []byte) []byte {
	if len(token) == 0 || token[0] != '"' {
		return nil
	}
	text := token[1 : len(token)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return escape.Undo(nil, text)
}

// claim adds to a refusal what is certain about the frame, which was read to
// its end.
func (e *envelope) claim(r *Refusal) {
	if e.Method == "" || e.seen[mResult]+e.seen[mError] > 0 || e.seen[mID] == 0 {
		return
	}
	r.Request = true
	if e.seen[mID] == 1 && validID(e.ID) {
		r.ID = bytes.Clone(e.ID)
	}
}
