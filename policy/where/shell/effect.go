package shell

import (
	"slices"
	"strings"
)

// effect is what a command does besides what its name says, as far as its words
// show it.
type effect struct {
	// inner are the commands it runs, each as words; texts are shell texts.
	inner [][]word
	texts []string
	// hidden says that it may run something which its words do not show: only a
	// pattern without wildcards speaks of it.
	hidden bool
	// handed says that its words, or its input, are a command or a text in a
	// language that is not read here.
	handed bool
	// strange says that no table knows the program: the pattern has to name every
	// word of it.
	strange bool
	// stays are words that may make it run a program or write a file: a wildcard
	// must not stand for them.
	stays []int
	// named are words that say which program or script runs: a bare wildcard
	// must not stand for them.
	named []int
	// launched are those of them that are a program, judged by its own row; filed are
	// those that are a file or a task, which may have the name of one.
	launched, filed []int
	// loose says that a word may turn out to be such an option.
	loose bool
	// assigned are the variables that it sets for what it runs, as NAME=value.
	assigned []string
}

// mergeEffect adds what a command does whose words begin at a word of this one.
func (e *effect) mergeEffect(more effect, at int) {
	for _, i := range more.stays {
		e.stays = append(e.stays, at+i)
	}
	for _, i := range more.named {
		e.named = append(e.named, at+i)
	}
	for _, i := range more.launched {
		e.launched = append(e.launched, at+i)
	}
	for _, i := range more.filed {
		e.filed = append(e.filed, at+i)
	}
	e.inner, e.texts = append(e.inner, more.inner...), append(e.texts, more.texts...)
	e.assigned = append(e.assigned, more.assigned...)
	e.hidden, e.handed = e.hidden || more.hidden, e.handed || more.handed
	e.strange, e.loose = e.strange || more.strange, e.loose || more.loose
}

// isSuspect reports whether the words may be more than what the program's name says.
func (e *effect) isSuspect() bool { return e.hidden || len(e.stays) > 0 }

// hasUnknownWord reports whether any word is unknown.
func hasUnknownWord(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return !w.known })
}

// hiddenEffect gives the effect of what is not read here.
func hiddenEffect() effect { return effect{hidden: true, handed: true} }

// takers are the builtins that take any word for a program or a file.
const takers = ". source eval exec command builtin noglob nocorrect -"

// deaf are shells of busybox, and what reads its input as they do: to them --version is no
// option that they know, and they run what comes in.
const deaf = "sh ash hush tcl tclsh wish expect"

// commandEffects looks a command up, and the programs that it launches.
func commandEffects(words []word) effect { return launchedBy(words, 0) }

func launchedBy(words []word, depth int) effect {
	e := lookUp(words)
	launched, filed := e.launched, e.filed
	e.launched, e.filed = nil, nil
	for _, at := range launched {
		e.addLaunched(words, at, depth, false)
	}
	for _, at := range filed {
		e.addLaunched(words, at, depth, true)
	}
	return e
}

func lookUp(words []word) effect {
	if !words[0].known {
		return hiddenEffect()
	}
	name := canonicalName(words[0].text)
	t := programs()
	if len(words) == 2 && words[1].known && !listedIn(takers, name) && !listedIn(deaf, name) && isKnownProgram(name) && !t.opaque[name] && (words[1].text == "--version" || words[1].text == "--help") {
		return effect{}
	}
	if given, ok := t.opaque[name]; ok {
		return effect{hidden: true, handed: given || slices.ContainsFunc(words[1:], carriesText)}
	}
	if read, ok := t.readers[name]; ok {
		return read(words)
	}
	if w, ok := t.wrappers[name]; ok {
		return w.readEffects(words)
	}
	if l, ok := t.launchers[name]; ok {
		if listedIn(takers, name) && len(words) == 2 && strings.HasPrefix(words[1].text, "-") {
			return hiddenEffect() // to zsh a file of that name
		}
		return l.readEffects(words)
	}
	if r := programRow(name); r != nil {
		return r.readEffects(words, 1)
	}
	e := effect{strange: true}
	for i := range words {
		if i > 0 && words[i].known && strings.HasPrefix(words[i].text, "-") {
			e.stays = append(e.stays, i)
		}
	}
	return e
}

// carriesText reports whether a word is more than a name: a text that a program which
// can run others may take for a command of its own.
func carriesText(w word) bool { return strings.ContainsAny(w.text, "!`|;&(") }

// baseName gives the name of a program without its folder.
func baseName(called string) string {
	if i := strings.LastIndexAny(called, `/\`); i >= 0 {
		return called[i+1:]
	}
	return called
}

// canonicalName gives the name under which the tables know a program: in lower case,
// without folder, .exe and version.
func canonicalName(called string) string {
	name := strings.ToLower(baseName(called))
	for _, ext := range [...]string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, ext)
	}
	if isKnownProgram(name) {
		return name
	}
	if stem := strings.TrimRight(name, "0123456789.-"); isKnownProgram(stem) {
		return stem
	}
	if stem, _, cut := strings.Cut(name, "."); cut && isKnownProgram(stem) {
		return stem // vim.basic
	}
	return name
}

func isKnownProgram(name string) bool {
	t := programs()
	_, a := t.opaque[name]
	_, b := t.readers[name]
	_, c := t.wrappers[name]
	_, d := t.launchers[name]
	e := programRow(name) != nil
	return a || b || c || d || e
}
