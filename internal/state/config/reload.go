package config

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/clawai/clawai/policy"
)

// endMark is a last line for policy files. It shows that the file is complete. If a file had this
// line and does not have it now, somebody is still writing the file.
const endMark = "# end"

func hasEndMark(src []byte) bool {
	text := bytes.TrimRight(src, " \t\r\n")
	return bytes.Equal(text[bytes.LastIndexByte(text, '\n')+1:], []byte(endMark))
}

// checkEndMark returns an error if the text in force has the end mark and the new text does not.
func checkEndMark(path string, was, src []byte, c confirmations) error {
	if hasEndMark(was) && !hasEndMark(src) && !c.isConfirmed(path, src) {
		return fmt.Errorf("policy %s: its last line is not %q any more, so it is not whole; end it with that line, or confirm the file as it is with: clawai policy trust %s",
			path, endMark, strconv.Quote(path))
	}
	return nil
}

// Edits holds the changes that this process has made to a policy. Each change leads from one
// complete text to another. The zero value holds no changes. Edits is safe for concurrent use.
type Edits struct {
	mu   sync.Mutex
	next map[[sha256.Size]byte][sha256.Size]byte
}

// NoteEdit notes that this process has replaced oldText by newText.
func (e *Edits) NoteEdit(oldText, newText []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == nil {
		e.next = map[[sha256.Size]byte][sha256.Size]byte{}
	}
	e.next[sha256.Sum256(oldText)] = sha256.Sum256(newText)
}

// explainsChange reports whether edits of this process alone lead from one text to the other. The
// parameters from and to are the digests of the texts.
func (e *Edits) explainsChange(from, to [sha256.Size]byte) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for range len(e.next) {
		if from == to {
			break
		}
		from = e.next[from]
	}
	return from == to
}

// reloadPolicy loads a changed policy and its layers. loosens is true if the policy may now allow
// more than before and the new texts may be incomplete. The parameter own holds the edits of this
// process. The texts of these edits are always complete.
func (l *Loaded) reloadPolicy(src []byte, above layerStack, own *Edits) (next *Loaded, loosens bool, err error) {
	if err := checkEndMark(l.Path, l.Source, src, above.confirmed); err != nil {
		return nil, false, err
	}
	loosens, err = above.keepLost(&l.above, l.options)
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256(src)
	packs, _ := readPacks(l.Path, src)
	was := sha256.Sum256(l.Source)
	if sum == was && packs == l.packs && above.layersDigest() == l.above.layersDigest() {
		same := *l
		same.Notes, same.above = above.notes, above
		return &same, false, nil
	}
	if next, err = l.layers.parsePolicy(l.Path, l.options, src, above); err != nil {
		return nil, false, err
	}
	if sum != was && !hasEndMark(src) && !above.confirmed.isConfirmed(l.Path, src) && !own.explainsChange(was, sum) {
		loosens = l.Policy.ChangeTo(next.Policy).Loosens || loosens
	}
	loosens = loosens || packs != l.packs // a changed pack may find less than before
	return next, loosens, nil
}

// keepLost keeps a previous layer in force if the layer is now missing or has lost rules, until
// somebody confirms the change. The parameter was holds the previous layers. The result unsure is
// true if a layer has changed in another way and may be half written. The caller must then wait,
// because half a rule would seem lost as soon as the file is complete.
func (s *layerStack) keepLost(was *layerStack, o policy.Options) (unsure bool, err error) {
	for i := range was.sources {
		old := &was.sources[i]
		at := slices.IndexFunc(s.sources, func(l layer) bool { return l.name == old.name && l.path == old.path })
		if at < 0 && old.lapse {
			continue
		}
		if at < 0 {
			if s.confirmed[old.path] != confirmedGone {
				s.sources = slices.Insert(s.sources, min(i, len(s.sources)), *old)
				s.notes = append(s.notes, keptNote(old, "is gone"))
			}
			continue
		}
		now := &s.sources[at]
		if bytes.Equal(now.src, old.src) {
			if now.packs == old.packs {
				now.rules = old.rules
			} else {
				unsure = true
			}
			continue
		}
		if now.name == project || now.lapse { // no check is needed: the owner has trusted the text of a project's layer, and clawai writes the text of a Lapse
			continue
		}
		if err := checkEndMark(now.path, old.src, now.src, s.confirmed); err != nil {
			return false, err
		}
		if err := now.compileRules(o); err != nil {
			return false, err
		}
		if s.confirmed.isConfirmed(now.path, now.src) {
			continue
		}
		if lost := old.rules.ChangeTo(now.rules).Lost; lost > 0 {
			*now = *old
			s.notes = append(s.notes, keptNote(old, fmt.Sprintf("has lost %d of its rules", lost)))
			continue
		}
		unsure = unsure || !hasEndMark(now.src)
	}
	for _, l := range s.sources { // a new layer may not be completely written
		if l.name != project && !l.lapse && !hasEndMark(l.src) && !slices.ContainsFunc(was.sources, func(old layer) bool { return old.path == l.path }) {
			unsure = true
		}
	}
	return unsure, nil
}

// keptNote returns a note for the owner about a layer whose earlier text stays in force.
func keptNote(l *layer, why string) string {
	return fmt.Sprintf("%s %s, and its last good text stays in force until clawai restarts or you confirm the file as it is with: clawai policy trust %s",
		l.path, why, strconv.Quote(l.path))
}

// newNotes returns the notes that the previous policy does not have.
func (l *Loaded) newNotes(previous *Loaded) (notes []string) {
	for _, n := range l.Notes {
		if !slices.Contains(previous.Notes, n) {
			notes = append(notes, n)
		}
	}
	return notes
}
