package prove

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/policy"
)

// If a value has an uncommon spelling (a//b, a/), a policy judges the text as written and its clean
// form, and gives the stricter answer. A language only contains texts, so it cannot express a
// condition on both forms. But the automata of all globs can read both forms at the same time. The
// answer of a policy depends only on the states that the automata reach. So it is enough to take
// one text for each combination of states (outcome), and to let the policies judge every
// combination of such texts. This is possible if only slashes in the globs make other readings. If
// globs have capitals, the automata also read the text in small letters.

// Limits of the exhaustive comparison.
const (
	maxGlobs    = 64      // number of globs for one name, server or argument
	maxOutcomes = 1 << 13 // number of outcomes for one text
	maxCells    = 1 << 17 // number of combinations of texts
	maxCased    = 1 << 15 // number of combinations of texts, if globs have capitals
)

// exhaustCases lets both policies judge one call for every case that their rules distinguish, and
// records the different answers. It returns false if there are too many cases, or if the cases
// cannot be listed.
func (d *difference) exhaustCases() bool {
	if d.exhausted != nil {
		return *d.exhausted
	}
	d.exhausted = new(bool)
	rules := slices.Concat(d.old.rules, d.new.rules)
	cells, ok := d.listCells(rules, true)
	if !ok { // with capitals there are too many cases, so try without capitals
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

// exhaustCells lets both policies judge every combination of the texts in cells. The calls have the
// findings of one look.
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

// cell is one part of a call (the name, the server or an argument), with one text for each case
// that the rules distinguish. A nil text means that the call does not have this part.
type cell struct {
	path  []string
	texts []*string
}

// listCells returns a cell for the name (or the URI), the server and each argument. It returns
// false if the cases cannot be listed.
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
			return nil, false // the outcomes of the globs cannot be listed
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
		if i < 2 { // the name and the server are always there in the model
			all[i].texts = slices.DeleteFunc(c.texts, func(t *string) bool { return *t == "" && !uri })
		}
		if size *= len(all[i].texts); size == 0 || size > maxCells || cased && size > maxCased {
			return nil, false
		}
	}
	return all, true
}

// strangeCells returns cells for further arguments: absent, innocent or suspicious. ok is false if
// rules name members of objects.
func strangeCells(rules []*rule, keys []string, uri bool) (cells []cell, ok bool) {
	if uri || !slices.ContainsFunc(rules, func(r *rule) bool { return r.watches }) {
		return nil, true
	}
	for _, v := range watchedArguments(rules)[1:] { // skip the argument with a suspicious name, because a suspicious text has the same effect
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

// visitCombinations visits every combination of one text from each cell.
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

// outcome holds the states of the automata after a text, and facts about the text.
type outcome struct {
	text            string
	sent, small     course // states after the text as it is, and after the text in small letters
	rooted, slashed bool   // the text begins with a slash; the text has a slash
	last            bool   // the text ends with a slash
	long            bool   // the clean form of the text has more than one character
	capital         bool   // the text has a capital
	above           bool   // the text is a path that leads above the working directory
}

// course holds the states of the automata after the forms of a text, each as a row of bits.
type course struct {
	raw   []uint64 // states after the text as written
	clean []uint64 // states after the clean form of the text
	open  []uint64 // states after the clean form without its last character, which may be a slash at the end
}

// listOutcomes returns one text for each outcome of the globs; nil if they cannot be listed. If value
// is true, the texts are values: a glob also matches a value if it matches the clean form of the
// value. If cased is true too, a glob also matches a value if it matches the value in small letters.
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
	// The loop only marks texts that begin with "../" as above the working directory, so add the
	// text "..".
	if value {
		above := ".."
		texts = append(texts, &above)
	}
	return texts
}

// plainCharacters are characters that make no other readings. Only the slash makes another form:
// the clean form.
const plainCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-/"

// capitals make one other reading: the text in small letters.
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// extendOutcome returns the outcome after the text and one more character.
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

// climbOutcome returns the outcome that follows the outcome in the parameter start after the text
// "../". The path then leads above the working directory.
func (m *machine) climbOutcome(start outcome) outcome {
	o := start
	for _, r := range "../" {
		o = m.extendOutcome(&o, r, true)
	}
	o.above = true
	return o
}

// extendCourse returns the course after one more character. slash means that the character before
// it is a slash.
func (m *machine) extendCourse(c *course, r rune, value, slash bool) course {
	next := course{make([]uint64, m.words), c.clean, c.open}
	m.stepRow(next.raw, c.raw, r)
	if value && !(r == '/' && slash) { // the clean form drops the second of two slashes
		next.clean, next.open = make([]uint64, m.words), c.clean
		m.stepRow(next.clean, c.clean, r)
	}
	return next
}

// stateRows returns the rows of states that can change an answer.
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

// outcomeKey returns a key of an outcome. Two outcomes with the same key stay equal, whatever
// characters follow.
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

// distinctionKey returns a key of everything in an outcome that can change a policy's answer.
func (m *machine) distinctionKey(o *outcome, value bool) string {
	var b strings.Builder
	for _, row := range o.stateRows(value) {
		for _, p := range m.segments {
			b.WriteByte('0' + byte(row[p.last/64]>>(p.last%64)&1))
		}
	}
	return b.String() + o.flagText(value)
}
