package frame

import "github.com/clawai/clawai/internal/wire/jsonscan"

// payload is the object that a message carries, while its members are read.
type payload struct {
	from, depth int // where its brace is, and how deep its members lie; depth is 0 in no payload
	index       jsonscan.Index
	unambiguous bool
}

// payloadMember scans the value at v of the payload's next member.
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

// scanArguments scans the value at v as CheckFolded does, so that it need not be read once
// more. Where that finds something, it is read as any other value: whether the call is one
// that servers bind to types is not known here.
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
