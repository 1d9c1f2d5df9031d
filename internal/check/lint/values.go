package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// Limits of the calls that are tried for one rule.
const (
	maxOpenings = 64
	maxTools    = 256
)

// opening is a call that an allow lets through. rule is the index of the allow.
type opening struct {
	rule int
	call policy.Call
}

// findOpenings returns allowed calls with the subject of rule i. Calls of known tools come first. Calls
// of allows below rule i come before calls of allows above rule i.
func (l *linter) findOpenings(i int) (out []opening) {
	r, own := &l.sources[i], l.reach[i].Witness
	var allows []int
	for k := range len(l.sources) - 1 {
		j := (i + 1 + k) % len(l.sources)
		allow, found := &l.sources[j], &l.reach[j]
		if isAllow(allow) && allow.Subject == r.Subject && found.Witness != nil && !found.Perhaps {
			allows = append(allows, j)
		}
	}
	add := func(j int, name string) {
		c := *l.reach[j].Witness
		if l.sources[j].Servers == nil {
			c.Server = own.Server
		}
		if name != "" {
			c.Names = []string{name}
		}
		out = append(out, opening{j, c})
	}
	for _, tool := range l.toolsOf(r) {
		if k := slices.IndexFunc(allows, func(j int) bool { return l.matchesAnyGlob(l.sources[j].Names, tool) }); k >= 0 && len(out) < maxTools {
			add(allows[k], tool)
		}
	}
	for n, j := range allows {
		switch {
		case n == maxOpenings:
			return out
		case r.Subject != policy.ToolSubject, l.matchesAnyGlob(r.Names, l.reach[j].Witness.Names[0]):
			add(j, "")
		case l.matchesAnyGlob(l.sources[j].Names, own.Names[0]):
			add(j, own.Names[0])
		}
	}
	return out
}

// toolsOf returns the known tools that a rule's globs match.
func (l *linter) toolsOf(r *policy.Source) (tools []string) {
	if r.Subject != policy.ToolSubject {
		return nil
	}
	for tool := range l.options.Arguments {
		tools = append(tools, tool)
	}
	for _, s := range l.serversOf(r.Servers) {
		tools = append(tools, l.options.Servers[s]...)
	}
	slices.Sort(tools)
	return slices.DeleteFunc(slices.Compact(tools), func(n string) bool { return !l.matchesAnyGlob(r.Names, n) })
}

// matchesAnyGlob reports whether at least one glob of a rule matches a name. It compiles each glob only
// once.
func (l *linter) matchesAnyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(pattern string) bool {
		g, known := l.globs[pattern]
		if !known {
			g, _ = glob.Compile(pattern) // ignore the error: the policy was loaded, so the pattern is valid
			l.globs[pattern] = g
		}
		return g.Match(name)
	})
}

// folderIn returns the folder of the path in a call's argument. It returns "" if the argument is not a
// path with a folder.
func folderIn(c *policy.Call, path []string) string {
	s, ok := textIn(c, path)
	if at := strings.LastIndexByte(s, '/'); ok && at > 0 {
		return s[:at]
	}
	return ""
}

// textIn returns the text in a call's argument. If path is empty, it returns the call's only name. The
// result is false if the text does not exist.
func textIn(c *policy.Call, path []string) (string, bool) {
	if len(path) == 0 {
		return strings.Join(c.Names, ""), len(c.Names) == 1
	}
	var value any
	if json.Unmarshal(c.Args, &value) != nil {
		return "", false
	}
	for _, name := range path {
		members, ok := value.(map[string]any)
		if !ok {
			return "", false
		}
		value = members[name]
	}
	s, ok := value.(string)
	return s, ok
}

// fillWildcards returns a text that the glob matches.
func fillWildcards(glob string) string {
	return strings.NewReplacer("**/", "/x/", "**", "x", "*", "x", "?", "x").Replace(glob)
}

// textsInFolder returns texts that a glob matches. One of the texts is in the folder if the glob begins
// with **/.
func textsInFolder(glob, folder string) []string {
	out := []string{fillWildcards(glob)}
	if rest, anywhere := strings.CutPrefix(glob, "**/"); anywhere && folder != "" {
		out = append(out, folder+"/"+fillWildcards(rest))
	}
	return out
}

// families lists usual names of arguments. Each list has names with the same meaning.
var families = [][]string{
	{"path", "file", "filename", "filepath", "file_path", "paths", "files", "uri", "source", "destination", "dir", "directory", "folder"},
	{"command", "cmd", "script", "shell", "code"},
	{"sql", "query", "statement"},
	{"url", "uri", "href", "link"},
}

// endings lists endings of names. A name with an ending from list i means the same as the names in
// families[i].
var endings = [][]string{
	{"path", "paths", "file", "files", "filename", "dir", "directory", "folder"},
	{"command", "cmd"},
	{"sql"},
	{"url", "uri"},
}

// nameFamily returns the names with the same meaning as name, or nil if the meaning is unknown.
func nameFamily(name string) []string {
	if i := slices.IndexFunc(families, func(f []string) bool {
		return slices.ContainsFunc(f, func(n string) bool { return plainName(n) == plainName(name) })
	}); i >= 0 {
		return families[i]
	}
	for i, ends := range endings {
		if slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(plainName(name), e) }) {
			return families[i]
		}
	}
	return nil
}

// areAkin reports whether two names of arguments may have the same meaning.
func areAkin(a, b string) bool {
	f, g := nameFamily(a), nameFamily(b)
	return f != nil && g != nil && (f[0] == g[0] || slices.Contains(f, strings.ToLower(b)))
}

// plainName returns a name in one spelling. For example, filePath, file_path and file-path have the
// same spelling.
func plainName(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "_", ""), "-", "")
}
