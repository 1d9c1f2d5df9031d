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

// Report is what Verify found.
type Report struct {
	Segments int    `json:"segments"`
	Records  uint64 `json:"records"` // lines of all segments
	Bytes    int64  `json:"bytes"`
	Head     string `json:"head"` // hash of the ledger's last line: kept elsewhere, it pins all before it
	// Findings are what cannot be if nobody but clawai wrote the files.
	Findings []Finding `json:"findings"`
	// Notes are what is no proof of anything: crashes, sessions that run.
	Notes []Finding `json:"notes"`
}

// Intact reports that there is no finding.
func (r *Report) Intact() bool { return len(r.Findings) == 0 }

// Finding is one place. Line 0 is the whole file.
type Finding struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
}

// Verify reads every segment of dir and the ledger and checks each line against
// the next and each file against the ledger. It changes nothing. head, when not
// empty, is the Head of an earlier report and must still be in the ledger; what was
// removed since is among the notes then. Each removal is held against the retention.
// A directory that is missing is an empty record.
func Verify(dir, head string, r Retention) (Report, error) {
	v := newVerifier(dir, r)
	files, err := v.snapshot(head)
	if err != nil {
		return v.report, fmt.Errorf("verify %q: %w", dir, err)
	}
	present := map[string]bool{}
	last := map[string]string{} // of each session: the last hash of its latest segment
	for _, fi := range files {
		present[fi.Name()] = true
		if err := v.segment(fi, last); err != nil {
			return v.report, fmt.Errorf("verify %q: %w", dir, err)
		}
	}
	v.missing(present)
	return v.report, nil
}

// statement is what the ledger says of one segment.
type statement struct {
	first   string
	end     *mark // close or crashed
	node    uint64
	removed bool
	line    int
}

// copied is what it means that a segment is another file.
const copied = "a copy took its place, and what was recorded from then on is not here"

// isOther reports whether a file is not the one that was begun.
func (s *statement) isOther(node uint64) bool { return s.node != 0 && node != 0 && s.node != node }

type verifier struct {
	dir        string
	report     Report
	statements map[string]*statement
	order      []string // segments as the ledger first names them
	bySession  map[string][]string
	removals
}

func newVerifier(dir string, r Retention) *verifier {
	return &verifier{
		dir: dir, report: Report{Findings: []Finding{}, Notes: []Finding{}}, statements: map[string]*statement{}, bySession: map[string][]string{},
		removals: removals{keep: r.withDefaults(), now: time.Now()},
	}
}

func (v *verifier) find(file string, line int, format string, a ...any) {
	v.report.Findings = append(v.report.Findings, Finding{file, line, fmt.Sprintf(format, a...)})
}

func (v *verifier) note(file string, line int, format string, a ...any) {
	v.report.Notes = append(v.report.Notes, Finding{file, line, fmt.Sprintf(format, a...)})
}

// snapshot reads the ledger and lists the segments while no session begins,
// ends or removes one.
func (v *verifier) snapshot(head string) ([]fs.FileInfo, error) {
	f, err := os.OpenFile(filepath.Join(v.dir, ledgerName), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		files, err := segments(v.dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if len(files) > 0 || head != "" {
			v.find(ledgerName, 0, "the ledger is missing")
		}
		return files, err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := lock(f, true); err != nil {
		return nil, err
	}
	defer unlock(f) //nolint:errcheck // closing gives it back too
	if err := v.ledger(f, head); err != nil {
		return nil, err
	}
	return segments(v.dir)
}

// ledger reads the ledger's lines.
func (v *verifier) ledger(f io.Reader, head string) error {
	s := newScanner(f)
	s.begin(newChain())
	seen := head == ""
	err := s.each(func(it item) {
		v.line(ledgerName, it)
		if m, ok := parseMark(it); ok {
			v.marked(m)
			if m.Kind == removed && head != "" && seen {
				v.note(m.Segment, 0, "removed since the hash was kept, on %s: %s (line %d of the ledger)", m.Time.Format(time.DateTime), m.Detail, m.position)
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
	if n, _ := s.rest(); n > 0 {
		v.find(ledgerName, s.gap.line, "%d bytes at the end are no whole line", n)
	}
	if !seen {
		v.find(ledgerName, 0, "no line has the hash %q: the ledger was rewritten or cut off since it was kept", head)
	}
	return nil
}

// line reports what is wrong, or odd, at one line of any file.
func (v *verifier) line(file string, it item) {
	if it.problem != "" {
		v.find(file, it.line, "%s", it.problem)
	}
	if it.healed > 0 {
		v.note(file, it.line, "a write failed before this line and left %d bytes, which it accounts for", it.healed)
	}
}

// marked takes in one mark; two that contradict each other are a finding.
func (v *verifier) marked(m mark) {
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
			v.find(ledgerName, m.position, "the segment %q is begun twice", m.Segment)
		}
	case closed, crashed:
		if known.end != nil || known.first != m.First {
			v.find(ledgerName, m.position, "the segment %q is closed twice, or begins differently than line %d says", m.Segment, known.line)
		}
		if known.isOther(m.Node) {
			v.find(ledgerName, m.position, "the segment %q was another file by then than line %d began: %s", m.Segment, known.line, copied)
		}
		known.end = &m
		v.ended(&m)
	case removed:
		known.removed = true
		v.judge(known, &m)
	default:
		v.find(ledgerName, m.position, "the kind %q is unknown", m.Kind)
	}
}

// missing looks for segments that the ledger names and that are gone.
func (v *verifier) missing(present map[string]bool) {
	for _, name := range v.order {
		if !present[name] && !v.statements[name].removed {
			v.find(name, 0, "the segment is missing (line %d of the ledger names it)", v.statements[name].line)
		}
	}
}
