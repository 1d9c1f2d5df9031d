package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where/shell"
)

// Bounds of the table [folders]. The policy compares a pattern that uses a list once for each
// folder in the list.
const (
	maxNames       = 64
	maxFolders     = 64
	maxFolderBytes = 1024
)

// nameLetters are the characters that a list's name may have.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"

// baseName is the name "cwd" between the braces of reading.BaseWord.
const baseName = "cwd"

const foldersForm = `write [folders], and below it projects = ["~/projects"]`

// FolderList is one entry of the table [folders]: a name and its folders.
type FolderList struct {
	Name    string
	Folders []string // absolute, or below ~ or ${cwd}; no slash at the end
	Written []string // the list as in the file; an element is a folder, or ${NAME} for the folders of an earlier list
	Pos     Position
	From    string // the entry of extends that the list comes from; "" for a list of the file itself
}

// nextName returns the first ${NAME} in a text: its offsets and the name. It returns false if the
// text has none.
func nextName(text string) (start, end int, name string, found bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], "${")
		if i < 0 {
			return 0, 0, "", false
		}
		from += i + len("${")
		size := len(text[from:]) - len(strings.TrimLeft(text[from:], nameLetters))
		if end := from + size; size > 0 && end < len(text) && text[end] == '}' {
			return from - len("${"), end + 1, text[from:end], true
		}
	}
}

// eachName yields the offsets and the name of each ${NAME} in a text.
func eachName(text string) iter.Seq2[[2]int, string] {
	return func(yield func([2]int, string) bool) {
		for at := 0; ; {
			start, end, name, found := nextName(text[at:])
			if !found || !yield([2]int{at + start, at + end}, name) {
				return
			}
			at += end
		}
	}
}

// namesFolders reports whether a text may hold a ${NAME} of [folders].
func namesFolders(text string) bool { return strings.Contains(text, "${") }

// openFolders reads the header [folders].
func (p *parser) openFolders(e toml.Expression) {
	p.endTable()
	switch {
	case e.Form == toml.TableArray:
		p.fail(e.Start, e.End, "[[folders]] must be [folders]", foldersForm)
	case len(e.Key) > 1:
		p.fail(e.Start, e.End, "a table in [folders]", foldersForm)
	case p.foldered:
		p.fail(e.Start, e.End, "the table is given twice", "one table holds all names")
	case len(p.rules) > 0:
		p.fail(e.Start, e.End, "[folders] below a rule", "put it above the first [[rule]], so that a reader knows the names")
	default:
		p.scope = foldersScope
	}
	p.foldered = true
}

// foldersField reads one list of [folders].
func (p *parser) foldersField(e toml.Expression) {
	first, last := e.Key[0], e.Key[len(e.Key)-1]
	name := first.Name
	fail := func(msg, hint string) { p.fail(first.Start, last.End, msg, hint) }
	switch {
	case len(e.Key) > 1:
		fail(name+" must be a list of folders, not a table", foldersForm)
		return
	case name == "" || strings.Trim(name, nameLetters) != "":
		fail(fmt.Sprintf("%q is not a name of folders", name), "a name has small letters, digits and _")
		return
	case name == baseName:
		fail("cwd is the folder in which a server was started", "take another name")
		return
	case slices.ContainsFunc(p.folders, func(l FolderList) bool { return l.Name == name }):
		fail(name+" is given twice", "one list holds all folders of a name")
		return
	case len(p.folders) == maxNames:
		fail(fmt.Sprintf("more than %d names", maxNames), "")
		return
	case !e.Value.IsList():
		p.fail(e.Start, e.End, fmt.Sprintf("%s must be a list of folders, not %s", name, e.Value.DescribeKind()), foldersForm)
		return
	}
	l := FolderList{Name: name, Pos: p.positionOf(first.Start)}
	e.Value.EachElement(func(v toml.Value) {
		start, end, known := v.Span()
		if !known {
			start, end = first.Start, last.End
		}
		if !v.IsString() {
			p.fail(start, end, fmt.Sprintf("%s must be a list of folders, not of %s", name, v.DescribeKind()), foldersForm)
			return
		}
		folders, msg, hint := p.readElement(v.Text())
		if msg != "" {
			p.fail(start, end, fmt.Sprintf("%q %s", v.Text(), msg), hint)
			return
		}
		l.Written = append(l.Written, v.Text())
		l.Folders = append(l.Folders, folders...)
	})
	if len(l.Folders) > maxFolders {
		fail(fmt.Sprintf("%s has more than %d folders", name, maxFolders), "")
	}
	p.folders = append(p.folders, l)
}

// readElement returns the folders of one element of a list. The element is one folder, or the
// ${NAME} of an earlier list. If the element is wrong, msg and hint describe the mistake.
func (p *parser) readElement(text string) (folders []string, msg, hint string) {
	name, ok := ListName(text)
	if !ok {
		folder, msg, hint := readFolder(text)
		return []string{folder}, msg, hint
	}
	l := p.findFolders(name)
	if l == nil {
		return nil, "names no list above it", "a list may hold the folders of another one: write that one first"
	}
	return l.Folders, "", ""
}

// ListName returns the name in an element such as ${projects}. It returns false if the element is a
// folder.
func ListName(element string) (name string, ok bool) {
	start, end, name, found := nextName(element)
	if !found || start > 0 || end < len(element) || name == baseName {
		return "", false
	}
	return name, true
}

// readFolder checks a folder of [folders] and returns it without the slash at its end. If the text
// is not a valid folder, msg and hint describe the mistake.
func readFolder(text string) (folder, msg, hint string) {
	const whole = "write a whole path, or one below ~/"
	folder = strings.TrimRight(text, `/\`)
	slashed := strings.ReplaceAll(folder, `\`, "/")
	home := slashed == "~" || strings.HasPrefix(slashed, "~/")
	rest, share := strings.CutPrefix(slashed, "//")
	drive := reading.HasDrive(slashed) && (len(slashed) == 2 || slashed[2] == '/')
	switch {
	case len(text) > maxFolderBytes:
		return "", "is too long", ""
	case strings.ContainsAny(text, "*?"):
		return "", "has a wildcard", "name folders here, and write wildcards in the rules: ${projects}/**"
	case strings.Contains(strings.TrimPrefix(text, reading.BaseWord), "${"):
		return "", "holds the name of a list", whole
	case text == "/", drive && len(slashed) == 2 && len(text) > 2, share && !strings.Contains(rest, "/"):
		return "", "is a whole disk", "name a folder on it"
	case home, share, reading.FromBase(slashed), drive && len(slashed) > 2:
	case !strings.HasPrefix(text, "/"):
		return "", "does not say where it begins", whole
	}
	if !share {
		rest = strings.TrimPrefix(slashed, "/")
	}
	if slices.ContainsFunc(strings.Split(rest, "/"), func(part string) bool { return part == "" || part == "." || part == ".." }) {
		return "", "is not a plain path", `write it without "//", "." and ".."`
	}
	return folder, "", ""
}

// findFolders returns the list with the given name, or nil.
func (p *parser) findFolders(name string) *FolderList { return findList(p.knownLists(), name) }

func findList(lists []FolderList, name string) *FolderList {
	for i := range lists {
		if lists[i].Name == name {
			return &lists[i]
		}
	}
	return nil
}

// useFolders returns the folders of the list with the given name, and notes that the current rule
// uses the list. If there is no list with that name, msg and hint describe the mistake.
func (p *parser) useFolders(name string) (folders []string, msg, hint string) {
	l := p.findFolders(name)
	switch {
	case l == nil:
		var names []string
		for _, l := range p.knownLists() {
			names = append(names, l.Name)
		}
		return nil, fmt.Sprintf("no list of [folders] is called %q", name),
			suggestWord(name, names, fmt.Sprintf("write [folders] above the rules, and below it %s = [\"~/%s\"]", name, name))
	case len(l.Folders) == 0:
		return nil, fmt.Sprintf("the list %q of [folders] is empty", name), "give it a folder, or remove the rules that name it"
	}
	if r := p.currentRule(); !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	return l.Folders, "", ""
}

// expandNames replaces a ${NAME} of [folders] in a text. It returns one text for each folder of the
// list, or only the text itself if the text has no ${NAME}. expandNames reports an error at the
// value v.
func (p *parser) expandNames(text string, at []toml.KeyPart, v toml.Value) []string {
	if !namesFolders(text) {
		return []string{text}
	}
	fail := func(msg, hint string) []string {
		start, end, known := v.Span()
		if !known {
			start, end = at[0].Start, at[len(at)-1].End
		}
		p.fail(start, end, msg, hint)
		return nil
	}
	var begins string // the text begins with this ${NAME}
	for at, name := range eachName(text) {
		stands := at[0] == 0 && (at[1] == len(text) || text[at[1]] == '/')
		known := p.findFolders(name) != nil
		switch {
		case name == baseName:
		case stands:
			begins = name
		case known:
			return fail(fmt.Sprintf("${%s} stands at the beginning, before a / or alone", name), "")
		}
	}
	if begins == "" {
		return []string{text}
	}
	folders, msg, hint := p.useFolders(begins)
	if msg != "" {
		return fail(msg, hint)
	}
	all := make([]string, len(folders))
	for i, folder := range folders {
		all[i] = folder + text[len("${}")+len(begins):]
	}
	return all
}

// expandGlobs replaces each ${NAME} in globs by the folders of the list. It also returns the globs
// as written, if one has a ${NAME}. After an error all is nil.
func (p *parser) expandGlobs(globs []string, at []toml.KeyPart, v toml.Value) (all, written []string) {
	if !slices.ContainsFunc(globs, namesFolders) {
		return globs, nil
	}
	before := len(p.errs)
	for _, g := range globs {
		all = append(all, p.expandNames(g, at, v)...)
	}
	switch {
	case len(p.errs) > before:
		return nil, nil
	case slices.Equal(all, globs):
		return globs, nil
	}
	return all, globs
}

// globsTOML returns a list of globs as TOML. It uses written, or globs if written is nil.
func globsTOML(globs, written []string) string {
	if written != nil {
		globs = written
	}
	return policytext.OneOrList(policytext.QuoteAll(globs))
}

// readNames reads the globs of a key. Only keys about places may use a ${NAME} of [folders].
func (p *parser) readNames(k ruleKey, name label, at []toml.KeyPart, v toml.Value) (all, written []string) {
	globs := p.readGlobs(name, at, v)
	switch k {
	case ruleKey(ResourceSubject):
		return p.expandGlobs(globs, at, v)
	case cwdKey:
		all, written = p.expandGlobs(globs, at, v)
		if i := slices.IndexFunc(all, func(g string) bool { return g[0] == '~' || g[0] == '$' }); written != nil && i >= 0 {
			p.fail(at[0].Start, at[len(at)-1].End, fmt.Sprintf("cwd takes whole paths, and %q is none", all[i]), "name a list whose folders are whole paths")
			return nil, nil
		}
		return all, written
	}
	return globs, nil
}

// expandValue replaces each ${NAME} in a constraint's value. It reports an error if the constraint
// is not about places.
func (p *parser) expandValue(w *whereSource, at []toml.KeyPart, v toml.Value) {
	switch value := w.value.(type) {
	case string:
		p.refuseNames(w.key.name, []string{value}, at, v)
	case []string:
		if !w.key.path {
			p.refuseNames(w.key.name, value, at, v)
			return
		}
		w.value, _ = p.expandGlobs(value, at, v)
	case []shell.Setting:
		for i := range value {
			if s := &value[i]; shell.TakesPlaces(s.Name) {
				s.List = p.expandPlaces(s.List, at, v)
			} else {
				p.refuseNames(s.Name, s.List, at, v)
			}
		}
	}
}

// expandPlaces replaces each ${NAME} in the places of a command.
func (p *parser) expandPlaces(places []string, at []toml.KeyPart, v toml.Value) (all []string) {
	for _, text := range places {
		rest, shut := strings.CutPrefix(text, "!")
		folders := p.expandNames(rest, at, v)
		if len(folders) == 1 && folders[0] == rest {
			all = append(all, text)
			continue
		}
		for _, folder := range folders {
			if below, local := strings.CutPrefix(folder, reading.BaseWord); local {
				folder = "." + below
			}
			folder = strings.ReplaceAll(folder, `\`, "/")
			if shut {
				folder = "!" + folder
			}
			all = append(all, folder)
		}
	}
	return all
}

// refuseNames reports a ${NAME} of [folders] in a value that is not about places. It accepts other
// words of the form ${WORD}, because the text of a command or an expression may hold them.
func (p *parser) refuseNames(key string, texts []string, at []toml.KeyPart, v toml.Value) {
	for _, text := range texts {
		for _, name := range eachName(text) {
			if name != baseName && p.findFolders(name) != nil {
				start, end, known := v.Span()
				if !known {
					start, end = at[0].Start, at[len(at)-1].End
				}
				p.fail(start, end, fmt.Sprintf("%s takes no names of folders, and has ${%s}", key, name), "globs on arguments, resource, cwd, under and a command's dir, paths and redirect do")
				return
			}
		}
	}
}

// knownLists returns all lists that the file may use. The owner's lists come first, so that
// findList finds them first. Every rule keeps the returned slice.
func (p *parser) knownLists() []FolderList {
	if len(p.ownersFolders) == 0 {
		return p.folders
	}
	if len(p.known) < len(p.ownersFolders)+len(p.folders) {
		p.known = slices.Concat(p.ownersFolders, p.folders)
	}
	return p.known
}

// writeOut replaces each ${NAME} in the rule's TOML by the folders, because the policy's own file
// does not have the lists of another text.
func (r *ruleSource) writeOut() {
	r.written, r.not.written = nil, nil
	for i := range r.args {
		r.args[i].written = nil
	}
	for i := range r.not.args {
		r.not.args[i].written = nil
	}
	for _, calls := range [][]Stated{r.calls, r.not.calls} {
		for i := range calls {
			if calls[i].Globs != nil {
				calls[i].Text = globsTOML(calls[i].Globs, nil)
			}
		}
	}
	for i := range r.where {
		switch value := r.where[i].value.(type) {
		case []string:
			r.where[i].text = func() string { return globsTOML(value, nil) }
		case []shell.Setting:
			r.where[i].text = func() string {
				var pairs []policytext.Pair
				for _, s := range value {
					pairs = append(pairs, policytext.Pair{Key: s.Name, Value: globsTOML(s.List, nil)})
				}
				return policytext.InlineTable(pairs)
			}
		}
	}
}

// Folders returns the lists of the table [folders]: first the lists of the policy's own file, then
// the lists of the texts that the file extends. It leaves out a profile's list that another list
// replaces.
func (p *Policy) Folders() []FolderList {
	all := make([]FolderList, len(p.folders))
	for i, l := range p.folders {
		l.Folders, l.Written = slices.Clone(l.Folders), slices.Clone(l.Written)
		all[i] = l
	}
	return all
}
