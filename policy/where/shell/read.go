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

// program is what a text runs: every simple command in it, wherever it stands.
type program struct {
	commands []simple
	// doubt says that there is more in the text than commands whose words are
	// all there is to them.
	doubt bool
	// steered says that a variable is set by which a shell or a program decides
	// what to run.
	steered bool

	source string
	within uint // where the substitutions seen so far end
}

var errTooLarge = errors.New("too much to read")

// read parses a text as one dialect. A panic of the parser is an error: the
// text is an attacker's.
func read(text string, dialect syntax.LangVariant) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(dialect), syntax.KeepComments(true)).
		Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	p = &program{source: text}
	nodes := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if nodes++; nodes > maxNodes {
			return false
		}
		if n != nil {
			p.node(n)
		}
		return true
	})
	if nodes > maxNodes {
		return nil, errTooLarge
	}
	return p, nil
}

// node collects commands, and doubts what it does not know: a kind of node that
// is not named here is one.
func (p *program) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.File, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.IfClause,
		*syntax.WhileClause, *syntax.CaseItem, *syntax.TimeClause, *syntax.Word, *syntax.Lit, *syntax.SglQuoted,
		*syntax.WordIter:
	case *syntax.CaseClause:
		p.doubt = p.doubt || p.substituted(n)
	case *syntax.ProcSubst:
		p.within = max(p.within, n.End().Offset())
	case *syntax.DblQuoted:
		p.doubt = p.doubt || n.Dollar
	case *syntax.Comment:
		p.doubt = p.doubt || mayAct(n.Text) || p.substituted(n)
	case *syntax.Stmt:
		p.doubt = p.doubt || n.Coprocess || n.Disown
	case *syntax.CmdSubst:
		p.doubt = p.doubt || n.TempFile || n.ReplyVar || n.Backquotes && p.escapes(n)
		p.within = max(p.within, n.End().Offset())
	case *syntax.ParamExp:
		p.doubt = p.doubt || !plain(n)
	case *syntax.ForClause:
		iter, ok := n.Loop.(*syntax.WordIter)
		p.doubt = p.doubt || n.Select || n.Braces || !ok || !loopVariable(iter.Name.Value)
	case *syntax.Redirect:
		p.doubt = p.doubt || !harmless(n) || n.Hdoc != nil && p.substituted(n)
	case *syntax.Assign:
		p.doubt = true
		p.steered = p.steered || n.Name != nil && steers(n.Name.Value)
	case *syntax.CallExpr:
		p.call(n)
	case *syntax.DeclClause:
		p.declare(n)
	default:
		p.doubt = true
	}
}

// substituted says whether a node stands in a substitution. Shells find its end
// in different ways (bash 3.2 counts parentheses) where it holds a comment, a
// case or a here-document.
func (p *program) substituted(n syntax.Node) bool { return n.Pos().Offset() < p.within }

// escapes says whether a substitution in backquotes holds what is unescaped
// twice, or, in double quotes, what POSIX leaves undefined.
func (p *program) escapes(n *syntax.CmdSubst) bool {
	from, to := n.Left.Offset(), n.Right.Offset()
	return to < from || to > uint(len(p.source)) || strings.ContainsAny(p.source[from:to], "\\\"")
}

func (p *program) call(n *syntax.CallExpr) {
	if len(n.Args) > 0 {
		p.commands = append(p.commands, simple{words: p.words(n.Args)})
	}
}

// declare makes a simple command of export, declare and their like, which bash
// parses and other shells run as commands.
func (p *program) declare(n *syntax.DeclClause) {
	p.doubt = true
	c := simple{words: []word{{text: n.Variant.Value, known: true}}}
	for _, a := range n.Args {
		var w word
		if a.Value != nil {
			w, _ = readWord(a.Value)
		} else {
			w.known = a.Array == nil && a.Index == nil
		}
		if a.Name != nil {
			w.text = a.Name.Value + strings.Repeat("=", bit(!a.Naked)) + w.text
			w.head = w.text
		}
		c.words = append(c.words, w)
	}
	p.commands = append(p.commands, c)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *program) words(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, arg := range args {
		var doubt bool
		words[i], doubt = readWord(arg)
		p.doubt = p.doubt || doubt
	}
	return words
}

// plain says whether an expansion only looks a variable up. The others assign,
// compute (a[$(id)] runs id), look up what the variable names, or, as ${x@P}
// does, run what is in it.
func plain(n *syntax.ParamExp) bool {
	if n.Param == nil || n.Flags != nil || n.Excl || n.Width || n.IsSet || n.Split != 0 || n.GlobSubst != 0 ||
		n.RcExpand != 0 || n.NestedParam != nil || n.Index != nil || len(n.Modifiers) > 0 || n.Slice != nil ||
		n.Repl != nil || n.Names != 0 {
		return false
	}
	return n.Exp == nil || slices.Contains(lookups, n.Exp.Op)
}

// lookups are the operators that put a text in place of a variable or cut one.
var lookups = []syntax.ParExpOperator{
	syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
	syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
}

// harmless says whether a redirection neither reads nor writes a file.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		return false // {name}> sets a variable
	}
	switch r.Op {
	case syntax.WordHdoc:
		return true
	case syntax.Hdoc, syntax.DashHdoc:
		return plainMark(r.Word)
	case syntax.DplIn, syntax.DplOut:
		to, _ := readWord(r.Word)
		return to.known && to.text != "" && (to.text == "-" || strings.Trim(to.text, "0123456789") == "")
	case syntax.RdrIn, syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		to, _ := readWord(r.Word)
		return to.known && to.text == "/dev/null"
	}
	return false
}

// plainMark says whether the word that ends a here-document is one that every
// shell unquotes to the same text.
func plainMark(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	mark := ""
	switch part := part.(type) {
	case *syntax.Lit:
		mark = part.Value
	case *syntax.SglQuoted:
		mark = part.Value
	}
	return mark != "" && !strings.ContainsFunc(mark, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// loopVariable says whether no shell gives the name a meaning: for path in /tmp
// changes what zsh runs.
func loopVariable(name string) bool {
	if len(name) == 1 {
		return name[0] >= 'a' && name[0] <= 'z'
	}
	return slices.Contains([]string{"file", "dir", "name", "item", "line", "pkg", "test", "branch", "commit"}, name)
}
