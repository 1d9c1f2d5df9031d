package client

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ServerKind is the way a client reaches a server.
type ServerKind uint8

// The server kinds. An Other server cannot be wrapped.
const (
	Other  ServerKind = iota // clawai can neither start the server nor connect to it; Entry.Why has the reason
	Stdio                    // a process that the client starts
	Remote                   // a server at a url
)

func (k ServerKind) String() string {
	return [...]string{"other", "stdio", "remote"}[k]
}

// Entry is one server of a file.
type Entry struct {
	Name    string
	KeyPath []string // keys from the root of the file to the entry, with the name last; a "*" of the row is replaced
	Line    int      // line of the name, from 1
	Column  int      // column of the name, in characters, from 1

	Kind ServerKind
	Why  string // for Kind Other: reason why the server cannot be covered

	// Command and Args are the command of the server itself, without the wrapper.
	Command string
	Args    []string
	// URL is the address of a Remote server. Its query and path may hold a secret.
	URL string
	// SignsIn means that a Remote entry sends no Authorization header of its own.
	SignsIn bool
	Wrapped *Wrapper // nil: clawai is not in front of the server

	// Env is the environment of a process entry, wrapped or not, without the variables that
	// Wrap added.
	Env []Variable

	// Sandbox holds the client's own sandbox of the process, as the words that the wrapper carries
	// or would carry; nil if the client starts the process in no sandbox.
	Sandbox []string

	// Problem, an *EditError, is the reason why the entry cannot be edited; nil when it can be.
	Problem error
	// Unclear means that two programs may read the entry in different ways, because one of its keys
	// appears twice or is written with escapes. Problem names the key.
	Unclear bool
	// NamesClawai means that some command in the entry is clawai, whether or not the entry is a
	// wrapper.
	NamesClawai bool
}

// Wrapper describes how an entry puts clawai in front of a server.
type Wrapper struct {
	Path     string // command that starts clawai; "" when the url leads to clawai's proxy
	ProxyURL string // address of the server at that proxy
	Server   string // name of the server for the rules (--server); "" when the wrapper has none
	Observe  bool   // the wrapper enforces nothing

	Hub  bool     // the wrapper is the hub, and no server follows it in the entry
	Only []string // the hub's servers that --only selects; none: all

	// Differs lists how the entry differs from the one that Wrap or RedirectEntry would write;
	// empty when it does not differ. Read fills it. Path, ProxyURL and the entry's Env are not
	// compared.
	Differs []string
}

// A Variable is a variable of an entry's environment, as the file writes it.
type Variable struct{ Name, Value string }

// EditError is the reason why a file, or a server in it, was not changed.
type EditError struct {
	Line   int    // from 1
	Column int    // in characters, from 1
	What   string // the problem
	Next   string // what the owner can do about the problem; may be ""
}

func (e *EditError) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

// newEditError returns the error for a problem at a byte offset (at) of src.
func newEditError(src []byte, at int, next, what string, values ...any) *EditError {
	line, column := textPosition(src, at)
	return &EditError{Line: line, Column: column, What: fmt.Sprintf(what, values...), Next: next}
}

// textPosition returns the line and the column of a byte offset. Columns count characters, as editors
// do, without a byte order mark.
func textPosition(src []byte, at int) (line, column int) {
	at = min(at, len(src))
	from := bytes.LastIndexByte(src[:at], '\n') + 1
	start := from
	if from == 0 {
		start = min(bomLength(src), at)
	}
	return bytes.Count(src[:from], []byte{'\n'}) + 1, utf8.RuneCount(src[start:at]) + 1
}

// bomLength returns the length of the byte order mark that src starts with.
func bomLength(src []byte) int {
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}
