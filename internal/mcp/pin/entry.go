package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// EntryKind is a kind of list entry.
type EntryKind uint8

// The kinds. Resources are data: they are not pinned.
const (
	Tool EntryKind = iota
	Prompt
	Template
	Itself // a server's description of itself; it is in no list
)

// Kinds are the kinds of entries in lists.
var Kinds = [...]EntryKind{Tool, Prompt, Template}

func (k EntryKind) String() string { return [...]string{"tool", "prompt", "template", "server"}[k] }

// keyMember returns the member by which a server distinguishes its entries.
func (k EntryKind) keyMember() string {
	if k == Template {
		return "uriTemplate"
	}
	return "name"
}

// Entry is one entry of a list in its canonical form. It must not be changed.
type Entry struct {
	Kind EntryKind
	Name string // for a template: the URI template
	text []byte
}

// Read parses an entry from JSON.
func Read(kind EntryKind, src []byte) (Entry, error) {
	name, text, err := rewriteEntry(kind, src)
	if err != nil {
		return Entry{}, fmt.Errorf("it cannot be read: %w", err)
	}
	if text[0] != '{' {
		return Entry{}, fmt.Errorf("a %s is an object", kind)
	}
	if name == "" {
		return Entry{}, errors.New("it has no " + kind.keyMember())
	}
	return Entry{kind, name, text}, nil
}

// parseMembers returns the entry's members. It parses them each time, because a tree is many
// times as large as its text.
func (e Entry) parseMembers() map[string]any {
	tree, _ := parseTree(e.text) // rewriteEntry has already parsed this text
	object, _ := tree.(map[string]any)
	return object
}

// Text returns the canonical form. Callers must not change it.
func (e Entry) Text() []byte { return e.text }

// TextDigest returns the SHA-256 of the canonical form in the record's notation.
func (e Entry) TextDigest() string {
	sum := sha256.Sum256(e.text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
