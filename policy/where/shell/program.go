package shell

import "strings"

// program options: what makes a program that usually reads run another one
// (runs) or write a file (writes). An option is met in every spelling: with its
// value attached, abbreviated as GNU's getopt allows, or in a bundle of letters.
type options struct {
	runs, writes string
	// only are the subcommands that a wildcard may stand for; of a program with
	// any, the subcommand must otherwise be literal in the pattern.
	only string
	// global are options before the subcommand that change nothing about it;
	// valued are those with a value that says where it works.
	global, valued string
	// under are further options of a subcommand that run.
	under map[string]string
	// launch are the subcommands that run the program named by their first
	// operand; hide those of which nothing is known.
	launch, hide string
	// marks are texts inside a word that make it run: ext:: names a transport.
	marks []string
	// words says that -run is one option, as Go's flags are, and not a bundle.
	words bool
}

func (o *options) effects(words []word) effect {
	e := effect{frail: true}
	runs := o.runs
	if o.only != "" {
		at := o.subcommand(words, &e)
		if at < 0 {
			return e
		}
		sub := words[at].text
		switch {
		case !words[at].known || listedIn(o.hide, sub):
			e.hidden = true
		case listedIn(o.launch, sub):
			inner := launcher{flags: "-y --yes"}.effects(words[at:])
			e.hidden = inner.hidden
			for _, i := range inner.named {
				e.named = append(e.named, at+i)
			}
			e.runs = append(e.runs, at)
		case !listedIn(o.only, sub):
			e.writes = append(e.writes, at)
		}
		runs += " " + o.under[sub]
	}
	for i, w := range words[1:] {
		switch {
		case !w.known && !w.optional():
		case o.meets(w.text, runs):
			e.runs = append(e.runs, i+1)
			if i+2 < len(words) && !strings.Contains(w.text, "=") {
				e.runs = append(e.runs, i+2)
			}
		case o.meets(w.text, o.writes):
			e.writes = append(e.writes, i+1)
		}
		for _, mark := range o.marks {
			if strings.Contains(w.text, mark) {
				e.runs = append(e.runs, i+1)
			}
		}
	}
	return e
}

// subcommand is the index of the subcommand; -1 without one. The pattern has to
// name the options before it, and two words after each, of which one may be a
// value.
func (o *options) subcommand(words []word, e *effect) int {
	at := 1
	for at < len(words) && words[at].known && strings.HasPrefix(words[at].text, "-") {
		option, _, _ := strings.Cut(words[at].text, "=")
		if !listedIn(o.global, option) {
			kept := &e.runs
			if listedIn(o.valued, option) {
				kept = &e.writes
			}
			for i := at; i < min(at+3, len(words)); i++ {
				*kept = append(*kept, i)
			}
			if !strings.Contains(words[at].text, "=") {
				at++
			}
		}
		at++
	}
	if at >= len(words) {
		return -1
	}
	return at
}

func (o *options) meets(word, list string) bool {
	if o.words && strings.HasPrefix(word, "-") {
		name, _, _ := strings.Cut(word, "=")
		return listedIn(list, "-"+strings.TrimLeft(name, "-"))
	}
	return meets(word, list)
}

// meets says whether a word is one of the options listed.
func meets(word, list string) bool {
	if len(word) < 2 || word[0] != '-' {
		for bare := range strings.FieldsSeq(list) {
			if bare[0] != '-' && bare == word {
				return true
			}
		}
		return false
	}
	name, _, _ := strings.Cut(word, "=")
	for option := range strings.FieldsSeq(list) {
		switch {
		case name == option:
			return true
		case strings.HasPrefix(option, "--"):
			if strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(option, name) {
				return true
			}
		case len(option) == 2:
			if word[1] != '-' && strings.IndexByte(word[1:], option[1]) >= 0 {
				return true
			}
		case name == "-"+option:
			return true
		}
	}
	return false
}
