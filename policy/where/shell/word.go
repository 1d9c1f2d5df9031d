package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a simple command, without its quotes.
type word struct {
	// text is the word as the program gets it. If the word is not known before the shell runs, text
	// holds the readable part.
	text string
	// head is the part of an unknown word that is certainly at its beginning.
	head  string
	known bool
	many  bool // the word may become several words, or none
	split bool // the shell splits the word's expansions at blanks, so any part may be an option
	// owner means that the word begins with a value that the owner and not the text chooses: the
	// owner's home, or a quoted variable of the environment. Such a word is not an option.
	owner bool
	home  bool // the word is "~/" and a known text: a path in the home folder
	fed   bool // xargs inserts the word from its input
	// inherited means that the unknown parts come only from the environment.
	inherited bool
}

// mayBeOption reports whether the word may be, or become, an option.
func (w *word) mayBeOption() bool {
	return !w.known && !w.owner && (w.split || w.head == "" || w.head[0] == '-')
}

// reading is a word while it is read. mask has one byte for each byte of text: the same byte if it
// is special to the shell, and 0 if it is quoted.
type reading struct {
	text, mask strings.Builder
	word
	first  int  // offset of the first unknown part
	others bool // at least one part is neither known nor a value of the owner
}

// readWord removes the quotes of a word.
func readWord(w *syntax.Word) word {
	r := reading{word: word{known: true}}
	for _, part := range w.Parts {
		r.readPart(part)
	}
	return r.finishWord()
}

func (r *reading) markUnknown(many bool) {
	if r.known {
		r.known, r.first = false, r.text.Len()
	}
	r.many = r.many || many
}

func (r *reading) putText(s string, quoted bool) {
	r.text.WriteString(s)
	if quoted {
		s = strings.Repeat("\x00", len(s))
	}
	r.mask.WriteString(s)
}

func (r *reading) readPart(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		r.readUnescaped(p.Value, false)
	case *syntax.SglQuoted:
		if p.Dollar {
			r.putText(ansiC(p.Value), true)
			return
		}
		r.putText(p.Value, true)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				r.readUnescaped(lit.Value, true)
				continue
			}
			p, ok := inner.(*syntax.ParamExp)
			named := ok && p.Param != nil
			r.markUnknown(named && p.Param.Value == "@") // "$@" becomes several words, although it is quoted
			r.others = r.others || !named || p.Exp != nil || !isEnvironment(p.Param.Value)
		}
	case *syntax.ProcSubst:
		r.markUnknown(false)
		r.others = true
	default:
		r.markUnknown(true)
		r.split, r.others = true, true
	}
}

// isEnvironment reports whether only the environment or an assignment can have set a variable. The
// name shows this: it is not a loop variable, an argument, or a variable that shells set. A text
// that assigns and also expands variables is never certainly allowed (allowsVariable).
func isEnvironment(variable string) bool {
	name := strings.ToUpper(variable)
	if len(name) < 2 || name[0] < 'A' || name[0] > 'Z' || loopVariable(variable) {
		return false
	}
	for own := range strings.FieldsSeq(setByShells) {
		if strings.HasPrefix(name, own) {
			return false
		}
	}
	return true
}

// setByShells are the beginnings of names of variables that bash, ksh and zsh set, from the text or
// from earlier commands.
const setByShells = "BASH ZSH KSH HIST COMP REPLY MATCH MBEGIN MEND OPT FUNC PIPE ARGV READLINE PROMPT STATUS WORDS BUFFER DIRSTACK OLDPWD PATH FPATH CDPATH ALIASES COMMANDS PARAMETERS"

// readUnescaped removes the backslashes of s. In double quotes it removes only backslashes with a
// meaning there.
func (r *reading) readUnescaped(s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] != '\n' {
				r.putText(s[i:i+1], true)
			}
			continue
		}
		r.putText(s[i:i+1], quoted)
	}
}

// finishWord marks the parts outside quotes that the shell expands: globs, braces, a tilde. zsh
// also expands a leading "=".
func (r *reading) finishWord() word {
	r.word.text = r.text.String()
	mask := r.mask.String()
	if at := findExpansion(mask); at >= 0 {
		if r.known || at < r.first {
			r.first = at
		}
		r.known, r.many = false, true
	}
	if !r.known {
		r.head = r.word.text[:r.first]
		r.inherited = !r.others && !r.many
		r.owner = r.head == "" && r.inherited
	}
	switch {
	case mask == "~", strings.HasPrefix(mask, "~/"):
		r.home = r.known
		r.known, r.head = false, "/" // the word is the home folder, so it begins with "/", like $HOME
		r.owner = r.owner || !r.split
	case strings.HasPrefix(mask, "~"), strings.Contains(mask, "=~"), strings.Contains(mask, ":~"),
		len(mask) > 1 && mask[0] == '=' && mask[1] != '=' && mask[1] != '~':
		r.known, r.head = false, ""
	}
	return r.word
}

// findExpansion returns the offset of the first glob or brace expansion, or -1.
func findExpansion(mask string) int {
	at := strings.IndexAny(mask, "*?")
	first := func(open, last string, needs ...string) {
		i := strings.Index(mask, open)
		if i < 0 || at >= 0 && at < i {
			return
		}
		end := strings.LastIndex(mask, last)
		for _, need := range needs {
			if end > i && strings.Contains(mask[i:end], need) {
				at = i
				return
			}
		}
	}
	first("[", "]", "[")
	first("{", "}", ",", "..")
	return at
}
