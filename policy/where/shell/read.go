package shell

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple is one simple command.
type simple struct {
	words []word
}

func (s simple) equalWords(other simple) bool { return slices.Equal(s.words, other.words) }

// assignment is a NAME=value in front of the words of a command.
type assignment struct {
	at    int // offset in the text
	name  string
	value word
}

// file is a file that a redirection reads or writes, except /dev/null.
type file struct {
	at    int // offset in the text
	to    word
	reads bool // the redirection is < without a number
}

// program holds every simple command in a text, and the assignments and files of the commands, in
// the order of the text.
type program struct {
	commands []simple
	assigned []assignment
	files    []file
	// doubt means that the text also sets a variable of the shell itself.
	doubt bool
	// steered means that the text sets a variable that decides which program a shell or a program
	// runs.
	steered bool
}

// sortByPlace sorts the assignments and the files by their offset. It uses package
// sort, because functions of package slices would be compiled for each type, and
// clawai-hook must stay small (its TestSize).
func (p *program) sortByPlace() {
	sort.SliceStable(p.assigned, func(i, j int) bool { return p.assigned[i].at < p.assigned[j].at })
	sort.SliceStable(p.files, func(i, j int) bool { return p.files[i].at < p.files[j].at })
}

// equalProgram reports whether two readings of one text found the same program.
func (p *program) equalProgram(other *program) bool {
	return slices.EqualFunc(p.commands, other.commands, simple.equalWords) &&
		slices.Equal(p.assigned, other.assigned) && slices.Equal(p.files, other.files)
}

var errTooLarge = errors.New("too much to read")

// parseShell lists the commands of a text as a parser finds them. It returns an error
// when the parser panics, because the text may be an attacker's.
func parseShell(text string, dialect syntax.LangVariant) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(dialect)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	p = &program{}
	nodes := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if nodes++; nodes > maxNodes {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				p.commands = append(p.commands, simple{words: readWords(n.Args)})
				p.addAssignments(n.Assigns)
			}
		case *syntax.Redirect:
			p.addRedirect(n)
		case *syntax.DeclClause:
			p.commands = append(p.commands, readDeclaration(n))
		case *syntax.TimeClause:
			p.commands = append(p.commands, timed)
		}
		return true
	})
	if nodes > maxNodes {
		return nil, errTooLarge
	}
	p.sortByPlace()
	return p, nil
}

func (p *program) addAssignments(all []*syntax.Assign) {
	for _, a := range all {
		// The name stays empty, so that the assignment differs from every assignment of the core.
		made := assignment{at: int(a.Pos().Offset())}
		if a.Name != nil && a.Array == nil && a.Index == nil && !a.Append && !a.Naked {
			made.name, made.value = a.Name.Value, word{known: true}
			if a.Value != nil {
				made.value = readWord(a.Value)
			}
		}
		p.assigned = append(p.assigned, made)
	}
}

func (p *program) addRedirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		if to := readWord(r.Word); !to.known || to.text != "/dev/null" {
			p.files = append(p.files, file{int(r.Word.Pos().Offset()), to, r.Op == syntax.RdrIn && r.N == nil})
		}
	}
}

// readDeclaration returns export, declare and similar as a simple command. bash has a syntax for
// them; other shells run them as commands.
func readDeclaration(n *syntax.DeclClause) simple {
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
