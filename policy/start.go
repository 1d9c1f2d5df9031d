package policy

import (
	"errors"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/reading"
)

// startOf returns the folder at which a call's relative paths start; "" if it is not known.
func startOf(c *Call) string {
	if c.Elsewhere {
		return ""
	}
	return c.Cwd
}

// bindFolder adds the call's folder as a condition to an allow about commands or relative paths,
// because the same text names another program or file in another folder. If the folder is not
// known, a command with a relative word is an error. A relative path is accepted even if the folder
// is not known, because a server on another machine has its own folders.
func (n *narrower) bindFolder() error {
	if n.rule.Action != Allow || n.call.Subject != ToolSubject || n.scope == Tool {
		return nil
	}
	binds, relative := n.dependsOnFolder()
	start := startOf(n.call)
	switch {
	case !binds:
		return nil
	case start != "":
		n.rule.setCondition(cwdKey, Stated{Text: policytext.Quote(start), Globs: []string{start}})
		return checkExact("the folder", start)
	case relative != "":
		return errors.New("the call names " + policytext.Quote(relative) + ", and the folder in which it starts is not known: the rule would hold in every folder")
	}
	return nil
}

// dependsOnFolder reports whether the call would mean something else in another folder. If this is
// because of a word in a command, relative is the first such word; otherwise it is "".
func (n *narrower) dependsOnFolder() (binds bool, relative string) {
	tool := n.call.Names[0]
	binds = startsWork(tool)
	args, _ := readArguments(n.call.Args) // no error: the arguments were read before
	for i := range args {
		binds = binds || reading.ClassOf(args[i].name) != reading.TextName && slices.ContainsFunc(args[i].texts, mayBeFile)
	}
	for _, s := range suspectsIn(n.call.Args) {
		name := strings.ToLower(s.path[len(s.path)-1])
		command := RunsArgument(tool, name)
		for _, text := range s.texts {
			why := reading.SuspectText(reading.ClassOf(name), text, n.call.OS == Windows)
			switch {
			case command, why == reading.AsCommand:
				binds = true
				if relative == "" {
					relative = RelativeWord(text)
				}
			case why != reading.AsURL && !hasHost(text) && !hasRoot(text):
				binds = true
			}
		}
	}
	return binds, relative
}

// workWords are words in the names of tools that start work which the project defines: a task, a
// build, tests.
var workWords = []string{"run", "exec", "execute", "start", "launch", "invoke", "task", "build", "script", "deploy", "make", "test", "tests", "eval"}

// startsWork reports whether a tool's name shows that the tool starts something which a file in the
// project's folder defines, such as a task or a build.
func startsWork(tool string) bool {
	words := textclass.LetterWords(tool)
	queries := slices.ContainsFunc(words, func(w string) bool { return w != "execute" && textclass.EffectsOf([]string{w})&textclass.Queries != 0 })
	return !queries && len(words) > 0 && (slices.Contains(workWords, words[0]) || slices.Contains(workWords, words[len(words)-1]))
}

// mayBeFile reports whether a text may be the name of a file in the folder: one word with a folder
// or a file extension. The name of the argument does not matter.
func mayBeFile(text string) bool {
	if strings.ContainsAny(text, " \t\r\n") || hasRoot(text) || hasHost(text) {
		return false
	}
	ending := text[strings.LastIndexByte(text, '.')+1:]
	named := len(ending) < len(text) && ending != "" && len(ending) < 7 && (ending[0]|0x20)-'a' < 26
	return strings.ContainsAny(text, `/\`) || named
}

// hasHost reports whether a text is a URL with a host. src:///a has no host: it is a file in a
// folder with the name "src:".
func hasHost(text string) bool {
	scheme, behind, found := strings.Cut(text, "://")
	return found && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" && behind != "" && behind[0] != '/'
}

// RunsArgument reports whether a tool runs the argument with this name as a command.
func RunsArgument(tool, name string) bool {
	name = strings.ToLower(name)
	return textclass.RunsText(tool) || slices.ContainsFunc(commandNames, func(part string) bool { return strings.Contains(name, part) })
}

// commandNames are parts of argument names. The text of such an argument is run as a command.
var commandNames = []string{"command", "cmd", "script", "exec", "shell", "code", "run"}

// scriptEnds are the extensions of files that an interpreter runs.
var scriptEnds = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd", ".mk", ".r", ".jar"}

// interpreters are programs that run the file in their first operand, even if the file has no
// extension.
var interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "python", "pypy", "node", "deno", "bun", "perl", "ruby", "php", "lua", "tclsh", "rscript",
	"julia", "osascript", "pwsh", "source", "."}

// RelativeWord returns the first word of a command that names a program or a file in the folder
// where the command runs; "" if there is no such word.
func RelativeWord(text string) string {
	runs := false // the previous word is an interpreter or an option of an interpreter
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&<>()=,", r) }) {
		low := strings.ToLower(w)
		file := runs && !strings.HasPrefix(w, "-")
		// After -c, -e and -m no file follows.
		runs = runs && strings.HasPrefix(w, "-") && !strings.ContainsAny(w, "cem") ||
			slices.Contains(interpreters, strings.TrimRight(low[strings.LastIndexByte(low, '/')+1:], "0123456789.")) || w == "."
		switch {
		case hasRoot(w), strings.Contains(w, "://"):
		case file, strings.ContainsAny(w, `/\`), strings.HasPrefix(w, "."),
			slices.ContainsFunc(scriptEnds, func(end string) bool { return strings.HasSuffix(low, end) }):
			return w
		}
	}
	return ""
}

// hasRoot reports whether a path means the same place in every folder.
func hasRoot(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || s == "~" || reading.IsFile(s) || reading.HasDrive(s) && len(s) > 2 && (s[2] == '/' || s[2] == '\\')
}
