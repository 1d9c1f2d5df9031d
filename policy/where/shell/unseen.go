package shell

import "github.com/clawai/clawai/policy/where"

// Unseen is a pattern whose wildcard allows nothing: the words that the wildcard would match are a
// text that this package cannot read.
type Unseen struct {
	Pattern string
	Program string
	// Known means that the program is known to run other programs or code. If Known is false, the
	// program's options are not known.
	Known bool
}

// UnseenBy returns the patterns of a constraint `command` that seem to allow a program with any
// words, but do not allow this. For every other constraint it returns nil.
func UnseenBy(c where.Constraint) (list []Unseen) {
	commands, ok := c.(*commands)
	if !ok {
		return nil
	}
	for _, p := range commands.patterns {
		if u, unseen := p.findUnseen(); unseen {
			list = append(list, u)
		}
	}
	return list
}

func (p *pattern) findUnseen() (Unseen, bool) {
	var words []word // the words before the first wildcard
	for _, g := range p.words() {
		if g.HasWildcard() {
			break
		}
		words = append(words, word{text: g.String(), known: true})
	}
	if len(words) == 0 || p.isExact() {
		return Unseen{}, false
	}
	u := Unseen{Pattern: p.source, Program: canonicalName(words[0].text), Known: true}
	if findWordReader(u.Program) != nil {
		return Unseen{}, false
	}
	e := commandEffects(words)
	u.Known = !e.strange
	bareRest := p.rest
	for _, g := range p.words()[len(words):] {
		bareRest = bareRest || isBareGlob(g.String())
	}
	return u, bareRest && (e.hidden || e.strange)
}
