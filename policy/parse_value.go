package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where/shell"
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
	listsForm                     // string, list of strings, or table of those: []shell.Setting
)

var formWords = [...]string{
	"a string", "a string or a list of strings", "a list of strings, numbers or booleans", "a number",
	"a whole number", "true or false", "a string or a table of strings",
	"a string, a list of strings or a table of lists",
}

// inTOML writes a value, when somebody asks: few do of the many that are read.
type inTOML func() string

// quoted writes a text.
func quoted(s string) inTOML { return func() string { return policytext.Quote(s) } }

// plain is what the file has.
func plain(v toml.Value) inTOML {
	text := v.Source()
	return func() string { return text }
}

// value reads the value of a constraint.
func (p *parser) value(key *constraintKey, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	form := key.form
	wrong := func(v toml.Value, want string) { p.wrongType(name, want, at, v, "") }
	switch {
	case form == listsForm && v.IsTable():
		return p.lists(key.settings, name, at, v)
	case form == listsForm && (v.IsString() || v.IsList()):
		list, text := p.texts(name, at, v)
		return []shell.Setting{{Name: key.settings[0], List: list}}, text
	case form == textsForm && (v.IsString() || v.IsList()):
		return p.texts(name, at, v)
	case form == scalarsForm && v.IsList():
		return p.scalars(name, at, v)
	case v.IsString() && form == textForm:
		s := v.Text()
		return s, quoted(s)
	case v.IsString() && form == settingsForm:
		s := v.Text()
		return map[string]string{key.settings[0]: s}, quoted(s)
	case form == booleanForm && v.IsBool():
		return v.Text() == "true", plain(v)
	case form == numberForm && v.IsNumber():
		n, err := v.Number()
		if err != nil {
			wrong(v, "a finite number")
		}
		return n, plain(v)
	case form == countForm && v.IsNumber():
		n, err := v.Number()
		if i, whole := n.(int64); err == nil && whole && 0 <= i && i <= math.MaxInt32 {
			return int(i), plain(v)
		}
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s must be a whole number, not %s", name, v.Source()), "")
		return 0, nil
	case form == settingsForm && v.IsTable():
		return p.settings(key.settings, name, at, v)
	}
	wrong(v, formWords[form])
	return nil, nil
}

// texts reads a string, or a list of strings.
func (p *parser) texts(name label, at []toml.KeyPart, v toml.Value) (list []string, text inTOML) {
	if v.IsString() {
		s := v.Text()
		return []string{s}, quoted(s)
	}
	none := true
	v.Elements(func(e toml.Value) {
		if none = false; !e.IsString() {
			p.wrongType(name, "a list of strings", at, e, "")
			return
		}
		list = append(list, e.Text())
	})
	if none {
		p.emptyList(name, at)
	}
	return list, listed(list)
}

// listed writes a list of texts.
func listed(list []string) inTOML {
	return func() string { return policytext.List(policytext.QuoteAll(list)) }
}

func (p *parser) emptyList(name label, at []toml.KeyPart) {
	p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is an empty list", "no value would match")
}

// scalars reads a list of plain values.
func (p *parser) scalars(name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	var all []any
	var texts []string
	v.Elements(func(e toml.Value) {
		one, text := p.scalar(name, at, e)
		all, texts = append(all, one), append(texts, text)
	})
	if len(all) == 0 {
		p.emptyList(name, at)
	}
	return all, func() string { return policytext.List(texts) }
}

func (p *parser) scalar(name label, at []toml.KeyPart, v toml.Value) (one any, text string) {
	switch {
	case v.IsString():
		return v.Text(), policytext.Quote(v.Text())
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
func (p *parser) settings(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	all := map[string]string{}
	text = p.pairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML {
		if !inner.IsString() {
			p.wrongType(below, "a string", key, inner, "")
			return nil
		}
		all[word] = inner.Text()
		return quoted(all[word])
	})
	return all, text
}

// lists reads a table of lists.
func (p *parser) lists(known []string, name label, at []toml.KeyPart, v toml.Value) (value any, text inTOML) {
	var all []shell.Setting
	text = p.pairs(known, name, at, v, func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML {
		value, text := p.value(&constraintKey{form: textsForm}, below, key, inner)
		list, _ := value.([]string)
		all = append(all, shell.Setting{Name: word, List: list})
		return text
	})
	return all, text
}

// pairs reads a table of known keys, each by read.
func (p *parser) pairs(known []string, name label, at []toml.KeyPart, v toml.Value,
	read func(word string, below label, key []toml.KeyPart, inner toml.Value) inTOML,
) inTOML {
	p.tables = true
	var words []string
	var texts []inTOML
	given := 0
	v.Pairs(func(key []toml.KeyPart, inner toml.Value) {
		word := key[0].Name
		if given++; !slices.Contains(known, word) {
			p.fail(key[0].Start, key[0].End, fmt.Sprintf("unknown key %q in %s", word, name), suggest(word, known, "it has "+listWords(known)))
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
		return policytext.Table(pairs)
	}
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
