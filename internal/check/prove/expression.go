package prove

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy"
)

// expression is a constraint on an argument that holds for exactly the texts of a regular language.
type expression struct {
	key  string // key of the argument
	atom string // the constraint as an atom of the rule, see rule.atoms
	lang *regular
	wide *regular // for a rule that denies or asks: all texts that it may match, also texts with line breaks
	// choices means that the constraint is a one_of. All texts of the language surely match, but
	// values of other kinds may match too.
	choices bool
}

// parseExpression returns the expression of a constraint; nil if no regular language describes the
// constraint. text is the value of the constraint as TOML. deniesOrAsks means that the rule denies
// or asks.
func (pr *prover) parseExpression(key, atom, constraint, text string, deniesOrAsks bool) *expression {
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
	if deniesOrAsks && constraint == "regex" {
		e.wide = newRegular("(?:" + expr + ")|" + broken)
	}
	return e
}

// broken matches a text with line breaks. The regex of a rule that denies or asks may match a
// single line of such a text.
const broken = `(?s:.*[\n\r\v\f\x{85}\x{2028}\x{2029}].*)`

// regularLanguages returns the languages of the rules' constraints on an argument. avoided means
// that the rules must not match. A one_of is then left out, because it may match other texts too.
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

// impliesExpression reports whether it is proved that a text which meets the needed constraints
// also meets this constraint of rule r, although it is written differently.
func (a *inquiry) impliesExpression(r *rule, atom string) bool {
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

// contradictsExpressions reports whether it is proved that no text meets all needed constraints on
// one argument. It proves nothing for texts that the policy may judge in another form: texts that
// may be JSON, and texts with line breaks.
func (a *inquiry) contradictsExpressions() bool {
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

// ambiguous contains the texts that a policy may also judge in another form.
var ambiguous = sync.OnceValue(func() *regular { return newRegular(`(?s).*[\n\r\t].*|\s*[\[{].*`) })

// isEmpty reports whether it is proved that there is no text that is in every language of needed
// and in no language of avoided.
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

// spelledTexts returns texts that match the expressions of the needed rules on an argument. The
// texts that match no avoided rule (q.avoid) come first.
func (q *question) spelledTexts(path []string) (texts []any) {
	key := argumentKey(path)
	if texts, known := q.texts[key]; known {
		return texts
	}
	withoutAny := func(ds []demand) (sure []demand) {
		for _, d := range ds {
			sure = append(sure, demand{rule: d.rule})
		}
		return sure
	}
	needed := regularLanguages(withoutAny(q.needed), key, false)
	if len(needed) > 0 {
		avoided := regularLanguages(withoutAny(q.avoid), key, true)
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

// maxTries is the maximum number of texts that avoid one expression each.
const maxTries = 8

// opaqueReason returns the last part of the reason of an undecided class. This part names those
// conditions of the two modes that no proof can handle.
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

// lineBreakQuestion returns a question about texts with line breaks around them. A policy judges a
// constraint for the text with and without the line breaks, and the result is unsure if the two
// differ. So a rule above may surely match the text alone, but match it only perhaps with line
// breaks. wanted is false if the question is not needed: for a rule without expressions, or with
// the same conditions as a rule above.
func lineBreakQuestion(rules []rule, i int) (q question, wanted bool) {
	r := &rules[i]
	repeats := slices.ContainsFunc(rules[:i], func(above rule) bool { return above.same == r.same })
	q = question{subject: r.src.Subject, needed: []demand{{r, true}}, quick: true, broken: true}
	return q, len(r.exprs) > 0 && !repeats
}

// coversPadded reports whether it is proved for each expression of rule i that an expression of a
// rule above matches the same texts, with any blanks around them. A constraint may ignore such
// blanks.
func (pr *prover) coversPadded(rules []rule, i int) bool {
	for _, e := range rules[i].exprs {
		if e.lang.ends {
			// ^ and $ do not match at the ends of the text if there are blanks around it
			return false
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

// blanks is an expression for any number of characters that unicode.IsSpace accepts.
const blanks = `[\s\v\x{85}\pZ]*`
