package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/clawai/clawai/internal/event"
)

// maxLine is the largest part of one line that a reader holds in memory, in bytes. The writer's
// longest line is about a quarter of maxLine long.
const maxLine = 1 << 20

// item is one line of a segment or of the ledger, or a problem found there.
type item struct {
	raw     []byte // the line without LF; valid until the next item; nil if there is no line
	line    int    // line number, from 1
	link    link
	problem string // what is wrong at this line
	healed  int    // number of bytes that a failed write left before this line; this line reports the failure
}

// scanner reads lines and checks the chain from one to the next.
type scanner struct {
	src   io.Reader
	buf   []byte
	at    int   // buf[at:] is unread
	end   int64 // offset in src of the end of the last good line
	read  int64 // offset in src of the first unread byte, buf[at]
	taken int64 // number of bytes that source.Read has returned, if src is a source
	line  int   // number of the last line read
	over  bool  // the scanner is inside a line longer than maxLine
	chain chain // the position that the next line must have
	begun bool  // chain is set
	gap   gap   // the bad lines since the last good line
	held  *item // a good line that nextItem returns after a problem
}

// gap is a run of lines that are not records.
type gap struct {
	sum  hash.Hash // SHA-256 of the lines; nil: no lines
	size int       // length of the lines in bytes
	line int       // number of the first of these lines
	part bool      // the last line has no end yet
}

func (g *gap) addBytes(b []byte, line int) {
	if g.sum == nil {
		*g = gap{sum: sha256.New(), line: line}
	} else if !g.part {
		g.sum.Write([]byte{'\n'})
		g.size++
	}
	g.part = true
	g.sum.Write(b)
	g.size += len(b)
}

func (g *gap) digestText() string { return "sha256:" + hex.EncodeToString(g.sum.Sum(nil)) }

func newScanner(src io.Reader) *scanner { return &scanner{src: src} }

// eachItem visits all remaining items.
func (s *scanner) eachItem(visit func(item)) error {
	for {
		it, err := s.nextItem()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		visit(it)
	}
}

// nextItem returns the next line or problem. io.EOF means that there is no whole line at the
// moment; the caller may try again when the file has grown.
func (s *scanner) nextItem() (item, error) {
	if s.held != nil {
		it := *s.held
		s.held = nil
		return it, nil
	}
	for {
		raw, err := s.readLine()
		if err != nil {
			return item{}, err
		}
		if raw == nil {
			continue
		}
		p, good := parseLink(raw)
		if !good {
			s.gap.addBytes(raw, s.line)
			s.gap.part = false
			continue
		}
		return s.acceptLine(item{raw: raw, line: s.line, link: p}), nil
	}
}

// holdItem takes an item with a line and a problem, after the caller has returned the problem to
// its own caller. The next call of nextItem returns the line without the problem.
func (s *scanner) holdItem(it item) {
	if it.raw != nil {
		it.problem = ""
		s.held = &it
	}
}

// acceptLine checks whether a line with a right hash fits into the chain. It returns the line. If
// the line does not follow the line before it, the returned item also has a problem. There is one
// exception: if bad lines are before the line, and the line does not report them as a failed write,
// acceptLine returns the bad lines as a problem, and the next call of nextItem returns the line.
func (s *scanner) acceptLine(it item) item {
	fits := !s.begun || it.link.seq == s.chain.next && string(it.link.prev) == string(s.chain.prev[:])
	s.chain.next = it.link.seq + 1
	copy(s.chain.prev[:], it.link.hash)
	s.begun, s.end = true, s.read
	if s.gap.sum == nil {
		if !fits {
			it.problem = "does not follow the line before it: a record was removed, inserted or moved here"
		}
		return it
	}
	g := s.gap
	s.gap = gap{}
	if fits && accountsFor(it.raw, &g) {
		it.healed = g.size
		return it
	}
	s.held = &it
	return item{line: g.line, problem: g.problemText()}
}

func (g *gap) problemText() string {
	return fmt.Sprintf("%d bytes here are no record, or one that was changed", g.size)
}

// accountsFor reports whether line is the writer's report of a failed write that left the gap.
func accountsFor(line []byte, g *gap) bool {
	var w struct {
		Kind   event.Kind
		Bytes  int
		Digest string
	}
	return json.Unmarshal(line, &w) == nil && w.Kind == event.Recovery && w.Bytes == g.size && w.Digest == g.digestText()
}

// digestRest returns the length and digest of everything after the last good line. It may be
// called only once, at the end.
func (s *scanner) digestRest() (int, string) {
	if tail := s.buf[s.at:]; len(tail) > 0 || s.gap.sum != nil {
		s.gap.addBytes(tail, s.line+1)
	}
	if s.gap.sum == nil || s.gap.size == 0 {
		return 0, ""
	}
	return s.gap.size, s.gap.digestText()
}

// endsTorn reports whether the rest after the last good line is the beginning of the next line. A process that is
// killed leaves that, because the kernel may end a write at the border of a page. To cut off the
// whole line would hide more, so this hides nothing.
func (s *scanner) endsTorn() bool {
	tail, start := s.buf[s.at:], fmt.Appendf(nil, `{"seq":%d,`, s.chain.next)
	if s.gap.sum != nil || !bytes.HasPrefix(tail, start) && !bytes.HasPrefix(start, tail) {
		return false
	}
	if p, good := parseLink(tail); good { // only its LF is missing
		return string(p.prev) == string(s.chain.prev[:])
	}
	var line json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(tail)).Decode(&line), io.ErrUnexpectedEOF)
}

// addRest adds the data of r, which cannot be read as lines, to the rest after the last good line.
func (s *scanner) addRest(r io.Reader) error {
	s.gap.addBytes(s.buf[s.at:], s.line+1)
	s.at = len(s.buf)
	n, err := io.Copy(s.gap.sum, r)
	s.gap.size += int(n)
	return err
}

// readLine returns one line without its LF. It returns nil at the end of an overlong line.
func (s *scanner) readLine() ([]byte, error) {
	searched := s.at
	for {
		if n := bytes.IndexByte(s.buf[searched:], '\n'); n >= 0 {
			line := s.buf[s.at : searched+n]
			s.at = searched + n + 1
			s.read += int64(len(line)) + 1
			s.line++
			return s.endLongLine(line), nil
		}
		if len(s.buf)-s.at > maxLine {
			s.gap.addBytes(s.buf[s.at:], s.line+1)
			s.read += int64(len(s.buf) - s.at)
			s.at, s.over = len(s.buf), true
		}
		searched = len(s.buf) - s.at
		if err := s.fillBuffer(); err != nil {
			return nil, err
		}
		searched += s.at
	}
}

// endLongLine looks at a whole line. If the line is the end of an overlong line, endLongLine adds
// it to the gap and returns nil. Otherwise it returns the line unchanged.
func (s *scanner) endLongLine(line []byte) []byte {
	if !s.over {
		return line
	}
	s.gap.addBytes(line, s.line)
	s.gap.part, s.over = false, false
	return nil
}

// fillBuffer moves the unread data to the front of buf and reads more data behind it.
func (s *scanner) fillBuffer() error {
	if s.at > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	const step = 64 << 10
	if cap(s.buf)-len(s.buf) < step {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)+step), s.buf...)
	}
	n, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if n > 0 {
		return nil
	}
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return err
}

// expectChain sets the position in the chain that the first line must have.
func (s *scanner) expectChain(c chain) { s.chain, s.begun = c, true }

// lastLink returns the link of the last line in tail, if that line is whole and sound.
func lastLink(tail []byte) (link, bool) {
	n := len(tail) - 1
	if n < 0 || tail[n] != '\n' {
		return link{}, false
	}
	return parseLink(tail[bytes.LastIndexByte(tail[:n], '\n')+1 : n])
}
