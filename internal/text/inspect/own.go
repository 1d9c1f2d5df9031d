package inspect

import (
	"fmt"
	"regexp/syntax"
)

// The packs of an owner are searched after the built-in packs. Their patterns come from a file, so
// the time needs a limit.

// ownPrefix is the prefix of the kinds of owners' packs, so that they differ from built-in kinds.
const ownPrefix = "pack:"

// Kind returns the kind of the findings of an owner's pack, such as "pack:tickets". Rules use this
// word.
func (p *Pack) Kind() string { return ownPrefix + p.Name }

// Text returns the TOML text of the pack.
func (p *Pack) Text() []byte { return p.text }

// sizeOf returns the number of instructions of a compiled regular expression.
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

// Limits on the work of an owner's patterns for one text, in instructions: ownEffort, plus
// ownEffortByte for each byte of the text. Ordinary patterns need about one percent of this,
// because their near words are rare.
const (
	ownEffort     = 128 << 10
	ownEffortByte = 512
)

// findOwn finds the matches of the owner's packs.
func findOwn(f *findings) {
	if len(f.wanted.own) == 0 { // return early, so that no tables are built
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
