package policy

import (
	"fmt"
	"strings"
	"unicode"
)

// Scope is how far beyond one call a rule goes that a person's answer writes.
// The zero value is the narrowest.
type Scope uint8

// The scopes, narrowest first.
const (
	Exact  Scope = iota // this call
	Folder              // the same in the folder that the call is about
	Tool                // the same tool or prompt, as far as the rule goes that asked
)

var scopeWords = []string{"exact", "folder", "tool"}

// Scopes lists all scopes, narrowest first.
func Scopes() []Scope { return []Scope{Exact, Folder, Tool} }

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

// folderOf is the glob of everything in the folder of a path, or below the last
// slash of a URL's path; false when the text names no folder for certain: what
// has blanks in it or no root may be prose or markup, and counts only where a
// rule has named it. The folders below are included unless that would open a
// home, what homes lie in, or a folder at the root.
func folderOf(s, home string, named bool) (glob string, found bool) {
	if s == "" || len(s) > maxLiteral || strings.ContainsAny(s[:1], ".$%") || spellsJSON(s) || unreadable(s) != "" {
		return "", false
	}
	spaced := strings.ContainsFunc(s, unicode.IsSpace)
	switch {
	case !named && (spaced || !startsLikePath(s)),
		spaced && (schemeLen(s) > 0 || !startsLikePath(s)):
		return "", false
	}
	head, path, _ := split(s)
	separators := "/"
	if windowsShaped(s) {
		separators = `/\`
	}
	end := strings.LastIndexAny(path, separators) + 1
	dir := strings.ReplaceAll(path[:end], `\`, "/")
	if end == 0 || clean(dir) != dir || strings.ContainsAny(head+dir, "*?") {
		return "", false
	}
	stars := "**"
	if wide(head, dir, home) {
		stars = "*"
	}
	return head + path[:end] + stars, true
}

// wide says whether too much lies below a folder to open it with one answer.
func wide(head, dir, home string) bool {
	switch {
	case isFile(head + dir):
		dir = locate(head+dir, home)
	case schemeLen(head) > 0:
		return false
	default:
		dir = head + locate(dir, home)
	}
	if hasDrive(dir) {
		dir = dir[2:]
	}
	if hasDrive(home) {
		home = home[2:]
	}
	rooted := strings.HasPrefix(dir, "/")
	return rooted && strings.Count(dir, "/") <= 2 || dir == "~/" ||
		rooted && home != "" && strings.HasPrefix(strings.ToLower(home)+"/", strings.ToLower(dir))
}
