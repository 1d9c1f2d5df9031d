package frame

import "github.com/clawai/clawai/internal/wire/jsonscan"

// payload is the object in params, result or error during the scan.
type payload struct {
	from, depth int // offset of the object's brace, and nesting depth of its members; depth is 0 outside a payload
	index       jsonscan.Index
	unambiguous bool
}

// payloadMember scans the value of the next member of the payload. The value is at offset v.
func (s *scanner) payloadMember(n name, v int) (end int) {
	if s.params && string(s.b[n.from:n.to]) == "arguments" {
		end = s.scanArguments(v)
	} else {
		end = s.scanValue(v, s.payload.depth)
	}
	at := s.payload.from
	s.payload.index.AddMember(jsonscan.Span{
		Name: uint32(n.from - 1 - at), NameEnd: uint32(n.to + 1 - at), Value: uint32(v - at), End: uint32(end - at),
	})
	return end
}

// scanArguments scans the value at v with the rules of CheckFolded, so that CheckFolded need not
// read it again. If these rules find a fault, the value is scanned again with the normal rules. The
// fault is no reason to refuse the message here. Only the arguments of calls are decoded into typed
// values, and it is not known here whether the message is a call.
func (s *scanner) scanArguments(v int) int {
	before := s.noted
	s.judged = true
	end := s.scanValue(v, s.payload.depth)
	s.judged = false
	if s.payload.unambiguous = s.noted == before; s.payload.unambiguous || end < 0 {
		return end
	}
	s.noted = before
	return s.scanValue(v, s.payload.depth)
}
