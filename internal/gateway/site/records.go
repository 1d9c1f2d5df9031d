package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/shown"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/policy"
)

// pageLength is the maximum number of records on a page.
const pageLength = 100

// filterNames are the names that the query of the page of records may have.
var filterNames = []string{"laptop", "session", "server", "tool", "decision", "label", "kind", "rule", "since", "until", "before"}

// looks are the looks of a call by their stored word.
var looks = map[store.Look]view.Look{store.LookAllowed: view.Allowed, store.LookAsked: view.Asked, store.LookRefused: view.Refused}

// parseQuery reads the filter in an address.
func parseQuery(values url.Values, now time.Time) (q store.Query, err error) {
	wrong := func(name, want string) error {
		return refuse(http.StatusBadRequest, fmt.Sprintf("The address has a filter that is not understood: %s=%q; it can be %s.", name, values.Get(name), want))
	}
	for name, all := range values {
		if !slices.Contains(filterNames, name) || len(all) > 1 {
			return q, refuse(http.StatusBadRequest, fmt.Sprintf("The address has a filter that is not understood: %q; known here: %s, each once.", name, strings.Join(filterNames, ", ")))
		}
	}
	q = store.Query{
		Laptop: values.Get("laptop"), Session: values.Get("session"), Server: values.Get("server"), Tool: values.Get("tool"), Rule: values.Get("rule"),
		Look: store.Look(values.Get("decision")), Most: pageLength + 1,
	}
	if _, ok := looks[q.Look]; !ok && q.Look != "" {
		return q, wrong("decision", "allowed, asked or refused")
	}
	if word := values.Get("label"); word != "" {
		if q.Label = labelOf(word); q.Label == 0 {
			return q, wrong("label", strings.Join(policy.SeenWords(), ", "))
		}
	}
	switch q.Kind = values.Get("kind"); {
	case q.Kind == "all":
		q.Kind = ""
	case q.Kind == "":
		if q.Look == "" {
			q.Kind = string(event.Decision)
		}
	case !event.IsKind(q.Kind):
		return q, wrong("kind", "all or a kind of record, such as decision, outcome, answered")
	}
	for name, into := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if text := values.Get(name); text != "" {
			if *into, err = ParseTime(text, now); err != nil {
				return q, wrong(name, "an age such as 2h or 3d, or a time such as 2026-11-30T10:00:00Z")
			}
		}
	}
	if text := values.Get("before"); text != "" {
		at, id, _ := strings.Cut(text, "-")
		nanos, err := strconv.ParseInt(at, 10, 64)
		number, err2 := strconv.ParseInt(id, 10, 64)
		if err != nil || err2 != nil || number < 1 {
			return q, wrong("before", "what a page of this list wrote there")
		}
		q.Before = store.Place{Time: time.Unix(0, nanos), ID: number}
	}
	return q, nil
}

// labelOf returns the label with a word; 0 if no label has it.
func labelOf(word string) policy.Seen {
	all, _ := policy.SeenOf(policy.SeenWords())
	for label := range all.Each() {
		if label.LabelWords()[0] == word {
			return label
		}
	}
	return 0
}

// ParseTime reads an age, a date or a time.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	return time.Parse(time.RFC3339, text)
}

// recordRow is a record in a list.
type recordRow struct {
	ID                                             int64
	Time, Stamp, Look, Sign, Word                  string
	Tool, Server, About, Reason, Rule, RuleText    string
	Laptop, LaptopName, Session, Record, Kind, Ref string
	SessionLink, RuleLink                          string
	Labels                                         string
	This                                           bool
}

func (v *visit) newRecordRows(all []store.Record, names map[string]string) (rows []recordRow) {
	for i := range all {
		r := &all[i]
		look, word := view.Plain, r.Kind
		if r.Look != "" {
			look = looks[r.Look]
			word = look.Word()
		}
		tool := cmp.Or(r.Name, r.Method, r.Kind)
		row := recordRow{
			ID: r.ID, Time: r.Time.Format("2 Jan 15:04:05"), Stamp: r.Time.Format(time.RFC3339Nano), Look: look.Word(), Sign: look.Mark(), Word: word,
			Tool: tool, Server: r.Server, About: r.About, Reason: r.Reason, Rule: r.Rule, RuleText: r.RuleText,
			Laptop: r.Laptop, LaptopName: names[r.Laptop], Session: r.Session, Record: fmt.Sprintf("%s-%d", r.Session, r.Seq), Kind: r.Kind, Ref: r.Ref,
			SessionLink: page.Address(recordsPage, "laptop", r.Laptop, "session", r.Session, "kind", "all"), RuleLink: page.Address(recordsPage, "rule", r.Rule),
			Labels: strings.Join(r.Labels.LabelWords(), ", "),
		}
		if !v.who.Has(principal.Payload) {
			row.hidePayload(r)
		}
		rows = append(rows, row)
	}
	return rows
}

// hidePayload removes texts that may contain arguments: the main argument; the reason, because it may quote an
// argument; the description of the rule, because an answer "always" writes the call into it; and a name that
// does not name a tool, a prompt or a method, such as the address of a resource.
func (row *recordRow) hidePayload(r *store.Record) {
	row.About, row.Reason, row.RuleText = "", r.Code, ""
	if isNamed := r.Subject == "tool" || r.Subject == "prompt" || r.Name == r.Method; !isNamed || !shown.IsName(row.Tool) {
		row.Tool = cmp.Or(r.Method, r.Kind)
	}
}

// nameLaptops returns the names of all laptops by their ids.
func (v *visit) nameLaptops() (names map[string]string, all []store.Laptop, err error) {
	all, err = v.s.centre.Store.ListLaptops(v.r.Context())
	names = map[string]string{}
	for i := range all {
		names[all[i].ID] = all[i].Name
	}
	return names, all, err
}

// choice is one value of a select control.
type choice struct {
	Value, Text string
	Chosen      bool
}

func newChoices(chosen string, values ...string) (all []choice) {
	for _, value := range values {
		all = append(all, choice{value, value, value == chosen})
	}
	return all
}

// chip is a part of the filter that no control shows. Without is the address without this part.
type chip struct{ Name, Value, Without string }

// findRecords returns a page of records. The result before is the value of the filter "before" for the next
// page; "" on the last page.
func (v *visit) findRecords(q store.Query) (records []store.Record, before string, err error) {
	q.NamesOnly = q.Tool != "" && !v.who.Has(principal.Payload) // a match would confirm a guessed name that the person may not see
	records, err = v.s.centre.Store.ListRecords(v.r.Context(), q)
	if len(records) > pageLength {
		records = records[:pageLength]
		last := &records[pageLength-1]
		before = fmt.Sprintf("%d-%d", last.Time.UnixNano(), last.ID)
	}
	return records, before, err
}

func (v *visit) showRecords(string) error {
	values := v.r.URL.Query()
	for name, all := range values {
		if len(all) == 1 && all[0] == "" {
			delete(values, name)
		}
	}
	q, err := parseQuery(values, v.s.centre.Now())
	if err != nil {
		return err
	}
	records, before, err := v.findRecords(q)
	if err != nil {
		return err
	}
	names, laptops, err := v.nameLaptops()
	if err != nil {
		return err
	}
	next := ""
	if before != "" {
		next = withValue(values, "before", before)
	}
	var chips []chip
	for _, name := range []string{"session", "rule", "before"} {
		if value := values.Get(name); value != "" {
			if name == "before" {
				value = q.Before.Time.UTC().Format(time.DateTime) + " UTC"
			}
			chips = append(chips, chip{name, value, withValue(values, name, "")})
		}
	}
	var owners []choice
	for i := range laptops {
		owners = append(owners, choice{laptops[i].ID, laptops[i].Name + " (" + laptops[i].ID + ")", laptops[i].ID == values.Get("laptop")})
	}
	return v.show("records", "Records", recordsPage, struct {
		Records                                   []recordRow
		Next                                      string
		Chips                                     []chip
		Laptops, Decisions, Labels, Kinds         []choice
		Server, Tool, Since, Until, Session, Rule string
	}{
		v.newRecordRows(records, names), next, chips,
		owners, newChoices(values.Get("decision"), "allowed", "asked", "refused"), newChoices(values.Get("label"), policy.SeenWords()...), newChoices(values.Get("kind"), append([]string{"all"}, event.KindWords()...)...),
		values.Get("server"), values.Get("tool"), values.Get("since"), values.Get("until"), values.Get("session"), values.Get("rule"),
	})
}

// withValue returns the address of the page of records in which one name of the query has another value.
func withValue(values url.Values, name, value string) string {
	pairs := []string{name, value}
	for other := range values {
		if other != name {
			pairs = append(pairs, other, values.Get(other))
		}
	}
	return page.Address(recordsPage, pairs...)
}

// neighbours is how many records before a record, and how many records after it, the page of this
// record lists.
const neighbours = 8

func (v *visit) showRecord(text string) error {
	ctx := v.r.Context()
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return notFound
	}
	r, err := v.s.centre.Store.FindRecord(ctx, id)
	if errors.Is(err, store.ErrNone) {
		return notFound
	}
	if err != nil {
		return err
	}
	var line []byte
	if v.who.Has(principal.Payload) {
		if line, err = v.s.centre.Store.ReadSegment(ctx, r.Laptop, r.Segment, r.Offset, r.Length); err != nil {
			return err
		}
	}
	around, err := v.s.centre.Store.ListNeighbours(ctx, r.Laptop, r.Session, r.Seq-min(neighbours, r.Seq), r.Seq+neighbours)
	if err != nil {
		return err
	}
	names, _, err := v.nameLaptops()
	if err != nil {
		return err
	}
	findings, err := v.listFindings(ctx, r.Laptop, r.Segment, mostFindings)
	if err != nil {
		return err
	}
	rows := v.newRecordRows(around, names)
	for i := range rows {
		rows[i].This = rows[i].ID == id
	}
	return v.show("record", "Record", recordsPage, struct {
		Record   recordRow
		Segment  string
		Offset   int64
		Line     string
		Around   []recordRow
		Findings []findingRow
	}{v.newRecordRows([]store.Record{r}, names)[0], r.Segment, r.Offset, string(line), rows, findings})
}
