package pin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/screen"
)

// Server is what a server has said of itself. The zero value has said nothing.
type Server struct {
	Start        []string // the words it is started by, or its address; without secrets
	Version      string   // as it claims
	Instructions string
	entries      [len(Kinds)]map[string]Entry
	alike        [len(Kinds)]map[string]names // by how their names read in passing
	size         int                          // of the texts of entries, in bytes
}

// names are some of one reading: the first, and those behind it in order.
type names struct {
	first string
	more  []string
}

func (n names) with(name string) names {
	if n.first == "" {
		return names{first: name}
	}
	if name < n.first {
		n.first, name = name, n.first
	}
	at, _ := slices.BinarySearch(n.more, name)
	n.more = slices.Insert(n.more, at, name)
	return n
}

func (n names) without(name string) names {
	if at, behind := slices.BinarySearch(n.more, name); behind {
		n.more = slices.Delete(n.more, at, at+1)
	} else if len(n.more) > 0 {
		n.first = n.more[0]
		n.more = slices.Delete(n.more, 0, 1)
	} else {
		n.first = ""
	}
	return n
}

// Add takes in one entry of a list; an error for one that is there already.
func (s *Server) Add(e Entry) error {
	if _, twice := s.entries[e.Kind][e.Name]; twice {
		return fmt.Errorf("it lists the %s %q twice", e.Kind, e.Name)
	}
	if s.entries[e.Kind] == nil {
		s.entries[e.Kind], s.alike[e.Kind] = map[string]Entry{}, map[string]names{}
	}
	e.tree = nil // a tree is many times its text
	s.entries[e.Kind][e.Name] = e
	like := folded(e.Name)
	s.alike[e.Kind][like] = s.alike[e.Kind][like].with(e.Name)
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
	like := folded(name)
	if rest := s.alike[kind][like].without(name); rest.first != "" {
		s.alike[kind][like] = rest
	} else {
		delete(s.alike[kind], like)
	}
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
		c.entries[i], c.alike[i] = maps.Clone(c.entries[i]), maps.Clone(c.alike[i])
		for like, n := range c.alike[i] {
			if len(n.more) > 0 {
				n.more = slices.Clone(n.more)
				c.alike[i][like] = n
			}
		}
	}
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
	return slices.Concat([]Change{{Class: Added, Is: e.text}}, suspects(e), imitates(e, among.alike[e.Kind][folded(e.Name)]))
}

// Instructions says what has become of a server's instructions.
func Instructions(was, is *Server) []Change {
	if was.Instructions == is.Instructions {
		return nil
	}
	var d differ
	d.add(Text, "instructions", textOrNone(was.Instructions), textOrNone(is.Instructions))
	return append(d.found, suspects(Entry{tree: map[string]any{"instructions": is.Instructions}})...)
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

// imitates says whose name the name of an entry is like, of those that read like it.
func imitates(e Entry, like names) []Change {
	other := like.first
	if other == e.Name && len(like.more) > 0 {
		other = like.more[0]
	}
	if other != "" && other != e.Name {
		return []Change{{Class: Refused, At: e.Kind.key(), What: fmt.Sprintf("its name is like that of %q", other)}}
	}
	if strings.ContainsFunc(e.Name, latin) && strings.ContainsAny(e.Name, screen.LatinLike+screen.SignLike) {
		return []Change{{Class: Refused, At: e.Kind.key(), What: "its name has letters that look like others"}}
	}
	return nil
}

func latin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// folded is a name as one reads it in passing.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./ ", r) {
			return -1
		}
		return screen.Narrow(r)
	}, strings.ToLower(name))
}
