package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/policy"
)

// Session is the state of an agent's session in one process. Its methods are safe for concurrent
// use. Files are opened on first use. After a failure to open or link the journals, every later use
// of the session fails with the same error.
type Session struct {
	dir     string
	keys    []string
	written *written      // files into which sessions with labels wrote
	alone   bool          // messages cannot link this session with other sessions
	gen     atomic.Uint64 // generation of the labels; a clear begins the next generation

	mu       sync.Mutex // guards the fields below
	journals []*journal
	own      int // number of journals of this session's own keys; they come first in journals
	labels   labels
	err      error
	said     []listened      // other journals that have the user's words
	turns    map[uint64]bool // numbers of the messages that are being marked
	last     uint64          // number of the last message whose marking was begun
	bytes    int             // total size of the messages that are being marked
	done     *sync.Cond      // signals that a message is marked
	known    known           // reused memory for the marks
	outgoing outgoing        // reused memory for the content of a call
	ledgers  map[*Ledger]bool
	process  string   // the key of the client's process; "" if clears are ignored
	client   string   // name of the journal of the client's process; "" if clears are ignored
	root     *journal // the journal of the client's process, if it is not in journals
	at       string   // name of the journal of the last clear; "" before the first clear

	tasks sync.WaitGroup
}

// New returns the session with these keys. Its journals are in a folder of the state folder.
func New(state string, keys []string) *Session {
	s := &Session{dir: dirOf(state), keys: keys, labels: labels{}, written: newWritten(dirOf(state)), turns: map[uint64]bool{}, ledgers: map[*Ledger]bool{}}
	s.done = sync.NewCond(&s.mu)
	return s
}

// NewIsolated returns the session with one key. The session shares no labels with other sessions,
// even if a message names another session.
func NewIsolated(state, key string) *Session {
	s := New(state, []string{key})
	s.alone = true
	return s
}

func dirOf(state string) string { return filepath.Join(state, "flow") }

// idleTime is how long a journal is kept after its last use.
const idleTime = 7 * 24 * time.Hour

// openJournals opens and links the journals of our keys.
func (s *Session) openJournals() error {
	if s.journals != nil || s.err != nil {
		return s.err
	}
	if len(s.keys) == 0 {
		s.err = errors.New("the session has no key")
		return s.err
	}
	if s.err = makeFolder(s.dir); s.err != nil {
		return s.err
	}
	sweepJournals(s.dir, time.Now().Add(-idleTime))
	if s.err = s.turnedBefore(); s.err != nil || s.at != "" {
		return s.err
	}
	for _, key := range s.keys {
		if s.err = s.linkKey(key); s.err != nil || s.at != "" {
			return s.err
		}
	}
	return nil
}

// makeFolder creates a folder that only this user can open. It returns an error if other users can
// open an existing folder, or if the path is not a folder.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder; move it away", dir)
	}
	return access.CheckOpen(dir, info)
}

// linkKey links the session with one more key. Afterwards the key and the session have the same
// labels, old and new.
func (s *Session) linkKey(key string) error {
	name, gen := fileOf(key), s.gen.Load()
	known := slices.IndexFunc(s.journals, func(j *journal) bool { return j.name == name })
	if known >= 0 && known < s.own {
		return nil
	}
	if known < 0 {
		j, err := s.openOnce(name)
		if err != nil {
			return err
		}
		s.journals = append(s.journals, j)
		known = len(s.journals) - 1
	}
	j := s.journals[known]
	s.journals = slices.Insert(slices.Delete(s.journals, known, known+1), s.own, j)
	s.own++
	if j.read == 0 {
		lines, err := j.readNext()
		if err != nil || len(lines) == 0 {
			err = j.writeLines(keyLine(key))
		} else {
			j.read = 0 // refreshLabels then reads the journal from the beginning
		}
		if err != nil {
			return err
		}
	}
	if err := s.refreshLabels(); err != nil || s.own == 1 || s.gen.Load() != gen {
		return err // after a clear, the caller links the key again
	}
	first := s.journals[0]
	for _, l := range [2]struct{ from, to *journal }{{j, first}, {first, j}} { // link both ways, because every reader follows links
		if l.from.links[l.to.name] {
			continue
		}
		if err := l.from.writeLines(linkLine(l.to.name)); err != nil {
			return err
		}
	}
	return s.refreshLabels()
}

// readNew returns the lines that other processes have added to a journal.
func (s *Session) readNew(j *journal) (c content, err error) {
	lines, err := j.readNext()
	if errors.Is(err, errCut) {
		err = s.mendJournal(j)
	}
	if err != nil || len(lines) == 0 {
		return c, err
	}
	if c = parseLines(lines); c.torn {
		s.labels.distrustEverything(time.Now())
	}
	return c, nil
}

// refreshLabels reads the lines that other processes have added to all journals.
func (s *Session) refreshLabels() error {
	if moved, err := s.moveIfCleared(s.root); moved || err != nil {
		return err
	}
	for i := 0; i < len(s.journals); i++ {
		j := s.journals[i]
		c, err := s.readNew(j)
		if err != nil {
			return err
		}
		if j.name == s.client && s.leadsElsewhere(&c) {
			return s.moveTo(c.lastEnd())
		}
		for _, one := range c.seen {
			s.labels.addLabel(one)
		}
		for _, name := range c.links {
			j.addLink(name)
			if !isName(name) || slices.ContainsFunc(s.journals, func(j *journal) bool { return j.name == name }) {
				continue
			}
			if len(s.journals) >= maxJournals {
				s.labels.distrustEverything(time.Now())
				continue
			}
			other, err := s.openOnce(name)
			if err != nil {
				return err
			}
			s.journals = append(s.journals, other)
		}
	}
	return nil
}

// mendJournal repairs a journal that somebody else has changed. It adds every label, and writes all
// known labels again. So a new reader finds at least as many labels as earlier readers.
func (s *Session) mendJournal(j *journal) error {
	s.labels.distrustEverything(time.Now())
	info, err := j.f.Stat()
	if err != nil {
		return err
	}
	j.read = 0
	if info.Size() > maxJournal {
		// Nothing is written: a journal of this length is not read, and the session then counts as
		// having every label.
		j.read = info.Size()
		return nil
	}
	var lines []string
	for _, one := range s.labels.listNewest(policy.SeenWords()...) {
		lines = append(lines, labelLine(one))
	}
	return j.writeLines(lines...)
}

// maxJournals is the largest number of linked journals. If there are more journals, they are not
// read, and the session counts as having every label.
const maxJournals = 64

// Add adds labels to the session. When Add returns, every process that shares the session sees the
// labels with its next call. But after a clear during Add, the labels are in the old journal, and
// gen has changed.
func (s *Session) Add(all []Seen) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshState(); err != nil {
		return err
	}
	var lines []string
	grown := labels{}
	for _, one := range all {
		if s.labels.hasLabel(one.Kind, one.Source) || grown.hasLabel(one.Kind, one.Source) {
			continue
		}
		if len(s.labels[one.Kind])+len(grown[one.Kind]) >= maxSources {
			one.Source = others
			if s.labels.hasLabel(one.Kind, others) {
				continue
			}
		}
		grown.addLabel(one)
		lines = append(lines, labelLine(one))
	}
	if len(lines) == 0 {
		return nil
	}
	for _, j := range s.journals[:s.own] {
		if err := j.writeLines(lines...); err != nil {
			return err
		}
	}
	for _, one := range grown.listNewest(policy.SeenWords()...) {
		s.labels.addLabel(one)
	}
	return s.refreshLabels() // other processes may have added labels meanwhile
}

// JoinKey links the session with a key that a message names.
func (s *Session) JoinKey(key string) error {
	if s.alone {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openJournals(); err != nil {
		return err
	}
	for {
		if len(s.journals) >= maxJournals {
			s.labels.distrustEverything(time.Now())
			return nil
		}
		gen := s.gen.Load()
		s.err = s.linkKey(key) // an error is kept for later calls: with half a link, other processes would miss earlier labels
		if s.err != nil || s.gen.Load() == gen {
			return s.err
		}
	}
}

// Seen returns what the session has seen so far.
func (s *Session) Seen() (policy.Seen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshState(); err != nil {
		return 0, err
	}
	return s.labels.policyLabels(), nil
}

// fileSource is the beginning of a label's source if the label comes from a file.
const fileSource = "a file written after "

// unknownLabels returns the labels of files that are new to the session. A label is new if the
// session has no label of the same kind from the same source.
func (s *Session) unknownLabels(found []Seen) (fresh []Seen) {
	if len(found) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := labels{}
	for _, one := range found {
		from := strings.TrimPrefix(one.Source, fileSource)
		if _, has := s.labels[one.Kind][from]; has {
			continue
		}
		if one.Source, one.At = fileSource+from, time.Now(); s.labels.hasLabel(one.Kind, one.Source) || known.hasLabel(one.Kind, one.Source) {
			continue
		}
		known.addLabel(one)
		fresh = append(fresh, one)
	}
	return fresh
}

// hasSource reports whether the session has a label directly from a source. A label that came
// through a file does not count.
func (s *Session) hasSource(kind, source string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.labels[kind][source]
	return has
}

// labelsFor returns the labels that texts of the session give to a file, the newest of each kind
// first. A file gets the label secret only if the texts may repeat secret data, or if it is not
// known what is written.
func (s *Session) labelsFor(texts []string) (all []Seen, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshState(); err != nil {
		return nil, err
	}
	kinds := policy.SeenWords()
	if len(texts) > 0 && len(s.labels[secret]) > 0 {
		s.awaitMarks()
		if err := s.recallMarks(&s.known); err != nil {
			return nil, err
		}
		if _, has := s.known.findRepeat(secretRun, texts); !has {
			kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == secret })
		}
	}
	return s.labels.listNewest(kinds...), nil
}

// refreshState opens the journals on first use, and reads the lines that others have added.
func (s *Session) refreshState() error {
	if err := s.openJournals(); err != nil {
		return err
	}
	return s.refreshLabels()
}

// listNewest lists the labels of some kinds, the newest first.
func (s *Session) listNewest(kinds ...string) []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.labels.listNewest(kinds...)
}

// Close closes the journals. The files stay on the disk.
func (s *Session) Close() {
	s.tasks.Wait()
	s.mu.Lock()
	ledgers := slices.Collect(maps.Keys(s.ledgers))
	defer func() {
		s.mu.Unlock()
		for _, l := range ledgers { // without s.mu, because a ledger locks s.mu to get its file name
			l.close()
		}
	}()
	for _, j := range s.journals {
		j.close()
	}
	if s.root != nil {
		s.root.close()
	}
	for _, l := range s.said {
		if l.marks != nil {
			l.marks.close()
		}
	}
	s.said = nil
	s.journals, s.root, s.err = nil, nil, errors.New("the session is over")
}

// ForgetSession closes the session and removes the files of its own keys. The session is then over
// for all processes.
func (s *Session) ForgetSession() error {
	s.Close()
	var failed []error
	for _, key := range s.keys {
		for _, end := range []string{"", marksEnd, countsEnd, askedEnd, grantedEnd} {
			if err := os.Remove(filepath.Join(s.dir, fileOf(key)+end)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// sweepJournals removes files that were last written before a time and that no process has open.
func sweepJournals(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir) // an error is ignored: the other files are swept later
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || len(e.Name()) < 32 || !isName(e.Name()[:32]) || !info.Mode().IsRegular() || info.ModTime().After(before) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
		if err != nil {
			continue
		}
		if lockIdle(f) {
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}
