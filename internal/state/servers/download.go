package servers

import (
	"path"
	"slices"
	"strings"
)

// Download is a package that a launcher downloads at each start and then runs.
type Download struct {
	Launcher string // "npx", "uvx", "pipx" or "docker"
	Package  string // the name in the registry, without a version
	Version  string // the version in the command: "1.2.3", "latest", "^1"; "" for none
	Program  string // the program of the package; "" if the command names no program
	Args     []string
}

// DownloadsItself reports whether a program is a launcher: it downloads a program and runs it.
// ParseDownload may still not understand the launcher's command.
func DownloadsItself(command string) bool {
	return slices.Contains([]string{"npx", "bunx", "pnpx", "uvx", "pipx"}, programName(command))
}

// npxPlain are the options of npx that do not change what npx runs.
var npxPlain = options{
	flags: "-y --yes -q --quiet -s --silent --prefer-offline --prefer-online --ignore-scripts --loglevel=error",
	whats: "-p --package",
}

// ParseDownload reads a command of a launcher. It returns false for any other command. It also
// returns false if an option could change the download, or how the program is run.
func ParseDownload(command []string) (d Download, ok bool) {
	if len(command) == 0 || strings.ContainsAny(strings.Join(command, ""), "\x00") {
		return d, false
	}
	words, npm := command[1:], false
	switch d.Launcher = programName(command[0]); {
	case d.Launcher == "npx":
	case d.Launcher == "npm" && len(words) > 0 && (words[0] == "exec" || words[0] == "x"):
		d.Launcher, words, npm = "npx", words[1:], true
	case d.Launcher == "uvx":
		return parsePythonDownload(d, options{flags: "-q --quiet", whats: "--from"}, words)
	case d.Launcher == "pipx" && len(words) > 0 && words[0] == "run":
		return parsePythonDownload(d, options{flags: "-q --quiet", whats: "--spec"}, words[1:])
	case d.Launcher == "docker":
		id, known := parseContainer(words, 0)
		d.Package = id.name
		return d, known
	default:
		return d, false
	}
	f, ok := npxPlain.parseOptions(words)
	if ok && npm {
		f.rest, ok = takeNpmArgs(words, f.rest)
	}
	spec := ""
	switch {
	case !ok:
		return d, false
	case len(f.whats) == 1 && len(f.rest) > 0:
		spec, d.Program, d.Args = f.whats[0], f.rest[0], f.rest[1:]
	case len(f.whats) == 0 && len(f.rest) > 0:
		spec, d.Args = f.rest[0], f.rest[1:]
	default:
		return d, false
	}
	m := npmSpec().FindStringSubmatch(spec)
	if m == nil || strings.HasSuffix(spec, "@") || !isProgramName(d.Program) || strings.ContainsAny(m[1][:1]+path.Base(m[1])[:1], "-~.") {
		return d, false
	}
	d.Package, d.Version = m[1], m[2]
	return d, !strings.ContainsAny(d.Version, " |") // a version of several words is a range, which only npm can read
}

// takeNpmArgs returns the words in the parameter rest as npm exec passes them on. The parameter
// words is the whole command, and the parameter rest is the part that begins at the package or its
// program. npm reads its own options even after the package, up to the first "--", and removes this
// "--". So takeNpmArgs returns true only if this part has no options, or if one "--" stands before
// this part or directly after its first word.
func takeNpmArgs(words, rest []string) ([]string, bool) {
	dashes := len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w != "--" }))
	switch {
	case dashes == 0:
		return rest, !slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-") })
	case dashes == 1 && len(rest) > 1 && rest[1] == "--":
		return slices.Delete(slices.Clone(rest), 1, 2), true
	}
	return rest, dashes == 1 && !slices.Contains(rest, "--")
}

func parsePythonDownload(d Download, o options, words []string) (Download, bool) {
	f, ok := o.parseOptions(words)
	if !ok || len(f.rest) == 0 || len(f.whats) > 1 {
		return d, false
	}
	spec := f.rest[0]
	d.Program, d.Args = withoutVersion(spec), f.rest[1:]
	if len(f.whats) == 1 {
		spec = f.whats[0]
	}
	m := pythonExact().FindStringSubmatch(spec)
	if m == nil || !isProgramName(d.Program) {
		return d, false
	}
	d.Package, d.Version = m[1], m[2]
	return d, true
}

var pythonExact = lazyPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:(?:@|==)([A-Za-z0-9.+!]+))?$`)

func withoutVersion(spec string) string {
	if at := strings.IndexAny(spec, "@="); at >= 0 {
		return spec[:at]
	}
	return spec
}

// isProgramName reports whether a name is "" or a plain file name. A path and an option are no file
// names.
func isProgramName(name string) bool {
	return name == "" || fileName().MatchString(name)
}

var (
	fileName     = lazyPattern(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	exactVersion = lazyPattern(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
)

// IsExactVersion reports whether a text is one version, as npm writes them, and not a range or a tag.
func IsExactVersion(text string) bool { return exactVersion().MatchString(text) }

// InstallCommand returns the command that installs the download into a folder, and the program that
// the command makes there. It returns nil if this is not possible. Only the command for npx was
// tested (docs/sandbox.md); the owner can read the others as a proposal.
func (d Download) InstallCommand(folder, version string) (command []string, program string) {
	switch d.Launcher {
	case "npx":
		if version == "" {
			version = "latest"
		}
		cache := path.Join(folder, ".cache")
		return []string{"npm", "install", "--prefix", folder, "--cache", cache, "--ignore-scripts", "--global=false", "--save-exact", "--no-audit", "--no-fund",
			"--no-update-notifier", "--package-lock=true", "--logs-max=0", "--loglevel=error", "--", d.Package + "@" + version}, path.Join(folder, "node_modules", d.Package)
	case "uvx", "pipx":
		spec := d.Package
		if version != "" {
			spec += "==" + version
		}
		if d.Launcher == "uvx" {
			return []string{"env", "UV_TOOL_DIR=" + folder, "UV_TOOL_BIN_DIR=" + path.Join(folder, "bin"), "uv", "tool", "install", "--no-build", "--", spec}, path.Join(folder, "bin", d.Program)
		}
		return []string{"env", "PIPX_HOME=" + folder, "PIPX_BIN_DIR=" + path.Join(folder, "bin"), "pipx", "install", "--pip-args=--only-binary=:all:", "--", spec}, path.Join(folder, "bin", d.Program)
	}
	return nil, ""
}

// PinVersion returns a command of npx in which the package has the given version. It returns any
// other command unchanged.
func PinVersion(command []string, version string) []string {
	d, ok := ParseDownload(command)
	if !ok || d.Launcher != "npx" {
		return command
	}
	old := d.Package
	if d.Version != "" {
		old += "@" + d.Version
	}
	pinned := slices.Clone(command)
	for i, word := range pinned {
		option, value, joined := strings.Cut(word, "=")
		switch {
		case word == old:
			pinned[i] = d.Package + "@" + version
			return pinned
		case joined && value == old && option == "--package":
			pinned[i] = option + "=" + d.Package + "@" + version
			return pinned
		}
	}
	return pinned
}

// Bin holds the paths of the programs in an npm package, by name.
type Bin map[string]string

// FindProgram returns the path of the program that npx would run from a package. The parameter
// named is the name of the program. If named is "", FindProgram chooses the only program, or the
// program with the name of the package.
func (b Bin) FindProgram(pkg, named string) (script string, ok bool) {
	if named != "" {
		script, ok = b[named]
		return script, ok
	}
	var scripts []string
	for _, one := range b {
		scripts = append(scripts, one)
	}
	slices.Sort(scripts)
	if scripts = slices.Compact(scripts); len(scripts) == 1 {
		return scripts[0], true
	}
	script, ok = b[path.Base(pkg)]
	return script, ok
}
