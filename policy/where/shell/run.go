package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Run is a command that a shell text runs, read from its words. Program is the program's name
// without its folder, or "" for words that the text keeps in a variable or a list. Words are the
// other words. If a word is known only when the text runs, Words has the readable part of the word.
type Run struct {
	Program string
	Words   []string

	unknown    []bool // by index of a word: the shell will change the word
	into, from string // the files of redirections; each is a separate run for FilesOf
	writes     bool   // the run is a redirection into a file; a variable may hold the file's name
}

// RunsOf returns the commands of a shell text. They include commands in substitutions and commands
// that other programs start. hidden means that the text may run something that its words do not
// show: a program whose name is computed, a shell that reads its commands from its input, or a text
// that cannot be read completely. For a text that is not shell text, RunsOf returns one Run with
// the words.
func RunsOf(text string) (runs []Run, hidden bool) {
	r := runner{budget: 4 * maxText}
	r.readText(text, 0)
	return slices.DeleteFunc(r.runs, func(one Run) bool { return one.writes || one.from != "" }), r.hidden
}

type runner struct {
	runs   []Run
	hidden bool
	budget int // how many bytes of shell text may still be read
}

func (r *runner) readText(text string, depth int) {
	r.budget -= len(text)
	if depth > maxDepth || r.budget < 0 || !isAdmissible(text) {
		r.hidden = true
		return
	}
	defer func() {
		if failed := recover(); failed != nil { // the parser has panicked
			r.hidden = true
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.runs = append(r.runs, Run{Words: strings.Fields(text)})
		return
	}
	nodes := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if nodes++; nodes > maxNodes {
			r.hidden = true
			return false
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			r.addRedirects(n.Redirs)
			if call, is := n.Cmd.(*syntax.CallExpr); is && len(call.Args) > 0 {
				r.readCall(text, call, n.Redirs, depth)
			}
		case *syntax.Assign:
			if n.Value != nil {
				r.addRun("", []word{readWord(n.Value)})
			}
		case *syntax.ArrayElem:
			if n.Value != nil {
				r.addRun("", []word{readWord(n.Value)})
			}
		case *syntax.WordIter:
			r.addRun("", readWords(n.Items))
		}
		return true
	})
}

func (r *runner) addRun(program string, words []word) {
	one := Run{Program: program}
	for i := range words {
		one.Words, one.unknown = append(one.Words, words[i].text), append(one.unknown, !words[i].known)
	}
	r.runs = append(r.runs, one)
}

// inputText is the input of a command, if the text holds the input.
type inputText struct {
	text  string
	known bool // the input comes from the text, or from a file that the text names
}

// readCall reads a command of the text with its redirections.
func (r *runner) readCall(text string, call *syntax.CallExpr, redirects []*syntax.Redirect, depth int) {
	words := readWords(call.Args)
	if !words[0].known {
		if isMade(call.Args[0]) {
			r.hidden = true
		}
		r.addRun(baseName(words[0].text), words[1:])
		return
	}
	var input inputText
	for _, to := range redirects {
		switch {
		case to.Hdoc != nil:
			input.known = true
			for _, part := range to.Hdoc.Parts {
				if lit, is := part.(*syntax.Lit); is { // the offsets of a Lit would include the mark of the here-document
					input.text += lit.Value
				} else {
					input.text += text[part.Pos().Offset():part.End().Offset()]
				}
			}
		case to.Op == syntax.RdrIn && readWord(to.Word).known && !isDevice(readWord(to.Word).text):
			// The input is a file of the project. This package reads no such file, and no script
			// that a word names.
			input.known = true
		}
	}
	if i := slices.IndexFunc(words, func(w word) bool { return isShellOption(w.text, 'c') }); isShell(words[0].text) && i > 0 && i+1 < len(words) && !words[i+1].known {
		code := call.Args[i+1]
		r.readText(strings.Trim(text[code.Pos().Offset():code.End().Offset()], `"`), depth+1)
		return
	}
	r.readCommand(words, input, depth)
}

// readCommand reads a command and the commands that it runs.
func (r *runner) readCommand(words []word, input inputText, depth int) {
	if depth > maxDepth || !words[0].known && !words[0].home {
		r.hidden = true
		return
	}
	if isShell(words[0].text) && readsInput(words) {
		if !input.known {
			r.hidden = true
			return
		}
		r.readText(input.text, depth+1)
	}
	e := commandEffects(words)
	if e.hidden && len(e.inner) == 0 && startsOthers(words[0].text) {
		if at := firstOperand(words); at < len(words) {
			e.inner = [][]word{words[at:]}
		}
	}
	if len(e.inner)+len(e.texts) == 0 {
		r.addRun(canonicalName(words[0].text), words[1:])
	}
	for _, inner := range e.inner {
		r.readCommand(inner, input, depth+1)
	}
	for _, text := range e.texts {
		r.readText(text, depth+1)
	}
}

// startsOthers reports whether the last words of a program are a command that it runs.
func startsOthers(called string) bool {
	name := canonicalName(called)
	return findWrapper(name) != nil || listedIn("env command xargs watch script parallel strace ltrace nohup chroot unshare setpriv runuser torsocks proxychains", name)
}

// firstOperand returns the index of the first word that is an operand: not an option, not an
// assignment and not a number. An unknown word counts as an operand.
func firstOperand(words []word) int {
	for at := 1; at < len(words); at++ {
		text := words[at].text
		if !words[at].known || !strings.HasPrefix(text, "-") && !strings.Contains(text, "=") && strings.Trim(text, "0123456789.smhd") != "" {
			return at
		}
	}
	return len(words)
}

// isMade reports whether the name of a program is computed: there is a variable or a substitution
// after its last slash.
func isMade(w *syntax.Word) (made bool) {
	var look func(parts []syntax.WordPart)
	look = func(parts []syntax.WordPart) {
		for _, part := range parts {
			switch p := part.(type) {
			case *syntax.Lit:
				made = made && !strings.Contains(p.Value, "/")
			case *syntax.SglQuoted:
				made = made && !strings.Contains(p.Value, "/")
			case *syntax.DblQuoted:
				look(p.Parts)
			default:
				made = true
			}
		}
	}
	look(w.Parts)
	return made
}

// isShell reports whether a program is a shell.
func isShell(called string) bool {
	return listedIn("sh bash dash zsh ash ksh mksh pdksh yash posh rbash hush fish csh tcsh elvish xonsh nu pwsh powershell", canonicalName(called))
}

// isShellOption reports whether a word is the shell option with this letter, or a bundle of options
// that ends in this letter.
func isShellOption(text string, letter byte) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-' && text[len(text)-1] == letter
}

// readsInput reports whether a shell runs the text of its input, because its words have no script
// and no text to run.
func readsInput(words []word) bool {
	for _, w := range words[1:] {
		switch {
		case w.text == "--version", w.text == "--help", isShellOption(w.text, 'c'):
			return false
		case isShellOption(w.text, 's'), w.text == "-":
			return true
		case !strings.HasPrefix(w.text, "-"):
			return isDevice(w.text)
		}
	}
	return true
}

// isDevice reports whether a path may be the standard input of the process.
func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
}
