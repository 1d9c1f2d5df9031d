package frame

import (
	"bytes"
	"math"
)

// Limits are the limits of admitted frames. With the zero value no frame is admitted.
type Limits struct {
	MaxBytes   int  // maximum length of a line, without its line feed
	MaxDepth   int  // maximum nesting depth, with the envelope; at most 1000
	MaxResult  int  // maximum nesting depth of a result, if this is larger than MaxDepth; tools return deep trees as data
	AllowBatch bool // the session has negotiated 2025-03-26, the only version with batches
}

// DefaultLimits allows frames of 64 MiB with a nesting depth of 64, results with a depth of 512,
// and no batches.
func DefaultLimits() Limits { return Limits{MaxBytes: 64 << 20, MaxDepth: 64, MaxResult: 512} }

// maxBatch is the maximum number of elements of a batch. The limit exists because many tiny
// messages need far more memory than their bytes.
const maxBatch = 1000

// Parse reads one line without its line feed. It returns the frame, or a *Refusal with the reason.
// The frame shares the memory of line.
func Parse(line []byte, l Limits) (Frame, error) {
	var f Frame
	if err := f.Parse(line, l); err != nil {
		return Frame{}, err
	}
	return f, nil
}

// Parse works like the function Parse, but it fills an existing frame. After an error the frame
// must not be used.
func (f *Frame) Parse(line []byte, l Limits) error {
	*f = Frame{}
	if len(line) > l.MaxBytes || uint64(len(line)) > math.MaxUint32 {
		return refuseAt(CodeTooLong, 0)
	}
	// Only a CR at the end is removed, because Windows ends a line with CR LF. A CR anywhere else
	// is refused later, because some readers end a line there.
	b := bytes.TrimRight(bytes.TrimSuffix(line, []byte("\r")), " \t")
	s := scanner{b: b, depth: l.MaxDepth, result: max(l.MaxDepth, l.MaxResult)}
	from := s.skipBlank(0)
	switch {
	case from == len(b):
		return refuseAt(CodeBlank, 0)
	case bytes.HasPrefix(b[from:], []byte("\xEF\xBB\xBF")):
		return refuseAt(CodeBOM, from)
	case b[from] == '[':
		return s.scanBatch(f, from, l.AllowBatch)
	}
	e := envelope{Frame: f}
	i := s.scanEnvelope(&e, from, 1)
	if r := s.finishScan(i); r != nil {
		if s.stopped == nil {
			e.claimRequest(r)
		} else {
			s.recallRequest(r)
		}
		return r
	}
	return nil
}

// scanBatch scans the elements of the array that begins at the offset from. If one element is bad,
// the whole batch is refused, because a batch has no id for an answer.
func (s *scanner) scanBatch(f *Frame, from int, allowed bool) error {
	f.Raw, f.Kind = s.b[from:], Batch
	i := s.skipBlank(from + 1)
	if !allowed || i < len(s.b) && s.b[i] == ']' {
		return refuseAt(CodeBatch, from)
	}
	for more := true; more && i >= 0; {
		if len(f.Elements) == maxBatch {
			return refuseAt(CodeBatch, i)
		}
		var element Frame
		if i = s.scanEnvelope(&envelope{Frame: &element}, i, 2); i >= 0 {
			f.Elements = append(f.Elements, element)
			i, more = s.scanNext(i, ']')
		}
	}
	if r := s.finishScan(i); r != nil {
		return r
	}
	return nil
}
