package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/policytext"
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
)

var formWords = [...]string{
	"a string", "a string or a list of strings", "a list of strings, numbers or booleans", "a number",
	"a whole number", "true or false", "a string or a table of strings",
}

// value reads the value of a constraint, and writes it as TOML.
func (p *parser) value(key *constraintKey, name label, at []keyPart, v tomlValue) (value any, text string) {
	form := key.form
	wrong := func(v tomlValue, want string) { p.wrongType(name, want, at, v, "") }
	switch {
	case form == textsForm && v.isList(), form == scalarsForm && v.isList():
		return p.list(form, name, at, v)
	case v.isString() && (form == textForm || form == textsForm || form == settingsForm):
		s := v.text()
		switch form {
		case textsForm:
			return []string{s}, policytext.Quote(s)
		case settingsForm:
			return map[string]string{key.settings[0]: s}, policytext.Quote(s)
		}
		return s, policytext.Quote(s)
	case form == booleanForm && v.isBool():
		return v.text() == "true", v.text()
	case form == numberForm && v.isNumber():
		n, err := v.number()
		if err != nil {
			wrong(v, "a finite number")
		}
		return n, v.source()
	case form == countForm && v.isNumber():
		n, err := v.number()
		if i, whole := n.(int64); err == nil && whole && 0 <= i && i <= math.MaxInt32 {
			return int(i), v.source()
		}
		start, end, _ := v.span()
		p.fail(start, end, fmt.Sprintf("%s must be a whole number, not %s", name, v.source()), "")
		return 0, ""
	case form == settingsForm && v.isTable():
		return p.settings(key.settings, name, at, v)
	}
	wrong(v, formWords[form])
	return nil, ""
}

// list reads a list of plain values.
func (p *parser) list(form valueForm, name label, at []keyPart, v tomlValue) (value any, text string) {
	var strs []string
	var all []any
	var texts []string
	v.elements(func(e tomlValue) {
		one, text := p.element(form, name, at, e)
		if s, ok := one.(string); ok {
			strs = append(strs, s)
		}
		all, texts = append(all, one), append(texts, text)
	})
	if len(all) == 0 {
		p.fail(at[0].start, at[len(at)-1].end, name.String()+" is an empty list", "no value would match")
	}
	text = policytext.List(texts)
	if form == textsForm {
		return strs, text
	}
	return all, text
}

func (p *parser) element(form valueForm, name label, at []keyPart, v tomlValue) (one any, text string) {
	switch {
	case v.isString():
		return v.text(), policytext.Quote(v.text())
	case form == textsForm:
		p.wrongType(name, "a list of strings", at, v, "")
	case v.isBool():
		return v.text() == "true", v.text()
	case v.isNumber():
		if n, err := v.number(); err == nil {
			return n, v.source()
		}
		p.wrongType(name, "a list of finite numbers", at, v, "")
	default:
		p.wrongType(name, "a list of strings, numbers or booleans", at, v, "")
	}
	return nil, ""
}

// settings reads a table of strings.
func (p *parser) settings(known []string, name label, at []keyPart, v tomlValue) (value any, text string) {
	p.tables = true
	all := map[string]string{}
	var texts []policytext.Pair
	given := 0
	v.pairs(func(key []keyPart, inner tomlValue) {
		word := string(key[0].name)
		given++
		switch {
		case !slices.Contains(known, word):
			p.fail(key[0].start, key[0].end, fmt.Sprintf("unknown key %q in %s", word, name), suggest(word, known, "it has "+listWords(known)))
		case !inner.isString():
			p.wrongType(label{whereKey, append(argPath(name.path, nil), word)}, "a string", key, inner, "")
		default:
			all[word] = inner.text()
			texts = append(texts, policytext.Pair{Key: word, Value: policytext.Quote(inner.text())})
		}
	})
	if given == 0 {
		p.fail(at[0].start, at[len(at)-1].end, name.String()+" is empty", "")
	}
	return all, policytext.Table(texts)
}

// number is an int64 or a float64 (TOML 1.0.0, "Integer" and "Float").
func (v tomlValue) number() (any, error) {
	s := strings.ReplaceAll(v.source(), "_", "")
	if n, err := strconv.ParseInt(strings.TrimPrefix(s, "+"), 0, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
		err = strconv.ErrRange
	}
	return f, err
}

// nests says whether a table holds a table.
func (v tomlValue) nests() (nests bool) {
	v.pairs(func(key []keyPart, inner tomlValue) { nests = nests || len(key) > 1 || inner.isTable() })
	return nests
}
