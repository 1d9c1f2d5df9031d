package frame

import (
	"bytes"
	"io"
)

const (
	chunkSize = 64 << 10 // what one read of a pipe returns at most
	minRead   = 4 << 10  // less room than this is not worth a read
	maxChunk  = 4 << 20  // the chunks of a long line grow up to this
	maxHead   = 1 << 10  // what is kept of a refused line, to tell what it was
)

// Reader cuts a stream into lines. Lines alias chunks that are never written
// again, so a line stays valid for as long as anyone holds it; a chunk is not
// reused, the collector takes it back with its last line.
//
// It reads once when it needs more, and never while a whole line is in memory.
// It is not safe for concurrent use.
type Reader struct {
	r    io.Reader
	max  int
	buf  []byte // the chunk being filled
	from int    // buf[:from] has been handed out
	seen int    // buf[from:seen] holds no LF

	long  [][]byte // the beginning of a line too long for one chunk
	size  int      // its bytes
	last  int      // the bytes of the last long line, but no more than a chunk has
	skip  bool     // inside a line already refused
	head  []byte   // the beginning of the line last refused
	err   error    // what the stream ended with
	empty int      // reads in a row that brought nothing
}

// NewReader reads lines of up to maxBytes, LF not counted, from r.
func NewReader(r io.Reader, maxBytes int) *Reader { return &Reader{r: r, max: maxBytes} }

// ReadLine returns the next line without its LF (a CR before it is Parse's
// business). A *Refusal stands for a line that is none: too long, then the
// rest of it is skipped and the stream goes on; or cut off by the end of the
// stream, and no frame however whole it looks. Any other error ends the
// stream: io.EOF or what the underlying reader returned.
func (r *Reader) ReadLine() ([]byte, error) {
	for {
		end := r.findNewline()
		if n := r.pendingLength(end); n > r.max {
			r.dropLine(end)
			return nil, refuseAt(CodeTooLong, 0)
		}
		if end >= 0 {
			return r.takeLine(end), nil
		}
		if r.err != nil {
			return nil, r.endStream()
		}
		r.fillBuffer()
	}
}

// HasLine reports whether Next returns without reading.
func (r *Reader) HasLine() bool { return r.findNewline() >= 0 }

// findNewline finds the next LF in memory, or -1, and eats what is to be skipped.
func (r *Reader) findNewline() int {
	for {
		i := bytes.IndexByte(r.buf[r.seen:], '\n')
		switch {
		case i < 0 && r.skip:
			r.buf = r.buf[:r.from] // nobody saw these bytes: read over them
			return -1
		case i < 0:
			r.seen = len(r.buf)
			return -1
		case !r.skip:
			r.seen += i
			return r.seen
		}
		r.skip = false
		r.seen += i + 1
		r.from = r.seen
	}
}

// pendingLength gives the length of the line that ends at end, or so far.
func (r *Reader) pendingLength(end int) int {
	if end < 0 {
		end = len(r.buf)
	}
	return r.size + end - r.from
}

// RefusedHead gives the beginning, at most 1 KiB, of the line Next last refused.
func (r *Reader) RefusedHead() []byte { return r.head }

// dropLine forgets the line; what has not been read of it will be skipped.
func (r *Reader) dropLine(end int) {
	first := r.buf[r.from:]
	switch {
	case r.long != nil:
		first = r.long[0]
	case end >= 0:
		first = r.buf[r.from:end]
	}
	r.head = bytes.Clone(first[:min(len(first), maxHead)])
	r.long, r.size = nil, 0
	if end < 0 {
		r.skip = true
		r.buf = r.buf[:r.from]
		r.seen = r.from
		return
	}
	r.from = end + 1
	r.seen = r.from
}

func (r *Reader) takeLine(end int) []byte {
	line := r.buf[r.from:end:end]
	r.from = end + 1
	r.seen = r.from
	if r.long != nil {
		line = bytes.Join(append(r.long, line), nil)
		r.long, r.size = nil, 0
	}
	if cap(r.buf) > chunkSize {
		r.last = min(len(line), maxChunk)
	}
	return line
}

// endStream reports, once, a line the stream broke off.
func (r *Reader) endStream() error {
	if r.pendingLength(-1) > 0 {
		r.dropLine(-1)
		return refuseAt(CodeTruncated, 0)
	}
	return r.err
}

// fillBuffer reads once.
func (r *Reader) fillBuffer() {
	free := cap(r.buf) - len(r.buf)
	if free < minRead || cap(r.buf) > chunkSize && r.from > 0 {
		r.growBuffer()
	}
	n, err := r.r.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if n > 0 {
		r.empty = 0
	} else if r.empty++; r.empty == 100 && err == nil {
		err = io.ErrNoProgress
	}
	r.err = err
}

// growBuffer starts a new chunk. A short beginning of a line moves into it, and a longer
// one when the chunk is as large as the last long line, for the next is often like
// it; any other stays where it is, and the line is joined when it is whole: doubling
// one buffer would hold three times a large frame.
func (r *Reader) growBuffer() {
	rest := r.buf[r.from:]
	size := chunkSize
	switch {
	case r.long == nil && len(rest) > chunkSize/2 && len(rest) < r.last:
		size = r.last + minRead
	case len(rest) > chunkSize/2:
		r.long = append(r.long, rest)
		r.size += len(rest)
		rest = nil
	}
	if r.long != nil {
		size = min(max(r.size/2, chunkSize), maxChunk)
	}
	r.buf = append(make([]byte, 0, size), rest...)
	r.from, r.seen = 0, len(r.buf)
}
