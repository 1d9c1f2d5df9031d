package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/policy/internal/toml"

	"github.com/clawai/clawai/policy/policytext"
)

var (
	whenNames  = []string{"from", "to", "days", "zone", "after", "before"}
	limitNames = []string{"rate", "sum", "per", "over"}
	dayNames   = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// whenParts holds what the parser has read so far of the current rule's key "when".
type whenParts struct {
	When
	texts map[string]string // each part as TOML, by name
	days  bool              // the rule has days, valid or not
	tried bool              // the rule has at least one part of "when", valid or not
}

func (p *parser) whenPair(e toml.Expression)  { p.readParts(whenKey, e) }
func (p *parser) limitPair(e toml.Expression) { p.readParts(limitKey, e) }

// readParts reads a pair that belongs to "when" or "limit": the key itself with a table as its
// value, or a dotted key such as when.days.
func (p *parser) readParts(k ruleKey, e toml.Expression) {
	name := ruleKeys[k]
	first := e.Key[0]
	again := p.given[k] > 0 && (len(e.Key) == 1 || p.whole[k])
	p.whole[k] = p.whole[k] || len(e.Key) == 1
	switch {
	case again:
		p.fail(first.Start, first.End, name+" is given twice", fmt.Sprintf("the first is on line %d", p.lineOf(k)))
		return
	case len(e.Key) > 2:
		p.rejectTable(k, first.Start, e.Key[len(e.Key)-1].End)
	case len(e.Key) == 2:
		p.readPart(k, e.Key[1:], e.Value)
	case e.Value.IsTable():
		p.tables = true
		e.Value.EachPair(func(key []toml.KeyPart, v toml.Value) { p.readPart(k, key, v) })
	case k == limitKey && e.Value.IsString():
		p.readRate(label{key: k}, e.Value)
	case k == limitKey:
		p.storePart("rate", "")
		p.wrongType(label{key: k}, "a rate or a table", e.Key, e.Value, `write limit = "20/min"`)
	default:
		p.when.tried = true
		p.wrongType(label{key: k}, "a table", e.Key, e.Value, `write when = { from = "09:00", to = "17:00" }`)
	}
	p.markGiven(k, first)
}

// rejectTable reports a table inside "when" or "limit".
func (p *parser) rejectTable(k ruleKey, start, end int) {
	p.when.tried = p.when.tried || k == whenKey
	p.storePart("rate", "")
	p.fail(start, end, ruleKeys[k]+" has no tables in it", "")
}

// readPart reads one part of "when" or "limit".
func (p *parser) readPart(k ruleKey, key []toml.KeyPart, v toml.Value) {
	word := key[0].Name
	names, known := whenNames, p.when.texts
	if k == limitKey {
		names, known = limitNames, p.limit.texts
	}
	name := label{k, argPath(nil, key)}
	start, end := key[0].Start, key[len(key)-1].End
	p.when.tried = p.when.tried || k == whenKey
	switch {
	case !slices.Contains(names, word) || len(key) > 1:
		p.fail(start, end, fmt.Sprintf("unknown key %q in %s", name, ruleKeys[k]), suggestWord(word, names, "it has "+listWords(names)))
	case known[word] != "":
		p.fail(start, end, name.String()+" is given twice", "")
	case k == limitKey:
		p.limitPart(word, name, key, v)
	default:
		if p.when.texts == nil {
			p.when.texts = map[string]string{}
		}
		p.when.texts[word] = p.whenPart(word, name, key, v)
	}
}

// whenPart reads one part of "when" and returns it as TOML; "" if the part is invalid.
func (p *parser) whenPart(word string, name label, at []toml.KeyPart, v toml.Value) string {
	w := &p.when.When
	switch word {
	case "days":
		p.when.days = true
		return p.readDays(name, at, v)
	case "after":
		return p.readInstant(&w.After, name, at, v)
	case "before":
		return p.readInstant(&w.Before, name, at, v)
	}
	if !v.IsString() {
		p.wrongType(name, "a string", at, v, "")
		return ""
	}
	s := v.Text()
	start, end, _ := v.Span()
	switch word {
	case "zone":
		zone, err := zoneOf(s)
		if err != nil {
			p.fail(start, end, fmt.Sprintf("%s: unknown time zone %q", name, s), `write a name of the IANA database such as "Europe/Berlin", "UTC" or "local"`)
			return ""
		}
		w.Zone = zone
	default:
		minute, ok := minuteOf(s)
		if !ok {
			p.fail(start, end, fmt.Sprintf("%s: %q is not a time of day", name, s), `write it as "09:00", up to "24:00"`)
			return ""
		}
		if word == "from" {
			w.From = minute
		} else {
			w.To = minute
		}
	}
	return policytext.Quote(s)
}

func zoneOf(name string) (*time.Location, error) {
	switch name {
	case "local":
		return time.Local, nil
	case "", "Local":
		return nil, errors.New("no zone")
	}
	return time.LoadLocation(name)
}

// minuteOf parses a time of day and returns the minutes since midnight.
func minuteOf(s string) (int, bool) {
	if s == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil && len(s) == len("15:04")
}

// readInstant reads a date and time with its offset (RFC 3339), as a string or as a TOML date.
func (p *parser) readInstant(to *time.Time, name label, at []toml.KeyPart, v toml.Value) string {
	s := v.SourceText()
	if v.IsString() {
		s = v.Text()
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		start, end, known := v.Span()
		if !known {
			start, end = at[0].Start, at[len(at)-1].End
		}
		p.fail(start, end, name.String()+" must be a date and time with its offset", `write "2026-01-31T17:00:00+01:00"`)
		return ""
	}
	*to = t
	return policytext.Quote(s)
}

// readDays reads a day, a range of days such as "mon-fri", or a list of these.
func (p *parser) readDays(name label, at []toml.KeyPart, v toml.Value) string {
	if v.IsString() {
		return p.dayRange(name, v)
	}
	if !v.IsList() {
		p.wrongType(name, "a list of days", at, v, `write ["mon-fri"]`)
		return ""
	}
	var texts []string
	elements := 0
	v.EachElement(func(e toml.Value) {
		elements++
		if !e.IsString() {
			p.wrongType(name, "a list of days", at, e, `write ["mon-fri"]`)
			return
		}
		texts = append(texts, p.dayRange(name, e))
	})
	if elements == 0 {
		p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is an empty list", "leave it out for every day")
		return ""
	}
	return policytext.FormatList(texts)
}

func (p *parser) dayRange(name label, v toml.Value) string {
	from, to, stretch := strings.Cut(v.Text(), "-")
	if !stretch {
		to = from
	}
	first, last := slices.Index(dayNames, from), slices.Index(dayNames, to)
	if first < 0 || last < 0 {
		word := from
		if first >= 0 {
			word = to
		}
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s: unknown day %q", name, word), suggestWord(word, dayNames, "write "+listWords(dayNames)+`, or "mon-fri"`))
		return ""
	}
	for day := first; ; day = (day + 1) % 7 {
		p.when.Days[day] = true
		if day == last {
			return policytext.Quote(v.Text())
		}
	}
}

// closeWhen checks the complete key "when" of a rule, and fills in missing parts.
func (p *parser) closeWhen(r *ruleSource) {
	at := p.given[whenKey] - 1
	if at < 0 {
		return
	}
	w := p.when.When
	if p.when.texts["to"] == "" {
		w.To = 24 * 60
	}
	if !p.when.days {
		for i := range w.Days {
			w.Days[i] = true
		}
	}
	if w.Zone == nil {
		w.Zone = time.Local
	}
	w.Text = tableOf(whenNames, p.when.texts)
	r.setCondition(whenKey, Stated{Text: w.Text, test: &w})
	fail := func(msg, hint string) { p.fail(at, at+len("when"), msg, hint) }
	switch {
	case !p.broken && !p.when.tried:
		fail("when says no time", `write when = { from = "09:00", to = "17:00" }`)
	case w.From == w.To || w.From == 24*60:
		fail("when lasts no time at all", "leave out from and to for the whole day")
	case !w.After.IsZero() && !w.Before.IsZero() && !w.After.Before(w.Before):
		fail("when ends before it begins", "after is the start, before the end")
	}
}
