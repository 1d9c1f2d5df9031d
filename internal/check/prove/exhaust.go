package prove

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/policy"
)

// A value in an uncommon spelling (a//b, a/) is judged as it is and in its clean
// form, and the stricter answer holds; no language of one text tells both. But
// the two run side by side: the automata of all globs read the text as it is and,
// one step behind, what is left of it when it is cleaned. What they come to is all
// that a policy knows of the text. So one text for each of these outcomes stands
// for all there are, and to ask the policies about every combination of such texts
// decides the question, for globs of which nothing but slashes makes readings. Where
// globs have capitals, the text in small letters runs beside these as well.

// Bounds of that.
const (
	maxGlobs    = 64      // on one thing
	maxOutcomes = 1 << 13 // of one text: rows of the automata
	maxCells    = 1 << 17 // combinations of texts
	maxCased    = 1 << 15 // the same, with those in capitals
)

// exhaustCases asks both policies about everything that they can tell apart, and notes
// what they answer differently. It reports whether that was possible.
func (d *difference) exhaustCases() bool {
	if d.exhausted != nil {
		return *d.exhausted
	}
	d.exhausted = new(bool)
	rules := slices.Concat(d.old.rules, d.new.rules)
	cells, ok := d.listCells(rules, true)
	if !ok { // capitals are more than there is room for, and may not matter
		cells, ok = d.listCells(rules, false)
	}
	looks, all := d.everyLook(rules)
	if !ok || !all || len(looks)*combinationCount(cells) > maxCells {
		return false
	}
	for _, l := range looks {
		d.exhaustCells(cells, l)
	}
	*d.exhausted = true
	return true
}

// exhaustCells is exhaust of calls in which one thing is known to be found.
func (d *difference) exhaustCells(cells []cell, l look) {
	visitCombinations(cells, func(texts []*string) {
		c := policy.Call{Subject: d.subject, Method: methods[d.subject], Server: *texts[1], Names: []string{*texts[0]}}
		l.putFinds(&c)
		var args []value
		for i := range cells[2:] {
			if t := texts[2+i]; t != nil {
				args = append(args, value{cells[2+i].path, *t})
			}
		}
		if len(args) > 0 {
			c.Args = encodeArguments(args)
		}
		old, after := d.before.Decide(&c), d.after.Decide(&c)
		if differInAnswer(&old, &after) {
			d.noteWitness(&c, &old, &after)
		}
	})
}

func combinationCount(cells []cell) int {
	n := 1
	for _, c := range cells {
		n *= len(c.texts)
	}
	return n
}

// cell is one thing that rules have conditions on, and the texts that they tell
// apart; nil is that there is none.
type cell struct {
	path  []string
	texts []*string
}

// listCells lists the name (or the URI), the server and the arguments.
func (d *difference) listCells(rules []*rule, cased bool) ([]cell, bool) {
	var names, servers []string
	globs, paths := map[string][]string{}, map[string][]string{}
	var keys []string
	for _, r := range rules {
		if len(r.atoms) > r.listed {
			return nil, false
		}
		names, servers = slices.Concat(names, r.src.Names, r.src.Not.Names), append(servers, r.src.Servers...)
		for _, c := range r.src.Not.Calls {
			servers = append(servers, c.Globs...)
		}
		for _, a := range slices.Concat(r.src.Args, r.src.Not.Args) {
			key := argumentKey(a.Path)
			if globs[key] == nil {
				keys = append(keys, key)
			}
			globs[key], paths[key] = append(globs[key], a.Globs...), a.Path
		}
	}
	uri := d.subject == policy.ResourceSubject
	if !uri && d.subject != policy.ToolSubject && d.subject != policy.PromptSubject {
		return nil, false
	}
	all := []cell{{texts: listOutcomes(names, uri, cased)}, {texts: listOutcomes(servers, false, false)}}
	for _, key := range keys {
		texts := listOutcomes(globs[key], true, cased)
		if texts == nil {
			return nil, false // to ask about calls without the argument alone would settle nothing
		}
		all = append(all, cell{paths[key], append([]*string{nil}, texts...)})
	}
	more, ok := strangeCells(rules, keys, uri)
	if !ok {
		return nil, false
	}
	all = append(all, more...)
	size := 1
	for i, c := range all {
		if i < 2 { // an empty name is none
			all[i].texts = slices.DeleteFunc(c.texts, func(t *string) bool { return *t == "" && !uri })
		}
		if size *= len(all[i].texts); size == 0 || size > maxCells || cased && size > maxCased {
			return nil, false
		}
	}
	return all, true
}

// strangeCells lists further arguments that rules tell apart: absent, innocent or not;
// false where members of objects are among what rules name.
func strangeCells(rules []*rule, keys []string, uri bool) (cells []cell, ok bool) {
	if uri || !slices.ContainsFunc(rules, func(r *rule) bool { return r.watches }) {
		return nil, true
	}
	for _, v := range watchedArguments(rules)[1:] { // a text makes another suspicious as well as its name
		if slices.Contains(keys, argumentKey(v.path)) {
			continue
		}
		cells = append(cells, cell{v.path, []*string{nil, new("x"), new("/x")}})
	}
	deep := func(r *rule) bool {
		return slices.ContainsFunc(r.named, func(path []string) bool { return len(path) > 1 })
	}
	return cells, !slices.ContainsFunc(rules, deep)
}

// visitCombinations visits every combination of the cells' texts.
func visitCombinations(cells []cell, visit func([]*string)) {
	texts := make([]*string, len(cells))
	var choose func(i int)
	choose = func(i int) {
		if i == len(cells) {
			visit(texts)
			return
		}
		for _, t := range cells[i].texts {
			texts[i] = t
			choose(i + 1)
		}
	}
	choose(0)
}

// outcome is how far a text has led the automata.
type outcome struct {
	text            string
	sent, small     course // of the text, and of the same in small letters
	rooted, slashed bool   // begins with a slash, holds one
	last            bool   // ends with one
	long            bool   // its clean form is longer than one character
	capital         bool   // holds one
	above           bool   // a path above the working directory
}

// course is the rows that a text leads to: as it is, and cleaned.
type course struct {
	raw, clean, open []uint64 // open: clean as it was before its last slash
}

// listOutcomes gives one text for everything that globs can make of one; none when
// that cannot be said. Of values the clean form counts as well, and, if cased, the text
// in small letters.
func listOutcomes(globs []string, value, cased bool) []*string {
	var langs []*lang
	slices.Sort(globs)
	globs = slices.Compact(globs)
	if len(globs) > maxGlobs {
		return nil
	}
	if cased = cased && value; value && !cased && strings.ContainsAny(strings.Join(globs, ""), capitals) {
		return nil
	}
	for _, g := range globs {
		if value && strings.Trim(g, plainCharacters+capitals+"*?") != "" {
			return nil
		}
		forms := []string{g}
		if small := strings.ToLower(g); cased && small != g {
			forms = append(forms, small)
		}
		for _, g := range forms {
			langs = append(langs, globLang(g, false))
			if rest, found := strings.CutPrefix(g, "**/"); found && rest != "" {
				langs = append(langs, globLang(rest, false))
			}
		}
	}
	runes := alphabetOf(langs)
	if cased {
		for _, r := range runes {
			for _, other := range []rune{unicode.ToLower(r), unicode.ToUpper(r)} {
				if !slices.Contains(runes, other) {
					runes = append(runes, other)
				}
			}
		}
	}
	if value && strings.Trim(string(runes), plainCharacters+capitals) != "" {
		return nil
	}
	m := newMachine(nil, langs, append(slices.Clip(runes), '.'))
	var texts []*string
	seen, told := map[string]bool{}, map[string]bool{}
	start := course{m.start, m.start, m.start}
	queue := []outcome{{sent: start, small: start}}
	if value {
		queue = append(queue, m.climbOutcome(queue[0]))
	}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		if what := m.distinctionKey(&o, value); !told[what] {
			told[what] = true
			texts = append(texts, &o.text)
		}
		for _, r := range runes {
			next := m.extendOutcome(&o, r, value)
			key := next.outcomeKey(value)
			if seen[key] {
				continue
			}
			if seen[key] = true; len(seen) > maxOutcomes {
				return nil
			}
			queue = append(queue, next)
		}
	}
	if value { // the other path above the working directory that is a text by itself
		above := ".."
		texts = append(texts, &above)
	}
	return texts
}

// plainCharacters make no reading by themselves, but for the slash.
const plainCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-/"

// capitals make one: the text in small letters.
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// extendOutcome gives the outcome with one character more.
func (m *machine) extendOutcome(o *outcome, r rune, value bool) outcome {
	next := *o
	next.text += string(r)
	next.rooted = o.rooted || o.text == "" && r == '/'
	next.slashed, next.last = o.slashed || r == '/', r == '/'
	next.sent = m.extendCourse(&o.sent, r, value, o.last)
	if !value {
		return next
	}
	next.capital = o.capital || unicode.IsUpper(r)
	if next.small = next.sent; next.capital {
		next.small = m.extendCourse(&o.small, unicode.ToLower(r), value, o.last)
	}
	if r != '/' || !o.last {
		next.long = o.text != ""
	}
	return next
}

// climbOutcome gives the outcome of ../, after which the text may go on.
func (m *machine) climbOutcome(start outcome) outcome {
	o := start
	for _, r := range "../" {
		o = m.extendOutcome(&o, r, true)
	}
	o.above = true
	return o
}

// extendCourse gives a course with one character more; slash says that one was the last.
func (m *machine) extendCourse(c *course, r rune, value, slash bool) course {
	next := course{make([]uint64, m.words), c.clean, c.open}
	m.stepRow(next.raw, c.raw, r)
	if value && !(r == '/' && slash) { // cleaning drops the second slash
		next.clean, next.open = make([]uint64, m.words), c.clean
		m.stepRow(next.clean, c.clean, r)
	}
	return next
}

// stateRows lists those that count.
func (o *outcome) stateRows(value bool) [][]uint64 {
	rows := [][]uint64{o.sent.raw}
	if value {
		rows = append(rows, o.sent.clean, o.sent.open)
	}
	if o.capital {
		rows = append(rows, o.small.raw, o.small.clean, o.small.open)
	}
	return rows
}

// outcomeKey tells outcomes apart that can become different ones.
func (o *outcome) outcomeKey(value bool) string {
	var b []byte
	for _, row := range o.stateRows(value) {
		for _, w := range row {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return string(b) + o.flagText(value)
}

func (o *outcome) flagText(value bool) string {
	flags := []byte("-------")
	for i, set := range []bool{o.text == "", o.capital, o.rooted, o.slashed, o.last, o.long, o.above} {
		if set && (value || i == 0) {
			flags[i] = '+'
		}
	}
	return string(flags)
}

// distinctionKey gives what a policy can know of the text.
func (m *machine) distinctionKey(o *outcome, value bool) string {
	var b strings.Builder
	for _, row := range o.stateRows(value) {
		for _, p := range m.segments {
			b.WriteByte('0' + byte(row[p.last/64]>>(p.last%64)&1))
		}
	}
	return b.String() + o.flagText(value)
}
