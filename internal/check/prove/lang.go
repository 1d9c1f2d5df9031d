package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// lang is a language: the set of texts that a linear automaton accepts. The states of a linear
// automaton are in a row. In each state some characters keep the state, and some lead to the next
// state.
type lang struct {
	text     string // name of the language; languages with the same name are equal
	steps    []step // the states of the automaton
	literal  bool   // the language has only one text, word
	word     string
	prefix   string // all texts of the language begin with prefix
	suffix   string // all texts of the language end with suffix
	relative bool   // the language has only those texts that the automaton accepts and that are relative paths
	glob     *glob.Pattern
}

type step struct {
	loop  test // the characters that keep the state
	leave test // the characters that lead to the next state; none for the last state
}

// test is a set of characters.
type test struct {
	kind  testKind
	runes string
}

type testKind uint8

const (
	noRune testKind = iota
	anyRune
	oneOf   // the characters in runes
	except  // all characters except those in runes
	letters // the ASCII letters and the characters in runes
)

func (t test) hasRune(r rune) bool {
	switch t.kind {
	case anyRune:
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

// globLang returns the language of the texts that a glob matches. If relative is true, it has only
// the relative paths among them.
func globLang(pattern string, relative bool) *lang {
	l := &lang{text: pattern, relative: relative, steps: make([]step, 1, len(pattern)+1)}
	if relative {
		l.text = "\x00relative\x00" + pattern
	}
	for _, e := range glob.ParseElements(pattern) {
		at := &l.steps[len(l.steps)-1]
		switch e.Kind {
		case glob.Deep:
			at.loop = test{kind: anyRune}
			continue
		case glob.Star:
			if at.loop.kind == noRune {
				at.loop = test{kind: except, runes: "/"}
			}
			continue
		case glob.One:
			at.leave = test{kind: anyRune}
		case glob.Literal:
			at.leave = test{kind: oneOf, runes: string(e.Rune)}
		}
		l.steps = append(l.steps, step{})
	}
	l.glob, _ = glob.Compile(pattern) // the error is ignored, because the pattern comes from a policy that loads
	first, last := strings.IndexAny(pattern, "*?"), strings.LastIndexAny(pattern, "*?")
	if first < 0 {
		l.prefix, l.suffix, l.word = pattern, pattern, pattern
		l.literal = true
	} else {
		l.prefix, l.suffix = pattern[:first], pattern[last+1:]
	}
	return l
}

// foldedLang returns the language of the texts that a glob matches if case is ignored.
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

// stepLang returns the language of an automaton with these states.
func stepLang(name string, steps ...step) *lang {
	return &lang{text: "\x00" + name, steps: append(steps, step{})}
}

func singleStep(t test) step         { return step{leave: t} }
func charStep(runes string) step     { return singleStep(test{kind: oneOf, runes: runes}) }
func loopStep(loop, leave test) step { return step{loop: loop, leave: leave} }

// addAnyEnd adds to a language all texts that begin with one of its texts.
func (l *lang) addAnyEnd() *lang {
	l.steps[len(l.steps)-1].loop = test{kind: anyRune}
	return l
}

// unknownBases returns the languages of paths whose base package policy does not know: paths above
// the working directory, with a variable, in the current directory of a drive, or at an unknown
// home. homeless means that the home folder is unknown.
func unknownBases(homeless bool) []*lang {
	letter := singleStep(test{kind: letters})
	inside := test{kind: except, runes: " %"}
	homeName := test{kind: letters, runes: "0123456789_-.+"}
	langs := []*lang{
		globLang("..", false),
		globLang("../**", false),
		stepLang("$", charStep("$"), singleStep(test{kind: letters, runes: "_{"})).addAnyEnd(),
		stepLang("%", charStep("%"), letter, loopStep(inside, test{kind: oneOf, runes: "%"})).addAnyEnd(),
		stepLang(":", letter, charStep(":"), singleStep(test{kind: except, runes: ` /\`})).addAnyEnd(),
		stepLang("~+", charStep("~"), charStep("+-"), loopStep(homeName, test{kind: oneOf, runes: "/"})).addAnyEnd(),
	}
	if homeless {
		langs = append(langs, globLang("~", false), globLang("~/**", false))
	}
	return langs
}

// isDisjoint reports whether it is proved, by the ends of the texts, that no text is in both
// languages.
func (l *lang) isDisjoint(m *lang) bool {
	p, q := l.prefix, m.prefix
	if !strings.HasPrefix(p, q) && !strings.HasPrefix(q, p) {
		return true
	}
	p, q = l.suffix, m.suffix
	return !strings.HasSuffix(p, q) && !strings.HasSuffix(q, p)
}

// acceptsText reports whether a text is in the language. If perhaps is true, it is enough that the
// text may be in it.
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
