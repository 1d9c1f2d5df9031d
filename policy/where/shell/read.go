package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple is one simple command.
type simple struct {
	words []word
}

func (s simple) equal(other simple) bool { return slices.Equal(s.words, other.words) }

// program is what a text runs: every simple command in it, wherever it stands.
type program struct {
	commands []simple
	// doubt says that there is more in the text than commands whose words are
	// all there is to them: an assignment, a file that is read or written.
	doubt bool
	// steered says that a variable is set by which a shell or a program decides
	// what to run.
	steered bool
}

var errTooLarge = errors.New("too much to read")

// read lists the commands of a text as a parser finds them. A panic of the parser
// is an error: the text is an attacker's.
func read(text string, dialect syntax.LangVariant) (commands []simple, err error) {
	defer func() {
		if r := recover(); r != nil {
			commands, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(dialect)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	nodes := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if nodes++; nodes > maxNodes {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				commands = append(commands, simple{words: readWords(n.Args)})
			}
		case *syntax.DeclClause:
			commands = append(commands, declaration(n))
		case *syntax.TimeClause:
			commands = append(commands, timed)
		}
		return true
	})
	if nodes > maxNodes {
		return nil, errTooLarge
	}
	return commands, nil
}

// declaration makes a simple command of export, declare and their like, which
// bash parses and other shells run as commands.
func declaration(n *syntax.DeclClause) simple {
	c := simple{words: []word{{text: n.Variant.Value, known: true}}}
	for _, a := range n.Args {
		var w word
		if a.Value != nil {
			w = readWord(a.Value)
		} else {
			w.known = a.Array == nil && a.Index == nil
		}
		if a.Name != nil {
			prefix := a.Name.Value
			if !a.Naked {
				prefix += "="
			}
			w.text, w.owner = prefix+w.text, false
			if !w.known {
				w.head = prefix + w.head
			}
		}
		c.words = append(c.words, w)
	}
	return c
}

func readWords(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, arg := range args {
		words[i] = readWord(arg)
	}
	return words
}
