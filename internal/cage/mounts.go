package cage

import (
	"path/filepath"
	"slices"
	"strings"
)

// mount describes one mount. The folder root of the file system device is visible at the path
// point.
type mount struct{ device, root, point string }

// parseMounts reads the text of /proc/self/mountinfo. It leaves out lines that it does not understand.
func parseMounts(text string) (all []mount) {
	plain := func(path string) string {
		if !strings.Contains(path, `\`) {
			return path
		}
		return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[3], "/") && strings.HasPrefix(f[4], "/") {
			all = append(all, mount{f[2], plain(f[3]), plain(f[4])})
		}
	}
	return all
}

// findAliases returns the other paths of the same file or folder, because bind mounts show one folder
// at several paths. The result whole has the other paths that show the complete file or folder at
// path. The result parts has the other paths that show only a folder inside path. There must be no
// links in path. Another mount may cover a returned path.
func findAliases(path string, mounts []mount) (whole, parts []string) {
	at := -1
	for i, m := range mounts {
		if contains(m.point, path) && (at < 0 || len(m.point) >= len(mounts[at].point)) {
			at = i
		}
	}
	if at < 0 {
		return nil, nil
	}
	inner := rebase(path, mounts[at].point, mounts[at].root)
	for i, m := range mounts {
		switch {
		case i == at || m.device != mounts[at].device:
		case contains(m.root, inner):
			whole = append(whole, rebase(inner, m.root, m.point))
		case contains(inner, m.root):
			parts = append(parts, m.point)
		}
	}
	is := func(alias string) bool { return alias == path }
	return slices.DeleteFunc(whole, is), slices.DeleteFunc(parts, is)
}

// rebase returns a path with another folder at its start. The parameter from is the folder at the
// start of path, and the parameter to is the new folder.
func rebase(path, from, to string) string { return filepath.Join(to, strings.TrimPrefix(path, from)) }

// aliasesOf returns the other paths that show the same file or folder.
func (p *planner) aliasesOf(path string) []string {
	whole, _ := findAliases(path, p.mounts)
	return keepSeen(whole)
}

// everyPathOf returns the path itself, and all other paths that show the path or a part of it.
func (p *planner) everyPathOf(path string) []string {
	whole, parts := findAliases(path, p.mounts)
	return append([]string{path}, keepSeen(append(whole, parts...))...)
}

func keepSeen(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		return err != nil || real != path
	})
}
