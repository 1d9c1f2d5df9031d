package view

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
)

// Names of members that well-known servers use for changes of files, in lower case and without _
// and -.
var (
	fileKeys    = []string{"path", "filepath", "file", "filename", "targetfile"}
	contentKeys = []string{"content", "contents", "filetext", "newcontent", "filecontent"}
	oldKeys     = []string{"oldtext", "oldstr", "oldstring", "search", "oldcode"}
	newKeys     = []string{"newtext", "newstr", "newstring", "replace", "newcode"}
	insertKeys  = []string{"inserttext", "newstr", "text"}
	patchKeys   = []string{"patch", "diff", "input"}
)

// replacement is a text and its replacement.
type replacement struct{ old, new string }

// change is what a call would do to one file. At most one of the fields content, edits and inserted
// is set.
type change struct {
	path     string
	content  *string
	edits    []replacement
	inserted *string
	at       string // phrase that tells where the text goes, such as "into the file"
}

// changeSize returns the number of bytes that the call would write.
func (c *change) changeSize() int {
	n := 0
	for _, s := range []*string{c.content, c.inserted} {
		if s != nil {
			n += len(*s)
		}
	}
	for _, e := range c.edits {
		n += len(e.old) + len(e.new)
	}
	return n
}

// memberText returns the text of a member of the object at the path parent: the first string member
// whose name is in names.
func memberText(leaves []leaf, parent string, names []string) (string, bool) {
	for i := range leaves {
		a := &leaves[i]
		at, key := "", a.path
		if j := strings.LastIndexByte(a.path, '.'); j >= 0 {
			at, key = a.path[:j], a.path[j+1:]
		}
		if a.string && at == parent && slices.Contains(names, plainKey(key)) {
			return a.text, true
		}
	}
	return "", false
}

// findChanges reads the changes in the arguments of a call: a file with its new content, one
// replacement, or lists of these.
func findChanges(list []string, leaves []leaf) []change {
	var parents []string
	for i := range leaves {
		parent := leaves[i].path[:max(0, strings.LastIndexByte(leaves[i].path, '.'))]
		if !slices.Contains(parents, parent) && len(parents) < maxRequests {
			parents = append(parents, parent)
		}
	}
	var all []change
	for _, parent := range parents {
		file, ok := memberText(leaves, parent, fileKeys)
		if !ok {
			continue
		}
		c := change{path: file}
		command, _ := memberText(leaves, parent, []string{"command"})
		content, written := memberText(leaves, parent, contentKeys)
		inserted, inserts := memberText(leaves, parent, insertKeys)
		switch {
		case command == "insert" && inserts:
			c.inserted, c.at = &inserted, "after line "+numberText(leaves, parent, "insertline")
		case written && hasAny(list, []string{"append", "prepend", "insert"}):
			c.inserted, c.at = &content, "into the file"
		case written:
			c.content = &content
		default:
			c.edits = findReplacements(leaves, parents, parent)
		}
		if c.content != nil || c.inserted != nil || c.edits != nil {
			all = append(all, c)
		}
	}
	return all
}

// numberText returns the text of a number member, made harmless.
func numberText(leaves []leaf, parent, name string) string {
	for i := range leaves {
		if a := &leaves[i]; !a.string && plainKey(a.key) == name && strings.HasPrefix(a.path, parent) {
			return term.VisibleValue(a.text)
		}
	}
	return "?"
}

// findReplacements returns the replacements in the object at the path parent and in its list
// "edits".
func findReplacements(leaves []leaf, parents []string, parent string) []replacement {
	var edits []replacement
	below := strings.TrimPrefix(parent+".edits[", ".")
	for _, p := range parents {
		if p != parent && !strings.HasPrefix(p, below) {
			continue
		}
		was, ok1 := memberText(leaves, p, oldKeys)
		will, ok2 := memberText(leaves, p, newKeys)
		if ok1 && (ok2 || p == parent) {
			edits = append(edits, replacement{was, will})
		}
	}
	return edits
}
