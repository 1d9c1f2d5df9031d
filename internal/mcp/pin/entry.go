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
	Itself // what a server says of itself; no list has it
)

// Kinds are those of lists.
var Kinds = [...]EntryKind{Tool, Prompt, Template}

func (k EntryKind) String() string { return [...]string{"tool", "prompt", "template", "server"}[k] }

// keyMember gives the member by which a server tells its entries apart.
func (k EntryKind) keyMember() string {
	if k == Template {
		return "uriTemplate"
	}
	return "name"
}

// Entry is one entry of a list in its canonical form. It is not to be changed.
type Entry struct {
	Kind EntryKind
	Name string // of a template: the template
	text []byte
}

// Read makes an entry of JSON.
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

// parseMembers gives what the entry has. They are read again each time: a tree is many times its
// text.
func (e Entry) parseMembers() map[string]any {
	tree, _ := parseTree(e.text) // rewrite has read it
	object, _ := tree.(map[string]any)
	return object
}

// Text is the canonical form. Nobody may write to it.
func (e Entry) Text() []byte { return e.text }

// TextDigest gives the SHA-256 of the canonical form, as the record writes digests.
func (e Entry) TextDigest() string {
	sum := sha256.Sum256(e.text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
