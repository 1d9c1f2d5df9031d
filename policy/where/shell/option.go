package shell

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// hasOption reports whether a command has one of some options, in any position. It returns Yes if
// every reading of the words has such an option, and No if no reading has one. Words after "--" are
// operands. A word after another option may be the value of that option or an option itself, so it
// gives Maybe at most. An operand that does the same as an option counts as this option: in
// git push, +main counts as --force.
func hasOption(words []word, names []string) where.Match {
	v := where.No
	r := rowOf(words)
	doubt, ended := false, false
	for i := 1; i < len(words); i++ {
		w := &words[i]
		before := words[i-1].text
		valued := i > 1 && strings.HasPrefix(before, "-") && before != "--"
		if got := r.actsAsOption(w, names); valued && takesNext(before, r) {
			v = max(v, min(got, where.Maybe))
		} else {
			v = max(v, got)
		}
		switch {
		case ended:
		case !w.known && (w.mayBeOption() || strings.HasPrefix(w.head, "-")):
			v = max(v, where.Maybe)
		case !w.known || !strings.HasPrefix(w.text, "-"):
		case w.text == "--" && r != nil && !r.mixed && !doubt && !valued:
			ended = true
		case w.text == "--":
			doubt = true
		default:
			got := spellsOption(w.text, names, r)
			if doubt || valued && takesNext(before, r) {
				got = min(got, where.Maybe)
			}
			v = max(v, got)
		}
	}
	return v
}

// takesNext reports whether the word after an option may be its value.
func takesNext(option string, r *row) bool {
	if r == nil {
		return !strings.Contains(option, "=")
	}
	ok, takes := r.findOption(option)
	return takes == required || !ok && !strings.Contains(option, "=")
}

// spellsOption reports whether a word is one of the options. The option may have a value, may be in
// a bundle of short options, or may be shortened.
func spellsOption(text string, names []string, r *row) where.Match {
	v := where.No
	option, _, _ := strings.Cut(text, "=")
	for _, name := range names {
		switch {
		case option == name:
			return where.Yes
		case strings.HasPrefix(name, "--"):
			if len(option) > 2 && strings.HasPrefix(name, option) { // GNU programs and git accept shortened names
				v = where.Maybe
			}
			if name[1:] == option && (r == nil || r.single) { // Go programs also accept one dash
				v = where.Maybe
			}
		case len(name) > 2:
			if option == "-"+name && (r == nil || r.single) {
				v = where.Maybe
			}
		case !strings.HasPrefix(text, "--") && (r == nil || !r.single):
			v = max(v, r.bundlesOption(text, name))
		}
	}
	return v
}

// bundlesOption reports whether a word is a bundle that contains a short option. r may
// be nil.
func (r *row) bundlesOption(text, name string) where.Match {
	v := where.Yes
	for i := 1; i < len(text); i++ {
		letter := "-" + text[i:i+1]
		if letter == name {
			return v
		}
		kind, known := none, false
		if r != nil {
			kind, known = r.options.byName()[letter]
		}
		switch {
		case known && (kind == required || kind == rest):
			return where.No // the rest of the bundle is the value of this option
		case !known || kind == attached:
			v = where.Maybe
		}
	}
	return where.No
}

// rowOf returns the row of a program, or of the subcommand in the words; nil if the table has no
// such row.
func rowOf(words []word) *row {
	if !words[0].known {
		return nil
	}
	r := programRow(canonicalName(words[0].text))
	for at := 1; r != nil && r.subs != nil && at < len(words); at++ {
		w := &words[at]
		switch {
		case !w.known:
			return nil
		case strings.HasPrefix(w.text, "-"):
			if takesNext(w.text, r) {
				at++
			}
		default:
			r = r.subs[w.text]
		}
	}
	return r
}

// namesOption reports whether a rule names an option of a command.
func (c *commands) namesOption(text string) bool {
	option, _, _ := strings.Cut(text, "=")
	return slices.Contains(c.options, option)
}
