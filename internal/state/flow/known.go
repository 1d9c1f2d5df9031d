package flow

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/policy"
)

// listened is a journal from which the session uses only the user's words, and not the labels.
type listened struct {
	name  string // file name of the journal
	marks *marks // nil before the journal has marks
}

// ListenKeys adds keys. Hooks store the user's words under these keys.
func (s *Session) ListenKeys(keys ...string) {
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

// known holds the marks of a session at one moment. Texts are recognized with these marks.
type known struct {
	results []*marks // the marks of all journals of the session
	user    []*marks // the marks of the session's own keys, and of listened keys
	doubt   bool     // true: every text counts as written by others
	labels  labels
	room    []piece // reused memory of isEndorsed
}

// recallMarks fills k with the current marks.
func (s *Session) recallMarks(k *known) error {
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
		m.refreshMarks()
		sure = sure && m.isComplete()
		if m.texts { // if no text is marked, it is not known which texts were read
			k.doubt = false
		}
		k.results = append(k.results, m)
		if i < s.own {
			k.user = append(k.user, m)
		}
	}
	k.doubt = k.doubt || !sure || s.labels.isDistrusted()
	for i := range s.said {
		l := &s.said[i]
		if l.marks == nil {
			l.marks, _ = openMarks(s.dir, l.name, false) // an error is ignored: the user's words are then not known and endorse nothing
		}
		if l.marks != nil {
			l.marks.refreshMarks()
			k.user = append(k.user, l.marks)
		}
	}
	return nil
}

// hasMark reports whether the mark of a value is in one of the given files of marks. The parameter
// kind is the kind of the record.
func hasMark(in []*marks, kind byte, value []byte) bool {
	for _, m := range in {
		if len(m.numbers) > 0 && m.containsMark(m.hashMark(kind, value)) {
			return true
		}
	}
	return false
}

// isAllowed reports whether a person has allowed a call or an address. The parameter what is the
// key of this call or address.
func (k *known) isAllowed(what []byte) bool {
	return slices.ContainsFunc(k.user, func(m *marks) bool { return m.lets }) && hasMark(k.user, allowed, what)
}

// isMentioned reports whether the user has written a word.
func (k *known) isMentioned(word string) bool { return hasMark(k.user, said, []byte(word)) }

// isEndorsed reports whether the user has named exactly this value, with its punctuation.
func (k *known) isEndorsed(value string) bool {
	return k.isTyped(value) || norm.NFKC.IsNormalString(value) && plainHost(value) != value && k.isTyped(plainHost(value))
}

func (k *known) isTyped(value string) bool {
	if !isTelling(value) {
		return false
	}
	k.room = splitPieces(value, false, k.room[:0])
	all := k.room
	if len(all) == 0 || all[0].from > 0 || all[len(all)-1].end < len(value) {
		return false
	}
	n := min(len(all), maxPhrase)
	for i := 0; i+n <= len(all); i++ {
		phrase := foldPhrase(value[all[i].from:all[i+n-1].end])
		if !hasMark(k.user, typed, []byte(phrase)) {
			return false
		}
	}
	return true
}

// mayBeForeign reports whether an address may be from a text that others have written.
func (k *known) mayBeForeign(word string) bool {
	return k.doubt || hasMark(k.results, oddWord, []byte(word))
}

// findRepeat reports whether one of the given texts has a run of characters in common with a text
// that was read before. It also returns the source of the text that was read, or "" if the source
// is not known. The parameter word is the kind of the record.
func (k *known) findRepeat(word byte, of []string) (from string, found bool) {
	for _, text := range of {
		visitRuns(text, func(run uint64) {
			if found {
				return
			}
			for _, m := range k.results {
				if r := m.hashRun(word, run); m.containsMark(r) {
					found, from = true, k.markSource(m, r)
				}
			}
			found = found || k.doubt
		})
	}
	return from, found
}

// findSource searches a text for words that were read before. It returns the source of the first
// such word whose source is known; "" if there is none.
func (k *known) findSource(text string) string {
	all := splitWords(text)
	for word := all.nextWord(); word != ""; word = all.nextWord() {
		if source := k.sourceOf(word); source != "" {
			return source
		}
	}
	return ""
}

// sourceOf returns the source of a marked word; "" if the source is not known.
func (k *known) sourceOf(word string) string {
	for _, m := range k.results {
		if r := m.hashMark(oddWord, []byte(word)); m.containsMark(r) {
			return k.markSource(m, r)
		}
	}
	return ""
}

func fromText(source string) string {
	if source == "" {
		return ""
	}
	return " from " + source
}

// markSource returns the source of a mark; "" if no label has that source.
func (k *known) markSource(m *marks, r mark) string {
	if i := int(m.numbers[r]); i < len(m.from) {
		for _, one := range k.labels.listNewest(policy.SeenWords()...) {
			if m.hashMark(source, []byte(one.Source)) == m.from[i] {
				return one.Source
			}
		}
	}
	return ""
}

func quoteValue(value string) string { return `"` + cutSource(value) + `"` }
