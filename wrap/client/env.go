package client

import (
	"slices"
	"strings"
)

// Env describes a machine: its system, variables and files. All paths of the catalogue are resolved
// with an Env, so a test on one system can check the paths of another.
type Env struct {
	OS     string                        // "linux", "darwin" or "windows", as in runtime.GOOS
	Getenv func(name string) string      // returns a variable's value; "" if it is not set
	Home   string                        // absolute path of the home; "" if unknown: then paths below ~ are not found
	Dir    string                        // absolute path of the project's directory; "" if there is none: then project files are not found
	Exists func(path string) bool        // reports whether a file or a link exists at the path
	Glob   func(pattern string) []string // like filepath.Glob, in the same order
}

// FindFiles returns the existing files of the row, each once, in the order of the row.
func (r Row) FindFiles(e Env) []string {
	var found []string
	add := func(path string) {
		if !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	for _, c := range e.candidatePaths(r.Paths, r.Ancestors) {
		if !c.glob {
			if e.Exists(c.path) {
				add(c.path)
			}
			continue
		}
		for _, path := range e.Glob(c.pattern) {
			add(path)
		}
	}
	return found
}

// A candidate is an absolute path, or an absolute glob, for one pattern of the catalogue.
type candidate struct {
	path    string // the path to show to people
	pattern string // the path for Glob, with escaped glob characters in values, such as a home "/home/a[b]"
	glob    bool   // the pattern of the catalogue has glob characters
}

func (e Env) candidatePaths(p Paths, ancestors bool) []candidate {
	var all []candidate
	for _, pattern := range p.systemPaths(e.OS) {
		rest, project := strings.CutPrefix(pattern, "./")
		if !project {
			if c, ok := e.resolvePattern(pattern); ok {
				all = append(all, c)
			}
			continue
		}
		for _, dir := range e.projectDirs(ancestors) {
			all = append(all, e.joinPath(dir, rest))
		}
	}
	return all
}

// projectDirs returns the project's directory. If ancestors is true, its parents follow, the
// nearest first.
func (e Env) projectDirs(ancestors bool) []string {
	if !e.isAbsolute(e.Dir) {
		return nil
	}
	dir := e.nativePath(e.Dir)
	dirs := []string{dir}
	for ancestors {
		up := e.parentDir(dir)
		if up == dir {
			break
		}
		dir = up
		dirs = append(dirs, dir)
	}
	return dirs
}

// resolvePattern returns the absolute path of a pattern. It returns false if a needed variable or
// the home is unknown. It also returns false if a variable has a relative path, because each
// program would resolve it from another directory.
func (e Env) resolvePattern(pattern string) (candidate, bool) {
	base, rest := cutBase(pattern)
	dir, ok := e.baseDir(base)
	if !ok || !e.isAbsolute(dir) {
		return candidate{}, false
	}
	return e.joinPath(dir, rest), true
}

// cutBase splits "${A:-~/x}/y/z" into "${A:-~/x}" and "y/z".
func cutBase(pattern string) (base, rest string) {
	depth := 0
	for i := range len(pattern) {
		switch pattern[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '/':
			if depth == 0 && i > 0 {
				return pattern[:i], pattern[i+1:]
			}
			if i == 0 {
				return "/", pattern[1:]
			}
		}
	}
	return pattern, ""
}

// baseDir returns the directory for the first part of a pattern, such as ~ or $NAME.
func (e Env) baseDir(part string) (string, bool) {
	switch {
	case part == "~":
		return e.Home, e.Home != ""
	case part == "{xdg}":
		return e.findVariable("XDG_CONFIG_HOME", "~/.config")
	case part == "{config}":
		switch e.OS {
		case "darwin":
			return e.findVariable("", "~/Library/Application Support")
		case "windows":
			return e.findVariable("APPDATA", "~/AppData/Roaming")
		}
		return e.findVariable("XDG_CONFIG_HOME", "~/.config")
	case strings.HasPrefix(part, "${") && strings.HasSuffix(part, "}"):
		name, preset, _ := strings.Cut(part[2:len(part)-1], ":-")
		return e.findVariable(name, preset)
	case strings.HasPrefix(part, "$"):
		return e.findVariable(part[1:], "")
	case strings.HasSuffix(part, ":"):
		return part + "/", true
	}
	return part, part != ""
}

// findVariable returns the value of an environment variable. If the variable is not set, it returns
// the resolved preset. An XDG variable with a relative path counts as not set, as the XDG
// specification requires.
func (e Env) findVariable(name, preset string) (string, bool) {
	if value := e.Getenv(name); name != "" && value != "" {
		if e.isAbsolute(value) {
			return value, true
		}
		if !strings.HasPrefix(name, "XDG_") {
			return "", false
		}
	}
	if preset == "" {
		return "", false
	}
	c, ok := e.resolvePattern(preset)
	return c.path, ok
}

// joinPath joins a directory and the rest of a pattern with the separator of the system.
func (e Env) joinPath(dir, rest string) candidate {
	dir = e.nativePath(dir)
	sep := e.pathSeparator()
	if rest == "" {
		return candidate{path: dir, pattern: dir}
	}
	if !strings.HasSuffix(dir, sep) {
		dir += sep
	}
	tail := strings.ReplaceAll(rest, "/", sep)
	return candidate{
		path:    dir + tail,
		pattern: literal.Replace(dir) + tail,
		glob:    strings.ContainsAny(tail, "*?["),
	}
}

// literal writes each glob character as a class of one character. filepath.Match understands a
// class on every system, but a backslash is no escape on Windows.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (e Env) pathSeparator() string {
	if e.OS == "windows" {
		return `\`
	}
	return "/"
}

func (e Env) nativePath(path string) string {
	if e.OS == "windows" {
		path = strings.ReplaceAll(path, "/", `\`)
	}
	root := e.pathRoot(path)
	return root + strings.TrimRight(path[len(root):], e.pathSeparator())
}

func (e Env) isAbsolute(path string) bool { return e.pathRoot(path) != "" }

// pathRoot returns the part of an absolute path that has no parent: "/", `C:\` or
// `\\server\share`; "" for a path that is not absolute.
func (e Env) pathRoot(path string) string {
	if e.OS != "windows" {
		if strings.HasPrefix(path, "/") {
			return "/"
		}
		return ""
	}
	path = strings.ReplaceAll(path, "/", `\`)
	if len(path) >= 3 && path[1] == ':' && path[2] == '\\' && isLetter(path[0]) {
		return path[:3]
	}
	if share, ok := strings.CutPrefix(path, `\\`); ok {
		server, rest, more := strings.Cut(share, `\`)
		name, _, _ := strings.Cut(rest, `\`)
		if more && server != "" && name != "" {
			return path[:2+len(server)+1+len(name)]
		}
	}
	return ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (e Env) parentDir(path string) string {
	root := e.pathRoot(path)
	cut := strings.LastIndex(path, e.pathSeparator())
	if cut < len(root) {
		return root
	}
	return path[:cut]
}
