package disk

import "strings"

// LocatePath returns where a path lies when all links are resolved, as absolute paths with slashes:
// the result stands is the place of the path's last name, which may be a link, and the result leads
// is the place to which that link leads. The parameter home replaces ~, and base is the folder at
// which relative paths start. The result known is false if programs could read the text as
// something other than a path. It is also false if a program that resolves ".." without the disk
// gets to another place.
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
