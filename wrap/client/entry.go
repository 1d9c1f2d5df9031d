package client

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ServerKind says how a client reaches a server.
type ServerKind uint8

// The kinds. Other cannot be wrapped.
const (
	Other  ServerKind = iota // nothing the engines know how to start; Entry.Why says more
	Stdio                    // a process the client starts
	Remote                   // a url
)

func (k ServerKind) String() string {
	return [...]string{"other", "stdio", "remote"}[k]
}

// Entry is one server of a file.
type Entry struct {
	Name    string
	KeyPath []string // from the root, the name last; what "*" stood for is filled in
	Line    int      // of the name, from 1
	Column  int      // in characters, from 1

	Kind ServerKind
	Why  string // why an Other cannot be covered

	// Command and Args are the server's own: a wrapper is taken off them.
	Command string
	Args    []string
	// URL is where a Remote server is. Its query and path may hold a secret.
	URL string
	// SignsIn: a Remote entry sends no Authorization header of its own.
	SignsIn bool
	Wrapped *Wrapper // nil: clawai does not stand in front of it

	// Env is the environment of an entry that is a process, wrapped or not, without
	// what Wrap has put into it.
	Env []Variable

	// Problem, an *EditError, says why the entry cannot be edited as it stands;
	// nil when it can be.
	Problem error
	// Unclear: readers of the file differ in what the entry says, as a key of it
	// stands twice or is written with escapes. Problem says which.
	Unclear bool
	// NamesClawai: some command in the entry is clawai, whether or not the entry
	// reads as a wrapper.
	NamesClawai bool
}

// Wrapper is clawai in front of a server.
type Wrapper struct {
	Path     string // the command: where clawai is; "" where the url leads to its proxy
	ProxyURL string // the address at that proxy
	Server   string // the name it gives the rules; "" when it gives none
	Observe  bool   // nothing is enforced

	Hub  bool     // it is the hub, and no server stands behind it in the entry
	Only []string // of the hub: what --only leaves of its servers; none: all

	// Differs is filled in by Read: what keeps the entry from being what Wrap or
	// Redirect would make of it; empty when it is just that. Not weighed are Path,
	// Front and the entry's Env.
	Differs []string
}

// Variable is one of an entry's environment, as the file says it.
type Variable struct{ Name, Value string }

// EditError says why a file, or a server in it, was left alone.
type EditError struct {
	Line   int // from 1
	Column int // in characters, from 1
	What   string
	Next   string // what the owner can do about it
}

func (e *EditError) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

// newEditError gives the error for the byte at an offset of src.
func newEditError(src []byte, at int, next, what string, values ...any) *EditError {
	line, column := textPosition(src, at)
	return &EditError{Line: line, Column: column, What: fmt.Sprintf(what, values...), Next: next}
}

// textPosition counts columns in characters, as editors do, and a byte order mark
// not at all.
func textPosition(src []byte, at int) (line, column int) {
	at = min(at, len(src))
	from := bytes.LastIndexByte(src[:at], '\n') + 1
	start := from
	if from == 0 {
		start = min(bomLength(src), at)
	}
	return bytes.Count(src[:from], []byte{'\n'}) + 1, utf8.RuneCount(src[start:at]) + 1
}

// bomLength gives the length of the byte order mark that src starts with.
func bomLength(src []byte) int {
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}
