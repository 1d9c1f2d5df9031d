package flow

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxWaiting is the largest size, in bytes, of the texts that wait to be marked. If more texts
// come, every text counts as marked.
const maxWaiting = 4 << 20

// RememberTexts marks the texts of a message so that they are recognized later. The parameter `of`
// contains the labels of the message. RememberTexts returns when all processes that share the
// session can see that the marking has begun. The marking itself continues in the background, and
// until it ends every text counts as marked. If the parameter all is false, the texts are not
// marked, and every text counts as marked for ever.
func (s *Session) RememberTexts(of []gate.Label, message []byte, all bool) error {
	if !slices.ContainsFunc(of, func(l gate.Label) bool { return l.Kind != private }) {
		return nil // calls are not compared with data that is only private
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
	_, _ = rand.Read(id[:]) // never fails
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
		if s.journals != nil { // if this write fails, the record of kind ended is missing, and every text still counts as marked
			_ = m.writeMarks(append(m.freshMarks(marked), mark(number|ended))...)
		}
	})
	return nil
}

// awaitMarks waits until the messages that this process has received so far are marked. The caller
// holds s.mu.
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

// Waiting times of awaitOthers.
const (
	othersTime  = time.Second          // longest wait
	othersEvery = 2 * time.Millisecond // pause before the marks are read again
)

// awaitOthers waits until the messages that other processes of the session have received so far are
// marked. During the marking every text counts as marked, so a question would give wrong reasons,
// and the person would answer the wrong question. A moment later the reasons are right. A process
// that dies leaves its message unmarked. So the wait is limited, and no later call waits for that
// message.
func (s *Session) awaitOthers(k *known) error {
	for waited := time.Duration(0); k.isMarking(); waited += othersEvery {
		if waited >= othersTime {
			k.abandonOpen()
			return nil
		}
		s.mu.Unlock()
		time.Sleep(othersEvery)
		s.mu.Lock()
		if err := s.recallMarks(k); err != nil {
			return err
		}
	}
	return nil
}

// isMarking reports whether a process may still be marking a message of the session.
func (k *known) isMarking() bool {
	return slices.ContainsFunc(k.results, func(m *marks) bool {
		for id := range m.open {
			if !m.abandoned[id] {
				return true
			}
		}
		return false
	})
}

// abandonOpen notes that calls no longer wait for the messages that are not marked yet.
func (k *known) abandonOpen() {
	for _, m := range k.results {
		for id := range m.open {
			if m.abandoned == nil {
				m.abandoned = map[mark]bool{}
			}
			m.abandoned[id] = true
		}
	}
}

// freshMarks returns the marks that are not in the file yet, each mark once. The first mark in the
// list is that of the source; it stays first, even if it is in the file. freshMarks returns nil if
// the other marks are in the file.
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

// messageMarks returns the mark of a message's source, and then the marks of the message's texts.
// The parameter `of` contains the labels of the message.
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
			visitAddresses(text, func(word, _ string) {
				add(h.hashMark(oddWord, []byte(word)))
				if domain := domainMark(word); domain != "" {
					add(h.hashMark(oddWord, []byte(domain)))
				}
			})
		}
		if closed {
			visitRuns(cutPicture(text), func(run uint64) { add(h.hashRun(secretRun, run)) })
		}
	})
	return all
}

// maxWord is the maximum length, in bytes, of a word that is marked. No address is longer.
const maxWord = 2048

// cutPicture returns a text. If the text is a picture or a sound, it returns only the beginning. A
// model sees the picture and never the letters of the text. A large picture would leave no room for
// other marks.
func cutPicture(text string) string {
	const enough = 1 << 10
	if len(text) > enough && isPicture(text) {
		return text[:enough]
	}
	return text
}

// isPicture reports whether a text is only the base64 of a picture or a sound.
func isPicture(text string) bool {
	if head, data, is := strings.Cut(text, ";base64,"); is && strings.HasPrefix(head, "data:") {
		text = data
	}
	if !slices.ContainsFunc(pictures[:], func(begins string) bool { return strings.HasPrefix(text, begins) }) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !isAlphanumeric(c) && (c < 'A' || c > 'Z') && strings.IndexByte("+/-_=", c) < 0 {
			return false
		}
	}
	return true
}

// pictures are the beginnings of PNG, JPEG, GIF, WebP and WAV, and MP3, in base64.
var pictures = [...]string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "SUQz"}

// visitTexts visits every string in a message, including the names of members, and each string
// decoded as JSON or HTML.
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

// HearUser marks everything that the user's text names, so that calls may use it without a
// question. It writes the marks for the sessions with these keys.
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
			if word == whole { // the host of an address is not marked, because that would endorse all addresses at the host
				all = append(all, m.hashMark(said, []byte(word)))
			}
			if domain := domainMark(word); domain != "" {
				all = append(all, m.hashMark(said, []byte(domain)))
			}
		})
		visitAmounts(text, func(amount string) { all = append(all, m.hashMark(said, amountMark(amount))) })
		visitPhrases(text, func(phrase string) {
			all = append(all, m.hashMark(typed, []byte(foldPhrase(phrase))))
			if plain := plainHost(phrase); plain != phrase {
				all = append(all, m.hashMark(typed, []byte(foldPhrase(plain))))
			}
		})
		err = m.writeMarks(m.freshMarks(all)...)
		m.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// maxSaid is the maximum length, in bytes, of a text that a person types. A longer text was probably
// pasted, and others may have written it.
const maxSaid = 2 << 10
