package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/policy/where"
)

// commands is the constraint.
type commands struct {
	patterns []*pattern
	size     int // bytes of the patterns
}

// New prepares the constraint `command = [...]`. Each pattern is one simple
// command: words separated by blanks, each a glob; see the package comment. The
// error names the pattern and says what is wrong with it.
func New(patterns []string) (where.Constraint, error) {
	if len(patterns) == 0 {
		return nil, errors.New("the list of commands is empty; name at least one, such as \"git status\"")
	}
	c := &commands{}
	for _, source := range patterns {
		p, err := parsePattern(source)
		if err != nil {
			return nil, fmt.Errorf("the command pattern %q %w", source, err)
		}
		c.patterns = append(c.patterns, p)
		c.size += len(source)
	}
	return c, nil
}

func (c *commands) String() string {
	quoted := make([]string, len(c.patterns))
	for i, p := range c.patterns {
		quoted[i] = fmt.Sprintf("%q", p.source)
	}
	return "command = [" + strings.Join(quoted, ", ") + "]"
}

// Cost counts two readings, each with the texts within the text, and every word
// against every pattern; measured by BenchmarkHolds.
func (c *commands) Cost(n int) int {
	n = min(n, maxText)
	return 10_000 + n*(1_500+4*len(c.patterns)+c.size/16)
}

// Holds implements where.Constraint.
func (c *commands) Holds(v where.Value, opens bool) where.Verdict {
	if v.Kind != where.String {
		return where.No
	}
	if !admissible(v.Text) {
		return where.Maybe
	}
	j := judge{commands: c, opens: opens, budget: 3*len(v.Text) + 256}
	return j.text(v.Text, 0)
}

// judge judges a text and the texts in it.
type judge struct {
	*commands
	opens  bool
	budget int // bytes of shell text that may still be read
}

// text judges a shell text, which may stand in a word of another. It is read by
// the core, and, where that would decide, by a parser of bash too. Where the two
// do not find the same commands, or the core does not know the text, some shell
// may find others: then the parser's only say whether it is worse than a Maybe.
func (j *judge) text(text string, depth int) where.Verdict {
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
		if v = j.program(p, depth); j.opens == (v != where.Yes) {
			return v // the other reading could make it no more
		}
	}
	parsed, err := read(text, syntax.LangBash)
	switch {
	case err != nil:
		return where.Maybe
	case known && slices.EqualFunc(p.commands, parsed, simple.equal):
		return v
	}
	return j.program(&program{commands: parsed, doubt: true, steered: true}, depth)
}

func (j *judge) program(p *program, depth int) where.Verdict {
	if j.opens {
		return j.all(p, depth)
	}
	return j.some(p, depth)
}

// all says whether every command of a program is certainly one of the patterns.
// A program without commands is none of them.
func (j *judge) all(p *program, depth int) where.Verdict {
	v := where.Yes
	if p.doubt {
		v = where.Maybe
	}
	if len(p.commands) == 0 {
		v = min(v, where.Certain(p.doubt))
		return v
	}
	for i := range p.commands {
		v = min(v, j.allowed(p.commands[i].words, depth))
	}
	return v
}

// allowed judges one command, and every command it would run.
func (j *judge) allowed(words []word, depth int) where.Verdict {
	if depth > maxDepth {
		return where.Maybe
	}
	e := effects(words)
	v := where.No
	for _, p := range j.patterns {
		got := p.match(words)
		if got == where.Yes && !e.covers(p, words) {
			got = where.Maybe
		}
		v = max(v, got)
	}
	for _, inner := range e.inner {
		v = min(v, j.allowed(inner, depth+1))
	}
	for _, text := range e.texts {
		v = min(v, j.text(text, depth+1))
	}
	return v
}

// some says whether any command of a program is one of the patterns.
func (j *judge) some(p *program, depth int) where.Verdict {
	v := where.No
	if p.steered {
		v = where.Maybe
	}
	for i := range p.commands {
		v = max(v, j.mayMatch(p.commands[i].words, depth))
	}
	return v
}

// mayMatch judges one command, and every command it would run, generously: by the
// name of a program wherever it is kept, and with options in between.
func (j *judge) mayMatch(words []word, depth int) where.Verdict {
	if depth > maxDepth || !words[0].known {
		return where.Maybe
	}
	v := where.No
	for _, name := range names(words[0].text) {
		named := append([]word{{text: name, known: true}}, words[1:]...)
		for _, p := range j.patterns {
			v = max(v, p.match(named))
			if v == where.No && p.past(named) {
				v = where.Maybe
			}
		}
	}
	e := effects(words)
	if e.handed || e.loose || v == where.No && e.suspect() && j.shown(words[1:]) {
		v = max(v, where.Maybe)
	}
	for _, inner := range e.inner {
		v = max(v, j.mayMatch(inner, depth+1))
	}
	for _, text := range e.texts {
		v = max(v, j.text(text, depth+1))
	}
	return v
}

// past says whether the pattern is met when options, each with a value or
// without, are left out: git -C /srv push is a git push.
func (p *pattern) past(words []word) bool {
	if len(p.words) == 0 || !p.words[0].Match(words[0].text) {
		return false
	}
	at, skipped := 1, false
	for _, g := range p.words[1:] {
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

// names are the names under which a program may be denied: as called, without
// its folder, and as a file system without case would find it.
func names(called string) []string {
	list := []string{called}
	add := func(name string) {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(base(called))
	add(strings.ToLower(base(called)))
	for stem := strings.ToLower(base(called)); stem != ""; { // python3.12, python3, python
		shorter := strings.TrimRight(strings.TrimRight(stem, "0123456789"), ".-")
		if shorter == stem {
			break
		}
		stem = shorter
		add(stem)
	}
	add(canonical(called))
	return list
}
