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

// marks are hashes with which texts of a session are recognized. They are in a file next to the
// journal of a key. The file has its own key for the hashes, and then records of eight bytes: one
// byte for the kind and seven bytes of a keyed hash. The file contains no text. Records are only
// added.
//
// A process that adds the marks of a message writes a record before them (begun) and after them
// (ended). Between these two records every text counts as marked, and this only leads to more
// questions. If others have changed the file, every text counts as marked for ever.
type marks struct {
	hasher
	f    *os.File
	read int64        // offset in the file after the last record that was read
	last [record]byte // the last record that was read; it must not change in the file
	buf  [512]byte

	numbers map[mark]uint8 // the marks read so far, each with the number of its source
	number  uint8          // number of the source of the next marks
	from    []mark         // hashes of sources; the index is the source's number
	open    map[mark]bool  // messages that a process has begun to mark
	texts   bool           // a process has ever begun to mark a message, even if no message is open now
	lets    bool           // a person has allowed a call or an address
	full    bool           // every text counts as marked, for ever
	torn    bool           // the last record is not complete, so every text counts as marked for now

	abandoned map[mark]bool // open messages for which no call waits any more
}

const (
	record   = 8          // size of a record in bytes
	header   = 24         // size in bytes of the file's beginning: marksAre and the key
	maxMarks = 2 << 20    // maximum size of all records in bytes
	marksEnd = ".marks"   // ending of the file name
	marksAre = "clawai:1" // the first bytes of the file, which name its format
)

// mark is a record. The lowest byte of the number is the kind.
type mark uint64

// The kinds of records.
const (
	begun     = 'b'
	ended     = 'e'
	everyone  = 'f' // every text counts as marked
	source    = 's' // the source of the records after it
	openRun   = 'u' // written by earlier versions, and ignored
	secretRun = 'x' // a run of a text that must not leave
	oddWord   = 't' // an address or a name (isOdd) from a text that anybody may have written
	said      = 'w' // a word or an address from the user
	typed     = 'p' // a phrase of the user, after foldPhrase
	allowed   = 'o' // a call or an address that a person has allowed
)

// marksFile returns the path of a journal's marks.
func marksFile(dir, name string) string { return filepath.Join(dir, name+marksEnd) }

// openMarks opens the marks of a journal. If the file is missing and begin is true, it creates the
// file. If begin is false, it returns nil for a missing file.
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

// beginMarks creates the file with a new key, unless another process creates it first.
func beginMarks(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	head := append([]byte(marksAre), make([]byte, header-len(marksAre))...)
	_, _ = rand.Read(head[len(marksAre):]) // never fails
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
	m := &marks{f: f, numbers: map[mark]uint8{}, open: map[mark]bool{}}
	var head [header]byte
	n, _ := f.ReadAt(head[:], 0)
	m.read = header
	copy(m.last[:], head[header-record:])
	m.full = n < header || string(head[:len(marksAre)]) != marksAre
	m.block, _ = aes.NewCipher(head[len(marksAre):]) // cannot fail for a key of 16 bytes
	return m
}

// hasher makes marks with the key of a file. It is not safe for concurrent use.
type hasher struct {
	block cipher.Block
	room  [aes.BlockSize]byte
}

// hashMark returns the mark of a value, with this kind of record.
func (h *hasher) hashMark(kind byte, value []byte) mark {
	b := h.room[:]
	if len(value) < len(b) {
		clear(b[copy(b, value):])
	} else {
		sum := sha256.Sum256(value)
		copy(b, sum[:])
	}
	b[aes.BlockSize-1] = kind
	h.block.Encrypt(b, b)
	return mark(binary.LittleEndian.Uint64(b)<<8 | uint64(kind))
}

func (h *hasher) hashRun(kind byte, run uint64) mark {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], run)
	return h.hashMark(kind, b[:])
}

// refreshMarks reads the records that were added since it was last called.
func (m *marks) refreshMarks() {
	n, err := m.f.ReadAt(m.buf[:], m.read-record)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		m.full = true
		return
	case n < record || !bytes.Equal(m.buf[:record], m.last[:]):
		m.full = true // somebody has cut or changed the file
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

// applyRecord applies one record.
func (m *marks) applyRecord(r mark) {
	switch byte(r) { //nolint:gosec // the lowest byte of a mark is its kind
	case begun:
		m.open[r>>8], m.texts = true, true
	case ended:
		delete(m.open, r>>8)
	case source:
		m.from = append(m.from, r)
		m.number = uint8(min(len(m.from)-1, 255)) //nolint:gosec // at most 255
	case openRun:
	case secretRun, oddWord, said, typed, allowed:
		m.lets = m.lets || byte(r) == allowed //nolint:gosec // the lowest byte of a mark is its kind
		if _, known := m.numbers[r]; !known {
			m.numbers[r] = m.number
		}
	default:
		m.full = true
	}
}

// writeMarks writes records with one write. If the file would become too long, it writes one record
// of kind everyone instead.
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
	_, known := m.numbers[r]
	return known
}

// isComplete reports whether all marks are in the file. If so, a text without a mark was never
// read.
func (m *marks) isComplete() bool { return !m.full && !m.torn && len(m.open) == 0 }

func (m *marks) close() { _ = m.f.Close() }
