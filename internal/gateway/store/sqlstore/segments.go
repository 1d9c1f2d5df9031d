package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
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

// partsStatement finds the parts that have bytes between two offsets. The first of them is found by its
// key: a segment may have a hundred thousand parts, and whoever reads it whole asks for each once.
const partsStatement = "SELECT begins, content FROM part WHERE org = ? AND laptop = ? AND segment = ? AND begins >= coalesce((SELECT max(begins) FROM part WHERE org = ? AND laptop = ? AND segment = ? AND begins <= ?), 0)" +
	" AND begins + size > ? AND begins < ? ORDER BY begins"

func (s *Store) partsBetween(laptop, segment string, from int64, most int) []any {
	return []any{s.org, laptop, segment, s.org, laptop, segment, from, from, from + int64(most)}
}

// joinParts returns the bytes from an offset on, at most most of them.
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
	return s.change(ctx, func(t *transaction) error {
		// The row of the laptop is locked first, so that two parts of one session wait for each other.
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
	for i := range x.Records {
		if err := s.addRecord(t, &x.Records[i]); err != nil {
			return err
		}
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

const recordColumns = "laptop, session, seq, at, kind, look, server, subject, name, method, about, code, reason, rule, rule_text, ref, segment, begins, size"

func (s *Store) addRecord(t *transaction, r *store.Record) error {
	if _, err := t.exec("INSERT INTO record (org, "+recordColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.org, r.Laptop, r.Session, int64(r.Seq), nanos(r.Time), r.Kind, string(r.Look), r.Server, r.Subject, r.Name, r.Method, r.About, r.Code, r.Reason, r.Rule, r.RuleText, r.Ref, r.Segment, r.Offset, r.Length); err != nil {
		return err
	}
	if r.Look == "" {
		return nil
	}
	_, err := t.exec("INSERT INTO tally (org, hour, laptop, server, name, look, calls) VALUES (?, ?, ?, ?, ?, ?, 1) ON CONFLICT (org, hour, laptop, server, name, look) DO UPDATE SET calls = tally.calls + 1",
		s.org, nanos(r.Time.Truncate(time.Hour)), r.Laptop, r.Server, r.Name, string(r.Look))
	return err
}
