package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// A value in an uncommon spelling (a//b, a/) is judged as it is and in its clean
// form, and the stricter answer holds; no language of one text tells both. But
// the two run side by side: the automata of all globs read the text as it is and,
// one step behind, what is left of it when it is cleaned. What they come to is all
// that a policy knows of the text. So one text for each of these outcomes stands
// for all there are, and to ask the policies about every combination of such texts
// decides the question, for globs of which nothing but slashes makes readings.

// Bounds of that.
const (
	maxGlobs    = 64      // on one thing
	maxOutcomes = 1 << 13 // of one text: rows of the automata
	maxCells    = 1 << 17 // combinations of texts
)

// exhaust asks both policies about everything that they can tell apart, and notes
// what they answer differently. It reports whether that was possible.
func (d *difference) exhaust() bool {
	if d.exhausted != nil {
		return *d.exhausted
	}
	d.exhausted = new(bool)
	rules := slices.Concat(d.old.rules, d.new.rules)
	cells, ok := d.cells(rules)
	if !ok {
		return false
	}
	combine(cells, func(texts []*string) {
		c := policy.Call{Subject: d.subject, Method: methods[d.subject], Server: *texts[1], Names: []string{*texts[0]}}
		var args []value
		for i := range cells[2:] {
			if t := texts[2+i]; t != nil {
				args = append(args, value{cells[2+i].path, *t})
			}
		}
		if len(args) > 0 {
			c.Args = encode(args)
		}
		old, after := d.before.Decide(&c), d.after.Decide(&c)
		if unlike(&old, &after) {
			d.note(&c, &old, &after)
		}
	})
	*d.exhausted = true
	return true
}

// cell is one thing that rules have conditions on, and the texts that they tell
// apart; nil is that there is none.
type cell struct {
	path  []string
	texts []*string
}

// cells lists the name (or the URI), the server and the arguments.
func (d *difference) cells(rules []*rule) ([]cell, bool) {
	var names, servers []string
	globs, paths := map[string][]string{}, map[string][]string{}
	var keys []string
	for _, r := range rules {
		if len(r.atoms) > 0 || len(r.src.Where) > 0 || r.src.When != nil {
			return nil, false
		}
		names = append(names, r.src.Name)
		if r.src.Server != "" {
			servers = append(servers, r.src.Server)
		}
		for _, a := range r.src.Args {
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
	all := []cell{{texts: outcomes(names, uri)}, {texts: outcomes(servers, false)}}
	for _, key := range keys {
		texts := outcomes(globs[key], true)
		if texts == nil {
			return nil, false // to ask about calls without the argument alone would settle nothing
		}
		all = append(all, cell{paths[key], append([]*string{nil}, texts...)})
	}
	size := 1
	for i, c := range all {
		if i < 2 { // an empty name is none
			all[i].texts = slices.DeleteFunc(c.texts, func(t *string) bool { return *t == "" && !uri })
		}
		if size *= len(all[i].texts); size == 0 || size > maxCells {
			return nil, false
		}
	}
	return all, true
}

// combine visits every combination of the cells' texts.
func combine(cells []cell, visit func([]*string)) {
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
	text             string
	raw, clean, open []uint64 // open: clean as it was before its last slash
	rooted, slashed  bool     // begins with a slash, holds one
	last             bool     // ends with one
	long             bool     // its clean form is longer than one character
}

// outcomes gives one text for everything that globs can make of one; none when
// that cannot be said. Of values the clean form counts as well.
func outcomes(globs []string, value bool) []*string {
	var langs []*lang
	slices.Sort(globs)
	globs = slices.Compact(globs)
	if len(globs) > maxGlobs {
		return nil
	}
	for _, g := range globs {
		if value && strings.Trim(g, plainCharacters+"*?") != "" {
			return nil
		}
		langs = append(langs, globLang(g, false))
		if rest, found := strings.CutPrefix(g, "**/"); found && rest != "" {
			langs = append(langs, globLang(rest, false))
		}
	}
	m := newMachine(nil, langs, nil)
	if value && strings.Trim(string(m.runes), plainCharacters) != "" {
		return nil
	}
	var texts []*string
	seen, told := map[string]bool{}, map[string]bool{}
	queue := []outcome{{raw: m.start, clean: m.start, open: m.start}}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		if what := m.tells(&o, value); !told[what] {
			told[what] = true
			texts = append(texts, &o.text)
		}
		for _, r := range m.runes {
			next := m.after(&o, r, value)
			key := next.key(value)
			if seen[key] {
				continue
			}
			if seen[key] = true; len(seen) > maxOutcomes {
				return nil
			}
			queue = append(queue, next)
		}
	}
	if value { // the one path above the working directory that is a text by itself
		above := ".."
		texts = append(texts, &above)
	}
	return texts
}

// plainCharacters make no reading by themselves, but for the slash.
const plainCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-/"

// after is the outcome with one character more.
func (m *machine) after(o *outcome, r rune, value bool) outcome {
	next := outcome{
		text: o.text + string(r), raw: make([]uint64, m.words), clean: o.clean, open: o.open,
		rooted: o.rooted || o.text == "" && r == '/', slashed: o.slashed || r == '/', last: r == '/', long: o.long,
	}
	m.step(next.raw, o.raw, r)
	if !value || r == '/' && o.last {
		return next // cleaning drops the second slash
	}
	next.clean, next.open = make([]uint64, m.words), o.clean
	m.step(next.clean, o.clean, r)
	next.long = o.text != ""
	return next
}

// key tells outcomes apart that can become different ones.
func (o *outcome) key(value bool) string {
	var b strings.Builder
	rows := [][]uint64{o.raw}
	if value {
		rows = append(rows, o.clean, o.open)
	}
	for _, row := range rows {
		for _, w := range row {
			for range 8 {
				b.WriteByte(byte(w))
				w >>= 8
			}
		}
	}
	if value {
		b.WriteString(o.flags())
	}
	if o.text == "" {
		b.WriteByte('0')
	}
	return b.String()
}

func (o *outcome) flags() string {
	flags := []byte("----")
	for i, set := range []bool{o.rooted, o.slashed, o.last, o.long} {
		if set {
			flags[i] = '+'
		}
	}
	return string(flags)
}

// tells is what a policy can know of the text.
func (m *machine) tells(o *outcome, value bool) string {
	var b strings.Builder
	rows := [][]uint64{o.raw}
	if value {
		rows = append(rows, o.clean, o.open)
		b.WriteString(o.flags())
	}
	for _, row := range rows {
		for _, p := range m.places {
			b.WriteByte('0' + byte(row[p.last/64]>>(p.last%64)&1))
		}
	}
	if o.text == "" {
		b.WriteByte('e')
	}
	return b.String()
}
