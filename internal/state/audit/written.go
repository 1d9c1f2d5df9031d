package audit

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"sort"
)

// A segment that is written through a mapping ends with reserved space, which reads as zeros. No
// record contains a zero byte, so the records end before the first zero byte.

// written reads a segment up to its first zero byte. If a writer has overwritten that byte, the
// next Read continues there.
type written struct {
	file io.ReaderAt
	at   int64 // offset of the next byte to read
}

func (w *written) Read(p []byte) (int, error) {
	// Read first reads one byte, because Read is called often and one byte shows whether there is
	// new data.
	if n, err := w.file.ReadAt(p[:min(len(p), 1)], w.at); n == 0 || p[0] == 0 {
		return 0, cmp.Or(err, io.EOF)
	}
	n, err := w.file.ReadAt(p, w.at)
	if zero := bytes.IndexByte(p[:n], 0); zero >= 0 {
		n, err = zero, io.EOF
	}
	w.at += int64(n)
	return n, err
}

// movedOn reports whether a writer has overwritten the zero byte at which reading ended. In that
// case the writer has also stored the data after that byte.
func (w *written) movedOn() bool {
	var b [1]byte
	n, _ := w.file.ReadAt(b[:], w.at)
	return n == 1 && b[0] != 0
}

// recordedSize returns the size of a segment without the reserved space.
func recordedSize(path string, fi fs.FileInfo) int64 {
	if isClosed(fi) {
		return fi.Size()
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return fi.Size() // the error appears again when the file is read
	}
	defer f.Close()
	var one [1]byte
	return int64(sort.Search(int(fi.Size()), func(at int) bool {
		n, _ := f.ReadAt(one[:], int64(at))
		return n == 0 || one[0] == 0
	}))
}

// splitAtZeros reads a file and turns each zero byte into a line end.
type splitAtZeros struct{ io.Reader }

func (s splitAtZeros) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	for i, b := range p[:n] {
		if b == 0 {
			p[i] = '\n'
		}
	}
	return n, err
}

// lookBehind reads the reserved space, which begins at the offset in the parameter start. It
// returns the offset after the last byte that is not zero, and whether the space holds a whole
// record. No writer writes a record after a zero byte, so a file with such a record is broken.
func lookBehind(f *os.File, start int64) (end int64, record bool, err error) {
	end = start
	buf := make([]byte, 64<<10)
	for at := start; ; {
		n, err := f.ReadAt(buf, at)
		if last := len(bytes.TrimRight(buf[:n], "\x00")); last > 0 {
			end = at + int64(last)
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return end, false, err
		}
	}
	s := newScanner(splitAtZeros{io.NewSectionReader(f, start, end-start)})
	err = s.eachItem(func(it item) { record = record || it.raw != nil })
	return end, record, err
}

// readSegment visits the lines of a segment, and adds the data after the last line to the scanner's
// rest. broken means that this data contains a whole line.
func readSegment(f *os.File, visit func(item)) (s *scanner, broken bool, err error) {
	w := &written{file: f}
	s = newScanner(w)
	if err := s.eachItem(visit); err != nil {
		return s, false, err
	}
	end, record, err := lookBehind(f, w.at)
	if record && w.movedOn() {
		end, record = w.at, false
	}
	broken = record || s.gap.sum != nil
	if err == nil && end > w.at {
		err = s.addRest(io.NewSectionReader(f, w.at, end-w.at))
	}
	return s, broken, err
}
