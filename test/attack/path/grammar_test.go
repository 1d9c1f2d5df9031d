//go:build attack

package path_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// grammar makes paths that want to lead out of a folder, or to a file in it that is
// denied, in a spelling that does not show it.
type grammar struct {
	*rand.Rand
	tree
}

func (g grammar) of(all ...string) string { return all[g.IntN(len(all))] }

func (g grammar) one(n int) bool { return g.IntN(n) == 0 }

func (g grammar) path() string {
	target := g.of(closed...)
	if g.one(3) {
		target = "home/u/projects/" + g.of(append(denied, open...)...)
	}
	if g.one(8) {
		target = target[:max(0, strings.LastIndexByte(target, '/'))] // a folder
	}
	s := g.route(target)
	if g.one(3) {
		s = g.dressed(s)
	}
	for range g.IntN(3) / 2 {
		s = g.mutated(s)
	}
	return s
}

// route leads to a file by one of the ways there are.
func (g grammar) route(target string) string {
	up := g.of("projects", "projects/app", "projects/app/x y", "projects/nowhere", "projects/up", "projects/out", "projects/app/chain", "projects/app/abs", ".")
	climb := strings.Repeat("../", strings.Count(up, "/")+g.IntN(3)) + g.of("../../", "", "../")
	switch g.IntN(8) {
	case 0:
		return g.root + "/" + g.names(target)
	case 1:
		return g.names(g.of("~/", g.home()+"/") + up + "/" + climb + target)
	case 2:
		below, in := strings.CutPrefix(target, "home/u/")
		if !in {
			below = "../../" + target
		}
		return g.of("~/", "~//", "~/./", g.home()+"/", "~/projects/../") + g.names(below)
	case 3:
		return g.names(up + "/" + climb + target)
	case 4:
		return g.of("/proc/self/root", "/proc/self/cwd/../..", "/proc/1/root", "/proc/thread-self/root", "/proc/self/task/1/root", "/dev/fd/../../proc/self/root", "/proc/self/fd/../root", "/private", "//", "/.", "/x/..") + g.root + "/" + g.names(target)
	case 5:
		return g.home() + "/projects/" + g.names(strings.TrimPrefix(target, "home/u/projects/"))
	case 6:
		return g.of("~u/", "~root/", "~+/", "~-/", "~nobody/", "$HOME/", "${HOME}/", "%HOME%/", "$PWD/", "`pwd`/") + g.names(target)
	}
	return "~/projects/" + g.of("up/", "out/", "key", "app/chain/", "app/self/", "app/in/", "nothing", "app/abs/") + g.names(climb+target)
}

// names writes the names of a path in one of their spellings.
func (g grammar) names(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		if g.one(6) {
			names[i] = g.spelled(name)
		}
	}
	sep := "/"
	if g.one(12) {
		sep = g.of("//", "/./", `\`, "%2f", "%5c", "/x/../", `\/`, "%252f", "\u2215", "\uff0f", "/\u200b/", "///")
	}
	return strings.Join(names, sep)
}

func (g grammar) spelled(name string) string {
	switch g.IntN(9) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		var b strings.Builder
		for i := range len(name) {
			fmt.Fprintf(&b, "%%%02x", name[i])
		}
		return b.String()
	case 2:
		return strings.ReplaceAll(strings.ReplaceAll(name, ".", "%2e"), "~", "%7e")
	case 3:
		return strings.ReplaceAll(name, ".", g.of("%252e", "\uff0e", "\u2024", "%c0%ae", "\\."))
	case 4:
		return name + g.of(".", " ", "...", "::$DATA", ";", "\u200b", "%00", "\x00", "%20", "/.", "/")
	case 5:
		return g.of(" ", "./", "x/../", ".\\", "\u200b") + name
	case 6:
		return strings.ReplaceAll(name, "e", g.of("\u00e9", "e\u0301", "\uff45", "\u0435"))
	case 7:
		return strings.ReplaceAll(name, "s", "\u017f")
	}
	return name + "/" + g.of("..", ".", "%2e%2e", "..%2f..", `..\..`) + "/" + name
}

// dressed puts around a path what programs take off.
func (g grammar) dressed(s string) string {
	switch g.IntN(7) {
	case 0:
		return g.of("file://", "file:", "file://localhost", "FILE:///", "file:///", "file://~", "file:////") + s
	case 1:
		return g.of(" ", "\n", "\t", "\u00a0", `"`, "'", "\ufeff", "<") + s
	case 2:
		return s + g.of(" ", "\n", "\t", "/", "/.", "//", "?x", "#x", `"`, "'", "\x00", "\u00a0")
	case 3:
		return `"` + s + `"`
	case 4:
		return g.of("./", ".//", "x/../", "//", `\\?\`, `\\.\`, "vscode://", "view-source:file://") + s
	case 5:
		return strings.ReplaceAll(s, "/", `\`)
	}
	return `["` + s + `"]`
}

func (g grammar) mutated(s string) string {
	rs := []rune(s)
	if len(rs) == 0 {
		return s
	}
	i := g.IntN(len(rs))
	with := g.of("/", ".", "..", "/../", `\`, "%", "~", " ", "\x00", "\n", "\u200b", "*", "?", ":")
	switch g.IntN(3) {
	case 0:
		return string(rs[:i]) + string(rs[i+1:])
	case 1:
		return string(rs[:i]) + with + string(rs[i:])
	}
	return string(rs[:i]) + with + string(rs[i+1:])
}
