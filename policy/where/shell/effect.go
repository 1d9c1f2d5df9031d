package shell

import (
	"slices"
	"strings"
)

// effect tells what a command does besides running the program that it names, as far as the
// command's words show this.
type effect struct {
	// inner are the commands that the command runs, each as a list of words. texts are the shell
	// texts that the command runs.
	inner [][]word
	texts []string
	// hidden means that the command may run something that its words do not show. Only a
	// pattern without wildcards covers it.
	hidden bool
	// handed means that the command runs its words or its input as a command, or as a text in a
	// language that this package does not read.
	handed bool
	// strange means that the program is in no table. The pattern must name every word of the
	// command.
	strange bool
	// stays are the indexes of words that may make the command run a program or write a
	// file. A wildcard must not match them.
	stays []int
	// named are the indexes of words that name the program or script to run. A bare
	// wildcard must not match them.
	named []int
	// launched are those indexes in named whose words name a program; the program is judged by its
	// own row. filed are those indexes in named whose words name a file or a task. The file or task
	// may have the name of a program.
	launched, filed []int
	// loose means that a word with an unknown value may be an option that would belong in stays.
	loose bool
	// assigned are the variables that the command sets for the commands it runs, as
	// NAME=value.
	assigned []string
}

// mergeEffect adds the effect of an inner command. The parameter at is the index of the first word
// of that command.
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

// isSuspect reports whether the command may run or write something that its name does not show.
func (e *effect) isSuspect() bool { return e.hidden || len(e.stays) > 0 }

// hasUnknownWord reports whether any word is unknown.
func hasUnknownWord(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return !w.known })
}

// hiddenEffect returns the effect of a command that this package cannot read.
func hiddenEffect() effect { return effect{hidden: true, handed: true} }

// takers are the builtins that run any word as a program or a file.
const takers = ". source eval exec command builtin noglob nocorrect -"

// noVersion are programs without the option --version: they run their input even if the option is
// given. They are the shells of BusyBox, and other programs that read commands from their input.
const noVersion = "sh ash hush tcl tclsh wish expect"

// commandEffects returns the effect of a command, including the programs that it
// launches.
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
	hidden, handed := isOpaque(name)
	if len(words) == 2 && words[1].known && !listedIn(takers, name) && !listedIn(noVersion, name) && isKnownProgram(name) && !handed && (words[1].text == "--version" || words[1].text == "--help") {
		return effect{}
	}
	if hidden {
		return effect{hidden: true, handed: handed || slices.ContainsFunc(words[1:], carriesText)}
	}
	if read := findWordReader(name); read != nil {
		return read(words)
	}
	if w := findWrapper(name); w != nil {
		return w.readEffects(words)
	}
	if l := findLauncher(name); l != nil {
		if listedIn(takers, name) && len(words) == 2 && strings.HasPrefix(words[1].text, "-") {
			return hiddenEffect() // zsh runs the file that the word names
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

// carriesText reports whether a word is more than a name. A program that can run other programs may
// read such a word as a command.
func carriesText(w word) bool { return strings.ContainsAny(w.text, "!`|;&(") }

// baseName returns the name of a program without its folder.
func baseName(called string) string {
	if i := strings.LastIndexAny(called, `/\`); i >= 0 {
		return called[i+1:]
	}
	return called
}

// canonicalName returns the name of a program in the tables: in lower case, without
// folder, .exe and version.
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
		return stem // vim.basic becomes vim
	}
	return name
}

func isKnownProgram(name string) bool {
	if programRow(name) != nil || findWrapper(name) != nil || findWordReader(name) != nil || findLauncher(name) != nil {
		return true
	}
	hidden, _ := isOpaque(name)
	return hidden
}
