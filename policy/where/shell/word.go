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
}

// optional says whether the word may be, or become, an option.
func (w *word) optional() bool {
	return !w.known && (w.split || w.head == "" || w.head[0] == '-')
}

// reading is a word being read. mask has a byte for each byte of text: itself
// where the shell would act on it, 0 where it is quoted.
type reading struct {
	text, mask strings.Builder
	word
	first int  // where the first unknown part is
	doubt bool // shells differ, or something runs
}

// readWord removes the quotes of a word. doubt says that shells, or the same
// shell on another day, may read it differently.
func readWord(w *syntax.Word) (got word, doubt bool) {
	r := reading{word: word{known: true}}
	for i, part := range w.Parts {
		r.part(part, i+1 < len(w.Parts))
	}
	return r.finish()
}

func (r *reading) unknown(many bool) {
	if r.known {
		r.known, r.first = false, r.text.Len()
	}
	r.many = r.many || many
}

func (r *reading) put(s string, quoted bool) {
	r.text.WriteString(s)
	if quoted {
		s = strings.Repeat("\x00", len(s))
	}
	r.mask.WriteString(s)
}

func (r *reading) part(part syntax.WordPart, follows bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		r.unquoted(p.Value, follows)
	case *syntax.SglQuoted:
		if p.Dollar {
			// What $'...' means is recent in POSIX, and dash knows nothing of it.
			r.doubt = true
			r.put(ansiC(p.Value), true)
			return
		}
		r.put(p.Value, true)
	case *syntax.DblQuoted:
		r.doubt = r.doubt || p.Dollar
		for i, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				r.doubleQuoted(lit.Value, i+1 < len(p.Parts))
				continue
			}
			r.unknown(severalInQuotes(inner))
		}
	case *syntax.ProcSubst:
		r.unknown(false)
	case *syntax.ParamExp, *syntax.CmdSubst:
		r.unknown(true)
		r.split = true
	default:
		r.unknown(true)
		r.split, r.doubt = true, true
	}
}

// severalInQuotes: "$@" and "${a[@]}" are several words for all their quotes.
// What else can be, among the operators of shells, is not listed.
func severalInQuotes(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && (p.Param == nil || p.Param.Value == "@" || !plain(p))
}

// unquoted removes the backslashes.
func (r *reading) unquoted(s string, follows bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != '\n' {
				r.put(s[i:i+1], true)
			}
			continue
		}
		r.doubt = r.doubt || s[i] == '!' && recalls(s[i+1:], follows)
		r.put(s[i:i+1], false)
	}
}

// doubleQuoted removes the backslashes that double quotes leave their meaning.
func (r *reading) doubleQuoted(s string, follows bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] != '\n' {
				r.put(s[i:i+1], true)
			}
			continue
		}
		escaped := i > 0 && s[i-1] == '\\'
		r.doubt = r.doubt || s[i] == '!' && !escaped && recalls(s[i+1:], follows)
		r.put(s[i:i+1], true)
	}
}

// recalls says whether a "!" before this text would fetch an earlier command in
// an interactive shell.
func recalls(after string, follows bool) bool {
	if after == "" {
		return follows
	}
	return strings.IndexByte(" \t\n=(", after[0]) < 0
}

// finish looks for what the shell expands after quotes are seen: globs, braces,
// a tilde. zsh also expands a leading "=".
func (r *reading) finish() (word, bool) {
	r.word.text = r.text.String()
	mask := r.mask.String()
	if at := expands(mask); at >= 0 {
		if r.known || at < r.first {
			r.first = at
		}
		r.known, r.many = false, true
	}
	if !r.known {
		r.head = r.word.text[:r.first]
	}
	if strings.HasPrefix(mask, "~") || strings.Contains(mask, "=~") || strings.Contains(mask, ":~") ||
		len(mask) > 1 && mask[0] == '=' && mask[1] != '=' && mask[1] != '~' {
		r.known, r.head = false, ""
	}
	return r.word, r.doubt
}

// expands is where the first glob or brace expansion begins; -1 without any.
func expands(mask string) int {
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
