package frame

import (
	"bytes"
	"math"
)

// Limits bound the admitted frames. The zero value admits nothing.
type Limits struct {
	MaxBytes   int  // longest line, without its LF
	MaxDepth   int  // deepest nesting, envelope included; at most 1000
	MaxResult  int  // deepest nesting of a result, if larger than MaxDepth: tools return deep trees as data
	AllowBatch bool // the session negotiated 2025-03-26, the only version with batches
}

// DefaultLimits admits frames of 64 MiB nested 64 deep, results 512 deep, and no batches.
func DefaultLimits() Limits { return Limits{MaxBytes: 64 << 20, MaxDepth: 64, MaxResult: 512} }

// maxBatch limits the elements of a batch, because many tiny messages need far more
// memory than their bytes.
const maxBatch = 1000

// Parse admits one line, given without its LF, or returns a *Refusal with the reason.
// The result aliases line.
func Parse(line []byte, l Limits) (Frame, error) {
	var f Frame
	if err := f.Parse(line, l); err != nil {
		return Frame{}, err
	}
	return f, nil
}

// Parse is like the function Parse and fills an existing frame. After an error the
// frame is not usable.
func (f *Frame) Parse(line []byte, l Limits) error {
	*f = Frame{}
	if len(line) > l.MaxBytes || uint64(len(line)) > math.MaxUint32 {
		return refuseAt(CodeTooLong, 0)
	}
	// Windows ends a line with CR LF. Some readers end a line at a CR anywhere else.
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

// scanBatch scans the array at from, element by element. A batch has no id, so a batch
// with one bad element can only be dropped as a whole.
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
