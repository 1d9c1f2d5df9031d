package reading

import (
	"strings"
	"unicode"
)

// FolderGlob returns a glob for everything in the folder of a path; for a URL, everything below the
// last slash of its path. It returns false if the text does not certainly name a folder. A text
// with blanks or without a root may be prose or markup: FolderGlob accepts such a text only if a
// rule names its argument (named). The glob includes the folders below, unless the folder is a
// home, holds homes, or is directly below the root.
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

// isWideFolder reports whether a folder holds too much for one answer of a person: it is too
// dangerous to allow all of the folder.
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
