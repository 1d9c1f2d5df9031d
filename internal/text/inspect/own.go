package inspect

import (
	"fmt"
	"regexp/syntax"
)

// An owner's packs are found beside those that are built in. What they are looked for with
// comes from a file, so that it has a bound.

// ownPrefix stands before the names of owners' packs, which are never those of ours.
const ownPrefix = "pack:"

// Kind is the word of rules for what the pack of an owner finds: "pack:tickets".
func (p *Pack) Kind() string { return ownPrefix + p.Name }

// Text is what the pack was read from.
func (p *Pack) Text() []byte { return p.text }

// sizeOf gives how many instructions a form has.
func sizeOf(form string) (int, error) {
	tree, err := syntax.Parse(form, syntax.Perl)
	if err != nil {
		return 0, err
	}
	made, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	if len(made.Inst) > maxSize {
		return 0, fmt.Errorf("the regex has %d steps: at most %d", len(made.Inst), maxSize)
	}
	return len(made.Inst), nil
}

// What the patterns of owners may cost a text, in instructions: of ordinary ones, near
// words that are not everywhere, this is a hundred times what they do.
const (
	ownEffort     = 128 << 10
	ownEffortByte = 512
)

// findOwn finds what the patterns of the owner's packs do.
func findOwn(f *findings) {
	if len(f.wanted.own) == 0 { // nothing is kept for it then
		return
	}
	left := ownEffort + ownEffortByte*len(f.text)
	for _, p := range f.wanted.own {
		k := Kind(p.Kind())
		if !f.wanted.hasKind(k) {
			continue
		}
		var says [maxPatterns]bool
		p.begins.noteWords(f.text, &says)
		for i := range p.Patterns {
			if !says[i] {
				continue
			}
			pattern := &p.Patterns[i]
			pattern.findPlaces(f.text, &left, func(start, end int) bool {
				f.addFinding(k, pattern.Says, start, end)
				return true
			})
			if left < 0 {
				f.noteUnscreened(k, "the patterns of a pack cost too much here", 0)
				break
			}
		}
	}
}
