package centre

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Limits of what a laptop ships.
const (
	MaxPart     = 1 << 20 // bytes of one part
	maxSegment  = 1 << 30 // bytes of one segment; clawai begins a new one at 32 MiB, except for records of an agent's own tools: these are one segment a day
	maxRest     = 2 << 20 // bytes after the last whole record; a record has at most 1 MiB
	maxSegments = 100_000 // segments of one laptop
	maxSession  = 1000    // segments of one session
	maxFindings = 5000    // findings of one laptop, and also notes of one laptop; further findings and notes are dropped
)

// ErrElsewhere means that a part does not begin where the stored bytes of its segment end.
var ErrElsewhere = errors.New("the part does not begin where the segment ends here")

// BoundError means that a laptop has reached a limit and cannot ship more. Its text names the limit.
type BoundError struct{ text string }

func (e *BoundError) Error() string { return e.text }

// Part is a part of a segment as a laptop ships it.
type Part struct {
	Laptop, Session, Segment string
	At                       int64 // offset of the part in the segment
	Text                     []byte
	Complete                 bool // the segment ends with this part
}

// IsSegment reports whether name is the file name of a segment of this session.
func IsSegment(session, name string) bool {
	of, ok := audit.SplitSegmentName(name)
	return ok && of == session
}

// FindHeld returns how many bytes of a segment are stored, and whether it is complete.
func (c *Centre) FindHeld(ctx context.Context, laptop, name string) (enrolment.Held, error) {
	g, err := c.Store.FindSegment(ctx, laptop, name)
	if errors.Is(err, store.ErrNone) {
		return enrolment.Held{}, nil
	}
	return heldOf(g), err
}

func heldOf(g store.Segment) enrolment.Held {
	return enrolment.Held{Size: g.Size, Complete: g.Complete}
}

// TakePart verifies a part and stores it. If the part does not begin where the stored bytes end, it stores
// nothing of the part and returns ErrElsewhere with the stored size, so that no part is stored twice. If the
// part contradicts the stored bytes, it adds a finding.
func (c *Centre) TakePart(ctx context.Context, l store.Laptop, p Part) (held enrolment.Held, err error) {
	if l.Bytes+int64(len(p.Text)) > c.Settings.LaptopBytes {
		return held, &BoundError{fmt.Sprintf("the centre keeps %d MiB of a laptop's record, and no more of this one; raise laptop_bytes in gateway.toml", c.Settings.LaptopBytes>>20)}
	}
	isElsewhere, decisions := false, map[string]int{}
	var arrived []audit.Arrived
	var indexed []store.Record
	err = c.Store.ExtendSegment(ctx, p.Laptop, p.Session, p.Segment, func(h store.Holding) (store.Extension, error) {
		is := h.Segment()
		held = heldOf(is)
		x := store.Extension{Segment: is}
		if p.At != is.Size || is.Complete && len(p.Text) > 0 {
			isElsewhere = true
			x, err := c.compareAgain(h, &p, x)
			return boundFindings(h, x, err)
		}
		if is.Size == 0 {
			all, ofSession, err := h.CountSegments()
			switch {
			case err != nil:
				return x, err
			case all >= maxSegments:
				return x, &BoundError{fmt.Sprintf("the centre keeps %d segments of a laptop, and no more of this one", maxSegments)}
			case ofSession >= maxSession:
				return x, &BoundError{fmt.Sprintf("the centre keeps %d segments of a session, and no more of this one", maxSession)}
			}
		}
		if is.Size+int64(len(p.Text)) > maxSegment {
			return x, &BoundError{fmt.Sprintf("a segment of more than %d MiB is not taken", maxSegment>>20)}
		}
		x, records, err := c.checkPart(h, &p)
		held, arrived, indexed = heldOf(x.Segment), records, x.Records
		for i := range x.Records {
			decisions[cmp.Or(string(x.Records[i].Look), "none")]++
		}
		return boundFindings(h, x, err)
	})
	switch {
	case err == nil && isElsewhere:
		err = ErrElsewhere
	case err == nil:
		c.Figures.CountPart(len(p.Text), decisions)
		c.sendRecords(&l, arrived, indexed)
	}
	return held, err
}

// boundFindings drops findings and notes of an extension that exceed maxFindings of the laptop: otherwise a
// dishonest laptop could fill the disk with them. One finding is enough to show the laptop in red.
func boundFindings(h store.Holding, x store.Extension, err error) (store.Extension, error) {
	if err != nil || len(x.Findings) == 0 {
		return x, err
	}
	all, notes, err := h.CountFindings()
	if err != nil {
		return x, err
	}
	left := map[bool]int{false: maxFindings - (all - notes), true: maxFindings - notes}
	x.Findings = slices.DeleteFunc(x.Findings, func(f store.Finding) bool {
		left[f.Note]--
		return left[f.Note] < 0
	})
	return x, nil
}

// compareAgain compares a part with the stored bytes, if the part does not begin where the stored bytes end.
func (c *Centre) compareAgain(h store.Holding, p *Part, x store.Extension) (store.Extension, error) {
	is := x.Segment
	add := func(format string, a ...any) {
		x.Findings = append(x.Findings, store.Finding{Laptop: p.Laptop, Segment: p.Segment, What: fmt.Sprintf(format, a...), Found: c.now()})
	}
	if p.At >= 0 && p.At < is.Size {
		before, err := h.ReadHeld(p.At, len(p.Text))
		if err != nil {
			return x, err
		}
		if n := min(len(before), len(p.Text)); !bytes.Equal(before[:n], p.Text[:n]) {
			add("the laptop now has other bytes behind byte %d than it shipped before: its record was rewritten", p.At)
		}
	}
	if end := p.At + int64(len(p.Text)); p.Complete && end < is.Size {
		add("the laptop says that the segment ends at byte %d, and shipped %d bytes before: its record was cut", end, is.Size)
	}
	if is.Complete && p.At == is.Size && len(p.Text) > 0 {
		add("the laptop shipped more behind the end that it had named: its record was lengthened after its session closed it")
	}
	if len(x.Findings) == 0 {
		return x, ErrElsewhere // nothing to keep
	}
	return x, nil
}

// checkPart verifies a part that begins where the stored bytes end. It also returns the part's records, in the
// same order as the index entries in the extension.
func (c *Centre) checkPart(h store.Holding, p *Part) (store.Extension, []audit.Arrived, error) {
	is := h.Segment()
	x := store.Extension{Part: p.Text, Segment: is}
	unchecked, err := h.ReadHeld(is.Arrival.Checked, int(is.Size-is.Arrival.Checked))
	if err != nil {
		return x, nil, err
	}
	had := is.Arrival.Lines
	g := &x.Segment
	found, err := g.Arrival.CheckPart(p.Segment, bytes.NewReader(slices.Concat(unchecked, p.Text)), p.Complete)
	if err != nil {
		return x, nil, err
	}
	if found.Rest > maxRest {
		return x, nil, &BoundError{fmt.Sprintf("%d bytes behind the last whole record are no record; no more of this segment is taken", found.Rest)}
	}
	sum, err := continueSum(&is, h.ReadHeld)
	if err != nil {
		return x, nil, err
	}
	sum.Write(p.Text)
	if g.Sum, err = stateOf(sum); err != nil {
		return x, nil, err
	}
	g.Size, g.Complete, g.Changed = is.Size+int64(len(p.Text)), is.Complete || p.Complete, c.now()
	for _, f := range found.Findings {
		x.Findings = append(x.Findings, store.Finding{Segment: f.File, Line: f.Line, What: f.What})
	}
	for _, f := range found.Notes {
		x.Findings = append(x.Findings, store.Finding{Segment: f.File, Line: f.Line, What: f.What, Note: true})
	}
	if begun, ended := had == 0 && g.Arrival.Lines > 0, g.Complete && !is.Complete; begun || ended {
		others, err := h.ListSession()
		if err != nil {
			return x, nil, err
		}
		x.Findings = append(x.Findings, joinSegments(g, others, begun, ended)...)
	}
	for i := range x.Findings {
		x.Findings[i].Laptop, x.Findings[i].Found = p.Laptop, c.now()
	}
	for i := range found.Records {
		x.Records = append(x.Records, indexRecord(p, &found.Records[i], c.now()))
	}
	return x, found.Records, nil
}

// joinSegments checks the order of the segments in a session: a segment must follow the segment before it, and
// the segment after it must follow this one. begun is true if the segment's first line has come with this
// part, and ended is true if its end has come. The parameter others has the session's other segments, sorted
// by name, which is the order in which they begin.
func joinSegments(g *store.Segment, others []store.Segment, begun, ended bool) (all []store.Finding) {
	var before, after *store.Segment
	for i := range others {
		if o := &others[i]; o.Name < g.Name {
			before = o
		} else if after == nil && o.Arrival.Lines > 0 {
			after = o
		}
		if o := &others[i].Arrival; begun && o.Lines > 0 && o.Begins == g.Arrival.Begins {
			all = append(all, store.Finding{Segment: g.Name, Line: 1, What: fmt.Sprintf("begins with line %d of its session, as %s does: the record was forked", o.Begins, others[i].Name)})
		}
	}
	const broken = "does not follow the session's segment before it"
	switch {
	case !begun:
	case before == nil && g.Arrival.Begins > 1:
		all = append(all, store.Finding{Segment: g.Name, Line: 1, Note: true, What: fmt.Sprintf("begins with line %d of its session; what is before it was not shipped", g.Arrival.Begins)})
	case before != nil && before.Complete && !g.Arrival.Follows(&before.Arrival):
		all = append(all, store.Finding{Segment: g.Name, Line: 1, What: broken})
	}
	if ended && after != nil && !after.Arrival.Follows(&g.Arrival) {
		all = append(all, store.Finding{Segment: after.Name, Line: 1, What: broken})
	}
	return all
}

// Maximum lengths of texts in the index, in bytes. The stored line has the whole texts.
const (
	maxName  = 200
	maxWords = 500
)

// maxAhead is how far the clock of a laptop may be ahead. Records with a later time would stay at the top of
// the list for years.
const maxAhead = 24 * time.Hour

// indexRecord returns the index entry for a record that arrives now.
func indexRecord(p *Part, a *audit.Arrived, now time.Time) store.Record {
	r := store.Record{
		Laptop: p.Laptop, Session: p.Session, Seq: a.Seq, Time: a.Time, Kind: cleanText(string(a.Kind), maxName), Look: lookOf(&a.Entry),
		Server: cleanText(cmp.Or(a.Server, a.ServerGuess), maxName), Subject: cleanText(a.Subject, maxName), Method: cleanText(a.Method, maxName),
		About: cleanText(view.MainArgument(a.Args), maxWords), Code: cleanText(a.Code, maxName), Reason: cleanText(cmp.Or(a.Reason, a.Detail), maxWords),
		RuleText: cleanText(a.RuleText, maxWords), Labels: a.Labels, Ref: cleanText(a.Ref, maxName), Segment: p.Segment, Offset: a.Offset, Length: a.Length,
	}
	if r.Time.Year() < 1971 { // a clock that was never set
		r.Time = time.Unix(1, 0).UTC()
	} else if r.Time.After(now.Add(maxAhead)) {
		r.Time = now.UTC()
	}
	// For other subjects, such as a server's question, Names has a text that is no name.
	if len(a.Names) > 0 && (a.Subject == "tool" || a.Subject == "prompt" || a.Subject == "resource") {
		r.Name = cleanText(a.Names[0], maxName)
	}
	if r.Look != "" {
		r.Name = cmp.Or(r.Name, r.Method)
	}
	if a.RuleLine > 0 {
		r.Rule = cleanText(fmt.Sprintf("%s:%d", a.RuleFile, a.RuleLine), maxName)
	}
	return r
}

// lookOf returns the look of a record of a call; "" for other records, and for a method that no rule governs.
func lookOf(e *event.Entry) store.Look {
	if e.Kind != event.Decision && e.Kind != event.Dropped || e.Code == gate.CodeUngoverned {
		return ""
	}
	switch view.LookOf(e) {
	case view.Allowed:
		return store.LookAllowed
	case view.Asked:
		return store.LookAsked
	case view.Refused:
		return store.LookRefused
	}
	return ""
}

// BundleError is the reason why a bundle is not published.
type BundleError struct{ error }

// Unwrap returns the reason.
func (e *BundleError) Unwrap() error { return e.error }

// ReadSigned reads a bundle that one of the settings' keys has signed. An error is a *BundleError.
func (c *Centre) ReadSigned(src []byte) (bundle.Bundle, []string, error) {
	if len(c.Settings.BundleKeys) == 0 {
		return bundle.Bundle{}, nil, &BundleError{ErrNoKeys}
	}
	b, signers, err := bundle.Read(src, c.Settings.BundleKeys)
	if err != nil {
		return b, nil, &BundleError{err}
	}
	return b, signers, nil
}

// NewestCounter returns the counter of the bundle in force; 0 if there is none.
func (c *Centre) NewestCounter(ctx context.Context) (uint64, error) {
	newest, err := c.Store.ListBundles(ctx, 1)
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	return newest[0].Counter, nil
}

// TakeReport stores a laptop's report about its own state.
func (c *Centre) TakeReport(ctx context.Context, l store.Laptop, r enrolment.Report) error {
	r.Version, r.Revision, r.Error = cleanText(r.Version, maxTextLen), cleanText(r.Revision, maxTextLen), cleanText(r.Error, 4*maxWords)
	r.Sessions, r.Backlog = max(r.Sessions, 0), max(r.Backlog, 0)
	return c.Store.AddReport(ctx, l.ID, r, c.now())
}
