package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// EntryKind is a kind of list entry.
type EntryKind uint8

// The kinds. Resources are not pinned, because they are data.
const (
	Tool EntryKind = iota
	Prompt
	Template
	Itself // the server's description of itself, which is in no list
)

// Kinds are the kinds of entries in lists.
var Kinds = [...]EntryKind{Tool, Prompt, Template}

func (k EntryKind) String() string { return [...]string{"tool", "prompt", "template", "server"}[k] }

// keyMember returns the member that tells a server's entries apart.
func (k EntryKind) keyMember() string {
	if k == Template {
		return "uriTemplate"
	}
	return "name"
}

// Entry is one entry of a list in canonical form. It must not be changed.
type Entry struct {
	Kind EntryKind
	Name string // the name; for a template, the URI template
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

// parseMembers returns the members of the entry. It parses them again each time, because a tree
// needs many times the memory of its text.
func (e Entry) parseMembers() map[string]any {
	tree, _ := parseTree(e.text) // no error is possible, because rewriteEntry has parsed this text
	object, _ := tree.(map[string]any)
	return object
}

// Text returns the canonical form of the entry. The caller must not change it.
func (e Entry) Text() []byte { return e.text }

// TextDigest returns the SHA-256 of the canonical form, in the form that the record uses.
func (e Entry) TextDigest() string {
	sum := sha256.Sum256(e.text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
