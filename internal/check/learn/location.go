package learn

import (
	"maps"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
)

// MinFiles is the minimum number of different files seen in a folder that a rule names.
const MinFiles = 3

// location is a path or an address in an ordinary spelling. No rule is learned from other
// spellings.
type location struct {
	root  string   // "/", "~/", or scheme://authority/ of a resource
	names []string // elements of the path below the root; nil for a web address
	glob  string   // for a web address: the glob of its host; otherwise ""
	text  string   // the whole path or address
}

// looksLikeLocation reports whether a value looks like a path or an address.
func looksLikeLocation(s string) bool {
	if s == "" || len(s) > 1024 || strings.ContainsAny(s, "\n\r\t") {
		return false
	}
	switch {
	case s[0] == '/' || s[0] == '~' || s[0] == '\\', strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), s == "..",
		strings.Contains(s, "://"), len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/'),
		strings.HasPrefix(strings.ToLower(s), "file:"):
		return !strings.ContainsAny(s, " ") || strings.Count(s, " ") < 4
	}
	return false
}

// systemRoots are folders below the root that no rule may open, because no agent needs them
// permanently.
var systemRoots = []string{"etc", "proc", "sys", "dev", "boot", "root", "run", "bin", "sbin", "lib", "lib64", "System", "Library", "private"}

// protected holds the folders of this machine that rules must not open.
type protected struct {
	home []string   // the elements of the home folder's path; nil if the home is unknown
	own  [][]string // for each folder of clawai, the elements of its path
}

func namesOf(p string) []string {
	if p = strings.Trim(path.Clean("/"+strings.ReplaceAll(p, `\`, "/")), "/"); p != "" {
		return strings.Split(p, "/")
	}
	return nil
}

// parseLocation parses a path or an address. The result why is the reason why no rule is learned
// from it, or "".
func (g *protected) parseLocation(s string) (p location, why string) {
	if !isWritable(s) {
		return p, "a value that no rule may name"
	}
	p.text = s
	switch {
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		return webLocation(s)
	case strings.HasPrefix(s, "file:///"):
		p.root, s = "file:///", s[len("file:///"):]
	case strings.Contains(s, "://"):
		scheme, rest, _ := strings.Cut(s, "://")
		authority, below, found := strings.Cut(rest, "/")
		if !found || authority == "" || strings.ContainsAny(s, "@#") || strings.ToLower(scheme) != scheme {
			return p, "an address of no plain form"
		}
		p.root, s = scheme+"://"+authority+"/", below
	case strings.HasPrefix(s, "~/"):
		p.root, s = "~/", s[2:]
	case strings.HasPrefix(s, "/"):
		p.root, s = "/", s[1:]
	default:
		return p, "a place that depends on where the server stands"
	}
	s = strings.TrimSuffix(s, "/")
	p.text = p.root + s
	if s == "" {
		return p, "a root"
	}
	p.names = strings.Split(s, "/")
	for _, name := range p.names {
		if name == "" || name == "." || name == ".." || strings.TrimRight(name, ". ") != name || strings.HasPrefix(name, "~") {
			return p, "a place that is not plainly written"
		}
		if secretName(name) {
			return p, "a place where keys lie"
		}
	}
	if len(p.names) > 64 {
		return p, "a place that is too deep"
	}
	return p, g.whyShut(&p)
}

// isLocal reports whether a location is a path on the disk.
func (p *location) isLocal() bool { return p.root == "/" || p.root == "~/" || p.root == "file:///" }

// namesInHome returns the elements of a path below the home folder. It returns false if the path is
// not below the home folder.
func (g *protected) namesInHome(p *location) ([]string, bool) {
	switch {
	case p.root == "~/":
		return p.names, true
	case !p.isLocal() || g.home == nil || len(p.names) < len(g.home) || !slices.Equal(p.names[:len(g.home)], g.home):
		return nil, false
	}
	return p.names[len(g.home):], true
}

// whyShut returns the reason why no rule may allow a location; "" if one may.
func (g *protected) whyShut(p *location) string {
	if !p.isLocal() {
		return ""
	}
	full := p.names
	inside, atHome := g.namesInHome(p)
	if p.root == "~/" {
		full = append(slices.Clone(g.home), p.names...)
	}
	for _, own := range g.own {
		if len(own) > 0 && len(full) >= len(own) && slices.Equal(full[:len(own)], own) {
			return "a place of clawai's own"
		}
	}
	switch {
	case atHome && len(inside) == 0:
		return "a home"
	case atHome && strings.HasPrefix(inside[0], "."):
		return "a hidden place of a home"
	case !atHome && slices.Contains(systemRoots, p.names[0]):
		return "a place of the system"
	case !atHome && g.home != nil && len(g.home) > 1 && len(p.names) <= len(g.home) && slices.Equal(p.names[:min(len(p.names), len(g.home)-1)], g.home[:min(len(p.names), len(g.home)-1)]):
		return "a home, or a folder that holds homes"
	}
	return ""
}

// webLocation returns the location of a web address, with the glob of its host. All parsers must
// read the address in the same way.
func webLocation(s string) (p location, why string) {
	const odd = "an address of no plain form"
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Host == "" || u.Fragment != "" || strings.ContainsAny(s, "@ ") {
		return p, odd
	}
	host := u.Hostname()
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(host, ".") || strings.HasSuffix(host, ".") {
		return p, odd
	}
	if _, err := netip.ParseAddr(host); err == nil || strings.Trim(host[strings.LastIndexByte(host, '.')+1:], "0123456789") == "" {
		return p, "an address that is a number"
	}
	base := u.Scheme + "://" + u.Host + "/"
	if !strings.HasPrefix(s, base) {
		return p, odd
	}
	return location{text: s, glob: base + "**"}, ""
}

// folder is a folder in which enough different files were seen.
type folder struct {
	root  string
	names []string
	stars string // "*" for the files directly in the folder, "**" for all files below it
}

func (f *folder) dirPath() string  { return f.root + strings.Join(f.names, "/") }
func (f *folder) globText() string { return f.dirPath() + "/" + f.stars }

func (f *folder) containsLocation(p *location) bool {
	n := len(f.names)
	return p.root == f.root && len(p.names) > n && (f.stars == "**" || len(p.names) == n+1) && slices.Equal(p.names[:n], f.names)
}

// tree holds the paths that were seen below one root.
type tree struct {
	kids map[string]*tree // by the next element of the path
	seen bool             // a path that ends here was seen
}

func (t *tree) addPath(names []string) {
	for _, name := range names {
		if t.kids == nil {
			t.kids = map[string]*tree{}
		}
		if t.kids[name] == nil {
			t.kids[name] = &tree{}
		}
		t = t.kids[name]
	}
	t.seen = true
}

// findFolders appends to *out the folders that rules may name, the deepest first. If the files
// below a folder are in at least two folders, the folder stands for all files below it, otherwise
// only for the files directly in it. Files that a deeper folder covers are not counted. The
// argument at is the path of t. The result left is the number of files below t that no folder
// covers; dirs is the number of folders with such files.
func (t *tree) findFolders(g *protected, root string, at []string, out *[]folder) (left int, dirs int) {
	direct := 0
	for _, name := range slices.Sorted(maps.Keys(t.kids)) {
		kid := t.kids[name]
		if kid.seen {
			direct++
		}
		n, d := kid.findFolders(g, root, append(slices.Clone(at), name), out)
		left, dirs = left+n, dirs+d
	}
	if direct > 0 {
		left, dirs = left+direct, dirs+1
	}
	f := location{root: root, names: at}
	switch {
	case left >= MinFiles && dirs >= 2 && g.isDeepEnough(&f, true):
		*out = append(*out, folder{root, at, "**"})
		return 0, 0
	case direct >= MinFiles && g.isDeepEnough(&f, false):
		*out = append(*out, folder{root, at, "*"})
		return left - direct, dirs - 1
	}
	return left, dirs
}

// isDeepEnough reports whether a folder is deep enough below the root for a rule. If whole is true,
// the rule is for all files below the folder, and the folder must be deeper.
func (g *protected) isDeepEnough(f *location, whole bool) bool {
	least := 1
	if whole {
		least = 2
	}
	if !f.isLocal() {
		return !whole && len(f.names) >= 1
	}
	if len(f.names) == 0 || g.whyShut(f) != "" {
		return false
	}
	if inside, atHome := g.namesInHome(f); atHome {
		return len(inside) >= least
	}
	return len(f.names) >= least+1
}
