// Package wordings writes ordinary texts of servers, and attacks on their
// readers. The table of internal/text/inspect/injection is trained and tested
// with them. All texts are made of the lists in this package, which were
// written for this purpose; none come from a corpus.
package wordings

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Source writes texts. The same seed gives the same texts.
type Source struct{ r *rand.Rand }

// New returns a Source with a seed.
func New(seed uint64) *Source { return &Source{rand.New(rand.NewPCG(seed, 17))} } //nolint:gosec // the same texts each time

// Family is a way of attacking, with its templates.
type Family struct {
	Name string
	Made []string // templates
}

// Attack returns an attack of a family.
func (s *Source) Attack(f *Family) string { return s.fill(s.pick(f.Made)) }

// Plain returns a goal as a plain sentence, which no wording marks as an
// attack.
func (s *Source) Plain() string { return s.fill("{goal}.") }

// Ordinary returns a harmless text of n parts.
func (s *Source) Ordinary(n int) string {
	var b strings.Builder
	kind := ordinary[s.r.IntN(len(ordinary))]
	for range n {
		b.WriteString(s.fill(s.pick(kind)))
		b.WriteByte("\n  "[s.r.IntN(3)])
	}
	return b.String()
}

// Among returns an attack inside ordinary texts of servers, in one of the forms
// in which such texts contain other texts.
func (s *Source) Among(attack string) string {
	before, behind := s.Ordinary(1+s.r.IntN(6)), s.Ordinary(1+s.r.IntN(6))
	form := s.pick([]string{"\n%\n", " % ", "\n<!-- % -->\n", `{"title":"report","body":"%","size":12},`, "\n# %\n", "\n- %\n", "12:04:11 INFO %\n", "a,b,\"%\",3\n", "\n+ %\n", "<p>%</p>"})
	return before + strings.Replace(form, "%", attack, 1) + behind
}

func (s *Source) pick(of []string) string { return of[s.r.IntN(len(of))] }

// fill replaces each {slot} by one of its phrases, repeatedly.
func (s *Source) fill(template string) string {
	for range 40 {
		start := strings.IndexByte(template, '{')
		if start < 0 {
			break
		}
		end := start + strings.IndexByte(template[start:], '}')
		of, ok := slots[template[start+1:end]]
		if !ok {
			panic("no slot " + template[start+1:end])
		}
		with := s.pick(of)
		if with != "" && (start == 0 || start > 1 && strings.ContainsRune(".!:\n", rune(template[start-2]))) {
			with = strings.ToUpper(with[:1]) + with[1:]
		}
		template = template[:start] + with + template[end+1:]
	}
	return strings.ReplaceAll(template, "«", "{") // « stands for a brace that begins no slot
}

// Families returns all families of attacks.
func Families() []Family { return slices.Clone(families) }
