package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is one secret.
type Entry struct {
	Name     string        `json:"name"`
	Value    []byte        `json:"value"`
	Set      time.Time     `json:"set"`               // time at which the value was set
	MaxAge   time.Duration `json:"max_age,omitempty"` // age at which the entry expires; 0 means never
	Bindings []Binding     `json:"bindings,omitempty"`
	Origins  []Origin      `json:"origins,omitempty"` // places from which wrap has moved the value
	Reveal   bool          `json:"reveal,omitempty"`  // agents may read the value through clawai serve
	Moved    bool          `json:"moved,omitempty"`   // wrap has created the entry; the entry is removed together with its last origin
}

// Origin is a place in a client's file that now contains a reference. It stores the value that was
// there before.
type Origin struct {
	File   string   `json:"file"`
	Server []string `json:"server"` // the keys in the file that lead to the server
	Member string   `json:"member"` // name of the variable in the server's environment
	Token  []byte   `json:"token"`  // the value in the file's own form, with quotes and escapes
}

func (o *Origin) isSamePlace(p *Origin) bool {
	return o.File == p.File && slices.Equal(o.Server, p.Server) && o.Member == p.Member
}

// AddOrigin adds an origin. It replaces an earlier origin for the same place.
func (e *Entry) AddOrigin(o Origin) {
	e.RemoveOrigin(o)
	e.Origins = append(e.Origins, o)
}

// RemoveOrigin removes an origin. The result done is true if the entry is not needed any more,
// because wrap has created the entry and no origin is left.
func (e *Entry) RemoveOrigin(o Origin) (done bool) {
	e.Origins = slices.DeleteFunc(e.Origins, func(p Origin) bool { return p.isSamePlace(&o) })
	return e.Moved && len(e.Origins) == 0
}

// FindOrigin returns the origin for a place.
func (e *Entry) FindOrigin(file string, server []string, member string) (o Origin, ok bool) {
	o = Origin{File: file, Server: server, Member: member}
	i := slices.IndexFunc(e.Origins, func(p Origin) bool { return p.isSamePlace(&o) })
	if i < 0 {
		return o, false
	}
	return e.Origins[i], true
}

// Binding allows one server to use an entry.
type Binding struct {
	Server  string `json:"server"`  // the server's name in rules
	Command string `json:"command"` // CommandDigest of the server's command or address
	Program string `json:"program"` // first word of the command, for people
	// Folder is the folder in which the command is started; "" if the command means the same in
	// every folder.
	Folder string `json:"folder,omitempty"`
	// Own holds digests of the owner's variables that load code, from the time of the binding. Each
	// digest has 16 letters, and blanks separate the digests.
	Own string `json:"own,omitempty"`
}

// Limits of an entry.
const (
	MaxValue = 64 << 10 // size in bytes; no secret is longer, although an environment can hold more
	maxName  = 64       // length in bytes
)

var (
	// ErrNone means that the vault has no entry with the name.
	ErrNone = errors.New("the vault has no such entry")
	// ErrLocked means that the values cannot be read at the moment.
	ErrLocked = errors.New("the vault is locked")
)

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })

// CheckName returns an error for a name with characters that a client could expand as a variable,
// or that could not be part of a reference.
func CheckName(name string) error {
	if len(name) > maxName || !namePattern().MatchString(name) {
		return fmt.Errorf("%q is not a name for an entry: letters, digits, . _ - are, %d at most, a letter or digit first", name, maxName)
	}
	return nil
}

// CheckValue returns an error for a value that an environment or a header cannot hold.
func CheckValue(value []byte) error {
	switch {
	case len(value) == 0:
		return errors.New("the value is empty")
	case len(value) > MaxValue:
		return fmt.Errorf("the value has %d bytes; %d are allowed", len(value), MaxValue)
	case bytes.IndexByte(value, 0) >= 0:
		return errors.New("the value holds a zero byte, which no environment can")
	}
	return nil
}

// CommandDigest returns the digest of a command for a binding: the SHA-256 of its words, each
// ended by a zero byte, in hexadecimal.
func CommandDigest(command []string) string {
	sum := sha256.Sum256([]byte(strings.Join(command, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}

// BindServer allows a server to use the entry. It returns false if the server was already allowed.
// Other commands of the same server stay allowed, because clients may start one server in different
// ways.
func (e *Entry) BindServer(r Requester) bool {
	b := Binding{Server: r.Name, Command: CommandDigest(r.Command), Program: r.Command[0], Own: digestVariables(r.Own)}
	if r.ReadsFolder() {
		b.Folder = realFolder(r.Dir)
	}
	for i, old := range e.Bindings {
		if old.Own = b.Own; old == b {
			e.Bindings[i] = b
			return false
		}
	}
	e.Bindings = append(e.Bindings, b)
	return true
}

// allows reports whether the binding is for this server with this command in this folder.
func (b *Binding) allows(r Requester) bool {
	return b.Server == r.Name && b.Command == CommandDigest(r.Command) &&
		(b.Folder == "" && !r.ReadsFolder() || b.Folder != "" && b.Folder == realFolder(r.Dir))
}

// ownVariables returns digests of the owner's variables at the time when the entry was bound to a
// server.
func (e *Entry) ownVariables(r Requester) (own []string) {
	for i := range e.Bindings {
		if b := &e.Bindings[i]; b.allows(r) {
			own = append(own, strings.Fields(b.Own)...)
		}
	}
	return own
}

// isBound reports whether a server may use the entry. The result knows is true if the entry is
// bound to this server name with any command. The result command is true if the entry is bound to
// this server name with this command in any folder.
func (e *Entry) isBound(r Requester) (bound, knows, command bool) {
	digest := CommandDigest(r.Command)
	for i := range e.Bindings {
		if b := &e.Bindings[i]; b.Server == r.Name {
			knows, command, bound = true, command || b.Command == digest, bound || b.allows(r)
		}
	}
	return bound, knows, command
}

// ExpiryTime returns the time at which the entry expires, and whether it has expired.
func (e *Entry) ExpiryTime(now time.Time) (at time.Time, expired bool) {
	if e.MaxAge <= 0 {
		return time.Time{}, false
	}
	at = e.Set.Add(e.MaxAge)
	return at, !now.Before(at)
}

func decodeEntry(name string, data []byte) (e Entry, err error) {
	if err = json.Unmarshal(data, &e); err == nil && e.Name != name {
		err = fmt.Errorf("it is that of %q", e.Name)
	}
	if err == nil {
		err = CheckValue(e.Value)
	}
	if err != nil {
		return Entry{}, damagedError(name)
	}
	return e, nil
}

// damagedError returns an error without the data that was read, because the data may contain the
// value.
func damagedError(name string) error {
	return fmt.Errorf("the entry %q is damaged; set it again: clawai vault set %s", name, name)
}
