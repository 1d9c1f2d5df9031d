package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Store lists the methods of store.Store that a simulation needs.
type Store interface {
	ListLaptops(ctx context.Context) ([]store.Laptop, error)
	FindNewestBundle(ctx context.Context) (store.Bundle, error)
	ListChangedSegments(ctx context.Context, laptop string, since time.Time, session, name string, most int) ([]store.Segment, error)
	ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error)
	ListRecords(ctx context.Context, q store.Query) ([]store.Record, error)
	ListNeighbours(ctx context.Context, laptop, session string, low, high uint64) ([]store.Record, error)
}

// Options are the options of Run.
type Options struct {
	Since time.Time // time of the oldest records to judge, by the laptop's clock
	Now   time.Time
	Page  string // beginning of the address of a record's page; the record's number follows it
	Most  int    // maximum number of calls to judge; 0: all
	Work  int    // limit of the proof's work (prove.Options); 0: as in clawai policy diff
}

// ErrTooMany says that more calls were recorded than Options.Most.
var ErrTooMany = errors.New("too many calls were recorded in this time")

// simulator is one simulation while it runs.
type simulator struct {
	db                 Store
	options            Options
	candidate, present *Candidate
	judges             map[string]*judges // by home folder
	report             *Report
}

// Run judges all recorded calls since Options.Since by the candidate.
func Run(ctx context.Context, db Store, candidate *Candidate, o Options) (*Report, error) {
	s := &simulator{db: db, options: o, candidate: candidate, judges: map[string]*judges{}}
	s.report = &Report{
		Candidate: candidate.Name, Counter: candidate.Counter, Since: o.Since, NotKnownFor: map[replay.Why]int{},
		people: rows{}, servers: rows{}, tools: rows{}, groups: map[groupKey]*Group{}, seen: map[changeKey]int{},
	}
	if err := s.loadPresent(ctx); err != nil {
		return nil, err
	}
	laptops, err := db.ListLaptops(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.prove(ctx, laptops); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the proof may have taken seconds
		return nil, err
	}
	for i := range laptops {
		if err := s.judgeLaptop(ctx, &laptops[i]); err != nil {
			return nil, fmt.Errorf("the records of laptop %s: %w", laptops[i].ID, err)
		}
	}
	s.report.finish()
	return s.report, s.findPages(ctx)
}

// loadPresent loads the newest bundle. If the team has no bundle, it loads a policy without rules.
func (s *simulator) loadPresent(ctx context.Context) error {
	b, err := s.db.FindNewestBundle(ctx)
	if errors.Is(err, store.ErrNone) {
		s.present, err = NewCandidate("no bundle", nil)
		return err
	}
	if err == nil {
		s.report.Present = b.Counter
		s.present, err = NewCandidate(fmt.Sprintf("bundle %d", b.Counter), b.Bytes)
	}
	if err != nil {
		return fmt.Errorf("the newest bundle: %w", err)
	}
	return nil
}

// homeOfProofs is the home folder for ~ in proofs. It is the same on every machine.
const homeOfProofs = "/home/user"

// prove compares the candidate with the newest bundle.
func (s *simulator) prove(ctx context.Context, laptops []store.Laptop) (err error) {
	s.report.proved, err = compareCandidates(ctx, s.present, s.candidate, HasWindows(laptops), s.options.Work)
	return err
}

// HasWindows reports whether one of the laptops runs Windows.
func HasWindows(laptops []store.Laptop) bool {
	return slices.ContainsFunc(laptops, func(l store.Laptop) bool { return l.OS == policy.Windows })
}

// laptop is the laptop whose records are being judged.
type laptop struct {
	*store.Laptop
	person  string
	home    string
	replies replay.Replies
	seen    bool
}

// pageOfSegments is the maximum number of segments that one query of the database returns.
const pageOfSegments = 200

func (s *simulator) judgeLaptop(ctx context.Context, of *store.Laptop) error {
	l := &laptop{Laptop: of, person: term.CutText(of.Owner.Name, maxText)}
	if of.Owner.Subject == "" {
		l.person = term.CutText(fmt.Sprintf("(whoever owns %s)", of.Name), maxText)
	}
	if err := s.findHome(ctx, l); err != nil {
		return err
	}
	// The times of segments come from the centre's clock, and those of records from the laptop's clock.
	// So begin with segments that are maxAhead older.
	for at := (store.Segment{}); ; {
		page, err := s.db.ListChangedSegments(ctx, of.ID, s.options.Since.Add(-maxAhead), at.Session, at.Name, pageOfSegments)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, at = range page {
			if err := s.judgeSegment(ctx, l, &at); err != nil {
				return err
			}
		}
	}
}

// maxAhead is how far the clock of a laptop may be ahead (centre.indexRecord).
const maxAhead = 24 * time.Hour

// findHome finds the home folder of a laptop's person. The positions of rules that have decided calls
// on this laptop contain it.
func (s *simulator) findHome(ctx context.Context, l *laptop) error {
	latest, err := s.db.ListRecords(ctx, store.Query{Laptop: l.ID, Kind: string(event.Decision), Most: 500})
	for i := range latest {
		file := latest[i].Rule
		for at := len(file) - 1; at > 0 && l.home == ""; at-- {
			if file[at] == ':' {
				l.home = homeOf(file[:at])
				break
			}
		}
	}
	return err
}

// Numbers of bytes of a segment that are read at once: pageBytes, or maxPage if no line ends within
// pageBytes. A record has at most 1 MiB, and the centre stores at most 2 MiB after the last whole
// record.
const (
	pageBytes = 1 << 20
	maxPage   = 4 << 20
)

// judgeSegment reads a segment as the centre did when the segment arrived: line by line, with a check
// of each line's hash.
func (s *simulator) judgeSegment(ctx context.Context, l *laptop, g *store.Segment) error {
	var at audit.Arrival
	for most := pageBytes; at.Checked < g.Size; {
		text, err := s.db.ReadSegment(ctx, l.ID, g.Name, at.Checked, most)
		if err != nil {
			return err
		}
		before := at.Checked
		part, err := at.CheckPart(g.Name, bytes.NewReader(text), false)
		if err != nil {
			return err
		}
		s.report.Damaged += len(part.Findings)
		for i := range part.Records {
			// A page has many records, and it may take long to judge one of them if there are many rules.
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.judgeRecord(l, &part.Records[i].Entry); err != nil {
				return err
			}
		}
		switch {
		case at.Checked > before:
			most = pageBytes
		case len(text) < most || most >= maxPage: // no valid line follows
			if part.Rest > 0 && g.Complete {
				s.report.Damaged++
			}
			return nil
		default:
			most = maxPage
		}
	}
	return nil
}

// judgeRecord judges one record. From a record before Options.Since it only keeps the call, because a
// later record may be the reply to the call.
func (s *simulator) judgeRecord(l *laptop, e *event.Entry) error {
	replies := l.replies.TakeReplies(e)
	at := e.Time
	if at.After(s.options.Now.Add(maxAhead)) {
		at = s.options.Now
	}
	if at.Before(s.options.Since) || len(replies) == 0 && !replay.IsJudged(e) {
		return nil
	}
	j, err := s.judgesFor(l.home)
	if err != nil {
		return err
	}
	for i := range replies {
		s.judgeReply(j, &replies[i])
	}
	if !replay.IsJudged(e) {
		return nil
	}
	r := s.report
	if s.options.Most > 0 && r.Decisions >= s.options.Most {
		return ErrTooMany
	}
	if !l.seen {
		l.seen = true
		r.Laptops++
	}
	if r.Decisions++; e.IsObserved() {
		r.Observed++
	}
	if r.First.IsZero() || at.Before(r.First) {
		r.First = at
	}
	if at.After(r.Last) {
		r.Last = at
	}
	s.countCall(l, e, s.judgeCall(j, e))
	return nil
}

// result is the old and the new answer to a recorded call.
type result struct {
	class    replay.Class
	why      replay.Why
	from, to policy.Action
	rule     *policy.Rule
}

// judgeCall judges a recorded call as a laptop with the candidate would. A bundle can only make answers
// stricter. The record has the strictest answer of the laptop's own rules and of the bundle at that time,
// and the rule that gave this answer. If that rule is one of the laptop's own, its answer stays valid
// with the candidate.
func (s *simulator) judgeCall(j *judges, e *event.Entry) result {
	was, err := policy.ParseAction(e.Policy)
	if err != nil {
		return result{class: replay.NotJudged, why: replay.Unknown}
	}
	own := !isBundleRule(e.RuleFile)
	if own && was == policy.Deny {
		return result{class: replay.Unchanged, from: was, to: was}
	}
	c, why := replay.RebuildCall(e)
	var d policy.Decision
	if why == "" {
		d, why = j.after.JudgeCall(&c)
	}
	if why == "" && j.asksLaptop(&c.Call) {
		why = Folder
	}
	if why != "" {
		return result{class: replay.NotJudged, why: why, from: was}
	}
	if c.Missing.IsComplete() {
		old, now := j.old.Decide(&c.Call), j.now.Decide(&c.Call)
		o, n := prove.AnswerBy(old.Action, old.Rule), prove.AnswerBy(now.Action, now.Rule)
		if diff.KindOf(o, n) != "" {
			s.report.seen[keyOf(&o, &n)]++
		}
	}
	x := result{class: replay.Unchanged, from: was, to: was}
	if d.Rule != nil && d.Rule.Pos.File != "" { // the rule is not from bundled.AllowAll
		x.rule = d.Rule
	}
	switch {
	case d.Action < was && d.Action == policy.Deny:
		x.class, x.to = replay.NewlyDenied, d.Action
	case d.Action < was && d.Action == policy.Prompt:
		x.class, x.to = replay.NewlyAsked, d.Action
	case d.Action > was && !own:
		x.class, x.to = Released, d.Action
	}
	return x
}

// asksLaptop reports whether only the laptop can tell if a rule matches a call, because the rule
// looks at a folder of the laptop.
func (j *judges) asksLaptop(c *policy.Call) bool {
	if len(j.folders) == 0 {
		return false
	}
	t := j.now.Trace(c)
	return t.Cut || slices.ContainsFunc(j.folders, func(i int) bool { return t.Steps[i].Reached && t.Steps[i].Match == where.Maybe })
}

func (s *simulator) countCall(l *laptop, e *event.Entry, x result) {
	r := s.report
	r.add(x.class)
	if x.class == replay.NotJudged {
		r.NotKnownFor[x.why]++
	}
	server, tool := term.CutText(cmp.Or(e.Server, e.ServerGuess), maxText), term.CutText(e.Method, maxText)
	isNamed := len(e.Names) > 0 && (e.Subject == "tool" || e.Subject == "prompt" || e.Subject == "resource")
	if isNamed {
		tool = term.CutText(e.Names[0], maxText)
	}
	r.people.add(l.person, x.class)
	r.servers.add(server, x.class)
	r.tools.add(tool, x.class)
	if x.class == replay.Unchanged {
		return
	}
	key := groupKey{x.class, x.why, x.from.String(), x.to.String(), l.person, server, tool}
	if x.class == replay.NotJudged {
		key.to = ""
	}
	g := r.groups[key]
	switch {
	case g != nil:
	case len(r.groups) >= maxGroups:
		r.Beyond++
		return
	default:
		g = &Group{Class: x.class, Why: x.why, From: key.from, To: key.to, Person: l.person, Server: server, Tool: tool, Address: isNamed && e.Subject == "resource", Method: term.CutText(e.Method, maxText), Example: Example{
			Record: e.Record, Laptop: l.ID, LaptopName: term.CutText(l.Name, maxText), Time: e.Time, Args: term.CutText(escape.ReadableJSON(e.Args), maxArgs),
			Rule: check.RefOf(x.rule), session: e.Session, seq: e.Seq,
		}}
		r.groups[key] = g
	}
	g.N++
}

// judgeReply judges a recorded reply. A bundle can only add to the effects that the laptop's own rules
// have on the reply.
func (s *simulator) judgeReply(j *judges, reply *replay.Reply) {
	if !j.after.HasReplyRules(reply) {
		return
	}
	x := j.after.CompareReply(reply)
	if x.Class == replay.NewlyAllowed {
		x.Class, x.Why = replay.NotJudged, Own
	}
	s.report.Answers = s.report.Answers.AddExample(&x, 0)
}

// findPages sets the addresses of the pages of the examples.
func (s *simulator) findPages(ctx context.Context) error {
	for i := range s.report.Groups {
		x := &s.report.Groups[i].Example
		found, err := s.db.ListNeighbours(ctx, x.Laptop, x.session, x.seq, x.seq)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			x.ID, x.Page = found[0].ID, fmt.Sprint(s.options.Page, found[0].ID)
		}
	}
	return nil
}
