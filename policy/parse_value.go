package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where/shell"
)

// valueForm is the form of a constraint's value in TOML, and so its type in Go.
type valueForm uint8

const (
	textForm     valueForm = iota // string
	textsForm                     // string, or list of strings: []string
	scalarsForm                   // list of strings, numbers and booleans: []any
	numberForm                    // int64 or float64
	countForm                     // int that is not negative
	booleanForm                   // bool
	settingsForm                  // string, or table of strings: map[string]string
	listsForm                     // string, list of strings, or table of these: []shell.Setting
)

var formWords = [...]string{
	"a string", "a string or a list of strings", "a list of strings, numbers or booleans", "a number",
	"a whole number", "true or false", "a string or a table of strings",
	"a string, a list of strings or a table of lists",
}

// inTOML is a function that returns a value as TOML. It is a function because most values are never
// written.
type inTOML func() string

// quoteTOML returns a function for the TOML of a text.
func quoteTOML(s string) inTOML { return func() string { return policytext.Quote(s) } }

// sourceTOML returns a function for the source text of a value.
func sourceTOML(v toml.Value) inTOML {
	text := v.SourceText()
	return func() string { return text }
}

// readValue reads the value of a constraint.
func (p *parser) readValue(key *constraintKey, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	form := key.form
	wrong := func(v toml.Value, want string) { p.wrongType(name, want, at, v, "") }
	switch {
	case form == listsForm && v.IsTable():
		return p.readLists(key.settings, name, at, v)
	case form == listsForm && (v.IsString() || v.IsList()):
		list, text := p.readTexts(name, at, v)
		return []shell.Setting{{Name: key.settings[0], List: list}}, text
	case form == textsForm && (v.IsString() || v.IsList()):
		return p.readTexts(name, at, v)
	case form == scalarsForm && v.IsList():
		return p.readScalars(name, at, v)
	case v.IsString() && form == textForm:
		s := v.Text()
		return s, quoteTOML(s)
	case v.IsString() && form == settingsForm:
		s := v.Text()
		return map[string]string{key.settings[0]: s}, quoteTOML(s)
	case form == booleanForm && v.IsBool():
		return v.Text() == "true", sourceTOML(v)
	case form == numberForm && v.IsNumber():
		n, err := v.ParseNumber()
		if err != nil {
			wrong(v, "a finite number")
		}
		return n, sourceTOML(v)
	case form == countForm && v.IsNumber():
		n, err := v.ParseNumber()
		if i, whole := n.(int64); err == nil && whole && 0 <= i && i <= math.MaxInt32 {
			return int(i), sourceTOML(v)
		}
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s must be a whole number, not %s", name, v.SourceText()), "")
		return 0, nil
	case form == settingsForm && v.IsTable():
		return p.readSettings(key.settings, name, at, v)
	}
	wrong(v, formWords[form])
	return nil, nil
}

// readTexts reads a string, or a list of strings.
func (p *parser) readTexts(name label, at []toml.KeyPart, v toml.Value) (list []string, text inTOML) {
	if v.IsString() {
		s := v.Text()
		return []string{s}, quoteTOML(s)
	}
	none := true
	v.EachElement(func(e toml.Value) {
		if none = false; !e.IsString() {
			p.wrongType(name, "a list of strings", at, e, "")
			return
		}
		list = append(list, e.Text())
	})
	if none {
		p.emptyList(name, at)
	}
	return list, listTOML(list)
}

// listTOML returns a function for the TOML of a list of texts.
func listTOML(list []string) inTOML {
	return func() string { return policytext.FormatList(policytext.QuoteAll(list)) }
}

func (p *parser) emptyList(name label, at []toml.KeyPart) {
	p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is an empty list", "no value would match")
}

// readScalars reads a list of plain values.
func (p *parser) readScalars(name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	var all []any
	var texts []string
	v.EachElement(func(e toml.Value) {
		one, text := p.readScalar(name, at, e)
		all, texts = append(all, one), append(texts, text)
	})
	if len(all) == 0 {
		p.emptyList(name, at)
	}
	return all, func() string { return policytext.FormatList(texts) }
}

func (p *parser) readScalar(name label, at []toml.KeyPart, v toml.Value) (one any, text string) {
	switch {
	case v.IsString():
		return v.Text(), policytext.Quote(v.Text())
	case v.IsBool():
		return v.Text() == "true", v.Text()
	case v.IsNumber():
		if n, err := v.ParseNumber(); err == nil {
			return n, v.SourceText()
		}
		p.wrongType(name, "a list of finite numbers", at, v, "")
	default:
		p.wrongType(name, "a list of strings, numbers or booleans", at, v, "")
	}
	return nil, ""
}

// readSettings reads a table of strings.
func (p *parser) readSettings(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	all := map[string]string{}
	text = p.readPairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML {
		if !inner.IsString() {
			p.wrongType(below, "a string", key, inner, "")
			return nil
		}
		all[word] = inner.Text()
		return quoteTOML(all[word])
	})
	return all, text
}

// readLists reads a table of lists.
func (p *parser) readLists(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	var all []shell.Setting
	text = p.readPairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML {
		value, text := p.readValue(&constraintKey{form: textsForm}, below, key, inner)
		list, _ := value.([]string)
		all = append(all, shell.Setting{Name: word, List: list})
		return text
	})
	return all, text
}

// readPairs reads a table of known keys. It calls read for each value.
func (p *parser) readPairs(known []string, name label, at []toml.KeyPart, v toml.Value,
	read func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML,
) inTOML {
	p.tables = true
	var words []string
	var texts []inTOML
	given := 0
	v.EachPair(func(key []toml.KeyPart, inner toml.Value) {
		word := key[0].Name
		if given++; !slices.Contains(known, word) {
			p.fail(key[0].Start, key[0].End, fmt.Sprintf("unknown key %q in %s", word, name), suggestWord(word, known, "it has "+listWords(known)))
			return
		}
		below := label{whereKey, append(argPath(name.path, nil), word)}
		words, texts = append(words, word), append(texts, read(word, below, key, inner))
	})
	if given == 0 {
		p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is empty", "")
	}
	return func() string {
		pairs := make([]policytext.Pair, len(words))
		for i, word := range words {
			pairs[i] = policytext.Pair{Key: word, Value: texts[i]()}
		}
		return policytext.InlineTable(pairs)
	}
}

// readWords reads a word, or a list of words, that must be in the given list. The function wrong
// returns the error message for any other word. For the key "find", readWords also accepts any word
// in the form of a pack's kind; loadPacks checks later that such a pack exists.
func (p *parser) readWords(k ruleKey, e toml.Expression, all []string, choice func() string, wrong func(word string) string) (words []string) {
	name := label{key: k}
	word := func(v toml.Value) {
		switch {
		case !v.IsString():
			p.wrongType(name, "a string or a list of strings", e.Key, v, choice())
		case !slices.Contains(all, v.Text()) && (k != foundKey || !isPackKind(v.Text())):
			start, end, _ := v.Span()
			p.fail(start, end, wrong(v.Text()), suggestWord(v.Text(), all, choice()))
		default:
			words = append(words, v.Text())
		}
	}
	if !e.Value.IsList() {
		word(e.Value)
		return words
	}
	none := true
	e.Value.EachElement(func(v toml.Value) { none = false; word(v) })
	if none {
		p.fail(e.Key[0].Start, e.Key[0].End, ruleKeys[k]+" is an empty list", choice())
	}
	return words
}
