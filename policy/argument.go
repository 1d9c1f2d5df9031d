package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/reading"
)

// maxLiteral is the longest value, in bytes, that may become a line of a policy.
const maxLiteral = 4096

// argument is one argument of a call, with the globs that match its value.
type argument struct {
	name    string
	exact   []string // globs that match only this value: the text and, for a number, its plain form
	inexact error    // why no such glob exists; nil if one exists
	kind    string   // the JSON type as where.<name>.type spells it; "" for a list, an object and null
	texts   []string // the strings in the value, if it is a string or a list of strings
}

// readArguments returns the members of the arguments object, in their order.
func readArguments(src []byte) (args []argument, err error) {
	if len(src) == 0 {
		return nil, nil
	}
	sc := scanner{Cursor: jsonscan.Cursor{Src: string(src)}}
	sc.SkipBlanks()
	if !sc.VisitMembers(func(name string) bool {
		a, ok := sc.readArgument(name)
		args = append(args, a)
		return ok
	}) {
		return nil, errors.New("the arguments cannot be read")
	}
	return args, nil
}

func (sc *scanner) readArgument(name string) (a argument, ok bool) {
	a.name = name
	what := fmt.Sprintf("argument %q", name)
	start := sc.At
	switch sc.Peek() {
	case '"':
		text, ok := sc.ReadString()
		a.exact, a.inexact, a.kind, a.texts = []string{text}, checkExact(what, text), "string", []string{text}
		return a, ok
	case '[':
		a.inexact = fmt.Errorf("%s is a list, and no pattern names a whole list", what)
		a.texts, ok = sc.readTexts()
		return a, ok
	case '{':
		a.inexact = fmt.Errorf("%s is an object, and no pattern names a whole object", what)
		return a, sc.SkipValue()
	case 'n':
		a.inexact = fmt.Errorf("%s is null, which no pattern matches", what)
		return a, sc.SkipValue()
	case 't', 'f':
		ok = sc.SkipValue()
		a.exact, a.kind = []string{sc.Src[start:sc.At]}, "boolean"
		return a, ok
	}
	ok = sc.SkipValue()
	number := sc.Src[start:sc.At]
	a.exact, a.kind = []string{number}, "number"
	if plain := reading.PlainNumber(number); plain != number {
		a.exact = append(a.exact, plain)
	}
	return a, ok
}

// readTexts returns the strings of a list, or nil if the list holds other values.
func (sc *scanner) readTexts() (texts []string, ok bool) {
	whole := true
	ok = sc.VisitElements(func() bool {
		if sc.Peek() != '"' {
			whole = false
			return sc.SkipValue()
		}
		text, ok := sc.ReadString()
		texts = append(texts, text)
		return ok
	})
	if !whole {
		return nil, ok
	}
	return texts, ok
}

// suspectArgument is an argument with suspicious texts. An allow rule must name the argument to
// allow the call.
type suspectArgument struct {
	path  []string
	texts []string
}

// suspectsIn returns the suspect arguments in their order. The caller must have read the arguments
// without an error before.
func suspectsIn(src []byte) (all []suspectArgument) {
	sc := scanner{Cursor: jsonscan.Cursor{Src: string(src)}}
	sc.SkipBlanks()
	var visit func(path []string) bool
	visit = func(path []string) bool {
		switch sc.Peek() {
		case '{':
			return sc.VisitMembers(func(name string) bool { return visit(append(path[:len(path):len(path)], name)) })
		case '[':
			return sc.VisitElements(func() bool { return visit(path) })
		case '"':
			start := sc.At
			why, ok := sc.suspectValue(path[len(path)-1])
			if !ok || why == reading.Innocent {
				return ok
			}
			sc.At = start
			text, ok := sc.ReadString()
			i := slices.IndexFunc(all, func(s suspectArgument) bool { return slices.Equal(s.path, path) })
			if i < 0 {
				i, all = len(all), append(all, suspectArgument{path: path})
			}
			if !slices.Contains(all[i].texts, text) {
				all[i].texts = append(all[i].texts, text)
			}
			return ok
		}
		return sc.SkipValue()
	}
	visit(nil)
	return all
}

// checkExact returns the reason why no glob matches exactly this text, or nil.
func checkExact(what, text string) error {
	switch i := strings.IndexAny(text, "*?"); {
	case text == "":
		return fmt.Errorf("%s is empty, which no pattern matches", what)
	case len(text) > maxLiteral:
		return fmt.Errorf("%s is %d bytes long, too long for a rule", what, len(text))
	case i >= 0:
		return fmt.Errorf("%s holds %q, which a pattern takes for any text", what, text[i:i+1])
	}
	return nil
}
