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

// Remember has the texts of a message known again later. It returns when that is said to
// all who share the session; the work is done behind it, and those who ask meanwhile take
// everything for known. A message of which nothing is remembered is said, too.
func (s *Session) Remember(of []gate.Label, message []byte, all bool) error {
	if !slices.ContainsFunc(of, func(l gate.Label) bool { return l.Kind != private }) {
		return nil // by that no call is known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		return err
	}
	m, err := s.marksOf(s.journals[0], true)
	if err != nil {
		return err
	}
	if m.refresh(); m.full {
		return nil
	}
	if !all || s.bytes+len(message) > maxWaiting {
		return m.add(everyone)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	number := binary.LittleEndian.Uint64(id[:]) << 8
	if err := m.add(mark(number | begun)); err != nil {
		return err
	}
	text := strings.Clone(string(message))
	s.bytes += len(text)
	s.last++
	turn, h := s.last, hasher{block: m.block}
	s.turns[turn] = true
	s.tasks.Go(func() {
		marked := marked(h, of, text)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bytes -= len(text)
		delete(s.turns, turn)
		s.done.Broadcast()
		if s.journals != nil { // where it is not said that it ended everything stays taken for known
			_ = m.add(append(m.fresh(marked), mark(number|ended))...)
		}
	})
	return nil
}

// settled waits until what this process was given before is marked. Needs the lock.
func (s *Session) settled() {
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

// fresh are the marks that are not there yet, each once, behind their source.
func (m *marks) fresh(all []mark) (some []mark) {
	seen := map[mark]bool{}
	for i, r := range all {
		if i == 0 || !m.has(r) && !seen[r] {
			seen[r] = true
			some = append(some, r)
		}
	}
	if len(some) == 1 {
		return nil
	}
	return some
}

// marked are the marks of the texts of a message, behind that of their source.
func marked(h hasher, of []gate.Label, message string) (all []mark) {
	open, closed := false, false
	for _, l := range of {
		open = open || l.Kind == untrusted
		closed = closed || l.Kind == secret
	}
	all = append(all, h.hash(source, []byte(of[0].Source)))
	seen := map[mark]bool{}
	add := func(r mark) {
		if !seen[r] {
			seen[r] = true
			all = append(all, r)
		}
	}
	texts(message, func(text string) {
		if open {
			one := tokens(text)
			for word := one.next(); word != ""; word = one.next() {
				if odd(word) && len(word) <= maxWord {
					add(h.hash(oddWord, []byte(word)))
				}
			}
			addresses(text, func(word, _ string) { add(h.hash(oddWord, []byte(word))) })
		}
		if open || closed {
			runs(beginning(text), func(run uint64) {
				if open {
					add(h.run(openRun, run))
				}
				if closed {
					add(h.run(secretRun, run))
				}
			})
		}
	})
	return all
}

// maxWord is more than an address has, in bytes.
const maxWord = 2048

// beginning is a text, or the first part of one that is no words: a picture, as JSON has it.
func beginning(text string) string {
	const enough = 1 << 10
	if len(text) > 4*enough && !strings.ContainsAny(text[:4*enough], " \n\t\\") {
		return text[:enough]
	}
	return text
}

// texts visits every string in a message, the names of members too.
func texts(message string, visit func(text string)) {
	c := jsonscan.Cursor{Src: message}
	for {
		i := strings.IndexByte(c.Src[c.At:], '"')
		if i < 0 {
			return
		}
		c.At += i
		text, ok := c.Text()
		if !ok {
			return
		}
		visit(text)
	}
}

// Hear has what the user says endorse what stands in it, in the sessions of some keys.
func Hear(state string, keys []string, text string) error {
	if len(text) > maxSaid {
		return nil
	}
	dir := dirOf(state)
	if err := folder(dir); err != nil {
		return err
	}
	for _, key := range keys {
		m, err := openMarks(dir, lastOf(dir, key), true)
		if err != nil {
			return err
		}
		m.refresh()
		all := []mark{m.hash(source, []byte("user"))}
		words := tokens(text)
		for word := words.next(); word != ""; word = words.next() {
			all = append(all, m.hash(said, []byte(word)))
		}
		addresses(text, func(word, whole string) {
			if word == whole { // who names an address has not named all at its host
				all = append(all, m.hash(said, []byte(word)))
			}
		})
		phrases(text, func(phrase string) { all = append(all, m.hash(typed, []byte(compared(phrase)))) })
		err = m.add(m.fresh(all)...)
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
