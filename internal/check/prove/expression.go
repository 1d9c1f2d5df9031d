package prove

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy"
)

// expression is a constraint that holds for the texts of a regular language.
type expression struct {
	key, atom string
	lang      *regular
	wide      *regular // of a rule that closes: what it may hold, and texts with breaks that it may not
	// choices says that the language is that of a one_of, which is about other
	// kinds of values as well: what it holds is known, and not what it leaves out.
	choices bool
}

// parseExpression reads a constraint on an argument as a language; nil where it is none.
func (pr *prover) parseExpression(key, atom, constraint, text string, closes bool) *expression {
	words := quotedStrings(text)
	expr := ""
	switch {
	case constraint == "regex" && len(words) == 1 && quotedText().FindString(text) == text:
		expr = words[0]
	case constraint == "one_of" && strings.Trim(quotedText().ReplaceAllString(text, ""), "[], \t\r\n") == "":
		if len(words) != len(quotedText().FindAllString(text, -1)) {
			return nil
		}
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		expr = strings.Join(words, "|")
	default:
		return nil
	}
	lang, known := pr.regulars[expr]
	if !known {
		lang = newRegular(expr)
		pr.regulars[expr] = lang
	}
	if lang == nil {
		return nil
	}
	e := &expression{key, atom, lang, lang, constraint == "one_of"}
	if closes && constraint == "regex" {
		e.wide = newRegular("(?:" + expr + ")|" + broken)
	}
	return e
}

// broken are the texts of which a regex of a rule that closes may hold a line alone.
const broken = `(?s:.*[\n\r\v\f\x{85}\x{2028}\x{2029}].*)`

// regularLanguages lists the languages that rules ask of an argument. Of those to avoid
// only such as a text outside of is sure to be outside of the condition.
func regularLanguages(ds []demand, key string, avoided bool) (langs []*regular) {
	for _, d := range ds {
		for _, e := range d.rule.exprs {
			lang := e.lang
			if d.any {
				lang = e.wide
			}
			if e.key == key && !(e.choices && (avoided || d.any && d.rule.deniesOrAsks())) && !slices.Contains(langs, lang) {
				langs = append(langs, lang)
			}
		}
	}
	return langs
}

// impliesExpression says that it is proved: what is needed of an argument keeps the condition
// of a rule to avoid, whose text is another one.
func (a *asked) impliesExpression(r *rule, atom string) bool {
	i := slices.IndexFunc(r.exprs, func(e *expression) bool { return e.atom == atom && !e.choices })
	if i < 0 {
		return false
	}
	e := r.exprs[i]
	needed := regularLanguages(a.needed, e.key, false)
	if len(needed) == 0 {
		return false
	}
	return a.prover.isEmpty(needed, []*regular{e.lang})
}

// atOdds says that it is proved: the needed rules ask for texts of one argument
// that there are none of. What a text in which others stand (as JSON), or with
// breaks around it, may be taken for is not known here.
func (a *asked) atOdds() bool {
	for _, key := range a.keys {
		needed := regularLanguages(a.needed, key, false)
		if len(needed) < 2 || !a.prover.isEmpty(needed, nil) {
			continue
		}
		if !slices.ContainsFunc(needed, func(l *regular) bool { return !a.prover.isEmpty([]*regular{l, ambiguous()}, nil) }) {
			return true
		}
	}
	return false
}

// ambiguous are the texts that a constraint may judge by another one.
var ambiguous = sync.OnceValue(func() *regular { return newRegular(`(?s).*[\n\r\t].*|\s*[\[{].*`) })

// isEmpty says that it is proved: no text is in all of needed and in none of avoided.
func (pr *prover) isEmpty(needed, avoided []*regular) bool {
	var key strings.Builder
	for _, l := range needed {
		key.WriteString(l.expr + "\x00")
	}
	for _, l := range avoided {
		key.WriteString("\x00" + l.expr + "\x00")
	}
	empty, known := pr.emptied[key.String()]
	if !known {
		_, found, all := apartText(needed, avoided)
		empty = !found && all
		pr.emptied[key.String()] = empty
	}
	return empty
}

// spelledTexts lists texts that the needed rules' expressions on an argument hold, first
// those that the ones to avoid do not.
func (q *question) spelledTexts(path []string) (texts []any) {
	key := argumentKey(path)
	if texts, known := q.texts[key]; known {
		return texts
	}
	plain := func(ds []demand) (sure []demand) {
		for _, d := range ds {
			sure = append(sure, demand{rule: d.rule})
		}
		return sure
	}
	needed := regularLanguages(plain(q.needed), key, false)
	if len(needed) > 0 {
		avoided := regularLanguages(plain(q.avoid), key, true)
		tries := [][]*regular{avoided}
		for _, l := range avoided[:min(len(avoided), maxTries)] {
			tries = append(tries, []*regular{l})
		}
		for _, without := range append(tries, nil) {
			if text, found, _ := apartText(needed, without); found && !slices.Contains(texts, any(text)) {
				texts = append(texts, text)
			}
		}
	}
	if q.texts == nil {
		q.texts = map[string][]any{}
	}
	q.texts[key] = texts
	return texts
}

// maxTries is how many expressions to avoid are tried each by itself.
const maxTries = 8

// opaqueReason says what of two modes no proof knows: for the reason why none was found.
func (m *mode) opaqueReason(n *mode) string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, d := range slices.Concat(m.needed, n.needed) {
		if d.rule.anywhere != nil {
			add(`args."*"`)
		}
		if d.rule.src.Not.HasExceptions() {
			add("not")
		}
		for _, w := range d.rule.src.Where {
			add("where." + strings.Join(w.Path, ".") + "." + w.Key)
		}
		for _, c := range d.rule.src.Calls {
			if k, _ := policy.CallKeyOf(c.Key); k.Proof == policy.NoSet {
				add(c.Key)
			}
		}
	}
	if names == nil {
		return ": each that was tried can also be read in a way that other rules decide"
	}
	return ": only examples of " + strings.Join(names, ", ") + " were tried"
}

// lineBreakQuestion asks for a call of which it is not sure that rules above take it, although
// one that is written plainly is: constraints are judged of a text and of the same
// without the breaks around it, and where the two differ nothing is sure. There is
// nothing to ask of a rule without expressions, or one that repeats another.
func lineBreakQuestion(rules []rule, i int) (q question, wanted bool) {
	r := &rules[i]
	repeats := slices.ContainsFunc(rules[:i], func(above rule) bool { return above.same == r.same })
	q = question{subject: r.src.Subject, needed: []demand{{r, true}}, quick: true, broken: true}
	return q, len(r.exprs) > 0 && !repeats
}

// coversPadded says that it is proved: whatever stands around the texts of a rule's
// expressions that a constraint might leave away, a rule above has the same of each.
func (pr *prover) coversPadded(rules []rule, i int) bool {
	for _, e := range rules[i].exprs {
		if e.lang.ends {
			return false // what stands around it would be outside of the text
		}
		wide := newRegular(blanks + "(?:" + e.lang.expr + ")" + blanks)
		if !slices.ContainsFunc(rules[:i], func(above rule) bool {
			return slices.ContainsFunc(above.exprs, func(o *expression) bool {
				return o.key == e.key && !o.choices && pr.isEmpty([]*regular{wide}, []*regular{o.lang})
			})
		}) {
			return false
		}
	}
	return true
}

// blanks are what unicode.IsSpace takes for one, any number.
const blanks = `[\s\v\x{85}\pZ]*`
