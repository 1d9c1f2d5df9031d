package reading

import (
	"strings"
	"unicode"
)

// FolderGlob returns the glob of everything in the folder of a path, or below the last slash of
// a URL's path. It returns false if the text does not certainly name a folder: a text with
// blanks or without a root may be prose or markup, and counts only if a rule names its argument
// (named). The glob includes the folders below, unless they would be a home, a folder that
// holds homes, or a folder at the root.
func FolderGlob(s, home string, named bool) (glob string, found bool) {
	if s == "" || strings.ContainsAny(s[:1], ".$%") || SpellsJSON(s) || unreadableReason(s) != "" {
		return "", false
	}
	spaced := strings.ContainsFunc(s, unicode.IsSpace)
	switch {
	case !named && (spaced || !StartsLikePath(s)),
		spaced && (SchemeLen(s) > 0 || !StartsLikePath(s)):
		return "", false
	}
	head, path, _ := splitValue(s)
	separators := "/"
	if windowsShaped(s) {
		separators = `/\`
	}
	end := strings.LastIndexAny(path, separators) + 1
	dir := strings.ReplaceAll(path[:end], `\`, "/")
	if end == 0 || cleanPath(dir) != dir || strings.ContainsAny(head+dir, "*?") {
		return "", false
	}
	stars := "**"
	if isWideFolder(head, dir, home) {
		stars = "*"
	}
	return head + path[:end] + stars, true
}

// isWideFolder reports whether a folder holds too much to allow all of it by one answer of a
// person.
func isWideFolder(head, dir, home string) bool {
	switch {
	case IsFile(head + dir):
		dir = locatePlace(head+dir, home)
	case SchemeLen(head) > 0:
		return false
	default:
		dir = head + locatePlace(dir, home)
	}
	if HasDrive(dir) {
		dir = dir[2:]
	}
	if HasDrive(home) {
		home = home[2:]
	}
	rooted := strings.HasPrefix(dir, "/")
	return rooted && strings.Count(dir, "/") <= 2 || dir == "~/" ||
		rooted && home != "" && strings.HasPrefix(strings.ToLower(home)+"/", strings.ToLower(dir))
}
