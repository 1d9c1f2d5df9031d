package servers

import (
	"regexp"
	"strings"
	"sync"
)

// kind is the namespace of a name. The same name can mean different programs in two namespaces.
type kind string

const (
	npmPackage   kind = "npm"     // the name in the npm registry
	pypiPackage  kind = "pypi"    // the normalized name, for example a-b for A_b
	pythonModule kind = "module"  // the name after python -m
	program      kind = "program" // the file name without folders and .exe
	image        kind = "image"   // the name without tag, digest and the host docker.io
	repository   kind = "repo"    // HOST/OWNER/NAME
	address      kind = "url"     // HOST or HOST/PATH of an https address
)

// identity names the program or server of a command line or of an address.
type identity struct {
	kind kind
	name string
}

// lazyPattern returns a pattern that is compiled on first use.
func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var npmSpec = lazyPattern(`^((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([A-Za-z0-9.^~<>=*|+ _-]*))?$`)

// parseNPMSpec parses the package that npx and similar programs install: a name with an optional
// version, or a repository of GitHub. It returns false for a folder, a tarball and an alias,
// because these are not names in the npm registry.
func parseNPMSpec(spec string) (identity, bool) {
	if m := npmSpec().FindStringSubmatch(spec); m != nil {
		return identity{npmPackage, m[1]}, true
	}
	return parseRepo(strings.TrimPrefix(spec, "github:"), strings.HasPrefix(spec, "github:"))
}

var (
	pypiSpec  = lazyPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9._, -]*\])?(?:(?:@|==|>=|<=|~=|!=|>|<)[A-Za-z0-9.*+!, <>=~-]*)?$`)
	separated = lazyPattern(`[-_.]+`)
)

// parseRequirement parses a Python requirement: a name with optional extras and version, or a
// repository of GitHub. It returns false for "name @ URL".
func parseRequirement(spec string) (identity, bool) {
	if m := pypiSpec().FindStringSubmatch(spec); m != nil {
		return identity{pypiPackage, separated().ReplaceAllString(strings.ToLower(m[1]), "-")}, true
	}
	rest, ok := strings.CutPrefix(spec, "git+https://github.com/")
	return parseRepo(rest, ok)
}

var ownerAndName = lazyPattern(`^([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+?)(?:\.git)?(?:[@#][A-Za-z0-9._/-]+)?$`)

// parseRepo parses the text after github.com/. The parameter ok tells whether the text had this
// prefix. If it had none, parseRepo returns false.
func parseRepo(path string, ok bool) (identity, bool) {
	m := ownerAndName().FindStringSubmatch(path)
	if !ok || m == nil {
		return identity{}, false
	}
	return identity{repository, "github.com/" + strings.ToLower(m[1])}, true
}

var imageReference = lazyPattern(`^([a-z0-9][a-z0-9._-]*(?::[0-9]+)?(?:/[a-z0-9][a-z0-9._-]*)*)(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?(?:@sha256:[0-9a-f]+)?$`)

// containerImage parses an image reference: a name with an optional tag and digest.
func containerImage(reference string) (identity, bool) {
	m := imageReference().FindStringSubmatch(reference)
	if m == nil {
		return identity{}, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(m[1], "index."), "docker.io/")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i] // a tag of digits, which the pattern takes for a port
	}
	return identity{image, name}, true
}

var (
	moduleName = lazyPattern(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	installed  = lazyPattern(`(?:^|/)node_modules/((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)/[^?#]*$`)
	linked     = lazyPattern(`(?:^|/)node_modules/\.bin/([^/]+)$`)
)

// parseFile parses the path of a program that is started, or of a script that node runs. started is
// true for a program.
func parseFile(path string, started bool) (identity, bool) {
	path = strings.ReplaceAll(path, `\`, "/")
	if strings.Contains("/"+path+"/", "/../") {
		return identity{}, false
	}
	if m := linked().FindStringSubmatch(path); m != nil {
		return identity{program, withoutSuffix(m[1])}, true
	}
	if i := strings.LastIndex(path, "node_modules/"); i >= 0 {
		if m := installed().FindStringSubmatch(path[max(0, i-1):]); m != nil {
			return identity{npmPackage, m[1]}, true
		}
		return identity{}, false
	}
	name := withoutSuffix(path[strings.LastIndexByte(path, '/')+1:])
	return identity{program, name}, started && name != ""
}

// withoutSuffix removes the suffix that Windows adds to program names.
func withoutSuffix(name string) string {
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		if n := len(name) - len(suffix); n > 0 && strings.EqualFold(name[n:], suffix) {
			return name[:n]
		}
	}
	return name
}
