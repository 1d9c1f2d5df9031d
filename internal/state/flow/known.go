package flow

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// listened is a file with the user's words, of a key whose labels are not the session's.
type listened struct {
	name  string
	marks *marks
}

// Listen takes the user's words from where hooks of a key put them, too.
func (s *Session) Listen(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.said = append(s.said, listened{name: fileOf(key)})
	}
}

func (s *Session) marksOf(j *journal, begin bool) (m *marks, err error) {
	if j.marks == nil {
		j.marks, err = openMarks(s.dir, j.name, begin)
	}
	return j.marks, err
}

// known is what texts of a session are known by at one moment.
type known struct {
	results []*marks // of all its journals
	user    []*marks // of its own keys
	doubt   bool     // of what others wrote everything is taken for known
	labels  labels
	room    []piece
}

// recall looks at what there is now.
func (s *Session) recall(k *known) error {
	k.results, k.user, k.doubt, k.labels = k.results[:0], k.user[:0], true, s.labels
	sure := true
	for i, j := range s.journals {
		m, err := s.marksOf(j, false)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		m.refresh()
		sure = sure && m.sure()
		if m.texts { // without any there is no telling what was read
			k.doubt = false
		}
		k.results = append(k.results, m)
		if i < s.own {
			k.user = append(k.user, m)
		}
	}
	k.doubt = k.doubt || !sure || s.labels.distrusted()
	for i := range s.said {
		l := &s.said[i]
		if l.marks == nil {
			l.marks, _ = openMarks(s.dir, l.name, false) // what is not heard endorses nothing
		}
		if l.marks != nil {
			l.marks.refresh()
			k.user = append(k.user, l.marks)
		}
	}
	return nil
}

func has(in []*marks, word byte, of []byte) bool {
	for _, m := range in {
		if len(m.of) > 0 && m.has(m.hash(word, of)) {
			return true
		}
	}
	return false
}

// allowed says that a person has allowed something.
func (k *known) allowed(what []byte) bool {
	return slices.ContainsFunc(k.user, func(m *marks) bool { return m.lets }) && has(k.user, allowed, what)
}

// mentioned says that a word is the user's own.
func (k *known) mentioned(word string) bool { return has(k.user, said, []byte(word)) }

// endorsed reports whether the user has named a value: exactly that, and not what is left
// of it without the marks around it or between its words.
func (k *known) endorsed(value string) bool {
	if !telling(value) {
		return false
	}
	k.room = pieces(value, false, k.room[:0])
	all := k.room
	if len(all) == 0 || all[0].from > 0 || all[len(all)-1].end < len(value) {
		return false
	}
	n := min(len(all), maxPhrase)
	for i := 0; i+n <= len(all); i++ {
		phrase := compared(value[all[i].from:all[i+n-1].end])
		if !has(k.user, typed, []byte(phrase)) {
			return false
		}
	}
	return true
}

// read says that an address may stand in what others have written.
func (k *known) read(word string) bool { return k.doubt || has(k.results, oddWord, []byte(word)) }

// repeats says whether texts have a run of characters in common with what was read, and of
// whom.
func (k *known) repeats(word byte, of []string) (from string, found bool) {
	for _, text := range of {
		runs(text, func(run uint64) {
			if found {
				return
			}
			for _, m := range k.results {
				if r := m.run(word, run); m.has(r) {
					found, from = true, k.from(m, r)
				}
			}
			found = found || k.doubt
		})
	}
	return from, found
}

// source is where the first word of a text was read that was; "" where none is known.
func (k *known) source(text string) string {
	all := tokens(text)
	for word := all.next(); word != ""; word = all.next() {
		for _, m := range k.results {
			if r := m.hash(oddWord, []byte(word)); m.has(r) {
				return k.from(m, r)
			}
		}
	}
	return ""
}

func from(source string) string {
	if source == "" {
		return ""
	}
	return " from " + source
}

// from is the source of a mark, if it is among those of the labels.
func (k *known) from(m *marks, r mark) string {
	if i := int(m.of[r]); i < len(m.from) {
		for _, one := range k.labels.newest(policy.SeenWords()...) {
			if m.hash(source, []byte(one.Source)) == m.from[i] {
				return one.Source
			}
		}
	}
	return ""
}

func shown(value string) string { return `"` + cut(value) + `"` }
