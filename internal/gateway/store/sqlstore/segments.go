package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/policy"
)

const segmentColumns = "laptop, session, name, size, complete, arrival, sum, changed"

func readSegment(r scanner) (g store.Segment, err error) {
	var complete, changed int64
	var arrival string
	if err = r.Scan(&g.Laptop, &g.Session, &g.Name, &g.Size, &complete, &arrival, &g.Sum, &changed); err == nil {
		err = json.Unmarshal([]byte(arrival), &g.Arrival)
	}
	g.Complete, g.Changed = complete != 0, fromNanos(changed)
	return g, err
}

// FindSegment implements store.Segments.
func (s *Store) FindSegment(ctx context.Context, laptop, name string) (store.Segment, error) {
	g, err := readSegment(s.row(ctx, "SELECT "+segmentColumns+" FROM segment WHERE org = ? AND laptop = ? AND name = ?", s.org, laptop, name))
	return g, explain(err)
}

// ListChangedSegments implements store.Segments.
func (s *Store) ListChangedSegments(ctx context.Context, laptop string, since time.Time, session, name string, most int) ([]store.Segment, error) {
	return list(ctx, s, readSegment, "SELECT "+segmentColumns+" FROM segment WHERE org = ? AND laptop = ? AND changed >= ? AND (session, name) > (?, ?) ORDER BY session, name LIMIT ?",
		s.org, laptop, nanos(since), session, name, most)
}

// holding implements store.Holding.
type holding struct {
	s  *Store
	t  *transaction
	is store.Segment
}

func (h *holding) Segment() store.Segment { return h.is }

func (h *holding) ReadHeld(from int64, most int) ([]byte, error) {
	rows, err := h.t.rows(partsStatement, h.s.partsBetween(h.is.Laptop, h.is.Name, from, most)...)
	return joinParts(rows, err, from, most)
}

func (h *holding) ListSession() ([]store.Segment, error) {
	rows, err := h.t.rows("SELECT "+segmentColumns+" FROM segment WHERE org = ? AND laptop = ? AND session = ? AND name <> ? ORDER BY name", h.s.org, h.is.Laptop, h.is.Session, h.is.Name)
	return collect(rows, err, readSegment)
}

func (h *holding) CountSegments() (all, ofSession int, err error) {
	err = h.t.row("SELECT count(*), count(CASE WHEN session = ? THEN 1 END) FROM segment WHERE org = ? AND laptop = ?", h.is.Session, h.s.org, h.is.Laptop).Scan(&all, &ofSession)
	return all, ofSession, err
}

func (h *holding) CountFindings() (all, notes int, err error) {
	err = h.t.row("SELECT count(*), count(CASE WHEN note = 1 THEN 1 END) FROM finding WHERE org = ? AND laptop = ?", h.s.org, h.is.Laptop).Scan(&all, &notes)
	return all, notes, err
}

// partsStatement finds the parts that have bytes between two offsets. It finds the first part by its
// key, because a segment may have a hundred thousand parts and a reader of the whole segment runs the
// statement many times.
const partsStatement = "SELECT begins, content FROM part WHERE org = ? AND laptop = ? AND segment = ? AND begins >= coalesce((SELECT max(begins) FROM part WHERE org = ? AND laptop = ? AND segment = ? AND begins <= ?), 0)" +
	" AND begins + size > ? AND begins < ? ORDER BY begins"

func (s *Store) partsBetween(laptop, segment string, from int64, most int) []any {
	return []any{s.org, laptop, segment, s.org, laptop, segment, from, from, from + int64(most)}
}

// joinParts returns the bytes of the parts, starting at the offset from. The parameter most is the
// maximum number of bytes.
func joinParts(rows *sql.Rows, err error, from int64, most int) (text []byte, _ error) {
	type part struct {
		begins int64
		text   []byte
	}
	all, err := collect(rows, err, func(r scanner) (p part, err error) { return p, r.Scan(&p.begins, &p.text) })
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		at := from + int64(len(text)) - p.begins
		if at < 0 || at > int64(len(p.text)) {
			return nil, fmt.Errorf("bytes are missing behind %d", from+int64(len(text)))
		}
		text = append(text, p.text[at:]...)
	}
	return text[:min(len(text), most)], nil
}

// ReadSegment implements store.Segments.
func (s *Store) ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error) {
	defer s.tellTime(readOperation, time.Now())
	rows, err := s.db.QueryContext(ctx, s.d.writePlaces(partsStatement), s.partsBetween(laptop, name, from, length)...)
	return joinParts(rows, err, from, length)
}

// ExtendSegment implements store.Segments.
func (s *Store) ExtendSegment(ctx context.Context, laptop, session, name string, extend func(store.Holding) (store.Extension, error)) error {
	return s.changePart(ctx, func(t *transaction) error {
		// ExtendSegment first locks the row of the laptop, so that two parts of one session are added
		// one after the other.
		if err := t.row("SELECT id FROM laptop WHERE org = ? AND id = ?"+s.d.lock, s.org, laptop).Scan(new(string)); err != nil {
			return err
		}
		is, err := readSegment(t.row("SELECT "+segmentColumns+" FROM segment WHERE org = ? AND laptop = ? AND name = ?", s.org, laptop, name))
		if errors.Is(err, sql.ErrNoRows) {
			is, err = store.Segment{Laptop: laptop, Session: session, Name: name}, nil
		}
		if err != nil {
			return err
		}
		x, err := extend(&holding{s: s, t: t, is: is})
		if err != nil {
			return err
		}
		return s.keepExtension(t, is, x)
	})
}

func (s *Store) keepExtension(t *transaction, was store.Segment, x store.Extension) error {
	g := x.Segment
	arrival, err := json.Marshal(g.Arrival)
	if err != nil {
		return err
	}
	if _, err := t.exec(`INSERT INTO segment (org, laptop, name, session, size, complete, arrival, sum, changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (org, laptop, name) DO UPDATE SET size = excluded.size, complete = excluded.complete, arrival = excluded.arrival, sum = excluded.sum, changed = excluded.changed`,
		s.org, g.Laptop, g.Name, g.Session, g.Size, bit(g.Complete), string(arrival), g.Sum, nanos(g.Changed)); err != nil {
		return err
	}
	if len(x.Part) > 0 {
		if _, err := t.exec("INSERT INTO part (org, laptop, segment, begins, size, content) VALUES (?, ?, ?, ?, ?, ?)", s.org, g.Laptop, g.Name, was.Size, len(x.Part), x.Part); err != nil {
			return err
		}
	}
	if err := s.addRecords(t, x.Records); err != nil {
		return err
	}
	fresh := 0
	for _, f := range x.Findings {
		n, err := t.exec("INSERT INTO finding (org, laptop, segment, line, what, note, found) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", s.org, g.Laptop, f.Segment, f.Line, f.What, bit(f.Note), nanos(f.Found))
		if err != nil {
			return err
		}
		if n > 0 && !f.Note {
			fresh++
		}
	}
	shipped := int64(0)
	if len(x.Part) > 0 {
		shipped = nanos(g.Changed)
	}
	_, err = t.exec("UPDATE laptop SET bytes = bytes + ?, records = records + ?, findings = findings + ?, shipped = CASE WHEN shipped > ? THEN shipped ELSE ? END WHERE org = ? AND id = ?",
		len(x.Part), len(x.Records), fresh, shipped, shipped, s.org, g.Laptop)
	return err
}

const recordColumns = "laptop, session, seq, at, kind, look, server, subject, name, method, about, code, reason, rule, rule_text, labels, ref, segment, begins, size"

// addRecords adds the records of a part to the index, and adds their calls to the tally.
func (s *Store) addRecords(t *transaction, all []store.Record) error {
	var r rows
	textsOf(&r, "org", all, func(*store.Record) string { return s.org })
	textsOf(&r, "laptop", all, func(r *store.Record) string { return r.Laptop })
	textsOf(&r, "session", all, func(r *store.Record) string { return r.Session })
	numbersOf(&r, "seq", all, func(r *store.Record) int64 { return int64(r.Seq) })
	numbersOf(&r, "at", all, func(r *store.Record) int64 { return nanos(r.Time) })
	textsOf(&r, "kind", all, func(r *store.Record) string { return r.Kind })
	textsOf(&r, "look", all, func(r *store.Record) string { return string(r.Look) })
	textsOf(&r, "server", all, func(r *store.Record) string { return r.Server })
	textsOf(&r, "subject", all, func(r *store.Record) string { return r.Subject })
	textsOf(&r, "name", all, func(r *store.Record) string { return r.Name })
	textsOf(&r, "method", all, func(r *store.Record) string { return r.Method })
	textsOf(&r, "about", all, func(r *store.Record) string { return r.About })
	textsOf(&r, "code", all, func(r *store.Record) string { return r.Code })
	textsOf(&r, "reason", all, func(r *store.Record) string { return r.Reason })
	textsOf(&r, "rule", all, func(r *store.Record) string { return r.Rule })
	textsOf(&r, "rule_text", all, func(r *store.Record) string { return r.RuleText })
	numbersOf(&r, "labels", all, func(r *store.Record) int64 { return int64(r.Labels) })
	textsOf(&r, "ref", all, func(r *store.Record) string { return r.Ref })
	textsOf(&r, "segment", all, func(r *store.Record) string { return r.Segment })
	numbersOf(&r, "begins", all, func(r *store.Record) int64 { return r.Offset })
	numbersOf(&r, "size", all, func(r *store.Record) int64 { return int64(r.Length) })
	if err := t.insertRows("record", &r, ""); err != nil {
		return err
	}
	if err := s.addTally(t, all); err != nil {
		return err
	}
	return s.addLabelTally(t, all)
}

// tallied is the key of a count in the table tally.
type tallied struct {
	hour         time.Time
	server, name string
	look         store.Look
}

func compareTallied(a, b tallied) int {
	return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.server, b.server), cmp.Compare(a.name, b.name), cmp.Compare(a.look, b.look))
}

// addTally adds the calls among the records to the table tally.
func (s *Store) addTally(t *transaction, all []store.Record) error {
	counts := map[tallied]int64{}
	for i := range all {
		if r := &all[i]; r.Look != "" {
			counts[tallied{r.Time.Truncate(time.Hour), r.Server, r.Name, r.Look}]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), compareTallied) // in sorted order, so that two writers of the same counts cannot deadlock
	var r rows
	textsOf(&r, "org", keys, func(*tallied) string { return s.org })
	numbersOf(&r, "hour", keys, func(k *tallied) int64 { return nanos(k.hour) })
	numbersOf(&r, "place", keys, func(*tallied) int64 { return t.place })
	textsOf(&r, "server", keys, func(k *tallied) string { return k.server })
	textsOf(&r, "name", keys, func(k *tallied) string { return k.name })
	textsOf(&r, "look", keys, func(k *tallied) string { return string(k.look) })
	numbersOf(&r, "calls", keys, func(k *tallied) int64 { return counts[*k] })
	return t.insertRows("tally", &r, " ON CONFLICT (org, hour, place, server, name, look) DO UPDATE SET calls = tally.calls + excluded.calls")
}

// talliedLabel is the key of a count in the table label_tally.
type talliedLabel struct {
	hour  time.Time
	label policy.Seen
	look  store.Look
}

func compareTalliedLabels(a, b talliedLabel) int {
	return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.label, b.label), cmp.Compare(a.look, b.look))
}

// addLabelTally adds the calls among the records that have labels to the table label_tally.
func (s *Store) addLabelTally(t *transaction, all []store.Record) error {
	counts := map[talliedLabel]int64{}
	for i := range all {
		r := &all[i]
		if r.Labels == 0 || r.Look == "" {
			continue
		}
		for label := range r.Labels.Each() {
			counts[talliedLabel{r.Time.Truncate(time.Hour), label, r.Look}]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), compareTalliedLabels) // as in addTally
	var r rows
	textsOf(&r, "org", keys, func(*talliedLabel) string { return s.org })
	numbersOf(&r, "hour", keys, func(k *talliedLabel) int64 { return nanos(k.hour) })
	numbersOf(&r, "place", keys, func(*talliedLabel) int64 { return t.place })
	numbersOf(&r, "label", keys, func(k *talliedLabel) int64 { return int64(k.label) })
	textsOf(&r, "look", keys, func(k *talliedLabel) string { return string(k.look) })
	numbersOf(&r, "calls", keys, func(k *talliedLabel) int64 { return counts[*k] })
	return t.insertRows("label_tally", &r, " ON CONFLICT (org, hour, place, label, look) DO UPDATE SET calls = label_tally.calls + excluded.calls")
}
