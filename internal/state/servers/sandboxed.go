package servers

import (
	"slices"
	"strings"
)

// sandboxer is a program that runs another program in a sandbox or a container. command gets the
// words after the sandboxer's name, and reports whether they run a program.
type sandboxer struct {
	shown   string
	command func(words []string) bool
}

// sandboxers are all sandboxers, by the name of the program.
var sandboxers = map[string]sandboxer{
	"srt":             {"srt", runsAfter(nil, "-h", "-V")},
	"sandbox-runtime": {"srt", runsAfter(nil, "-h", "-V")},
	"bwrap":           {"bwrap", runsAfter(nil)},
	"sandbox-exec":    {"sandbox-exec", runsAfter(nil)},
	"codex":           {"codex sandbox", runsAfter([]string{"sandbox"}, "-h")},
	"docker":          {"docker run", runsContainer},
	"podman":          {"podman run", runsContainer},
	"nerdctl":         {"nerdctl run", runsContainer},
}

// runsAfter returns a function that reports whether a command line has the subcommand, and after it
// a word that is not an option. The function returns false for a command line with --help,
// --version or an option from the parameter shows, because with such an option the program runs no
// other program.
func runsAfter(subcommand []string, shows ...string) func([]string) bool {
	shows = append(shows, "--help", "--version")
	return func(words []string) bool {
		if len(words) < len(subcommand) || !slices.Equal(words[:len(subcommand)], subcommand) {
			return false
		}
		rest := words[len(subcommand):]
		if slices.ContainsFunc(rest[:indexOr(rest, "--")], func(w string) bool { return slices.Contains(shows, w) }) {
			return false
		}
		at := slices.Index(rest, "--")
		return at >= 0 && at < len(rest)-1 || at < 0 && slices.ContainsFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "-") })
	}
}

func indexOr(words []string, word string) int {
	if at := slices.Index(words, word); at >= 0 {
		return at
	}
	return len(words)
}

func runsContainer(words []string) bool {
	if len(words) > 0 && words[0] == "container" {
		words = words[1:]
	}
	return runsAfter([]string{"run"})(words)
}

// FindSandboxer returns the program in whose sandbox or container a command runs its server. It
// returns the name that people write, or "" if it recognises no such program. The sandbox may still
// be open, because an option of the program can open everything.
func FindSandboxer(command []string) string {
	for depth := 0; len(command) > 0 && depth < maxNested; depth++ {
		name, rest := programName(command[0]), command[1:]
		if s, known := sandboxers[name]; known {
			if s.command(rest) {
				return s.shown
			}
			return ""
		}
		switch name {
		case "env":
			f, ok := options{flags: "-i --ignore-environment -", values: "-u --unset"}.parseOptions(rest)
			if !ok {
				return ""
			}
			for command = f.rest; len(command) > 0 && assignment().MatchString(command[0]); {
				command = command[1:]
			}
		case "npx", "bunx", "pnpx":
			f, ok := options{flags: "-y --yes"}.parseOptions(rest)
			if !ok || len(f.rest) == 0 || packageName(f.rest[0]) != "@anthropic-ai/sandbox-runtime" {
				return ""
			}
			command = append([]string{"srt"}, f.rest[1:]...)
		default:
			return ""
		}
	}
	return ""
}

// packageName returns the name of an npm package, without its version.
func packageName(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		return word[:at]
	}
	return word
}
