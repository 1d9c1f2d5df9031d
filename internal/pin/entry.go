package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Kind is a kind of list entry.
type Kind uint8

// The kinds. Resources are data: they are not pinned.
const (
	Tool Kind = iota
	Prompt
	Template
	Itself // what a server says of itself; no list has it
)

// Kinds are those of lists.
var Kinds = [...]Kind{Tool, Prompt, Template}

func (k Kind) String() string { return [...]string{"tool", "prompt", "template", "server"}[k] }

// key is the member by which a server tells its entries apart.
func (k Kind) key() string {
	if k == Template {
		return "uriTemplate"
	}
	return "name"
}

// Entry is one entry of a list in its canonical form. It is not to be changed.
type Entry struct {
	Kind Kind
	Name string         // of a template: the template
	tree map[string]any // nil where only the text is kept
	text []byte
}

// Read makes an entry of JSON.
func Read(kind Kind, src []byte) (Entry, error) {
	tree, err := parse(src)
	if err != nil {
		return Entry{}, fmt.Errorf("it cannot be read: %w", err)
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return Entry{}, fmt.Errorf("a %s is an object", kind)
	}
	return entry(kind, object)
}

func entry(kind Kind, object map[string]any) (Entry, error) {
	name, _ := object[kind.key()].(string)
	if name == "" {
		return Entry{}, errors.New("it has no " + kind.key())
	}
	made := make(map[string]any, len(object))
	for member, v := range object {
		switch members[kind][member] {
		case asSchema, asOutput:
			made[member] = schema(v)
		default:
			made[member] = plain(v)
		}
	}
	return Entry{kind, name, made, written(made)}, nil
}

// members are what the entry has, read from its text where nothing else is kept.
func (e Entry) members() map[string]any {
	if e.tree == nil {
		tree, _ := parse(e.text) // it was written from a tree
		e.tree, _ = tree.(map[string]any)
	}
	return e.tree
}

// Text is the canonical form. Nobody may write to it.
func (e Entry) Text() []byte { return e.text }

// Digest is the SHA-256 of the canonical form, as the record writes digests.
func (e Entry) Digest() string {
	sum := sha256.Sum256(e.text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
