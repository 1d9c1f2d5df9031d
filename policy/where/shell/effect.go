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
	// hidden says that it runs something which its words do not show, or in a
	// language that is not read here: only a pattern without wildcards speaks of
	// it.
	hidden bool
	// runs and writes are words that make it run a program or write a file: a
	// wildcard must not stand for them.
	runs, writes []int
	// named are words that say which program or script runs: a bare wildcard
	// must not stand for them.
	named []int
	// frail says that a word which may become an option may do any of this.
	frail bool
	// assigned says that it sets variables for what it runs.
	assigned bool
}

// trusts says whether a pattern that matches the words was also written for
// what they do.
func (e *effect) trusts(p *pattern, words []word) bool {
	if e.assigned || e.hidden && !p.exact() || e.frail && loose(words) {
		return false
	}
	inexact := func(i int) bool { return !p.literal(i) }
	return !slices.ContainsFunc(e.runs, inexact) && !slices.ContainsFunc(e.writes, inexact) &&
		!slices.ContainsFunc(e.named, func(i int) bool { return !p.named(i) || !words[i].known })
}

// loose says whether any word may turn out to be an option.
func loose(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.optional() })
}

// blind says whether any word is unknown.
func blind(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return !w.known })
}

// hides is the effect of what is not read here.
func hides() effect { return effect{hidden: true} }

// takers are the builtins that take any word for a program or a file.
const takers = ". source eval exec command builtin noglob nocorrect -"

// effects looks a command up. A program that is not in a table does what its
// name says with whatever arguments: that is the pattern's business.
func effects(words []word) effect {
	if !words[0].known {
		return hides()
	}
	name := canonical(words[0].text)
	if len(words) == 2 && words[1].known && !listedIn(takers, name) && (words[1].text == "--version" || words[1].text == "--help") {
		return effect{}
	}
	if _, ok := opaque[name]; ok {
		return hides()
	}
	if read, ok := readers[name]; ok {
		return read(words)
	}
	if w, ok := wrappers[name]; ok {
		return w.effects(words)
	}
	if l, ok := launchers[name]; ok {
		return l.effects(words)
	}
	if o, ok := programs[name]; ok {
		return o.effects(words)
	}
	return effect{}
}

// readers are the programs whose arguments need an eye of their own.
var readers map[string]func([]word) effect

func init() {
	readers = map[string]func([]word) effect{
		"find": find, "gfind": find, "xargs": xargs, "gxargs": xargs, "eval": eval, "env": env, "genv": env,
		"command": query, "sed": sed, "gsed": sed, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk,
		"test": compute, "[": compute, "printf": compute, "uniq": copies, "xxd": copies, "ptx": copies, "make": makes, "gmake": makes, "tar": tar, "gtar": tar, "bsdtar": tar,
	}
	for _, sh := range strings.Fields("sh bash dash zsh ash ksh mksh pdksh yash posh rbash rksh lksh hush oksh ksh93 bosh loksh") {
		readers[sh] = shell
	}
}

// base is the name of a program without its folder.
func base(called string) string {
	if i := strings.LastIndexAny(called, `/\`); i >= 0 {
		return called[i+1:]
	}
	return called
}

// canonical is the name under which the tables know a program: in lower case,
// without folder, .exe and version.
func canonical(called string) string {
	name := strings.ToLower(base(called))
	for _, ext := range [...]string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, ext)
	}
	if listed(name) {
		return name
	}
	if stem := strings.TrimRight(name, "0123456789.-"); listed(stem) {
		return stem
	}
	if stem, _, cut := strings.Cut(name, "."); cut && listed(stem) {
		return stem // vim.basic
	}
	return name
}

func listed(name string) bool {
	_, a := opaque[name]
	_, b := readers[name]
	_, c := wrappers[name]
	_, d := launchers[name]
	_, e := programs[name]
	return a || b || c || d || e
}
