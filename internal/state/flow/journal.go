package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/access"
)

// maxJournal is the maximum size of a journal, in bytes. The labels of a session never need so
// much, even if all its processes write them at once. A longer journal is not read, and the session
// then counts as having every label.
const maxJournal = 1 << 20

// journal is the file of one key. It has a line for the key, one for each label, and one for each
// other journal whose labels also belong to this session.
//
//	k "env:CLAUDE_CODE_SESSION_ID=..."
//
//	untrusted 1795430000 "github get_issue"
//
//	l 0123456789abcdef0123456789abcdef
//
// In the journal of a client's process, an e line means that the client was cleared. It names the
// journal that the process uses from then on (clear.go).
//
// A line is written in one piece, after a line end. The line end completes a line that another
// writer has written only in part. Such a torn line is not valid, and the session then counts as
// having every label.
type journal struct {
	name  string // file name
	f     *os.File
	most  int64           // maximum number of bytes to read; clawai never writes a longer file
	read  int64           // number of bytes read so far; the last byte is a line end
	links map[string]bool // names of the journals to which this journal links
	buf   [512]byte

	marks *marks // marks of texts; nil before first use
}

// fileOf returns the name of a key's journal.
func fileOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func isName(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}

// openJournal opens a journal in a folder, or creates it.
func openJournal(dir, name string) (*journal, error) {
	path := filepath.Join(dir, name)
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return nil, err
		}
		gone, err := holdJournal(f)
		if err == nil && !gone {
			err = checkFile(f)
		}
		switch {
		case err != nil:
			_ = f.Close()
			return nil, err
		case gone: // another process has swept the file meanwhile
			_ = f.Close()
			continue
		}
		return &journal{name: name, f: f, most: maxJournal}, nil
	}
	return nil, errors.New("the journal is removed again and again")
}

// checkFile returns an error for a file that is not our own regular file, or that other users may
// open.
func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file; move it away", f.Name())
	}
	return access.CheckOpen(f.Name(), info)
}

// errCut means that a journal was shortened, changed, or grew too long.
var errCut = errors.New("the journal of the session was changed by others")

// readNext returns the whole lines that were added since it was last called. It also reads the last
// byte that it has read before. If that byte is no line end now, the file was changed.
func (j *journal) readNext() (lines []byte, err error) {
	from := max(j.read-1, 0)
	buf := j.buf[:]
	n, err := readOnce(j.f, buf, from)
	if err != nil {
		return nil, err
	}
	if j.read > 0 && (n == 0 || buf[0] != '\n') {
		return nil, errCut
	}
	if n <= int(j.read-from) {
		return nil, nil
	}
	rest, err := io.ReadAll(io.NewSectionReader(j.f, from+int64(n), j.most+1))
	if err != nil {
		return nil, err
	}
	got := slices.Concat(buf[j.read-from:n], rest)
	end := bytes.LastIndexByte(got, '\n') + 1
	if j.read += int64(end); j.read > j.most {
		return nil, errCut
	}
	return got[:end], nil
}

// writeLines adds lines with one write.
func (j *journal) writeLines(lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	if gone, err := holdJournal(j.f); err != nil || gone {
		return errors.Join(err, errCut) // other processes do not read a removed file
	}
	text := []byte("\n" + strings.Join(lines, "\n") + "\n")
	n, err := j.f.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}

func (j *journal) addLink(name string) {
	if j.links == nil {
		j.links = map[string]bool{}
	}
	j.links[name] = true
}

func (j *journal) close() {
	_ = j.f.Close()
	if j.marks != nil {
		j.marks.close()
	}
}

func keyLine(key string) string { return "k " + strconv.Quote(key) }

func linkLine(name string) string { return "l " + name }

func endLine(name string) string { return "e " + name }

func labelLine(s Seen) string {
	return s.Kind + " " + strconv.FormatInt(s.At.UnixMilli(), 10) + " " + strconv.Quote(s.Source)
}

// content holds the parsed lines of a journal.
type content struct {
	keys  []string
	links []string // names of other journals, from l lines
	seen  []Seen
	ends  []string // names of other journals, from e lines
	torn  bool     // some line is not valid
}

func parseLines(lines []byte) (c content) {
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && !c.parseLine(line) {
			c.torn = true
		}
	}
	return c
}

func (c *content) parseLine(line string) bool {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "k":
		key, err := strconv.Unquote(rest)
		c.keys = append(c.keys, key)
		return err == nil
	case "l":
		c.links = append(c.links, rest)
		return isName(rest)
	case "e":
		c.ends = append(c.ends, rest)
		return isName(rest)
	case untrusted, private, secret:
		at, quoted, _ := strings.Cut(rest, " ")
		ms, err := strconv.ParseInt(at, 10, 64)
		source, bad := strconv.Unquote(quoted)
		c.seen = append(c.seen, Seen{kind, source, time.UnixMilli(ms)})
		return err == nil && bad == nil
	}
	return false
}
