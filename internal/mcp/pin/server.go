package pin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Server is what a server has said of itself. The zero value has said nothing.
type Server struct {
	Start        []string // the words it is started by, or its address; without secrets
	Version      string   // as it claims
	Instructions string
	entries      [len(Kinds)]map[string]Entry
	alike        *likeness
	size         int // of the texts of entries, in bytes
}

// Add takes in one entry of a list; an error for one that is there already.
func (s *Server) Add(e Entry) error {
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
	s.alike.add(e.Kind, e.Name)
	s.size += len(e.text)
	return nil
}

// Put takes in an entry, in the place of one that is there.
func (s *Server) Put(e Entry) {
	s.Leave(e.Kind, e.Name)
	_ = s.Add(e) // its name is free
}

// Entries are those of a kind, by name.
func (s *Server) Entries(kind Kind) (all []Entry) {
	for _, name := range slices.Sorted(maps.Keys(s.entries[kind])) {
		all = append(all, s.entries[kind][name])
	}
	return all
}

// Leave takes an entry out.
func (s *Server) Leave(kind Kind, name string) {
	e, there := s.entries[kind][name]
	if !there {
		return
	}
	delete(s.entries[kind], name)
	s.size -= len(e.text)
	s.alike.leave(kind, name)
}

// Retain takes out the entries of a kind whose names are not to stay.
func (s *Server) Retain(kind Kind, stays func(name string) bool) (changed bool) {
	for name := range s.entries[kind] {
		if !stays(name) {
			s.Leave(kind, name)
			changed = true
		}
	}
	return changed
}

// Size is how many bytes the entries have.
func (s *Server) Size() int { return s.size }

// Entry is the entry of that kind and name.
func (s *Server) Entry(kind Kind, name string) (Entry, bool) {
	e, ok := s.entries[kind][name]
	return e, ok
}

// Clone is a copy that changes by itself.
func (s *Server) Clone() Server {
	c := *s
	for i := range c.entries {
		c.entries[i] = maps.Clone(c.entries[i])
	}
	c.alike = &likeness{}
	return c
}

// Len is the number of entries of a kind.
func (s *Server) Len(kind Kind) int { return len(s.entries[kind]) }

// Compare says what a server has become: by kind and name, what it says of itself last.
func Compare(was, is *Server) (all []Difference) {
	for _, kind := range Kinds {
		before, after := was.entries[kind], is.entries[kind]
		names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			old, had := before[name]
			now, has := after[name]
			var changes []Change
			switch {
			case !has:
				changes = []Change{{Class: Removed, Was: old.text}}
			case had:
				changes = Diff(old, now)
			default:
				changes = New(now, is)
			}
			if len(changes) > 0 {
				all = append(all, Difference{kind, name, Gravest(changes), changes})
			}
		}
	}
	if changes := itself(was, is); len(changes) > 0 {
		all = append(all, Difference{Itself, "", Gravest(changes), changes})
	}
	return all
}

// New says of an entry that was not there before what it is: among are those that it is
// listed with.
func New(e Entry, among *Server) []Change {
	return slices.Concat([]Change{{Class: Added, Is: e.text}}, suspects(e), imitates(e, among))
}

// Instructions says what has become of a server's instructions.
func Instructions(was, is *Server) []Change {
	if was.Instructions == is.Instructions {
		return nil
	}
	var d differ
	d.add(Text, "instructions", textOrNone(was.Instructions), textOrNone(is.Instructions))
	return append(d.found, suspectsIn(map[string]any{"instructions": is.Instructions})...)
}

// itself compares what servers say of themselves.
func itself(was, is *Server) []Change {
	d := differ{found: Instructions(was, is)}
	if !slices.Equal(was.Start, is.Start) {
		d.add(Started, "start", was.Start, is.Start)
	}
	if was.Version != is.Version {
		d.add(Shown, "version", textOrNone(was.Version), textOrNone(is.Version))
	}
	return d.found
}

func textOrNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// imitates says whose name the name of an entry is like, of those that it is listed with.
func imitates(e Entry, among *Server) []Change {
	other := among.like(e.Kind, e.Name)
	if other != "" {
		return []Change{{Class: Refused, At: e.Kind.key(), What: fmt.Sprintf("its name is like that of %q", other)}}
	}
	if strings.ContainsFunc(e.Name, latin) && strings.ContainsAny(e.Name, textclass.LatinLike+textclass.SignLike) {
		return []Change{{Class: Refused, At: e.Kind.key(), What: "its name has letters that look like others"}}
	}
	return nil
}

func latin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
