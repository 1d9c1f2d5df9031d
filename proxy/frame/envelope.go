package frame

import "bytes"

// envelope is the outermost object while it is read.
type envelope struct {
	Frame
	version []byte // the token of jsonrpc
	method  []byte // the token of method
	seen    [len(members)]int
}

// members are the names JSON-RPC 2.0 gives an envelope, in exact case.
var members = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

const (
	mVersion = iota
	mID
	mMethod
	mParams
	mResult
	mError
)

// envelope scans the object at i as one message and notes what is wrong with it.
func (s *scanner) envelope(i, depth int) (e envelope, end int) {
	if i >= len(s.b) || s.b[i] != '{' {
		if i = s.value(i, depth); i >= 0 {
			s.note(CodeNotObject, i)
		}
		return e, i
	}
	from := i
	s.enter(i, depth)
	if i = s.blank(i + 1); i < len(s.b) && s.b[i] == '}' {
		i++
	} else {
		for more := true; more; {
			n, v := s.member(i)
			if v < 0 {
				return e, v
			}
			if i = s.field(&e, n, v, depth); i < 0 {
				return e, i
			}
			i, more = s.after(i, '}')
		}
	}
	if i >= 0 {
		e.Raw = s.b[from:i]
		s.shape(&e, from)
	}
	return e, i
}

// field scans the value of one member of the envelope and keeps its token.
func (s *scanner) field(e *envelope, n name, v, depth int) int {
	m := s.which(e, n)
	object := v < len(s.b) && s.b[v] == '{'
	end := -1
	switch {
	case m == mParams && object:
		s.params = true
		end = s.object(v, depth+1, true)
		s.params = false
	case m == mError && object:
		end = s.errorObject(v, depth+1)
	default:
		end = s.value(v, depth)
	}
	if end < 0 || m < 0 {
		return end
	}
	token := s.b[v:end:end]
	switch m {
	case mVersion:
		e.version = token
	case mID:
		e.ID = token
	case mMethod:
		e.method = token
	case mParams:
		e.Params = token
	case mResult:
		e.Result = token
	case mError:
		e.Error = token
	}
	return end
}

// which finds the member a name stands for, or -1 for one JSON-RPC does not
// define. A name that some readers would fold onto a member counts as a second
// one of it.
func (s *scanner) which(e *envelope, n name) int {
	key := s.key(n, false, 0)
	for m, want := range members {
		if string(key) == want {
			if e.seen[m]++; e.seen[m] > 1 {
				s.note(CodeDuplicate, n.from)
			}
			return m
		}
	}
	folded := s.key(n, true, 0)
	for m, want := range members {
		if string(folded) == want {
			e.seen[m] += 2
			s.note(CodeFolded, n.from)
			return -1
		}
	}
	s.note(CodeUnknown, n.from)
	return -1
}

// shape notes an envelope that is not one of request, notification, response.
func (s *scanner) shape(e *envelope, at int) {
	if string(s.word(e.version)) != "2.0" {
		s.note(CodeVersion, at)
	}
	method, reply := e.seen[mMethod], e.seen[mResult]+e.seen[mError]
	if method+reply != 1 || reply > 0 && e.Params != nil {
		s.note(CodeShape, at)
	}
	if (e.ID != nil || reply > 0) && !validID(e.ID) {
		s.note(CodeID, at)
	}
	switch {
	case method == 0:
		e.Kind = Response
	case e.ID == nil:
		e.Kind = Notification
	default:
		e.Kind = Request
	}
	if method > 0 {
		if e.Method = string(s.word(e.method)); e.Method == "" {
			s.note(CodeMethod, at)
		}
	}
	s.mustBeObject(e.Params, CodeParams, at)
	s.mustBeObject(e.Result, CodeResult, at)
	s.mustBeObject(e.Error, CodeErr, at)
}

func (s *scanner) mustBeObject(token []byte, code string, at int) {
	if token != nil && token[0] != '{' {
		s.note(code, at)
	}
}

// errorObject scans the error object at i: MCP's schema requires an integer
// code and a string message in every version.
func (s *scanner) errorObject(i, depth int) int {
	from := i
	end := s.object(i, depth, true)
	if end < 0 {
		return end
	}
	code, message := false, false
	i = s.blank(from + 1)
	for more := s.b[i] != '}'; more; {
		n, v := s.member(i)
		i = s.value(v, depth)
		switch string(s.key(n, false, 0)) {
		case "code":
			code = validInt(s.b[v:i])
		case "message":
			message = s.b[v] == '"'
		}
		i, more = s.after(i, '}')
	}
	if !code || !message {
		s.note(CodeErr, from)
	}
	return end
}

// word is what a string token says; nil when the token is no string.
func (s *scanner) word(token []byte) []byte {
	if len(token) < 2 || token[0] != '"' {
		return nil
	}
	text := token[1 : len(token)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return unescape(nil, text)
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
