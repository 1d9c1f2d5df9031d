package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// Bounds of the calls that are tried for one rule.
const (
	maxOpenings = 64
	maxTools    = 256
)

// opening is a call that an allow lets through, and that allow.
type opening struct {
	rule int
	call policy.Call
}

// findOpenings gives calls of the kind that rule i is about which allows let through: of
// tools that were seen at first, and of allows below it before those above.
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

// toolsOf lists the tools that a rule is about and that were seen.
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

// matchesAnyGlob says that one of the globs of a rule matches a name.
func (l *linter) matchesAnyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(pattern string) bool {
		g, known := l.globs[pattern]
		if !known {
			g, _ = glob.Compile(pattern) // it did when the policy was loaded
			l.globs[pattern] = g
		}
		return g.Match(name)
	})
}

// folderIn gives the folder of a text argument of a call; "" when it has none.
func folderIn(c *policy.Call, path []string) string {
	s, ok := textIn(c, path)
	if at := strings.LastIndexByte(s, '/'); ok && at > 0 {
		return s[:at]
	}
	return ""
}

// textIn gives a text argument of a call.
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

// fillWildcards gives a text that a glob matches.
func fillWildcards(glob string) string {
	return strings.NewReplacer("**/", "/x/", "**", "x", "*", "x", "?", "x").Replace(glob)
}

// textsInFolder gives texts that a glob matches, one of them in a folder where the glob
// leaves that open.
func textsInFolder(glob, folder string) []string {
	out := []string{fillWildcards(glob)}
	if rest, anywhere := strings.CutPrefix(glob, "**/"); anywhere && folder != "" {
		out = append(out, folder+"/"+fillWildcards(rest))
	}
	return out
}

// families are names that servers give to arguments of the same meaning, the
// usual ones.
var families = [][]string{
	{"path", "file", "filename", "filepath", "file_path", "paths", "files", "uri", "source", "destination", "dir", "directory", "folder"},
	{"command", "cmd", "script", "shell", "code"},
	{"sql", "query", "statement"},
	{"url", "uri", "href", "link"},
}

// endings are how longer names of a family end.
var endings = [][]string{
	{"path", "paths", "file", "files", "filename", "dir", "directory", "folder"},
	{"command", "cmd"},
	{"sql"},
	{"url", "uri"},
}

// nameFamily gives the names of the same meaning as one; nil when it is of none.
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

// areAkin says that two names can mean the same.
func areAkin(a, b string) bool {
	f, g := nameFamily(a), nameFamily(b)
	return f != nil && g != nil && (f[0] == g[0] || slices.Contains(f, strings.ToLower(b)))
}

// plainName gives a name without what distinguishes ways of writing it: filePath,
// file_path and file-path are one.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}
