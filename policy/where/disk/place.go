package disk

import "strings"

// LocatePath says where a path lies when all links are resolved: where its last name
// stands, and where that leads, as absolute paths with slashes. home is what ~
// stands for, base the folder at which relative paths start. It is not known of a text that programs could take for something
// else, and where resolving ".." by text alone comes to another place.
func LocatePath(path, home, base string, d Disk) (stands, leads string, known bool) {
	if d == nil {
		return "", "", false
	}
	c := under{home: home, disk: d, syntax: syntaxOf(d)}
	path, known = c.resolvePath(path, base)
	if !known {
		return "", "", false
	}
	end, own, err := walkPath(d, c.syntax, path)
	if err != nil {
		return "", "", false
	}
	if cleaned := c.cleanPath(path); cleaned != path {
		otherEnd, otherOwn, err := walkPath(d, c.syntax, cleaned)
		if err != nil || otherEnd.String() != end.String() || otherOwn.String() != own.String() {
			return "", "", false
		}
	}
	return withSlashes(own, c.syntax), withSlashes(end, c.syntax), true
}

func withSlashes(l location, s syntax) string {
	if s == windows {
		return strings.ReplaceAll(l.String(), `\`, "/")
	}
	return l.String()
}
