package policy

import (
	"slices"
	"unicode/utf8"
)

// Spelling tells how a tool's name in a call may differ from the server's own name. A client may
// replace some characters and cut long names. Then two different names can look alike.
type Spelling uint8

// The values of Spelling.
const (
	AsWritten Spelling = iota // the name is the tool's original name
	Dotless                   // a "_" may stand for a "." in the tool's original name
	Cut                       // like Dotless, and the tool's original name may be longer
	// A capital may stand for a small letter in the tool's original name, and a small letter for a
	// capital.
	Folded
)

// listRespellings returns the names in rules that the client may have changed to the name of the
// call's tool. The policy judges the call also under each of these names, so that a deny rule with
// the tool's original name applies.
func (p *Policy) listRespellings(c *Call) (names []string) {
	if c.Spelling == AsWritten || c.Subject != ToolSubject {
		return nil
	}
	for i := range p.sources {
		r := &p.sources[i]
		if r.On != p.options.judges || !r.coversSubject(c.Subject) || !r.mayServe(c) {
			continue
		}
		for _, text := range slices.Concat(r.patterns, r.not.patterns) {
			for _, name := range c.Names {
				if other, found := respellName(text, name, c.Spelling); found && !slices.Contains(names, other) {
					names = append(names, other)
				}
			}
		}
	}
	return names
}

// respellName finds a name that the glob matches and that the client may have changed to the given
// name.
func respellName(glob, name string, s Spelling) (other string, found bool) {
	if s == AsWritten {
		return "", false
	}
	r := respeller{name: name, cut: s == Cut, fold: s == Folded, dead: map[[2]int]bool{}}
	out, found := r.matchGlob(glob, nil)
	return string(out), found && string(out) != name
}

// respeller matches a glob with a name, character by character, and writes the name in the spelling
// of the glob.
type respeller struct {
	name string
	cut  bool
	fold bool
	dead map[[2]int]bool // lengths of rests of the glob and of the name that are known not to match
}

func (r *respeller) matchGlob(glob string, out []byte) ([]byte, bool) {
	rest := r.name[min(len(out), len(r.name)):] // both spellings of the name have the same length
	key := [2]int{len(glob), len(rest)}
	if r.dead[key] {
		return nil, false
	}
	if all, found := r.matchRest(glob, rest, out); found {
		return all, true
	}
	r.dead[key] = true
	return nil, false
}

func (r *respeller) matchRest(glob, rest string, out []byte) ([]byte, bool) {
	switch {
	case glob == "":
		return out, rest == ""
	case glob[0] == '*':
		stars := 1
		for stars < len(glob) && glob[stars] == '*' {
			stars++
		}
		if all, found := r.matchGlob(glob[stars:], out); found {
			return all, true
		}
		if rest == "" || stars == 1 && rest[0] == '/' {
			return nil, false
		}
		return r.matchGlob(glob, append(slices.Clone(out), rest[0]))
	case rest == "":
		if !r.cut {
			return nil, false
		}
		if glob[0] == '?' {
			return r.matchGlob(glob[1:], append(slices.Clone(out), 'x'))
		}
		return r.matchGlob(glob[1:], append(slices.Clone(out), glob[0]))
	case glob[0] == '?':
		_, size := utf8.DecodeRuneInString(rest)
		return r.matchGlob(glob[1:], append(slices.Clone(out), rest[:size]...))
	case glob[0] == rest[0] || glob[0] == '.' && rest[0] == '_' && !r.fold, r.fold && lowerByte(glob[0]) == lowerByte(rest[0]):
		return r.matchGlob(glob[1:], append(slices.Clone(out), glob[0]))
	}
	return nil, false
}

// lowerByte changes an ASCII capital to a small letter.
func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}
