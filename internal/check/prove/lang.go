package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// lang is the set of texts that one linear automaton accepts. The automaton is
// a row of states. Some characters move from a state to the next, and some keep
// the state.
type lang struct {
	text     string // the name: equal texts mean equal languages
	steps    []step // state i is left by step i
	literal  bool   // contains exactly one text, word
	word     string
	prefix   string // every text begins with it
	suffix   string // every text ends with it
	relative bool   // only the relative paths among its texts count
	glob     *glob.Pattern
}

type step struct {
	loop  test // characters that keep the state
	leave test // characters that lead to the next state; none for the last step
}

// test is a set of characters.
type test struct {
	kind  testKind
	runes string
}

type testKind uint8

const (
	nothing testKind = iota
	anything
	oneOf  // one of runes
	except // all characters except runes
	letters
)

func (t test) hasRune(r rune) bool {
	switch t.kind {
	case anything:
		return true
	case oneOf:
		return strings.ContainsRune(t.runes, r)
	case except:
		return !strings.ContainsRune(t.runes, r)
	case letters:
		return 'a' <= r|0x20 && r|0x20 <= 'z' || r < 128 && strings.ContainsRune(t.runes, r)
	}
	return false
}

// globLang returns the language of a glob, or of the relative paths that it
// matches.
func globLang(pattern string, relative bool) *lang {
	l := &lang{text: pattern, relative: relative, steps: make([]step, 1, len(pattern)+1)}
	if relative {
		l.text = "\x00relative\x00" + pattern
	}
	for _, e := range glob.ParseElements(pattern) {
		at := &l.steps[len(l.steps)-1]
		switch e.Kind {
		case glob.Deep:
			at.loop = test{kind: anything}
			continue
		case glob.Star:
			if at.loop.kind == nothing {
				at.loop = test{kind: except, runes: "/"}
			}
			continue
		case glob.One:
			at.leave = test{kind: anything}
		case glob.Literal:
			at.leave = test{kind: oneOf, runes: string(e.Rune)}
		}
		l.steps = append(l.steps, step{})
	}
	l.glob, _ = glob.Compile(pattern) // the pattern comes from a compiled rule
	first, last := strings.IndexAny(pattern, "*?"), strings.LastIndexAny(pattern, "*?")
	if first < 0 {
		l.prefix, l.suffix, l.word = pattern, pattern, pattern
		l.literal = true
	} else {
		l.prefix, l.suffix = pattern[:first], pattern[last+1:]
	}
	return l
}

// foldedLang returns the language of the texts that a glob matches when letter
// case is ignored.
func foldedLang(pattern string) *lang {
	l := globLang(pattern, false)
	l.text, l.glob, l.literal, l.prefix, l.suffix = "\x00folded\x00"+pattern, nil, false, "", ""
	for i := range l.steps {
		if t := &l.steps[i].leave; t.kind == oneOf {
			t.runes = strings.ToLower(t.runes) + strings.ToUpper(t.runes)
		}
	}
	return l
}

// madeOf returns the language of a row of steps.
func madeOf(name string, steps ...step) *lang {
	return &lang{text: "\x00" + name, steps: append(steps, step{})}
}

func singleStep(t test) step         { return step{leave: t} }
func charStep(runes string) step     { return singleStep(test{kind: oneOf, runes: runes}) }
func loopStep(loop, leave test) step { return step{loop: loop, leave: leave} }

// andMore lets a language end with any characters.
func (l *lang) andMore() *lang {
	l.steps[len(l.steps)-1].loop = test{kind: anything}
	return l
}

// unknownBases returns the texts that policy calls paths from an unknown base:
// above the working directory, at a variable, in a drive's own directory, and
// at an unknown home.
func unknownBases(homeless bool) []*lang {
	letter := singleStep(test{kind: letters})
	inside := test{kind: except, runes: " %"}
	homeName := test{kind: letters, runes: "0123456789_-.+"}
	langs := []*lang{
		globLang("..", false),
		globLang("../**", false),
		madeOf("$", charStep("$"), singleStep(test{kind: letters, runes: "_{"})).andMore(),
		madeOf("%", charStep("%"), letter, loopStep(inside, test{kind: oneOf, runes: "%"})).andMore(),
		madeOf(":", letter, charStep(":"), singleStep(test{kind: except, runes: ` /\`})).andMore(),
		madeOf("~+", charStep("~"), charStep("+-"), loopStep(homeName, test{kind: oneOf, runes: "/"})).andMore(),
	}
	if homeless {
		langs = append(langs, globLang("~", false), globLang("~/**", false))
	}
	return langs
}

// isDisjoint reports whether the ends of the texts prove that no text is in
// both languages.
func (l *lang) isDisjoint(m *lang) bool {
	p, q := l.prefix, m.prefix
	if !strings.HasPrefix(p, q) && !strings.HasPrefix(q, p) {
		return true
	}
	p, q = l.suffix, m.suffix
	return !strings.HasSuffix(p, q) && !strings.HasSuffix(q, p)
}

// acceptsText reports whether a text is surely, or perhaps, in the language.
func (l *lang) acceptsText(s string, perhaps bool) bool {
	if l.relative {
		sure, may := baseOf(s).isRelative()
		if !may || !sure && !perhaps {
			return false
		}
	}
	if l.glob != nil {
		return l.glob.Match(s)
	}
	m := newMachine([]*lang{l}, nil, []rune(s))
	row := slices.Clone(m.start)
	for _, r := range s {
		m.stepRow(row, row, r)
	}
	return hasBit(row, m.segments[0].last)
}
