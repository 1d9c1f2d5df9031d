package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// ErrTooLong means that an event is longer than the reader's limit. The stream cannot be read any
// further, because the beginning of the next event is unknown.
var ErrTooLong = errors.New("an event is longer than allowed")

// bom is the byte order mark. It is ignored before the first line.
var bom = []byte("\ufeff")

// Reader reads events from a stream.
type Reader struct {
	r     *bufio.Reader
	max   int
	begun bool
	rest  *Event // the block that the end of the stream, or an error, cut off
	// afterCR means that the received bytes end in a CR. If the next byte is LF, it belongs to the
	// same line end.
	afterCR bool
	awaitLF bool
}

// large is a size in bytes. After an event that is longer than large, the reader gets a buffer of
// this size. Most streams have no such event, so their buffer stays small.
const large = 64 << 10

// NewReader returns a Reader with a limit of max bytes for each event, all its lines together.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 4<<10), max: max}
}

// AwaitLF makes r wait for the byte after a CR before it returns the line. It is for a caller that
// refuses events that are not Plain. Otherwise a CRLF that arrives in two parts would count as a
// CR.
func (r *Reader) AwaitLF() { r.awaitLF = true }

// ReadEvent returns the next block, in its own memory. It returns an event as soon as the event's
// blank line has arrived. It returns io.EOF at the end of the stream. A block that the end of the
// stream cuts off is dropped, as the standard requires, because it may be only a part of an event.
func (r *Reader) ReadEvent() (*Event, error) {
	e := &Event{Retry: -1, Plain: true}
	for {
		line, err := r.readLine(e)
		if err != nil {
			r.rest = e
			return nil, err
		}
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
		e.setField(line)
	}
}

// HasEvent reports whether ReadEvent would return without a read from the stream, because a blank
// line is in the buffer.
func (r *Reader) HasEvent() bool {
	ahead, _ := r.r.Peek(r.r.Buffered())
	return bytes.Contains(ahead, []byte("\n\n")) || bytes.Contains(ahead, []byte("\n\r\n"))
}

// Rest returns the block that was cut off, after ReadEvent has returned an error. The block
// includes the last line, which has no line end. Callers need this block, because some clients do
// not drop such a block. If nothing was cut off, Raw is empty.
func (r *Reader) Rest() *Event {
	e := r.rest
	if e == nil {
		return &Event{Retry: -1, Plain: true}
	}
	r.rest = nil
	if line := e.Raw[bytes.LastIndexAny(e.Raw, "\r\n")+1:]; len(line) > 0 {
		e.setField(line)
	}
	return e
}

// readLine appends one line with its line end to e.Raw and returns the line without its line end. A
// line ends in LF, CR or CRLF. After a CR, readLine does not wait for the next byte, because this
// would delay the event. It waits only after AwaitLF.
func (r *Reader) readLine(e *Event) ([]byte, error) {
	start := len(e.Raw)
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return nil, err
		}
		if len(e.Raw) >= r.max {
			return nil, ErrTooLong
		}
		e.Raw = append(e.Raw, c)
		late := r.afterCR && c == '\n'
		r.afterCR = false
		switch {
		case late:
			start = len(e.Raw)
			continue
		case c == '\n':
			return e.Raw[start : len(e.Raw)-1], nil
		case c == '\r':
			end := len(e.Raw) - 1
			if r.r.Buffered() == 0 && !r.awaitLF {
				r.afterCR = true
			} else if next, err := r.r.Peek(1); err == nil && next[0] == '\n' {
				_, _ = r.r.Discard(1)
				e.Raw = append(e.Raw, '\n')
			}
			return e.Raw[start:end], nil
		}
		r.takeRun(e)
	}
}

// takeRun appends the buffered part of the line at once.
func (r *Reader) takeRun(e *Event) {
	if len(e.Raw) > large {
		r.r = bufio.NewReaderSize(r.r, large)
	}
	n := min(r.r.Buffered(), r.max-len(e.Raw))
	if n <= 0 {
		return
	}
	ahead, _ := r.r.Peek(n)
	for _, end := range []byte{'\n', '\r'} {
		if i := bytes.IndexByte(ahead, end); i >= 0 {
			ahead = ahead[:i]
		}
	}
	if room := cap(e.Raw) - len(e.Raw); room < len(ahead) {
		e.Raw = slices.Grow(e.Raw, max(len(ahead), len(e.Raw))) // append alone would copy a long event five times
	}
	e.Raw = append(e.Raw, ahead...)
	_, _ = r.r.Discard(len(ahead))
}
