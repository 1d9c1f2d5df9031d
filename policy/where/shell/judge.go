package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/policy/where"
)

// JudgeValue implements where.Constraint.
func (c *commands) JudgeValue(v where.Value, opens bool) where.Match {
	if v.Kind != where.String {
		return where.No
	}
	if !isAdmissible(v.Text) || opens && c.windows && !plainToAll(v.Text) {
		return where.Maybe
	}
	verdict := c.judgeCommands(v, opens)
	if opens && verdict != where.No && c.not != nil {
		// An allow needs more: no reading of the text may match an excepted pattern.
		except := &commands{patterns: c.not}
		verdict = min(verdict, where.Yes-except.judgeCommands(v, false))
	}
	return verdict
}

func (c *commands) judgeCommands(v where.Value, opens bool) where.Match {
	text := v.Text
	j := judge{commands: c, base: v.Base, opens: opens, budget: 3*len(text) + 256, moves: moves{starts: []string{""}},
		expands: strings.ContainsAny(text, "$`"), loops: strings.Contains(text, "done")}
	return j.judgeText(text, 0)
}

// judge holds the state while a text and the texts inside it are judged.
type judge struct {
	*commands
	base    string // the folder in which the text starts; "" if it is not known
	opens   bool   // the rule is an allow
	budget  int    // how many bytes of shell text may still be read
	expands bool   // the text may use variables
	loops   bool   // the text may have loops
	moves
	asked, askedBytes int // number of resolved paths, and their length
}

// moves holds the folders in which a command of a text may run.
type moves struct {
	starts    []string // folders in which relative paths may begin, each with a slash at its end
	lost      bool     // the folders are not known
	redirects []file   // redirections of the enclosing texts and of this text
}

// judgeText judges a shell text, which may be inside a word of another text. The core reads the
// text. If the rule would let the text pass by the core's reading, a parser of bash reads the text
// too. If the two find different commands, or if the core cannot read the text, some shell may run
// other commands. Then the commands of the parser only decide between Maybe and the stricter
// verdict.
func (j *judge) judgeText(text string, depth int) where.Match {
	j.budget -= len(text)
	if j.budget < 0 || depth > maxDepth {
		return where.Maybe
	}
	p, known := readCore(text)
	v := where.Maybe
	if p == nil {
		return v
	}
	if known {
		v = j.judgeProgram(p, depth)
		if j.opens && v != where.Yes && j.loops {
			if written := writeOut(text, p); written != "" {
				j.budget += len(written)
				return j.judgeText(written, depth+1)
			}
		}
		if j.opens == (v != where.Yes) {
			return v // the other reading could not make the verdict milder, so it is not needed
		}
	}
	parsed, err := parseShell(text, syntax.LangBash)
	switch {
	case err != nil:
		return where.Maybe
	case known && p.equalProgram(parsed):
		return v
	}
	parsed.doubt, parsed.steered = true, true
	if v = j.judgeProgram(parsed, depth); !j.opens {
		v = max(v, where.Maybe)
	}
	return v
}

func (j *judge) judgeProgram(p *program, depth int) where.Match {
	before := j.moves
	j.redirects = append(j.redirects, p.files...)
	j.enterFolders(p)
	defer func() { j.moves = before }()
	if j.opens {
		return j.judgeAll(p, depth)
	}
	return j.judgeSome(p, depth)
}

// judgeAll returns Yes if every command of a program matches one of the patterns with certainty. A
// program without commands does not match.
func (j *judge) judgeAll(p *program, depth int) where.Match {
	v := where.Yes
	if p.doubt || !j.allowsAssigned(p) || j.judgeRedirects() != where.Yes {
		v = where.Maybe
	}
	if len(p.commands) == 0 {
		return min(v, where.MatchOf(v != where.Yes))
	}
	for i := range p.commands {
		v = min(v, j.judgeAllowed(p.commands[i].words, depth))
	}
	return v
}

// judgeAllowed judges one command and every command that it would run.
func (j *judge) judgeAllowed(words []word, depth int) where.Match {
	if depth > maxDepth {
		return where.Maybe
	}
	e := commandEffects(words)
	v := j.matchPatterns(words, &e)
	if rest, dirs := stripGlobals(words); len(rest) < len(words) {
		within := commandEffects(rest)
		v = max(v, min(j.matchPatterns(rest, &within), j.judgeFolders(dirs)))
	}
	if to, one := cdDestination(words); j.dir != nil && words[0].text == "cd" {
		v = where.Maybe
		if one {
			v = j.judgePaths(j.wordPaths(&to), j.dir)
		}
	} else if v != where.No {
		v = min(v, j.judgeSettings(words))
	}
	for _, inner := range e.inner {
		v = min(v, j.judgeAllowed(inner, depth+1))
	}
	for _, text := range e.texts {
		v = min(v, j.judgeText(text, depth+1))
	}
	return v
}

// matchPatterns returns Yes if a command matches one of the patterns with certainty, and the
// pattern also covers the command's effect e.
func (j *judge) matchPatterns(words []word, e *effect) where.Match {
	v := where.No
	for _, p := range j.patterns {
		got := p.matchWords(words)
		if got == where.Yes && !j.coversEffect(e, p, words) {
			got = where.Maybe
		}
		v = max(v, got)
	}
	return v
}

// coversEffect reports whether a pattern that matches the words also covers their
// effect.
func (j *judge) coversEffect(e *effect, p *pattern, words []word) bool {
	if e.hidden && !p.isExact() || e.strange && !p.spellsWords(words) {
		return false
	}
	for _, a := range e.assigned {
		if name, value, _ := strings.Cut(a, "="); !j.allowsVariable(name, value) {
			return false
		}
	}
	return !slices.ContainsFunc(e.stays, func(i int) bool { return !p.opensOption(i, words[i].text) && !j.namesOption(words[i].text) }) &&
		!slices.ContainsFunc(e.named, func(i int) bool { return !p.namesWord(i) || !words[i].known }) && !j.mayShowSecrets(p, words)
}

// judgeSettings reports whether a command meets the rule's options, hosts, paths and
// search.
func (j *judge) judgeSettings(words []word) where.Match {
	v := min(j.judgeHosts(words), j.judgeFiles(words), j.judgeSearch(words))
	if j.options != nil {
		v = min(v, hasOption(words, j.options))
	}
	if j.without != nil {
		v = min(v, where.Yes-hasOption(words, j.without))
	}
	return v
}

// judgeSome reports whether at least one command of a program matches one of the patterns.
func (j *judge) judgeSome(p *program, depth int) where.Match {
	v := where.No
	if p.steered {
		v = where.Maybe
	}
	for i := range p.commands {
		v = max(v, j.mayMatch(p.commands[i].words, depth))
	}
	return min(v, j.judgeRedirects(), j.judgeWorkFolder(p))
}

// mayMatch judges one command and every command that it would run, for a deny or prompt rule. It
// matches more than the exact words: it ignores the folder of the program, and options between the
// words.
func (j *judge) mayMatch(words []word, depth int) where.Match {
	if depth > maxDepth || !words[0].known {
		return where.Maybe
	}
	v := where.No
	for _, name := range deniedNames(words[0].text) {
		named := append([]word{{text: name, known: true}}, words[1:]...)
		for _, p := range j.patterns {
			v = max(v, p.matchWords(named))
			if v == where.No && p.matchesPastOptions(named) {
				v = where.Maybe
			}
		}
	}
	if v != where.No {
		v = min(v, j.judgeSettings(words), where.Yes-j.judgeExcepted(words))
	}
	e := commandEffects(words)
	if e.handed || e.loose || v == where.No && e.isSuspect() && j.namesDenied(words[1:]) {
		v = max(v, where.Maybe)
	}
	for _, inner := range e.inner {
		v = max(v, j.mayMatch(inner, depth+1))
	}
	for _, text := range e.texts {
		v = max(v, j.judgeText(text, depth+1))
	}
	return v
}

// judgeExcepted returns Yes if a command certainly matches an exception of a rule that denies.
func (j *judge) judgeExcepted(words []word) where.Match {
	if j.not == nil {
		return where.No
	}
	except := judge{commands: &commands{patterns: j.not}, opens: true}
	e := commandEffects(words)
	v := except.matchPatterns(words, &e)
	if len(e.inner)+len(e.texts) > 0 {
		v = min(v, where.Maybe) // the commands that this command runs are judged separately
	}
	return v
}

// matchesPastOptions reports whether the pattern matches the command without some of its options
// and their values: git -C /srv push matches git push.
func (p *pattern) matchesPastOptions(words []word) bool {
	if !p.mayBegin(words[0].text) {
		return false
	}
	at, skipped := 1, false
	for _, g := range p.words()[1:] {
		for {
			if at == len(words) {
				return false
			}
			w := &words[at]
			if !w.known || g.Match(w.text) || g.HasWildcard() && goesUp(w.text) {
				break
			}
			if !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(words[at-1].text, "-") {
				return false
			}
			at++
			skipped = true
		}
		at++
	}
	return skipped && (p.rest || at == len(words))
}

// deniedNames returns the names under which a rule may deny a program: the name as called, the name
// without its folder, the name in lower case (for file systems that ignore case), and the name
// without its version.
func deniedNames(called string) []string {
	list := []string{called}
	add := func(name string) {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(baseName(called))
	add(strings.ToLower(baseName(called)))
	for stem := strings.ToLower(baseName(called)); stem != ""; { // python3.12, python3, python
		shorter := strings.TrimRight(strings.TrimRight(stem, "0123456789"), ".-")
		if shorter == stem {
			break
		}
		stem = shorter
		add(stem)
	}
	add(canonicalName(called))
	return list
}
