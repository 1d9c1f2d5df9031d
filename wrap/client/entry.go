package client

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ServerKind tells how a client reaches a server.
type ServerKind uint8

// Values of ServerKind. A server of kind Other cannot be wrapped.
const (
	Other  ServerKind = iota // clawai can neither start this server nor connect to it; Entry.Why has the reason
	Stdio                    // a process that the client starts
	Remote                   // a server at a url
)

func (k ServerKind) String() string {
	return [...]string{"other", "stdio", "remote"}[k]
}

// Entry is one server of a file.
type Entry struct {
	Name    string
	KeyPath []string // keys from the root of the file to the entry; the last one is the name; in place of a "*" of the row, it has the key in the file
	Line    int      // line of the name, from 1
	Column  int      // column of the name, in characters, from 1

	Kind ServerKind
	Why  string // for kind Other: why clawai cannot be in front of the server; else ""

	// Command and Args start the server itself. They do not include the words of the wrapper.
	Command string
	Args    []string
	// URL is the address of a Remote server. Its query and path may hold a secret.
	URL string
	// SignsIn means that the entry of a Remote server has no Authorization header.
	SignsIn bool
	Wrapped *Wrapper // the wrapper; nil if clawai is not in front of the server

	// Env is the environment of an entry that starts a process. It does not include the variables
	// that Wrap added.
	Env []Variable

	// Sandbox holds the rules of the client's own sandbox for the process, as words for the
	// wrapper; nil if the client uses no sandbox.
	Sandbox []string

	// Problem is the reason why the entry cannot be edited, as an *EditError; nil if it can.
	Problem error
	// Unclear means that two programs may read the entry differently, because a key appears twice
	// or is written with escapes. Problem names the key.
	Unclear bool
	// NamesClawai means that a command in the entry is clawai. The entry need not be a wrapper.
	NamesClawai bool
}

// Wrapper describes how an entry puts clawai in front of a server.
type Wrapper struct {
	Path     string // path of clawai in the command; "" if the url leads to clawai's proxy
	ProxyURL string // address of the server at clawai's proxy; "" if the entry starts clawai
	Server   string // name of the server for the rules (--server); "" if the wrapper does not have the option
	Observe  bool   // the wrapper enforces nothing

	Hub  bool     // the wrapper is the hub, and no server follows it in the entry
	Only []string // names of the hub's servers that --only selects; nil: all servers

	// Differs lists how the entry differs from what Wrap or RedirectEntry would write; nil if there
	// is no difference. Read fills it in. It does not compare Path, ProxyURL and the environment.
	Differs []string
}

// A Variable is a variable in the environment of an entry. Value is the decoded text of the file.
type Variable struct{ Name, Value string }

// EditError is the reason why a file, or a server in it, was not changed.
type EditError struct {
	Line   int    // counted from 1
	Column int    // counted in characters, from 1
	What   string // the problem
	Next   string // what the owner can do about it; "" for nothing
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

// textPosition returns the line and the column of a byte offset. A column counts characters, as
// editors do. A byte order mark is not counted.
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
