package pin

import (
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// likeness finds names that read alike in passing. It is made when somebody asks for the
// first time: of most servers nobody does. Several may ask at once.
type likeness struct {
	mu     sync.Mutex
	names  [len(Kinds)]map[string]string   // the first of each reading
	others [len(Kinds)]map[string][]string // those behind it, in order
}

// findAlike gives the first other name that reads like a name, "" for none.
func (s *SelfDescription) findAlike(kind EntryKind, name string) string {
	l := s.alike
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names[kind] == nil {
		l.names[kind], l.others[kind] = make(map[string]string, len(s.entries[kind])), map[string][]string{}
		for one := range s.entries[kind] {
			l.insertName(kind, one)
		}
	}
	reading := foldName(name)
	first, more := l.names[kind][reading], l.others[kind][reading]
	if first == name && len(more) > 0 {
		return more[0]
	}
	if first == name {
		return ""
	}
	return first
}

// addName notes a name that a server has now.
func (l *likeness) addName(kind EntryKind, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names[kind] != nil {
		l.insertName(kind, name)
	}
}

func (l *likeness) insertName(kind EntryKind, name string) {
	reading := foldName(name)
	first, there := l.names[kind][reading]
	if !there {
		l.names[kind][reading] = name
		return
	}
	if name < first {
		l.names[kind][reading], name = name, first
	}
	more := l.others[kind][reading]
	at, _ := slices.BinarySearch(more, name)
	l.others[kind][reading] = slices.Insert(more, at, name)
}

// removeName forgets a name.
func (l *likeness) removeName(kind EntryKind, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names[kind] == nil {
		return
	}
	reading := foldName(name)
	more := l.others[kind][reading]
	switch at, behind := slices.BinarySearch(more, name); {
	case behind:
		l.others[kind][reading] = slices.Delete(more, at, at+1)
	case len(more) > 0:
		l.names[kind][reading] = more[0]
		l.others[kind][reading] = slices.Delete(more, 0, 1)
	default:
		delete(l.names[kind], reading)
	}
}

// foldName gives a name as one reads it in passing.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./ ", r) {
			return -1
		}
		return textclass.NarrowRune(r)
	}, strings.ToLower(name))
}
