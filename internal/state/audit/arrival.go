package audit

import (
	"fmt"
	"io"
	"strings"

	"github.com/clawai/clawai/internal/event"
)

// Arrival stores how much of a segment was checked. The segment arrives at another machine in
// parts. A line is sound if its own hash is right. The zero value means that no part has arrived.
// An Arrival can be stored as JSON between two parts.
type Arrival struct {
	Checked int64  `json:"checked"`          // bytes up to the end of the last sound line
	Line    int    `json:"line"`             // number of the last sound line in the file
	Lines   uint64 `json:"lines"`            // sound lines so far
	Begins  uint64 `json:"begins,omitempty"` // number that the segment's first line has in its session
	Next    uint64 `json:"next,omitempty"`   // number that the next line must have
	Before  string `json:"before,omitempty"` // hash of the previous segment's last line, as the first line states it
	First   string `json:"first,omitempty"`  // hash of the first line
	Last    string `json:"last,omitempty"`   // hash of the last line
}

// Arrived is one record of a part, with the place of its line in the segment.
type Arrived struct {
	event.Entry
	Offset int64 // offset of the line in the segment, in bytes
	Length int   // length of the line in bytes, without its LF
}

// Part is the result of CheckPart.
type Part struct {
	Records  []Arrived // the records of the part, without the line that begins the segment
	Findings []Finding // findings about the part, as in Verification.Findings
	Notes    []Finding // notes about the part, as in Verification.Notes
	Rest     int       // number of bytes at the end that are not a whole record; they are not checked yet
}

// SplitSegmentName returns the session in the file name of a segment. It returns false for a text
// that is not the file name of a segment.
func SplitSegmentName(name string) (session string, ok bool) {
	began, session, ok := parseSegmentName(name)
	return session, ok && len(session) == sessionLength && strings.Trim(session, sessionAlphabet) == "" && segmentName(began, session) == name
}

// CheckPart checks the lines in r as Verify does. r begins at the offset a.Checked of the segment.
// CheckPart moves a past the last sound line. The parameter whole is true if r reaches the end of
// the segment. CheckPart does not check whether the segment follows the previous segment of its
// session; Follows does.
func (a *Arrival) CheckPart(name string, r io.Reader, whole bool) (Part, error) {
	session, ok := SplitSegmentName(name)
	if !ok {
		return Part{}, fmt.Errorf("%q is not the name of a segment", name)
	}
	v := newVerifier("", Retention{})
	s := newScanner(r)
	s.line = a.Line
	if a.Lines > 0 {
		c := chain{next: a.Next}
		copy(c.prev[:], a.Last)
		s.expectChain(c)
	}
	start := a.Checked
	var p Part
	err := s.eachItem(func(it item) {
		v.checkLine(name, it)
		if it.raw == nil {
			return
		}
		a.Line, a.Lines, a.Next, a.Last = it.line, a.Lines+1, it.link.seq+1, string(it.link.hash)
		a.Checked = start + s.end
		if a.Lines == 1 {
			a.Begins, a.Before, a.First = it.link.seq, string(it.link.prev), a.Last
			v.checkHeader(name, session, "", true, it)
		}
		e, err := parseEntry(name, it)
		switch {
		case err != nil:
			v.addFinding(name, it.line, "a line that is sound but no record")
			return
		case e.Seq != it.link.seq || e.Session != session || e.Record != fmt.Sprintf("%s-%d", session, it.link.seq):
			v.addFinding(name, it.line, "the line says another session, number or record than its place in the chain")
			e.Seq, e.Session, e.Record = it.link.seq, session, fmt.Sprintf("%s-%d", session, it.link.seq)
		}
		if e.Kind != event.Segment {
			p.Records = append(p.Records, Arrived{Entry: e, Offset: a.Checked - int64(len(it.raw)) - 1, Length: len(it.raw)})
		}
	})
	if err != nil {
		return Part{}, err
	}
	broken, line := s.gap.sum != nil, s.gap.line
	p.Rest, _ = s.digestRest()
	switch {
	case !whole || p.Rest == 0:
	case broken:
		v.addFinding(name, line, "%d bytes at the end are not a record, or one that was changed", p.Rest)
	default:
		v.addNote(name, a.Line+1, "its session died while it wrote the last %d bytes", p.Rest)
	}
	p.Findings, p.Notes = v.report.Findings, v.report.Notes
	return p, nil
}

// Follows reports whether the segment begins where another segment of its session ends.
func (a *Arrival) Follows(before *Arrival) bool {
	return a.Begins == before.Next && a.Before == before.Last
}
