package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is an event that is longer than the reader's bound. The stream
// cannot be read on: where the next event begins is not known.
var ErrTooLong = errors.New("an event is longer than allowed")

// bom may stand before the first line, where it means nothing.
var bom = []byte("\ufeff")

// Reader reads events from a stream.
type Reader struct {
	r     *bufio.Reader
	max   int
	begun bool
	// skipLF: the last line ended in CR at the end of what had arrived; an LF
	// that comes next belongs to it.
	skipLF bool
}

// large is an event that is worth a buffer of this size: most streams have none.
const large = 64 << 10

// NewReader bounds an event to max bytes, all its lines together.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 4<<10), max: max}
}

// Next gives the next block; its memory is its own. io.EOF ends the stream, and a
// block that the end cut off is dropped, as the standard asks: it may be half an
// event. An event is given as soon as its blank line has arrived.
func (r *Reader) Next() (*Event, error) {
	e := &Event{Retry: -1, Plain: true}
	for {
		start := len(e.Raw)
		end, err := r.line(e)
		if err != nil {
			return nil, err
		}
		line := e.Raw[start:end]
		if !r.begun {
			r.begun = true
			if bytes.HasPrefix(line, bom) {
				line, e.Plain = line[len(bom):], false
			}
		}
		if e.Raw[len(e.Raw)-1] == '\r' {
			e.Plain = false
		}
		if len(line) == 0 {
			return e, nil
		}
		e.field(line)
	}
}

// line appends one line with its end to e.Raw and says where the end begins.
// Lines end in LF, CR or CRLF. After a CR it does not wait for what may follow:
// the event would be held up.
func (r *Reader) line(e *Event) (end int, err error) {
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			if err == io.EOF {
				return 0, io.EOF
			}
			return 0, err
		}
		if r.skipLF {
			r.skipLF = false
			if c == '\n' {
				continue
			}
		}
		if len(e.Raw) >= r.max {
			return 0, ErrTooLong
		}
		e.Raw = append(e.Raw, c)
		switch c {
		case '\n':
			return len(e.Raw) - 1, nil
		case '\r':
			end = len(e.Raw) - 1
			if r.r.Buffered() == 0 {
				r.skipLF = true
				return end, nil
			}
			if next, err := r.r.Peek(1); err == nil && next[0] == '\n' {
				_, _ = r.r.Discard(1)
				e.Raw = append(e.Raw, '\n')
			}
			return end, nil
		}
		r.run(e)
	}
}

// run takes what is buffered of the line in one piece.
func (r *Reader) run(e *Event) {
	if len(e.Raw) > large {
		r.r = bufio.NewReaderSize(r.r, large)
	}
	n := min(r.r.Buffered(), r.max-len(e.Raw))
	if n <= 0 {
		return
	}
	ahead, _ := r.r.Peek(n)
	if i := bytes.IndexAny(ahead, "\r\n"); i >= 0 {
		ahead = ahead[:i]
	}
	e.Raw = append(e.Raw, ahead...)
	_, _ = r.r.Discard(len(ahead))
}
