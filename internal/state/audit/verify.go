package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Verification is the result of Verify.
type Verification struct {
	Segments int    `json:"segments"`
	Records  uint64 `json:"records"` // number of lines in all segments
	Bytes    int64  `json:"bytes"`
	Head     string `json:"head"` // hash of the ledger's last line; a person who keeps a copy of this hash elsewhere can later detect any change of the ledger up to this line
	// Findings are problems that cannot occur if only clawai wrote the files.
	Findings []Finding `json:"findings"`
	// Notes are observations that do not prove a manipulation, such as crashes and running
	// sessions.
	Notes []Finding `json:"notes"`
}

// IsIntact reports whether there is no finding.
func (r *Verification) IsIntact() bool { return len(r.Findings) == 0 }

// Finding is a problem at one place. Line 0 means the whole file.
type Finding struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
}

// Verify reads the ledger and every segment of dir. It checks each line against the next line, each
// file against the ledger, and each removal against the retention r. It changes nothing. head is
// the Head of an earlier report, or "". Verify reports a finding if head is no longer in the
// ledger, and reports removals since head as notes. A missing directory is an empty record.
func Verify(dir, head string, r Retention) (Verification, error) {
	v := newVerifier(dir, r)
	files, err := v.readSnapshot(head)
	if err != nil {
		return v.report, fmt.Errorf("verify %q: %w", dir, err)
	}
	present := map[string]bool{}
	last := map[string]string{} // hash of the last line in the latest segment so far, by session
	for _, fi := range files {
		present[fi.Name()] = true
		if err := v.checkSegment(fi, last); err != nil {
			return v.report, fmt.Errorf("verify %q: %w", dir, err)
		}
	}
	v.checkMissing(present)
	return v.report, nil
}

// statement holds what the ledger says about one segment.
type statement struct {
	first   string // hash of the segment's first line
	end     *mark  // the mark of kind closed or crashed; nil if there is none
	node    uint64 // inode number of the file; 0 if it is not known
	removed bool
	line    int // number of the ledger's first line about the segment
}

// copyMeaning explains in a finding why a copied segment is a problem.
const copyMeaning = "a copy took its place, and what was recorded from then on is not here"

// isOther reports whether a file is not the original file.
func (s *statement) isOther(node uint64) bool { return s.node != 0 && node != 0 && s.node != node }

type verifier struct {
	dir        string
	report     Verification
	statements map[string]*statement
	order      []string            // segments in the order in which the ledger first names them
	bySession  map[string][]string // the segments of each session, in the same order; the key is the session id
	removals
}

func newVerifier(dir string, r Retention) *verifier {
	return &verifier{
		dir: dir, report: Verification{Findings: []Finding{}, Notes: []Finding{}}, statements: map[string]*statement{}, bySession: map[string][]string{},
		removals: removals{keep: r.withDefaults(), now: time.Now()},
	}
}

func (v *verifier) addFinding(file string, line int, format string, a ...any) {
	v.report.Findings = append(v.report.Findings, Finding{file, line, fmt.Sprintf(format, a...)})
}

func (v *verifier) addNote(file string, line int, format string, a ...any) {
	v.report.Notes = append(v.report.Notes, Finding{file, line, fmt.Sprintf(format, a...)})
}

// readSnapshot reads the ledger and lists the segments under the ledger's lock, so that no session
// can begin, end or remove a segment meanwhile.
func (v *verifier) readSnapshot(head string) ([]fs.FileInfo, error) {
	f, err := os.OpenFile(filepath.Join(v.dir, ledgerName), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		files, err := listSegments(v.dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if len(files) > 0 || head != "" {
			v.addFinding(ledgerName, 0, "the ledger is missing")
		}
		return files, err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := lockFile(f, true); err != nil {
		return nil, err
	}
	defer unlockFile(f) //nolint:errcheck // closing the file releases the lock too
	if err := v.checkLedger(f, head); err != nil {
		return nil, err
	}
	return listSegments(v.dir)
}

func (v *verifier) checkLedger(f io.Reader, head string) error {
	s := newScanner(f)
	s.expectChain(newChain())
	seen := head == ""
	err := s.eachItem(func(it item) {
		v.checkLine(ledgerName, it)
		if m, ok := parseMark(it); ok {
			v.addMark(m)
			if m.Kind == removed && head != "" && seen {
				v.addNote(m.Segment, 0, "removed since the hash was kept, on %s: %s (line %d of the ledger)", m.Time.Format(time.DateTime), m.Detail, m.position)
			}
		}
		seen = seen || it.raw != nil && string(it.link.hash) == head
	})
	if err != nil {
		return err
	}
	if s.chain.next > 1 {
		v.report.Head = string(s.chain.prev[:])
	}
	isTorn := s.endsTorn()
	switch n, _ := s.digestRest(); {
	case n > 0 && isTorn:
		v.addNote(ledgerName, s.gap.line, "a process died while it wrote the last %d bytes, and the next session accounts for them", n)
	case n > 0:
		v.addFinding(ledgerName, s.gap.line, "%d bytes at the end are not a whole line", n)
	}
	if !seen {
		v.addFinding(ledgerName, 0, "no line has the hash %q: the ledger was rewritten or cut off since it was kept", head)
	}
	return nil
}

// checkLine reports the problem of one line, and a failed write before the line. The line may be
// from any file.
func (v *verifier) checkLine(file string, it item) {
	if it.problem != "" {
		v.addFinding(file, it.line, "%s", it.problem)
	}
	if it.healed > 0 {
		v.addNote(file, it.line, "a write failed before this line and left %d bytes, which it accounts for", it.healed)
	}
}

// addMark adds one mark to the statements. A mark that contradicts an earlier mark is a finding.
func (v *verifier) addMark(m mark) {
	known := v.statements[m.Segment]
	if known == nil {
		known = &statement{first: m.First, line: m.position, node: m.Node}
		v.statements[m.Segment] = known
		v.order = append(v.order, m.Segment)
		_, session, _ := parseSegmentName(m.Segment)
		v.bySession[session] = append(v.bySession[session], m.Segment)
	}
	switch m.Kind {
	case opened:
		if known.line != m.position {
			v.addFinding(ledgerName, m.position, "the segment %q is begun twice", m.Segment)
		}
	case closed, crashed:
		if known.end != nil || known.first != m.First {
			v.addFinding(ledgerName, m.position, "the segment %q is closed twice, or begins differently than line %d says", m.Segment, known.line)
		}
		if known.isOther(m.Node) {
			v.addFinding(ledgerName, m.position, "the segment %q was another file by then than line %d began: %s", m.Segment, known.line, copyMeaning)
		}
		known.end = &m
		v.addSize(&m)
	case removed:
		known.removed = true
		v.checkRemoval(known, &m)
	default:
		v.addFinding(ledgerName, m.position, "the kind %q is unknown", m.Kind)
	}
}

// checkMissing reports segments that are missing: the ledger names them, and the retention did not
// remove them.
func (v *verifier) checkMissing(present map[string]bool) {
	for _, name := range v.order {
		if !present[name] && !v.statements[name].removed {
			v.addFinding(name, 0, "the segment is missing (line %d of the ledger names it)", v.statements[name].line)
		}
	}
}
