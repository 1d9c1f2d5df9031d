package frame

import (
	"bytes"
	"io"
)

const (
	chunkSize = 64 << 10 // the most that one read of a pipe returns
	minRead   = 4 << 10  // the least room for one read
	maxChunk  = 4 << 20  // the largest chunk of a long line
	maxHead   = 1 << 10  // how much of a refused line is kept to identify it
)

// Reader splits a stream into lines. Lines alias chunks that are never written again,
// so a line stays valid as long as anyone holds it. Chunks are not reused; the garbage
// collector frees a chunk with its last line.
//
// Reader reads once when it needs more bytes, and never while a whole line is in
// memory. It is not safe for concurrent use.
type Reader struct {
	r    io.Reader
	max  int
	buf  []byte // the chunk being filled
	from int    // buf[:from] has been returned
	seen int    // buf[from:seen] holds no LF

	long  [][]byte // the beginning of a line that is too long for one chunk
	size  int      // number of bytes in long
	last  int      // length of the last long line, at most maxChunk
	skip  bool     // the rest of a refused line is being skipped
	head  []byte   // the beginning of the last refused line
	err   error    // the error that ended the stream
	empty int      // consecutive reads without bytes
}

// NewReader returns a Reader for lines of up to maxBytes, LF not counted.
func NewReader(r io.Reader, maxBytes int) *Reader { return &Reader{r: r, max: maxBytes} }

// ReadLine returns the next line without its LF (Parse handles a CR before it). It
// returns a *Refusal for a line that is too long or that the end of the stream cuts
// off. After a line that is too long, its rest is skipped and the stream continues. A
// cut-off line is not a frame, even if it looks complete. Any other error ends the
// stream: io.EOF or the error of the underlying reader.
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

// HasLine reports whether ReadLine returns without reading.
func (r *Reader) HasLine() bool { return r.findNewline() >= 0 }

// findNewline returns the index of the next LF in memory, or -1, and discards the
// bytes to skip.
func (r *Reader) findNewline() int {
	for {
		i := bytes.IndexByte(r.buf[r.seen:], '\n')
		switch {
		case i < 0 && r.skip:
			r.buf = r.buf[:r.from] // these bytes were never returned: overwrite them
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

// pendingLength returns the length of the line that ends at end, or its length so far.
func (r *Reader) pendingLength(end int) int {
	if end < 0 {
		end = len(r.buf)
	}
	return r.size + end - r.from
}

// RefusedHead returns the beginning, at most 1 KiB, of the line that ReadLine last
// refused.
func (r *Reader) RefusedHead() []byte { return r.head }

// dropLine discards the line. Its unread rest will be skipped.
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

// endStream reports once a line that the end of the stream cut off.
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

// growBuffer starts a new chunk. It moves the beginning of the current line into the
// chunk when that beginning is short. It moves a longer beginning when the chunk is as
// large as the last long line, because the next line is often as long. Any other
// beginning stays in its chunk, and the line is joined when it is complete: doubling
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
