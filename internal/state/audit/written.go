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

// A segment that is written through memory ends in what its writer has reserved: zeros.
// No record has a zero byte, so the first is where the records end, for now.

// written reads a segment up to its first zero byte. When that has been overwritten,
// reading goes on from there.
type written struct {
	file io.ReaderAt
	at   int64
}

func (w *written) Read(p []byte) (int, error) {
	// One byte says whether there is anything new, which is asked often.
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

// movedOn says that the zero at which reading ended has been overwritten meanwhile: what
// was seen behind it was stored after it.
func (w *written) movedOn() bool {
	var b [1]byte
	n, _ := w.file.ReadAt(b[:], w.at)
	return n == 1 && b[0] != 0
}

// recordedSize gives how much of a segment is not reserved only.
func recordedSize(path string, fi fs.FileInfo) int64 {
	if isClosed(fi) {
		return fi.Size()
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return fi.Size() // who reads it is told
	}
	defer f.Close()
	var one [1]byte
	return int64(sort.Search(int(fi.Size()), func(at int) bool {
		n, _ := f.ReadAt(one[:], int64(at))
		return n == 0 || one[0] == 0
	}))
}

// splitAtZeros reads a file as if each zero byte ended a line.
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

// lookBehind reads what a writer had reserved, from the first zero byte on: where the
// last byte lies that is not zero, and whether a sound record is there, which no writer
// leaves behind a zero byte.
func lookBehind(f *os.File, from int64) (end int64, record bool, err error) {
	end = from
	buf := make([]byte, 64<<10)
	for at := from; ; {
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
	s := newScanner(splitAtZeros{io.NewSectionReader(f, from, end-from)})
	err = s.eachItem(func(it item) { record = record || it.raw != nil })
	return end, record, err
}

// readSegment visits the lines of a segment, and leaves to the scanner's rest what is
// behind them; broken says that a whole line is among that.
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
