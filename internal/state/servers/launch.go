package servers

import (
	"slices"
	"strings"
	"sync"
)

// maxNested limits how many launchers may start one another.
const maxNested = 8

// parseCommand returns the program or server that a command line finally starts. It returns false
// if it does not understand the command line.
func parseCommand(words []string, depth int) (identity, bool) {
	if len(words) == 0 || depth > maxNested {
		return identity{}, false
	}
	if len(words) == 1 && strings.ContainsAny(words[0], " \t") {
		if _, isFile := parseFile(words[0], false); !isFile { // the only word is a whole command line
			return shellLine(words[0], depth+1)
		}
	}
	name := programName(words[0])
	if launch, ok := launchers()[name]; ok {
		return launch(words[1:], depth+1)
	}
	return parseFile(words[0], true)
}

var versioned = lazyPattern(`^(python|node)[0-9.]+$`)

func programName(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	name := strings.ToLower(withoutSuffix(word))
	if m := versioned().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// options are the options that a launcher may have before its first operand. In each field, blanks
// separate the options. A command line with any other option is not understood, because the option
// could change the source of packages (--registry, --index-url) or the program that is run (--call,
// --entrypoint).
type options struct {
	flags  string // options without a value
	values string // options with a value, as the next word or after =
	whats  string // options whose value names the package
}

// found is the result of parsing a launcher's options.
type found struct {
	whats []string // the values of options.whats
	rest  []string // the words from the first operand on
}

// parseOptions parses the options. It returns false if an option is unknown.
func (o options) parseOptions(words []string) (f found, ok bool) {
	has := func(list, word string) bool { return slices.Contains(strings.Fields(list), word) }
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			f.rest = words[i+1:]
			return f, true
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			f.rest = words[i:]
			return f, true
		}
		name, value, joined := strings.Cut(word, "=")
		takes := has(o.values, name) || has(o.whats, name)
		switch {
		case has(o.flags, name):
			continue
		case takes && !joined:
			if i++; i == len(words) {
				return f, false
			}
			value = words[i]
		case takes:
		case len(word) > 2 && word[1] != '-' && has(o.values, word[:2]): // for example -eNAME
			continue
		case word[1] != '-' && allFlags(o.flags, word[1:]): // for example -it
			continue
		default:
			return f, false
		}
		if has(o.whats, name) {
			f.whats = append(f.whats, value)
		}
	}
	return f, true
}

func allFlags(flags, letters string) bool {
	for _, letter := range letters {
		if !slices.Contains(strings.Fields(flags), "-"+string(letter)) {
			return false
		}
	}
	return true
}

// launcher parses the arguments of a program that runs another program. It returns the identity of
// that other program, or false if it does not understand the arguments. depth is the number of
// launchers around the other program.
type launcher func(words []string, depth int) (identity, bool)

// launchers returns the launchers, by the name of the program.
var launchers func() map[string]launcher

// The table is made on first use, and set in init. Some of its functions use the table, so without
// init the compiler would report an initialization cycle.
func init() { launchers = sync.OnceValue(makeLaunchers) }

func makeLaunchers() map[string]launcher {
	runner := map[string]launcher{"exec": parseNpx, "x": parseNpx, "dlx": parseNpx}
	return map[string]launcher{
		"npx": parseNpx, "bunx": parseNpx, "pnpx": parseNpx, "npm": parseSubcommand(runner), "pnpm": parseSubcommand(runner), "yarn": parseSubcommand(runner),
		"bun": parseBun, "node": parseNode, "nodejs": parseNode, "tsx": parseNode, "deno": parseDeno,
		"uvx": parseUvx, "uv": parseUv, "pipx": parsePipx, "python": parsePython, "py": parsePython,
		"docker": parseContainer, "podman": parseContainer, "nerdctl": parseContainer,
		"sh": parseShell, "bash": parseShell, "zsh": parseShell, "dash": parseShell, "ksh": parseShell, "cmd": parseCmd, "powershell": parsePowershell, "pwsh": parsePowershell,
		"env": parseEnv, "nohup": parseRest, "nice": parseRest, "command": parseRest, "exec": parseRest, "wsl": parseRest,
		"mise": parseAfterDashes, "op": parseAfterDashes, "doppler": parseAfterDashes, "infisical": parseAfterDashes, "dotenvx": parseAfterDashes,
	}
}

func parseSubcommand(commands map[string]launcher) launcher {
	return func(words []string, depth int) (identity, bool) {
		if len(words) == 0 || commands[words[0]] == nil {
			return identity{}, false
		}
		return commands[words[0]](words[1:], depth)
	}
}

// parseRest parses the command after the launcher's options.
func parseRest(words []string, depth int) (identity, bool) {
	f, ok := options{flags: "-e --exec", values: "-n -d --distribution -u --user"}.parseOptions(words)
	if !ok {
		return identity{}, false
	}
	return parseCommand(f.rest, depth)
}

// parseAfterDashes parses the command after --.
func parseAfterDashes(words []string, depth int) (identity, bool) {
	i := slices.Index(words, "--")
	if i < 0 {
		return identity{}, false
	}
	return parseCommand(words[i+1:], depth)
}

var assignment = lazyPattern(`^[A-Za-z_][A-Za-z0-9_]*=`)

func parseEnv(words []string, depth int) (identity, bool) {
	f, ok := options{flags: "-i --ignore-environment -", values: "-u --unset -C --chdir"}.parseOptions(words)
	if !ok {
		return identity{}, false
	}
	for len(f.rest) > 0 && assignment().MatchString(f.rest[0]) {
		f.rest = f.rest[1:]
	}
	return parseCommand(f.rest, depth)
}
