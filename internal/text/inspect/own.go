package inspect

import (
	"fmt"
	"regexp/syntax"
)

// An owner's packs are searched in addition to the built-in packs. Their patterns come from a
// file, so the cost needs a limit.

// ownPrefix is the prefix of owners' pack names, so that they differ from built-in names.
const ownPrefix = "pack:"

// Kind returns the word that rules use for findings of an owner's pack: "pack:tickets".
func (p *Pack) Kind() string { return ownPrefix + p.Name }

// Text returns the source of the pack.
func (p *Pack) Text() []byte { return p.text }

// sizeOf returns the number of instructions of a regular expression.
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

// Limits of the work of owners' patterns on one text, in instructions: ownEffort, and
// ownEffortByte for each byte. Ordinary patterns need a hundredth of this limit, because their near
// words are rare in texts.
const (
	ownEffort     = 128 << 10
	ownEffortByte = 512
)

// findOwn finds matches of the owner's packs.
func findOwn(f *findings) {
	if len(f.wanted.own) == 0 { // avoids building tables that nobody needs
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
