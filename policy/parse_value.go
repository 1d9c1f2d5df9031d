package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/clawai/clawai/internal/policytext"
	"github.com/clawai/clawai/policy/internal/toml"
)

// valueForm is what a constraint takes.
type valueForm uint8

const (
	textForm     valueForm = iota // string
	textsForm                     // string, or list of strings: []string
	scalarsForm                   // list of strings, numbers and booleans: []any
	numberForm                    // int64 or float64
	countForm                     // int that is not negative
	booleanForm                   // bool
	settingsForm                  // string, or table of strings: map[string]string
	listsForm                     // string, list of strings, or table of those: map[string][]string
)

var formWords = [...]string{
	"a string", "a string or a list of strings", "a list of strings, numbers or booleans", "a number",
	"a whole number", "true or false", "a string or a table of strings",
	"a string, a list of strings or a table of lists",
}

// value reads the value of a constraint, and writes it as TOML.
func (p *parser) value(key *constraintKey, name label, at []toml.KeyPart, v toml.Value) (value any, text string) {
	form := key.form
	wrong := func(v toml.Value, want string) { p.wrongType(name, want, at, v, "") }
	switch {
	case form == listsForm && v.IsTable():
		return p.lists(key.settings, name, at, v)
	case form == listsForm && (v.IsString() || v.IsList()):
		value, text = p.value(&constraintKey{form: textsForm}, name, at, v)
		list, _ := value.([]string)
		return map[string][]string{key.settings[0]: list}, text
	case form == textsForm && v.IsList(), form == scalarsForm && v.IsList():
		return p.list(form, name, at, v)
	case v.IsString() && (form == textForm || form == textsForm || form == settingsForm):
		s := v.Text()
		switch form {
		case textsForm:
			return []string{s}, policytext.Quote(s)
		case settingsForm:
			return map[string]string{key.settings[0]: s}, policytext.Quote(s)
		}
		return s, policytext.Quote(s)
	case form == booleanForm && v.IsBool():
		return v.Text() == "true", v.Text()
	case form == numberForm && v.IsNumber():
		n, err := v.Number()
		if err != nil {
			wrong(v, "a finite number")
		}
		return n, v.Source()
	case form == countForm && v.IsNumber():
		n, err := v.Number()
		if i, whole := n.(int64); err == nil && whole && 0 <= i && i <= math.MaxInt32 {
			return int(i), v.Source()
		}
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s must be a whole number, not %s", name, v.Source()), "")
		return 0, ""
	case form == settingsForm && v.IsTable():
		return p.settings(key.settings, name, at, v)
	}
	wrong(v, formWords[form])
	return nil, ""
}

// list reads a list of plain values.
func (p *parser) list(form valueForm, name label, at []toml.KeyPart, v toml.Value) (value any, text string) {
	var strs []string
	var all []any
	var texts []string
	v.Elements(func(e toml.Value) {
		one, text := p.element(form, name, at, e)
		if s, ok := one.(string); ok {
			strs = append(strs, s)
		}
		all, texts = append(all, one), append(texts, text)
	})
	if len(all) == 0 {
		p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is an empty list", "no value would match")
	}
	text = policytext.List(texts)
	if form == textsForm {
		return strs, text
	}
	return all, text
}

func (p *parser) element(form valueForm, name label, at []toml.KeyPart, v toml.Value) (one any, text string) {
	switch {
	case v.IsString():
		return v.Text(), policytext.Quote(v.Text())
	case form == textsForm:
		p.wrongType(name, "a list of strings", at, v, "")
	case v.IsBool():
		return v.Text() == "true", v.Text()
	case v.IsNumber():
		if n, err := v.Number(); err == nil {
			return n, v.Source()
		}
		p.wrongType(name, "a list of finite numbers", at, v, "")
	default:
		p.wrongType(name, "a list of strings, numbers or booleans", at, v, "")
	}
	return nil, ""
}

// settings reads a table of strings.
func (p *parser) settings(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text string) {
	all := map[string]string{}
	text = p.pairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) string {
		if !inner.IsString() {
			p.wrongType(below, "a string", key, inner, "")
			return ""
		}
		all[word] = inner.Text()
		return policytext.Quote(inner.Text())
	})
	return all, text
}

// lists reads a table of lists.
func (p *parser) lists(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text string) {
	all := map[string][]string{}
	text = p.pairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) string {
		value, text := p.value(&constraintKey{form: textsForm}, below, key, inner)
		all[word], _ = value.([]string)
		return text
	})
	return all, text
}

// pairs reads a table of known keys, each by read, which writes its value.
func (p *parser) pairs(known []string, name label, at []toml.KeyPart, v toml.Value,
	read func(word string, below label, key []toml.KeyPart, inner toml.Value) string,
) string {
	p.tables = true
	var texts []policytext.Pair
	given := 0
	v.Pairs(func(key []toml.KeyPart, inner toml.Value) {
		word := string(key[0].Name)
		if given++; !slices.Contains(known, word) {
			p.fail(key[0].Start, key[0].End, fmt.Sprintf("unknown key %q in %s", word, name), suggest(word, known, "it has "+listWords(known)))
			return
		}
		below := label{whereKey, append(argPath(name.path, nil), word)}
		texts = append(texts, policytext.Pair{Key: word, Value: read(word, below, key, inner)})
	})
	if given == 0 {
		p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is empty", "")
	}
	return policytext.Table(texts)
}

// words reads one of all words, or a list of such. What is none it reports by wrong;
// those of packs are known when these are read.
func (p *parser) words(k ruleKey, e toml.Expression, all []string, choice string, wrong func(word string) string) (words []string) {
	name := label{key: k}
	word := func(v toml.Value) {
		switch {
		case !v.IsString():
			p.wrongType(name, "a string or a list of strings", e.Key, v, choice)
		case !slices.Contains(all, v.Text()) && (k != foundKey || !isPackKind(v.Text())):
			start, end, _ := v.Span()
			p.fail(start, end, wrong(v.Text()), suggest(v.Text(), all, choice))
		default:
			words = append(words, v.Text())
		}
	}
	if !e.Value.IsList() {
		word(e.Value)
		return words
	}
	none := true
	e.Value.Elements(func(v toml.Value) { none = false; word(v) })
	if none {
		p.fail(e.Key[0].Start, e.Key[0].End, ruleKeys[k]+" is an empty list", choice)
	}
	return words
}
