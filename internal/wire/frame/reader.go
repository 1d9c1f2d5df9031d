package frame

import (
	"bytes"
	"io"
)

const (
	chunkSize = 64 << 10 // maximum number of bytes that one read of a pipe returns
	minRead   = 4 << 10  // minimum room for one read
	maxChunk  = 4 << 20  // maximum size of the chunk for a long line
	maxHead   = 1 << 10  // how many bytes of a refused line are kept to identify it
)

// Reader splits a stream into lines. A line is part of a chunk. The bytes of a returned line are
// never overwritten, so a line stays valid as long as it is used. Chunks are not reused, and the
// garbage collector frees a chunk after its last line.
//
// Reader reads from the stream only when no whole line is in memory, and then only once. It is not
// safe for concurrent use.
type Reader struct {
	r    io.Reader
	max  int
	buf  []byte // the chunk that is being filled
	from int    // lines up to this offset have been returned
	seen int    // buf[from:seen] has no line feed

	long  [][]byte // parts of a line that is too long for one chunk, in order
	size  int      // number of bytes in long
	last  int      // length of the last long line, at most maxChunk
	skip  bool     // the rest of a refused line is still to be skipped
	head  []byte   // the beginning of the last refused line
	err   error    // the error that ended the stream; nil before
	empty int      // number of consecutive reads without bytes
}

// NewReader returns a Reader for lines of at most maxBytes bytes. The line feed does not count.
func NewReader(r io.Reader, maxBytes int) *Reader { return &Reader{r: r, max: maxBytes} }

// ReadLine returns the next line without its line feed. Parse handles a CR at the end. It returns a
// *Refusal for a line that is too long, or that the end of the stream cuts off. The rest of a line
// that is too long is skipped, and the next ReadLine returns the line after it. A cut-off line is
// no frame, even if it looks complete. Any other error ends the stream: io.EOF or the error of the
// underlying reader.
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

// HasLine reports whether ReadLine would return a line without a read.
func (r *Reader) HasLine() bool { return r.findNewline() >= 0 }

// findNewline returns the index of the next line feed in memory, or -1. It discards the bytes of a
// refused line.
func (r *Reader) findNewline() int {
	for {
		i := bytes.IndexByte(r.buf[r.seen:], '\n')
		switch {
		case i < 0 && r.skip:
			r.buf = r.buf[:r.from] // the skipped bytes were never returned, so they may be overwritten
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

// pendingLength returns the length of the line that ends at offset end. With a negative end, it
// returns the length of the unfinished line so far.
func (r *Reader) pendingLength(end int) int {
	if end < 0 {
		end = len(r.buf)
	}
	return r.size + end - r.from
}

// RefusedHead returns the beginning of the line that ReadLine last refused, at most 1 KiB.
func (r *Reader) RefusedHead() []byte { return r.head }

// dropLine discards the current line. The part of the line that is still in the stream will be
// skipped.
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

// endStream returns the error that ended the stream. If the end has cut off a line, it first
// returns a refusal of this line.
func (r *Reader) endStream() error {
	if r.pendingLength(-1) > 0 {
		r.dropLine(-1)
		return refuseAt(CodeTruncated, 0)
	}
	return r.err
}

// fillBuffer makes one read from the stream.
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

// growBuffer starts a new chunk. It moves the beginning of the current line into the chunk if that
// beginning is short. It moves a longer beginning only if the last long line was still longer. Then
// the chunk is as large as that line, because the next line is often as long. Otherwise the
// beginning stays in its chunk, and the line is joined when it is complete. One buffer that doubles
// would need three times the memory of a large frame.
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
