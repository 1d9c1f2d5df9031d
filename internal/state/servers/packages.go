package servers

import "strings"

func parseNpx(words []string, _ int) (identity, bool) {
	f, ok := options{
		flags:  "-y --yes --no --no-install -q --quiet -s --silent --bun --prefer-offline --prefer-online --offline --ignore-scripts --ignore-existing --loglevel=error",
		values: "--loglevel --cache --node-options --workspace -w --allow-build",
		whats:  "-p --package",
	}.parseOptions(words)
	if !ok {
		return identity{}, false
	}
	what := ""
	switch {
	case len(f.whats) == 1:
		what = f.whats[0]
	case len(f.whats) == 0 && len(f.rest) > 0:
		what, f.rest = f.rest[0], f.rest[1:]
	default: // with several packages it is not known which package contains the program
		return identity{}, false
	}
	id, ok := parseNPMSpec(what)
	if ok && id == (identity{npmPackage, "mcp-remote"}) {
		return bridgedAddress(f)
	}
	return id, ok
}

// bridgedAddress returns the address in the arguments of mcp-remote.
func bridgedAddress(f found) (identity, bool) {
	rest := f.rest
	if len(f.whats) == 1 && len(rest) > 0 { // for example npx -p mcp-remote mcp-remote URL
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return identity{}, false
	}
	return parseRemote(rest[0])
}

func parseBun(words []string, depth int) (identity, bool) {
	switch {
	case len(words) > 0 && words[0] == "x":
		return parseNpx(words[1:], depth)
	case len(words) > 0 && words[0] == "run":
		words = words[1:]
	}
	return parseNode(words, depth)
}

// parseNode parses the arguments of node. It accepts only a script in an installed package.
func parseNode(words []string, _ int) (identity, bool) {
	var rest []string
	for i, word := range words {
		if !strings.HasPrefix(word, "-") {
			rest = words[i:]
			break
		}
		if !strings.HasPrefix(word, "--") || strings.HasPrefix(word, "--eval") || strings.HasPrefix(word, "--print") ||
			strings.HasPrefix(word, "--require") || strings.HasPrefix(word, "--import") || strings.HasPrefix(word, "--loader") {
			return identity{}, false // the option runs other code, instead of the script or before it
		}
	}
	if len(rest) == 0 || !strings.Contains(rest[0], "node_modules") {
		return identity{}, false
	}
	return parseFile(rest[0], false)
}

func parseDeno(words []string, _ int) (identity, bool) {
	if len(words) == 0 || words[0] != "run" {
		return identity{}, false
	}
	for _, word := range words[1:] {
		if spec, ok := strings.CutPrefix(word, "npm:"); ok {
			return parseNPMSpec(withoutFolder(strings.TrimPrefix(spec, "/")))
		}
		if !strings.HasPrefix(word, "-") || strings.HasPrefix(word, "--import-map") || strings.HasPrefix(word, "--preload") {
			break
		}
	}
	return identity{}, false
}

// withoutFolder removes the export path from a package name, such as /cli from @a/b@1/cli.
func withoutFolder(spec string) string {
	parts, n := strings.Split(spec, "/"), 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}

func parseUvx(words []string, _ int) (identity, bool) {
	f, ok := options{
		flags:  "-q --quiet -v --verbose -n --no-cache --isolated --offline --refresh --native-tls --no-progress --no-config --managed-python",
		values: "-p --python --prerelease --with --cache-dir --directory --refresh-package --exclude-newer --resolution",
		whats:  "--from",
	}.parseOptions(words)
	switch {
	case !ok || len(f.whats) > 1 || len(f.rest) == 0:
		return identity{}, false
	case len(f.whats) == 1:
		return parseRequirement(f.whats[0])
	}
	return parseRequirement(f.rest[0])
}

func parseUv(words []string, depth int) (identity, bool) {
	o := options{
		flags:  "-q --quiet -v --verbose --no-project --frozen --locked --no-sync --isolated --offline --active --no-cache -n",
		values: "--directory --project -p --python --with --with-editable --extra --group --env-file",
	}
	f, ok := o.parseOptions(words)
	if !ok || len(f.rest) < 2 {
		return identity{}, false
	}
	switch {
	case f.rest[0] == "tool" && f.rest[1] == "run":
		return parseUvx(f.rest[2:], depth)
	case f.rest[0] == "run":
		if f, ok = o.parseOptions(f.rest[1:]); ok {
			return parseCommand(f.rest, depth)
		}
	}
	return identity{}, false
}

func parsePipx(words []string, _ int) (identity, bool) {
	if len(words) == 0 || words[0] != "run" {
		return identity{}, false
	}
	f, ok := options{flags: "-q --quiet --no-cache -v --verbose", values: "--python", whats: "--spec"}.parseOptions(words[1:])
	switch {
	case !ok || len(f.rest) == 0 || len(f.whats) > 1:
		return identity{}, false
	case len(f.whats) == 1:
		return parseRequirement(f.whats[0])
	}
	return parseRequirement(f.rest[0])
}

func parsePython(words []string, _ int) (identity, bool) {
	f, ok := options{flags: "-u -I -E -s -S -B -O -OO -q -P -3", values: "-X -W", whats: "-m"}.parseOptions(words)
	if !ok || len(f.whats) == 0 { // parseOptions may have failed because of options after -m, which belong to the module
		for i, word := range words {
			if word == "-m" && i+1 < len(words) && allKnown(words[:i]) {
				return parseModule(words[i+1])
			}
		}
		return identity{}, false
	}
	return parseModule(f.whats[0])
}

func allKnown(words []string) bool {
	f, ok := options{flags: "-u -I -E -s -S -B -O -OO -q -P -3", values: "-X -W"}.parseOptions(words)
	return ok && len(f.rest) == 0
}

func parseModule(name string) (identity, bool) {
	return identity{pythonModule, name}, moduleName().MatchString(name)
}
