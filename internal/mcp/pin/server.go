package pin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// SelfDescription is a server's description of itself, with its lists. The zero value is empty.
type SelfDescription struct {
	Start        []string // command line or address of the server, without secrets
	Version      string   // the server's own version
	Instructions string
	entries      [len(Kinds)]map[string]Entry
	alike        *likeness // finds entry names that look alike; nil before the first entry
	size         int       // total bytes of the entries' texts
}

// Add adds one entry. It returns an error if there is already an entry with this kind and name.
func (s *SelfDescription) Add(e Entry) error {
	if _, twice := s.entries[e.Kind][e.Name]; twice {
		return fmt.Errorf("it lists the %s %q twice", e.Kind, e.Name)
	}
	if s.entries[e.Kind] == nil {
		s.entries[e.Kind] = map[string]Entry{}
	}
	if s.alike == nil {
		s.alike = &likeness{}
	}
	s.entries[e.Kind][e.Name] = e
	s.alike.addName(e.Kind, e.Name)
	s.size += len(e.text)
	return nil
}

// PutEntry adds an entry. It replaces an entry with the same kind and name.
func (s *SelfDescription) PutEntry(e Entry) {
	s.RemoveEntry(e.Kind, e.Name)
	_ = s.Add(e) // no error is possible, because the name is free
}

// Entries returns the entries of a kind, sorted by name.
func (s *SelfDescription) Entries(kind EntryKind) (all []Entry) {
	for _, name := range slices.Sorted(maps.Keys(s.entries[kind])) {
		all = append(all, s.entries[kind][name])
	}
	return all
}

// RemoveEntry removes an entry.
func (s *SelfDescription) RemoveEntry(kind EntryKind, name string) {
	e, there := s.entries[kind][name]
	if !there {
		return
	}
	delete(s.entries[kind], name)
	s.size -= len(e.text)
	s.alike.removeName(kind, name)
}

// RetainEntries keeps the entries of a kind for which the function stays returns true, and removes
// the others. It reports whether it has removed any.
func (s *SelfDescription) RetainEntries(kind EntryKind, stays func(name string) bool) (changed bool) {
	for name := range s.entries[kind] {
		if !stays(name) {
			s.RemoveEntry(kind, name)
			changed = true
		}
	}
	return changed
}

// Size returns the total size of the entries' texts in bytes.
func (s *SelfDescription) Size() int { return s.size }

// FindEntry returns the entry with this kind and name. It returns false if there is none.
func (s *SelfDescription) FindEntry(kind EntryKind, name string) (Entry, bool) {
	e, ok := s.entries[kind][name]
	return e, ok
}

// Clone returns an independent copy.
func (s *SelfDescription) Clone() SelfDescription {
	c := *s
	for i := range c.entries {
		c.entries[i] = maps.Clone(c.entries[i])
	}
	c.alike = &likeness{}
	return c
}

// Len returns the number of entries of a kind.
func (s *SelfDescription) Len(kind EntryKind) int { return len(s.entries[kind]) }

// CompareServers returns a server's changes, sorted by kind and name. The changes of its own
// description come last.
func CompareServers(was, is *SelfDescription) (all []Difference) {
	for _, kind := range Kinds {
		before, after := was.entries[kind], is.entries[kind]
		for _, name := range unionNames(before, after) {
			old, had := before[name]
			now, has := after[name]
			var changes []Change
			switch {
			case !has:
				changes = []Change{{Class: Removed, Was: old.text}}
			case had:
				changes = DiffEntries(old, now)
			default:
				changes = NewEntryChanges(now, is)
			}
			if len(changes) > 0 {
				all = append(all, Difference{kind, name, GravestClass(changes), changes})
			}
		}
	}
	if changes := compareSelf(was, is); len(changes) > 0 {
		all = append(all, Difference{Itself, "", GravestClass(changes), changes})
	}
	return all
}

// NewEntryChanges returns the changes for a new entry. among holds the entries of the same list.
func NewEntryChanges(e Entry, among *SelfDescription) []Change {
	return slices.Concat([]Change{{Class: Added, Is: e.text}}, suspectChanges(e), findImitations(e, among))
}

// CompareInstructions returns the changes in a server's instructions.
func CompareInstructions(was, is *SelfDescription) []Change {
	if was.Instructions == is.Instructions {
		return nil
	}
	var d differ
	d.addChange(Text, "instructions", textOrNone(was.Instructions), textOrNone(is.Instructions))
	return append(d.found, suspectsIn(map[string]any{"instructions": is.Instructions})...)
}

// compareSelf compares two descriptions of a server, but not their lists.
func compareSelf(was, is *SelfDescription) []Change {
	d := differ{found: CompareInstructions(was, is)}
	if !slices.Equal(was.Start, is.Start) {
		d.addChange(Started, "start", was.Start, is.Start)
	}
	if was.Version != is.Version {
		d.addChange(Shown, "version", textOrNone(was.Version), textOrNone(is.Version))
	}
	return d.found
}

func textOrNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// findImitations returns a change if the name of an entry looks like the name of another entry in
// among. It also returns a change if the name mixes Latin letters with characters that look like
// Latin letters.
func findImitations(e Entry, among *SelfDescription) []Change {
	other := among.findAlike(e.Kind, e.Name)
	if other != "" {
		return []Change{{Class: Refused, At: e.Kind.keyMember(), What: fmt.Sprintf("its name is like that of %q", other)}}
	}
	if strings.ContainsFunc(e.Name, isLatin) && strings.ContainsAny(e.Name, textclass.LatinLike+textclass.SignLike) {
		return []Change{{Class: Refused, At: e.Kind.keyMember(), What: "its name has letters that look like others"}}
	}
	return nil
}

func isLatin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
