package shell

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where/authority"
)

// Told holds the facts that the words of a shell text show to a person. Each list is in the
// order of the text.
type Told struct {
	Programs []string
	Reads    []string // words that look like names of files
	Writes   []string
	Deletes  []string
	Hosts    []string
	Hides    []string // programs that run or load something that their words do not show
	// Hidden means that the text itself runs something that it does not show.
	Hidden bool
}

// runFiles are programs that run the content of files, in addition to those that commandEffects
// reports. Their words do not show everything that they run.
const runFiles = "make gmake ninja just rake npm yarn pnpm bun node deno python ruby perl php sh bash dash zsh ksh source . go cargo gradle mvn ant tox nox pytest poetry uv jest vitest tsc"

// Tell reads a shell text for a person. It may miss things that the text does, so no decision
// may depend on it.
func Tell(text string) (t Told) {
	r := runner{budget: 4 * maxText}
	r.readText(text, 0)
	t.Hidden = r.hidden
	for i := range r.runs {
		switch one := &r.runs[i]; {
		case one.from != "":
			addNew(&t.Reads, one.from)
		case one.Program != "":
			t.addRun(one)
		}
	}
	t.Writes = FilesOf(text).Writes
	return t
}

func (t *Told) addRun(r *Run) {
	addNew(&t.Programs, r.Program)
	words := r.asWords()
	if e := commandEffects(words); e.hidden || e.strange || listedIn(runFiles, canonicalName(r.Program)) {
		addNew(&t.Hides, r.Program)
	}
	for _, host := range hostsIn(words) {
		addNew(&t.Hosts, host)
	}
	c := contactOf(words[0])
	for _, word := range r.Words {
		switch {
		case listedIn("rm rmdir unlink shred trash", r.Program):
			if isOperand(word) {
				addNew(&t.Deletes, word)
			}
		case isTeller(r.Program) || c != nil && (c.operands || c.first) && strings.IndexByte("./~", (word + " ")[0]) < 0:
		case looksLikeFile(word):
			addNew(&t.Reads, word)
		}
	}
}

func addNew(to *[]string, text string) {
	if text != "" && !slices.Contains(*to, text) {
		*to = append(*to, text)
	}
}

// asWords returns the words of a command, with its program.
func (r *Run) asWords() []word {
	words := []word{{text: r.Program, known: true}}
	for i, text := range r.Words {
		words = append(words, word{text: text, known: i >= len(r.unknown) || !r.unknown[i]})
	}
	return words
}

// looksLikeFile reports whether a word is more likely a file than a word of another kind.
func looksLikeFile(name string) bool {
	return isOperand(name) && !strings.Contains(name, "://") && !strings.ContainsAny(name, " \n\t;|&<>(){}$`'\"=:") &&
		(strings.ContainsAny(name, "/~") || strings.Contains(strings.Trim(name, "."), ".") || name == ".")
}

// hostsIn returns the hosts that the words of a command name.
func hostsIn(words []word) (hosts []string) {
	c := contactOf(words[0])
	operands := 0
	for i := 1; i < len(words); i++ {
		text := words[i].text
		if _, after, found := strings.Cut(text, "://"); found {
			hosts = append(hosts, hostIn(after))
			continue
		}
		if rest, found := strings.CutPrefix(text, "/dev/tcp/"); found {
			hosts = append(hosts, hostIn(rest))
			continue
		}
		if c == nil || text == "" {
			continue
		}
		if text[0] == '-' {
			if listedIn(c.plain, text) {
				i++ // skip the option's value, which is not a host
			}
			continue
		}
		operands++
		before, _, colon := strings.Cut(text, ":")
		switch {
		case c.operands && strings.Contains(text, "."), c.first && operands == 1:
			hosts = append(hosts, hostIn(text))
		case !c.operands && !c.first && colon && !strings.Contains(before, "/"):
			hosts = append(hosts, hostIn(before))
		}
	}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}

// hostIn returns the host, with its port, at the beginning of a text.
func hostIn(text string) string {
	host, _ := authority.CutAuthority(text)
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host
}
