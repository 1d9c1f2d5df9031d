package flow

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxWaiting is how many bytes of texts may wait until they are marked. What comes beyond
// is taken for known, whatever it holds.
const maxWaiting = 4 << 20

// RememberTexts has the texts of a message known again later. It returns when that is said to
// all who share the session; the work is done behind it, and those who ask meanwhile take
// everything for known. A message of which nothing is remembered is said, too.
func (s *Session) RememberTexts(of []gate.Label, message []byte, all bool) error {
	if !slices.ContainsFunc(of, func(l gate.Label) bool { return l.Kind != private }) {
		return nil // by that no call is known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openJournals(); err != nil {
		return err
	}
	m, err := s.marksOf(s.journals[0], true)
	if err != nil {
		return err
	}
	if m.refreshMarks(); m.full {
		return nil
	}
	if !all || s.bytes+len(message) > maxWaiting {
		return m.writeMarks(everyone)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	number := binary.LittleEndian.Uint64(id[:]) << 8
	if err := m.writeMarks(mark(number | begun)); err != nil {
		return err
	}
	text := strings.Clone(string(message))
	s.bytes += len(text)
	s.last++
	turn, h := s.last, hasher{block: m.block}
	s.turns[turn] = true
	s.tasks.Go(func() {
		marked := messageMarks(h, of, text)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bytes -= len(text)
		delete(s.turns, turn)
		s.done.Broadcast()
		if s.journals != nil { // where it is not said that it ended everything stays taken for known
			_ = m.writeMarks(append(m.freshMarks(marked), mark(number|ended))...)
		}
	})
	return nil
}

// awaitMarks waits until what this process was given before is marked. Needs the lock.
func (s *Session) awaitMarks() {
	upto := s.last
	waits := func() bool {
		for turn := range s.turns {
			if turn <= upto {
				return true
			}
		}
		return false
	}
	for waits() {
		s.done.Wait()
	}
}

// freshMarks gives the marks that are not there yet, each once, behind their source.
func (m *marks) freshMarks(all []mark) (some []mark) {
	seen := map[mark]bool{}
	for i, r := range all {
		if i == 0 || !m.containsMark(r) && !seen[r] {
			seen[r] = true
			some = append(some, r)
		}
	}
	if len(some) == 1 {
		return nil
	}
	return some
}

// messageMarks gives the marks of the texts of a message, behind that of their source.
func messageMarks(h hasher, of []gate.Label, message string) (all []mark) {
	open, closed := false, false
	for _, l := range of {
		open = open || l.Kind == untrusted
		closed = closed || l.Kind == secret
	}
	all = append(all, h.hashMark(source, []byte(of[0].Source)))
	seen := map[mark]bool{}
	add := func(r mark) {
		if !seen[r] {
			seen[r] = true
			all = append(all, r)
		}
	}
	visitTexts(message, func(text string) {
		if open {
			one := splitWords(text)
			for word := one.nextWord(); word != ""; word = one.nextWord() {
				if isOdd(word) && len(word) <= maxWord {
					add(h.hashMark(oddWord, []byte(word)))
				}
			}
			visitAddresses(text, func(word, _ string) { add(h.hashMark(oddWord, []byte(word))) })
		}
		if open || closed {
			visitRuns(textBeginning(text), func(run uint64) {
				if open {
					add(h.hashRun(openRun, run))
				}
				if closed {
					add(h.hashRun(secretRun, run))
				}
			})
		}
	})
	return all
}

// maxWord is more than an address has, in bytes.
const maxWord = 2048

// textBeginning gives a text, or the first part of one that is no words: a picture, as JSON has it.
func textBeginning(text string) string {
	const enough = 1 << 10
	if len(text) > 4*enough && !strings.ContainsAny(text[:4*enough], " \n\t\\") {
		return text[:enough]
	}
	return text
}

// visitTexts visits every string in a message, the names of members too, and what each says as
// JSON or HTML.
func visitTexts(message string, visit func(text string)) {
	c := jsonscan.Cursor{Src: message}
	for {
		i := strings.IndexByte(c.Src[c.At:], '"')
		if i < 0 {
			return
		}
		c.At += i
		text, ok := c.ReadString()
		if !ok {
			return
		}
		visitReadings(text, visit)
	}
}

// HearUser has what the user says endorse what stands in it, in the sessions of some keys.
func HearUser(state string, keys []string, text string) error {
	if len(text) > maxSaid {
		return nil
	}
	dir := dirOf(state)
	if err := makeFolder(dir); err != nil {
		return err
	}
	for _, key := range keys {
		m, err := openMarks(dir, lastOf(dir, key), true)
		if err != nil {
			return err
		}
		m.refreshMarks()
		all := []mark{m.hashMark(source, []byte("user"))}
		words := splitWords(text)
		for word := words.nextWord(); word != ""; word = words.nextWord() {
			all = append(all, m.hashMark(said, []byte(word)))
		}
		visitAddresses(text, func(word, whole string) {
			if word == whole { // who names an address has not named all at its host
				all = append(all, m.hashMark(said, []byte(word)))
			}
		})
		visitPhrases(text, func(phrase string) { all = append(all, m.hashMark(typed, []byte(foldPhrase(phrase)))) })
		err = m.writeMarks(m.freshMarks(all)...)
		m.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// maxSaid is as much as somebody types; what is longer was pasted, and holds what others
// have written.
const maxSaid = 2 << 10
