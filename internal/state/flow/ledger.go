package flow

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// Ledger is a file next to a session's journal. The session's processes count calls, questions or
// grants in it. It implements gate.Ledger, and opens the file on first use. A line has an entry's
// key, id, time and period in nanoseconds, amount and process:
//
//	c 00112233445566778899aabbccddeeff 9e3779b97f4a7c15 1795430000000000000 60000000000 1 ""
//
// A line with b instead of c takes the entry back. After any other line the whole ledger cannot be
// used, and every call fails. Such a line may be the torn line of a call that was never made, but
// somebody may also have removed entries.
type Ledger struct {
	dir         string
	by          string // in a ledger of grants, the process that writes the entries; "" in other ledgers
	session     *Session
	currentFile func() string // returns the current file name; nil if no clear changes the name

	mu    sync.Mutex // guards the fields below
	name  string     // current file name
	j     *journal
	stand []gate.Entry // entries that were read and not taken back; unused if currentFile is nil
	ended []gate.Entry // entries of the file before a clear, which Append must still return as taken back
}

var _ gate.Ledger = (*Ledger)(nil)

// The ledgers of a session, by their file name endings.
const (
	countsEnd  = ".counts"
	askedEnd   = ".asked"
	grantedEnd = ".granted"
)

// maxLedger is the maximum size of a ledger in bytes: about 150,000 lines.
const maxLedger = 16 << 20

// newLedger returns a ledger for the session's first key. All processes that one client has started
// have this key in common.
func (s *Session) newLedger(end string) *Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &Ledger{dir: s.dir, name: fileOf(s.keys[0]) + end, session: s}
	s.ledgers[l] = true
	return l
}

// CountsLedger returns the ledger in which the session counts calls against limits.
func (s *Session) CountsLedger() gate.Ledger { return s.newLedger(countsEnd) }

// AskedLedger returns the ledger that counts the questions to people.
func (s *Session) AskedLedger() gate.Ledger { return s.newLedger(askedEnd) }

// GrantedLedger returns the ledger of a person's grants. It returns nil if the system cannot tell
// whether a process still runs. It also returns nil if the session is known only by its folder,
// because other sessions may share the folder.
func (s *Session) GrantedLedger() gate.Ledger {
	by := processKey(os.Getpid())
	if by == "" || strings.HasPrefix(s.keys[0], byFolder) {
		return nil
	}
	l := s.newLedger(grantedEnd)
	first := l.name
	l.by, l.currentFile = by, func() string {
		if at := s.currentJournal(); at != "" {
			return at + grantedEnd
		}
		return first
	}
	return l
}

// Append implements gate.Ledger.
func (l *Ledger) Append(own ...gate.Entry) (since []gate.Entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.currentFile != nil {
		l.switchFile(l.currentFile())
	}
	if err := l.writeEntries(own); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(l.dir, l.name), err)
	}
	lines, err := l.j.readNext()
	if err == nil {
		since, err = readEntries(lines)
	}
	if err != nil {
		l.j.read = l.j.most + 1 // every later call must fail too
		return nil, fmt.Errorf("%s: %w; to start over, remove it", filepath.Join(l.dir, l.name), err)
	}
	if l.currentFile != nil {
		for _, e := range since {
			if l.stand = append(l.stand, e); e.Back {
				l.stand = slices.DeleteFunc(l.stand, func(o gate.Entry) bool { return o.ID == e.ID })
			}
		}
	}
	since, l.ended = append(l.ended, since...), nil
	return since, nil
}

// switchFile changes to another file after a clear, and takes back the entries of the old file.
func (l *Ledger) switchFile(name string) {
	if name == l.name {
		return
	}
	for _, e := range l.stand {
		e.Back = true
		l.ended = append(l.ended, e)
	}
	if l.j != nil {
		l.j.close()
	}
	l.name, l.j, l.stand = name, nil, nil
}

// writeEntries adds lines. If somebody has removed the file, it begins a new file. The old entries
// are not lost, because the processes that have read them still know them.
func (l *Ledger) writeEntries(own []gate.Entry) error {
	if l.j != nil {
		if gone, err := holdJournal(l.j.f); err != nil || gone {
			l.j.close()
			l.j = nil
		}
	}
	if l.j == nil {
		if err := makeFolder(l.dir); err != nil {
			return err
		}
		sweepJournals(l.dir, time.Now().Add(-idleTime))
		j, err := openJournal(l.dir, l.name)
		if err != nil {
			return err
		}
		j.most, l.j = maxLedger, j
	}
	lines := make([]string, len(own))
	size := 0
	for i := range own {
		lines[i] = entryLine(&own[i], l.by)
		size += len(lines[i])
	}
	switch {
	case l.j.read > l.j.most:
		return errCut
	case l.j.read+int64(size) > l.j.most-1<<10:
		return errFull
	}
	return l.j.writeLines(lines...)
}

var (
	errFull  = errors.New("it is full")
	errEntry = errors.New("it holds what we did not write")
)

// Alive implements gate.Ledger.
func (l *Ledger) Alive(by string) bool {
	pid, _, _ := strings.Cut(by, ":")
	n, err := strconv.Atoi(pid)
	return err == nil && processKey(n) == by
}

// Close closes the file. Session.Close also does this.
func (l *Ledger) Close() error {
	l.close()
	l.session.mu.Lock()
	defer l.session.mu.Unlock()
	delete(l.session.ledgers, l)
	return nil
}

func (l *Ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.j != nil {
		l.j.close()
		l.j = nil
	}
}

func entryLine(e *gate.Entry, by string) string {
	word := 'c'
	if e.Back {
		word = 'b'
	}
	return fmt.Sprintf("%c %x %016x %d %d %d %q", word, e.Key, e.ID, e.At.UnixNano(), e.Every, e.Amount, by)
}

func readEntry(line string) (e gate.Entry, err error) {
	parts := strings.Split(line, " ")
	if len(parts) != 7 || len(parts[1]) != 2*len(e.Key) || parts[0] != "c" && parts[0] != "b" {
		return e, errEntry
	}
	e.Back = parts[0] == "b"
	var errs [6]error
	_, errs[0] = hex.Decode(e.Key[:], []byte(parts[1]))
	e.ID, errs[1] = strconv.ParseUint(parts[2], 16, 64)
	var at, every int64
	at, errs[2] = strconv.ParseInt(parts[3], 10, 64)
	every, errs[3] = strconv.ParseInt(parts[4], 10, 64)
	e.Amount, errs[4] = strconv.ParseInt(parts[5], 10, 64)
	e.By, errs[5] = strconv.Unquote(parts[6])
	e.At, e.Every = time.Unix(0, at), time.Duration(every)
	if errors.Join(errs[:]...) != nil || e.Amount < 0 || entryLine(&e, e.By) != line {
		return e, errEntry
	}
	return e, nil
}

func readEntries(lines []byte) (all []gate.Entry, err error) {
	for line := range strings.Lines(string(lines)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			continue
		}
		e, err := readEntry(line)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// readStanding returns the entries of a file that are not taken back. If there is no file, it
// returns no entries.
func readStanding(dir, name string) (all []gate.Entry, err error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := (&journal{f: f, most: maxLedger}).readNext()
	if err == nil {
		all, err = readEntries(lines)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	back := map[uint64]bool{}
	for _, e := range all {
		back[e.ID] = back[e.ID] || e.Back
	}
	return slices.DeleteFunc(all, func(e gate.Entry) bool { return back[e.ID] }), nil
}
