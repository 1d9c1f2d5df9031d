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
	Set      time.Time     `json:"set"`
	MaxAge   time.Duration `json:"max_age,omitempty"` // 0: it does not grow too old
	Bindings []Binding     `json:"bindings,omitempty"`
	Origins  []Origin      `json:"origins,omitempty"` // whom wrap has taken it from
	Reveal   bool          `json:"reveal,omitempty"`  // agents may read it, by clawai serve
	Moved    bool          `json:"moved,omitempty"`   // wrap made the entry: it goes with the last origin
}

// Origin is a place in a client's file that holds a reference now, and what stood there.
type Origin struct {
	File   string   `json:"file"`
	Server []string `json:"server"` // the keys that lead to it
	Member string   `json:"member"` // of its environment
	Token  []byte   `json:"token"`  // quotes and escapes as they were
}

// isSamePlace says that two origins are the same place.
func (o *Origin) isSamePlace(p *Origin) bool {
	return o.File == p.File && slices.Equal(o.Server, p.Server) && o.Member == p.Member
}

// AddOrigin notes an origin in the place of what was noted of its place.
func (e *Entry) AddOrigin(o Origin) {
	e.RemoveOrigin(o)
	e.Origins = append(e.Origins, o)
}

// RemoveOrigin drops an origin. It reports whether nothing needs the entry any more.
func (e *Entry) RemoveOrigin(o Origin) (done bool) {
	e.Origins = slices.DeleteFunc(e.Origins, func(p Origin) bool { return p.isSamePlace(&o) })
	return e.Moved && len(e.Origins) == 0
}

// FindOrigin gives what is known of a place.
func (e *Entry) FindOrigin(file string, server []string, member string) (o Origin, ok bool) {
	o = Origin{File: file, Server: server, Member: member}
	i := slices.IndexFunc(e.Origins, func(p Origin) bool { return p.isSamePlace(&o) })
	if i < 0 {
		return o, false
	}
	return e.Origins[i], true
}

// Binding lets one server have an entry.
type Binding struct {
	Server  string `json:"server"`  // as rules call it
	Command string `json:"command"` // Digest of what it is started or reached by
	Program string `json:"program"` // the first word of that, for people
}

// Bounds of an entry.
const (
	MaxValue = 64 << 10 // bytes; an environment takes more, no secret does
	maxName  = 64
)

var (
	// ErrNone is said of a name that the vault does not have.
	ErrNone = errors.New("the vault has no such entry")
	// ErrLocked is said where the values cannot be reached for now.
	ErrLocked = errors.New("the vault is locked")
)

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })

// CheckName refuses what a client could fill in or a reader could end early.
func CheckName(name string) error {
	if len(name) > maxName || !namePattern().MatchString(name) {
		return fmt.Errorf("%q is no name for an entry: letters, digits, . _ - are, %d at most, a letter or digit first", name, maxName)
	}
	return nil
}

// CheckValue refuses what no environment and no header can hold.
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

// CommandDigest gives what a binding keeps of a command: SHA-256 over its words, each ended by a
// zero byte, in hexadecimal.
func CommandDigest(command []string) string {
	sum := sha256.Sum256([]byte(strings.Join(command, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}

// BindServer lets a server have the entry, and reports whether it could not before. Another
// command of the same server goes on to have it: clients differ in how they start one.
func (e *Entry) BindServer(server string, command []string) bool {
	b := Binding{Server: server, Command: CommandDigest(command), Program: command[0]}
	if slices.Contains(e.Bindings, b) {
		return false
	}
	e.Bindings = append(e.Bindings, b)
	return true
}

// isBound reports whether a server may have the entry; knows, whether one of its name may.
func (e *Entry) isBound(server string, command []string) (bound, knows bool) {
	digest := CommandDigest(command)
	for _, b := range e.Bindings {
		if b.Server == server {
			knows, bound = true, bound || b.Command == digest
		}
	}
	return bound, knows
}

// ExpiryTime says when the entry grew too old to be used.
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

// damagedError does not say what was read: it may be part of the value.
func damagedError(name string) error {
	return fmt.Errorf("the entry %q is damaged; set it again: clawai vault set %s", name, name)
}
