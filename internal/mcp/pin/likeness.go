package pin

import (
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// likeness finds names that look alike at a glance. It is built on first use, because most
// servers never need it. It is safe for concurrent use.
type likeness struct {
	mu     sync.Mutex
	names  [len(Kinds)]map[string]string   // the first name for each folded form
	others [len(Kinds)]map[string][]string // the later names for each folded form, in order
}

// findAlike returns the first other name that looks like name, "" for none.
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

// addName adds a name that a server has now.
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

// removeName removes a name.
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

// foldName returns a name in the form that a person sees at a glance.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./ ", r) {
			return -1
		}
		return textclass.NarrowRune(r)
	}, strings.ToLower(name))
}
