package flow

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// marks is what texts of a session are known again by: a file beside the journal of a key,
// to which is only added. It has a key of its own and then records of eight bytes, a word
// for what it is and seven bytes of a keyed hash: never a text.
//
// Who brings a text that is to be known again says so first (begun) and when it is in there
// (ended). Until then, and for good where the file is not what was written, everything is
// taken for known: that can only ask more.
type marks struct {
	hasher
	f    *os.File
	read int64
	last [record]byte // read last: it must stay where it is
	buf  [512]byte

	of     map[mark]uint8 // and the number of its source in sources
	number uint8
	from   []mark // hashes of sources
	open   map[mark]bool
	texts  bool // some text was to be known again
	lets   bool // a person has allowed something
	full   bool // everything is taken for known
	torn   bool // the last record is not whole: so for now
}

const (
	record   = 8
	header   = 24 // the form and the key
	maxMarks = 2 << 20
	marksEnd = ".marks"
	marksAre = "clawai:1"
)

// mark is a record: its word is the lowest byte.
type mark uint64

// The words of records.
const (
	begun     = 'b'
	ended     = 'e'
	everyone  = 'f' // everything is taken for known
	source    = 's' // of the records behind it
	openRun   = 'u' // a run of what anybody may have written
	secretRun = 'x' // a run of what must not leave
	oddWord   = 't' // an address, a name or the like of what anybody may have written
	said      = 'w' // a word of the user's, or an address
	typed     = 'p' // words of the user's in a row, as they are
	allowed   = 'o' // what a person has allowed
)

// marksFile gives where the marks of a journal lie.
func marksFile(dir, name string) string { return filepath.Join(dir, name+marksEnd) }

// openMarks opens the marks of a journal; nil are none, where none are to be begun.
func openMarks(dir, name string, begin bool) (*marks, error) {
	path := marksFile(dir, name)
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|noFollow, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if !begin {
				return nil, nil
			}
			if err = beginMarks(path); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		gone, err := holdJournal(f)
		if err == nil && !gone {
			err = checkFile(f)
		}
		if err != nil || gone {
			_ = f.Close()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		return readMarks(f), nil
	}
	return nil, errors.New("the marks of the session are removed again and again")
}

// beginMarks puts a file with a key in place, unless another does it first.
func beginMarks(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	head := append([]byte(marksAre), make([]byte, header-len(marksAre))...)
	_, _ = rand.Read(head[len(marksAre):]) // it never fails
	_, err = f.Write(head)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func readMarks(f *os.File) *marks {
	m := &marks{f: f, of: map[mark]uint8{}, open: map[mark]bool{}}
	var head [header]byte
	n, _ := f.ReadAt(head[:], 0)
	m.read = header
	copy(m.last[:], head[header-record:])
	m.full = n < header || string(head[:len(marksAre)]) != marksAre
	m.block, _ = aes.NewCipher(head[len(marksAre):]) // 16 bytes are a key
	return m
}

// hasher makes marks with the key of a file. It is not safe for concurrent use.
type hasher struct {
	block cipher.Block
	room  [aes.BlockSize]byte
}

// hashMark gives the mark of something.
func (h *hasher) hashMark(word byte, of []byte) mark {
	b := h.room[:]
	if len(of) < len(b) {
		clear(b[copy(b, of):])
	} else {
		sum := sha256.Sum256(of)
		copy(b, sum[:])
	}
	b[aes.BlockSize-1] = word
	h.block.Encrypt(b, b)
	return mark(binary.LittleEndian.Uint64(b)<<8 | uint64(word))
}

func (h *hasher) hashRun(word byte, run uint64) mark {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], run)
	return h.hashMark(word, b[:])
}

// refreshMarks reads what has been added since.
func (m *marks) refreshMarks() {
	n, err := m.f.ReadAt(m.buf[:], m.read-record)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		m.full = true
		return
	case n < record || !bytes.Equal(m.buf[:record], m.last[:]):
		m.full = true // it was cut, or is another
		return
	case n == record:
		m.torn = false
		return
	}
	got := m.buf[record:n]
	if n == len(m.buf) {
		rest, err := io.ReadAll(io.NewSectionReader(m.f, m.read-record+int64(n), maxMarks+record))
		if err != nil {
			m.full = true
			return
		}
		got = append(bytes.Clone(got), rest...)
	}
	whole := len(got) / record * record
	m.torn = whole < len(got)
	for at := 0; at < whole; at += record {
		m.applyRecord(mark(binary.LittleEndian.Uint64(got[at:])))
	}
	if m.read += int64(whole); whole > 0 {
		copy(m.last[:], got[whole-record:whole])
	}
	m.full = m.full || m.read > maxMarks+header
}

// applyRecord is what one record says.
func (m *marks) applyRecord(r mark) {
	switch byte(r) { //nolint:gosec // the word is the lowest byte
	case begun:
		m.open[r>>8], m.texts = true, true
	case ended:
		delete(m.open, r>>8)
	case source:
		m.from = append(m.from, r)
		m.number = uint8(min(len(m.from)-1, 255)) //nolint:gosec // it is no more
	case openRun, secretRun, oddWord, said, typed, allowed:
		m.lets = m.lets || byte(r) == allowed //nolint:gosec // the word is the lowest byte
		if _, known := m.of[r]; !known {
			m.of[r] = m.number
		}
	default:
		m.full = true
	}
}

// writeMarks writes records in one piece, all of them or none that counts.
func (m *marks) writeMarks(all ...mark) error {
	if gone, err := holdJournal(m.f); err != nil || gone {
		return errors.Join(err, errCut)
	}
	if m.read+int64(len(all)+1)*record > maxMarks {
		if m.full {
			return nil
		}
		all = []mark{everyone}
	}
	text := make([]byte, 0, len(all)*record)
	for _, r := range all {
		text = binary.LittleEndian.AppendUint64(text, uint64(r))
	}
	n, err := m.f.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err == nil {
		m.refreshMarks()
	}
	return err
}

func (m *marks) containsMark(r mark) bool {
	_, known := m.of[r]
	return known
}

// isComplete says that what is not in here was in no text.
func (m *marks) isComplete() bool { return !m.full && !m.torn && len(m.open) == 0 }

func (m *marks) close() { _ = m.f.Close() }
