package policy

import (
	"fmt"
)

// Scope tells which calls, besides the answered call, are covered by a rule that stores a person's
// answer. The zero value is the narrowest scope.
type Scope uint8

// The scopes; the narrowest is first.
const (
	Exact  Scope = iota // only calls like the answered call
	File                // the same tool with the files and addresses of the call, whatever the other arguments are
	Folder              // the same tool in the folder of the call's paths
	Tool                // the same tool or prompt, under the conditions of the rule that asked
)

var scopeWords = []string{"exact", "file", "folder", "tool"}

// AllScopes returns all scopes, narrowest first.
func AllScopes() []Scope { return []Scope{Exact, File, Folder, Tool} }

// String returns the word that people type.
func (s Scope) String() string {
	if int(s) < len(scopeWords) {
		return scopeWords[s]
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// ParseScope parses the word of a scope.
func ParseScope(word string) (Scope, error) {
	for i, w := range scopeWords {
		if w == word {
			return Scope(i), nil
		}
	}
	return Exact, fmt.Errorf("unknown scope %q (one of %s)", word, listWords(scopeWords))
}
