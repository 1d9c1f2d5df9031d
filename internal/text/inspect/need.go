package inspect

import (
	"math/bits"
	"sync"
)

// need is what a text must contain before a detector is run. The zero value demands nothing.
type need struct {
	least int       // minimum length of the text in bytes
	anyOf [256]bool // the text must have one of these bytes; if all are false, the text may have any bytes
}

// firstBytes returns the set of the first bytes of texts.
func firstBytes(texts ...string) (of [256]bool) {
	for _, text := range texts {
		of[text[0]] = true
	}
	return of
}

// passes are the passes over a text for a set of kinds.
type passes struct {
	all  []pass
	by   [256]uint32 // by byte: a bit for each pass that may find something if the text has this byte
	free uint32      // a bit for each pass that does not need a certain byte
}

type pass struct {
	find  func(*findings)
	least int
}

// choosePasses returns the passes that look for the kinds of a set.
func (ks Kinds) choosePasses() *passes {
	p := &passes{}
	for i := range kinds {
		d := &kinds[i]
		if d.find == nil || !ks.looksFor(d.kind) && !wantsShared(i, ks) {
			continue
		}
		needs := need{}
		if d.needs != nil {
			needs = d.needs()
		}
		bit, bound := uint32(1)<<len(p.all), false
		for c, needed := range needs.anyOf {
			if needed {
				p.by[c] |= bit
				bound = true
			}
		}
		if !bound {
			p.free |= bit
		}
		p.all = append(p.all, pass{d.find, needs.least})
	}
	return p
}

// allPasses are the passes for all kinds.
var allPasses = sync.OnceValue(Kinds{}.choosePasses)

// search reads the text once to see which bytes it has. Then it runs the passes that need one of
// these bytes, and the passes that need no certain byte.
func (p *passes) search(f *findings) {
	can, text := p.free, f.text
	for ; len(text) >= 8; text = text[8:] {
		can |= p.by[text[0]] | p.by[text[1]] | p.by[text[2]] | p.by[text[3]] | p.by[text[4]] | p.by[text[5]] | p.by[text[6]] | p.by[text[7]]
	}
	for i := range len(text) {
		can |= p.by[text[i]]
	}
	for ; can != 0; can &= can - 1 {
		if one := &p.all[bits.TrailingZeros32(can)]; len(f.text) >= one.least {
			one.find(f)
		}
	}
}
