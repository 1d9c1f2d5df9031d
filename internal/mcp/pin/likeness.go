package pin

import (
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// likeness finds names that look alike at a glance. Its tables are built on first use, because most
// servers never need them. It is safe for concurrent use.
type likeness struct {
	mu    sync.Mutex
	names [len(Kinds)]map[string][]string // for each result of foldName, the sorted names that have it; nil until findAlike needs them
}

// findAlike returns the first other name that looks like name, or "".
func (s *SelfDescription) findAlike(kind EntryKind, name string) string {
	l := s.alike
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names[kind] == nil {
		l.names[kind] = make(map[string][]string, len(s.entries[kind]))
		for one := range s.entries[kind] {
			l.insertName(kind, one)
		}
	}
	for _, other := range l.names[kind][foldName(name)] {
		if other != name {
			return other
		}
	}
	return ""
}

// addName adds the name of a new entry.
func (l *likeness) addName(kind EntryKind, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names[kind] != nil {
		l.insertName(kind, name)
	}
}

func (l *likeness) insertName(kind EntryKind, name string) {
	reading := foldName(name)
	all := l.names[kind][reading]
	at, _ := slices.BinarySearch(all, name)
	l.names[kind][reading] = slices.Insert(all, at, name)
}

// removeName removes a name.
func (l *likeness) removeName(kind EntryKind, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	reading := foldName(name)
	all := l.names[kind][reading]
	at, there := slices.BinarySearch(all, name)
	switch {
	case !there:
	case len(all) == 1:
		delete(l.names[kind], reading)
	default:
		l.names[kind][reading] = slices.Delete(all, at, at+1)
	}
}

// foldName returns a name in a form that is the same for names that look alike at a glance.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./ ", r) {
			return -1
		}
		return textclass.NarrowRune(r)
	}, strings.ToLower(name))
}
