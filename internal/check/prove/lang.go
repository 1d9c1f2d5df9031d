package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// lang is a set of texts that one linear automaton accepts: a row of states, of
// which each can be left by some characters, and kept by some.
type lang struct {
	text     string // names it: equal texts are equal languages
	steps    []step // state i is left by step i
	literal  bool   // holds one text, word
	word     string
	prefix   string // what every text in it begins with
	suffix   string // and ends with
	relative bool   // of its texts only the relative paths are meant
	glob     *glob.Pattern
}

type step struct {
	loop  test // characters that keep the state
	leave test // characters that lead to the next; of the last step none
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
	oneOf  // runes
	except // all but runes
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

// globLang gives the language of a glob, or the relative paths in it.
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
	l.glob, _ = glob.Compile(pattern) // it is a rule's
	first, last := strings.IndexAny(pattern, "*?"), strings.LastIndexAny(pattern, "*?")
	if first < 0 {
		l.prefix, l.suffix, l.word = pattern, pattern, pattern
		l.literal = true
	} else {
		l.prefix, l.suffix = pattern[:first], pattern[last+1:]
	}
	return l
}

// foldedLang gives the language of the texts that fold to what a glob does: its letters
// stand in either case.
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

// madeOf gives the language of the texts that a row of steps spells.
func madeOf(name string, steps ...step) *lang {
	return &lang{text: "\x00" + name, steps: append(steps, step{})}
}

func singleStep(t test) step         { return step{leave: t} }
func charStep(runes string) step     { return singleStep(test{kind: oneOf, runes: runes}) }
func loopStep(loop, leave test) step { return step{loop: loop, leave: leave} }

// andMore ends a language with any run of characters.
func (l *lang) andMore() *lang {
	l.steps[len(l.steps)-1].loop = test{kind: anything}
	return l
}

// unknownBases gives the texts that policy calls paths from an unknown base: above
// the working directory, at a variable, in a drive's own directory, and at a
// home that is not known.
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

// isDisjoint says, from the ends of their texts alone, that no text is in both.
func (l *lang) isDisjoint(m *lang) bool {
	p, q := l.prefix, m.prefix
	if !strings.HasPrefix(p, q) && !strings.HasPrefix(q, p) {
		return true
	}
	p, q = l.suffix, m.suffix
	return !strings.HasSuffix(p, q) && !strings.HasSuffix(q, p)
}

// acceptsText reports whether the language has a text, surely or perhaps.
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
