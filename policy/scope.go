package policy

import (
	"fmt"
)

// Scope is how far beyond one call a rule goes that a person's answer writes.
// The zero value is the narrowest.
type Scope uint8

// The scopes, narrowest first.
const (
	Exact  Scope = iota // this call
	File                // the same on the files and addresses that the call names, whatever else it holds
	Folder              // the same in the folder that the call is about
	Tool                // the same tool or prompt, as far as the rule goes that asked
)

var scopeWords = []string{"exact", "file", "folder", "tool"}

// AllScopes lists all scopes, narrowest first.
func AllScopes() []Scope { return []Scope{Exact, File, Folder, Tool} }

// String gives the word that people type.
func (s Scope) String() string {
	if int(s) < len(scopeWords) {
		return scopeWords[s]
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// ParseScope reads such a word.
func ParseScope(word string) (Scope, error) {
	for i, w := range scopeWords {
		if w == word {
			return Scope(i), nil
		}
	}
	return Exact, fmt.Errorf("unknown scope %q (one of %s)", word, listWords(scopeWords))
}
