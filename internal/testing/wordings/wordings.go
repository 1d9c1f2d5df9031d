// Package wordings writes ordinary texts as servers send them, and texts that attack their readers.
// The table of internal/text/inspect/injection is trained and tested with these texts. All texts
// are made from the lists in this package. We wrote the lists for this purpose. No text comes from
// a collection of other people's texts.
package wordings

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Source writes random texts. Two Sources with the same seed write the same texts.
type Source struct{ r *rand.Rand }

// New returns a Source for a seed. Its random generator is not secret, because the texts must be
// the same each time.
func New(seed uint64) *Source { return &Source{rand.New(rand.NewPCG(seed, 17))} } //nolint:gosec

// Family is one kind of attack, with its templates.
type Family struct {
	Name string
	Made []string // templates with {slots}
}

// Attack returns a random attack of a family.
func (s *Source) Attack(f *Family) string { return s.fill(s.pick(f.Made)) }

// Plain returns the goal of an attack as one plain sentence, without words that are typical of
// attacks.
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

// Among returns ordinary texts with an attack between them. The attack is inside a form in which
// servers send texts of other people.
func (s *Source) Among(attack string) string {
	before, behind := s.Ordinary(1+s.r.IntN(6)), s.Ordinary(1+s.r.IntN(6))
	form := s.pick([]string{"\n%\n", " % ", "\n<!-- % -->\n", `{"title":"report","body":"%","size":12},`, "\n# %\n", "\n- %\n", "12:04:11 INFO %\n", "a,b,\"%\",3\n", "\n+ %\n", "<p>%</p>"})
	return before + strings.Replace(form, "%", attack, 1) + behind
}

func (s *Source) pick(of []string) string { return of[s.r.IntN(len(of))] }

// fill replaces each {slot} in a template by one of its phrases. A phrase may contain slots again.
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
	return strings.ReplaceAll(template, "«", "{") // in templates, « is a brace that does not begin a slot
}

// Families returns all families of attacks.
func Families() []Family { return slices.Clone(families) }
