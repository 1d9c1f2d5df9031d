package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/store"
)

func readRecord(r scanner) (is store.Record, err error) {
	var at, seq int64
	err = r.Scan(&is.ID, &is.Laptop, &is.Session, &seq, &at, &is.Kind, &is.Look, &is.Server, &is.Subject, &is.Name, &is.Method, &is.About, &is.Code, &is.Reason, &is.Rule, &is.RuleText, &is.Labels, &is.Ref, &is.Segment, &is.Offset, &is.Length)
	is.Seq, is.Time = uint64(seq), fromNanos(at)
	return is, err
}

// hasLabel is the condition of the index of a label. Its place is for the label's bit.
const hasLabel = "(labels & %d) <> 0"

// filter is a column that must have a value. condition is the WHERE condition of the index that begins
// with the column. plain is true if no index begins with this value of the column. A filter for a label
// has no column, because its condition says everything.
type filter struct {
	column, value, condition string
	plain                    bool
}

// chooseFilters divides the filters of a query. The database finds records by the index for the
// filters in the result lead. It compares each of these records with the filters in the result others.
func chooseFilters(q *store.Query) (lead, others []filter) {
	isRare := q.Look == store.LookAsked || q.Look == store.LookRefused
	isRareToo := q.Kind != "" && q.Kind != string(event.Decision) && q.Kind != string(event.Outcome)
	look, kind := filter{"look", string(q.Look), isRareLook, !isRare}, filter{"kind", q.Kind, isRareKind, !isRareToo}
	session, laptop := filter{column: "session", value: q.Session}, filter{column: "laptop", value: q.Laptop}
	rule, tool, server := filter{"rule", q.Rule, isRuled, false}, filter{"name", q.Tool, isNamed, false}, filter{column: "server", value: q.Server}
	label := filter{}
	if q.Label != 0 {
		label.value, label.condition = "set", fmt.Sprintf(hasLabel, q.Label)
	}
	var order [][]filter // the filters that select few records; the first list selects the fewest
	order = append(order, []filter{session}, []filter{label})
	if isRare {
		order = append(order, []filter{look, laptop}, []filter{look, rule}, []filter{look, tool}, []filter{look, server}, []filter{look})
	}
	order = append(order, []filter{laptop})
	if isRareToo {
		order = append(order, []filter{kind, tool}, []filter{kind, server}, []filter{kind})
	}
	order = append(order, []filter{rule}, []filter{tool}, []filter{server})
	for _, pair := range order {
		if !slices.ContainsFunc(pair, func(f filter) bool { return f.value == "" }) {
			lead = pair
			break
		}
	}
	for _, f := range []filter{session, label, laptop, rule, tool, server, look, kind} {
		if f.value != "" && !slices.ContainsFunc(lead, func(of filter) bool { return of.column == f.column }) {
			others = append(others, f)
		}
	}
	return lead, others
}

// ListRecords implements store.Records.
func (s *Store) ListRecords(ctx context.Context, q store.Query) ([]store.Record, error) {
	statement, values := s.writeList(&q)
	return list(ctx, s, readRecord, statement, values...)
}

// writeList returns the SQL statement for a list of records, and the values of its places.
func (s *Store) writeList(q *store.Query) (statement string, values []any) {
	where, values := []string{"org = ?"}, []any{s.org}
	lead, others := chooseFilters(q)
	for _, f := range lead {
		if f.column != "" {
			where, values = append(where, f.column+" = ?"), append(values, f.value)
		}
	}
	if len(lead) > 0 && lead[0].condition != "" {
		where = append(where, lead[0].condition)
	}
	byTool := slices.ContainsFunc(lead, func(f filter) bool { return f.column == "name" })
	for _, f := range others {
		if f.column == "" {
			where = append(where, strings.Replace(f.condition, ")", ") + 0", 1)) // + 0 keeps the database from the index of the label
			continue
		}
		// A database without statistics may choose the index of a column that selects nearly all
		// records. With || '' the column becomes a term, for which the database cannot use this
		// index. But inside the indexes of tools, PostgreSQL compares only columns and no terms, so
		// server stays a column there.
		if !f.plain && !(s.d.numbered && f.column == "server" && byTool) {
			f.column += " || ''"
		}
		where, values = append(where, f.column+" = ?"), append(values, f.value)
	}
	if q.NamesOnly {
		where = append(where, "(subject IN ('tool', 'prompt') OR name = method)")
	}
	if !q.Since.IsZero() {
		where, values = append(where, "at >= ?"), append(values, nanos(q.Since))
	}
	if !q.Until.IsZero() {
		where, values = append(where, "at < ?"), append(values, nanos(q.Until))
	}
	if q.Before.ID != 0 {
		where, values = append(where, "(at, id) < (?, ?)"), append(values, nanos(q.Before.Time), q.Before.ID)
	}
	return "SELECT id, " + recordColumns + " FROM record WHERE " + strings.Join(where, " AND ") + " ORDER BY at DESC, id DESC LIMIT ?", append(values, q.Most)
}

// FindRecord implements store.Records.
func (s *Store) FindRecord(ctx context.Context, id int64) (store.Record, error) {
	r, err := readRecord(s.row(ctx, "SELECT id, "+recordColumns+" FROM record WHERE org = ? AND id = ?", s.org, id))
	return r, explain(err)
}

// ListNeighbours implements store.Records.
func (s *Store) ListNeighbours(ctx context.Context, laptop, session string, low, high uint64) ([]store.Record, error) {
	return list(ctx, s, readRecord, "SELECT id, "+recordColumns+" FROM record WHERE org = ? AND laptop = ? AND session = ? AND seq >= ? AND seq <= ? ORDER BY seq, segment, begins LIMIT ?",
		s.org, laptop, session, int64(low), int64(high), int64(high-low+1))
}

// CountHours implements store.Records.
func (s *Store) CountHours(ctx context.Context, since time.Time) ([]store.Sum, error) {
	return list(ctx, s, func(r scanner) (n store.Sum, err error) {
		var hour int64
		err = r.Scan(&hour, &n.Look, &n.N)
		n.Hour = fromNanos(hour)
		return n, err
	}, "SELECT hour, look, CAST(sum(calls) AS "+s.d.types["{int}"]+") FROM tally WHERE org = ? AND hour >= ? GROUP BY hour, look ORDER BY hour, look", s.org, nanos(since))
}

// CountTools implements store.Records.
func (s *Store) CountTools(ctx context.Context, look store.Look, since time.Time, most int) ([]store.Sum, error) {
	return list(ctx, s, func(r scanner) (n store.Sum, err error) {
		n.Look = look
		return n, r.Scan(&n.Server, &n.Tool, &n.N, &n.Of)
	}, strings.ReplaceAll("SELECT server, name, CAST(sum(CASE WHEN look = ? THEN calls ELSE 0 END) AS {int}) AS n, CAST(sum(calls) AS {int}) FROM tally WHERE org = ? AND hour >= ?"+
		" GROUP BY server, name HAVING sum(CASE WHEN look = ? THEN calls ELSE 0 END) > 0 ORDER BY n DESC, server, name LIMIT ?", "{int}", s.d.types["{int}"]), string(look), s.org, nanos(since), string(look), most)
}

// CountLabels implements store.Records.
func (s *Store) CountLabels(ctx context.Context, since time.Time) ([]store.Sum, error) {
	return list(ctx, s, func(r scanner) (n store.Sum, err error) {
		return n, r.Scan(&n.Label, &n.Look, &n.N)
	}, "SELECT label, look, CAST(sum(calls) AS "+s.d.types["{int}"]+") FROM label_tally WHERE org = ? AND hour >= ? GROUP BY label, look ORDER BY label, look", s.org, nanos(since))
}

// ListFindings implements store.Records.
func (s *Store) ListFindings(ctx context.Context, laptop, segment string, most int) ([]store.Finding, error) {
	where, values := "org = ?", []any{s.org}
	if laptop != "" {
		where, values = where+" AND laptop = ?", append(values, laptop)
	}
	if segment != "" {
		where, values = where+" AND segment = ?", append(values, segment)
	}
	return list(ctx, s, func(r scanner) (f store.Finding, err error) {
		var note, found int64
		err = r.Scan(&f.Laptop, &f.Segment, &f.Line, &f.What, &note, &found)
		f.Note, f.Found = note != 0, fromNanos(found)
		return f, err
	}, "SELECT laptop, segment, line, what, note, found FROM finding WHERE "+where+" ORDER BY note, found DESC, segment, line, what LIMIT ?", append(values, most)...)
}
