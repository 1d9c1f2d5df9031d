package reading

import (
	"strings"
	"unicode"
)

// FolderGlob gives the glob of everything in the folder of a path, or below the last
// slash of a URL's path; false when the text names no folder for certain: what
// has blanks in it or no root may be prose or markup, and counts only where a
// rule has named it. The folders below are included unless that would open a
// home, what homes lie in, or a folder at the root.
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

// isWideFolder reports whether too much lies below a folder to open it with one answer.
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
