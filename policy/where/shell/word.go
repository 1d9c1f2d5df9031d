package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a simple command, without its quotes.
type word struct {
	// text is what the program will be given. Where that is not known before the
	// shell runs, it is what can be read of it.
	text string
	// head is what an unknown word begins with in any case.
	head  string
	known bool
	many  bool // may become several words, or none
	split bool // its expansions are split at blanks: any of them may be an option
	// owner says that what it begins with is the owner's, and not the text's: his
	// home, or a variable of the environment in quotes. It is no option.
	owner bool
	home  bool // "~/" and a text that is known: a path at home
	fed   bool // xargs puts it here, from its input
	// inherited says that what is not known of it is the environment's alone.
	inherited bool
}

// mayBeOption reports whether the word may be, or become, an option.
func (w *word) mayBeOption() bool {
	return !w.known && !w.owner && (w.split || w.head == "" || w.head[0] == '-')
}

// reading is a word being read. mask has a byte for each byte of text: itself
// where the shell would act on it, 0 where it is quoted.
type reading struct {
	text, mask strings.Builder
	word
	first  int  // where the first unknown part is
	others bool // a part is not known, nor the owner's
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
			r.markUnknown(named && p.Param.Value == "@") // "$@" is several words for all its quotes
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

// isEnvironment reports whether only the environment can have set a variable, or an
// assignment, of which no allow is certain: by its name it is no loop's, no
// argument, and none that shells set themselves.
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

// setByShells are how the names begin of variables that bash, ksh and zsh set
// from the text or from what it ran.
const setByShells = "BASH ZSH KSH HIST COMP REPLY MATCH MBEGIN MEND OPT FUNC PIPE ARGV READLINE PROMPT STATUS WORDS BUFFER DIRSTACK OLDPWD PATH FPATH CDPATH ALIASES COMMANDS PARAMETERS"

// readUnescaped removes the backslashes, in double quotes those that have a meaning
// there.
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

// finishWord looks for what the shell expands after quotes are seen: globs, braces,
// a tilde. zsh also expands a leading "=".
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
		r.known, r.head = false, "/" // a home, as HOME has it
		r.owner = r.owner || !r.split
	case strings.HasPrefix(mask, "~"), strings.Contains(mask, "=~"), strings.Contains(mask, ":~"),
		len(mask) > 1 && mask[0] == '=' && mask[1] != '=' && mask[1] != '~':
		r.known, r.head = false, ""
	}
	return r.word
}

// findExpansion gives where the first glob or brace expansion begins; -1 without any.
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
