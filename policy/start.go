package policy

import (
	"errors"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/policytext"
	"github.com/clawai/clawai/internal/screen"
	"github.com/clawai/clawai/policy/internal/reading"
)

// startOf is the folder in which a call's relative paths start; "" where it is not known.
func startOf(c *Call) string {
	if c.Elsewhere {
		return ""
	}
	return c.Cwd
}

// folders binds an allow about commands or relative paths to the folder in which the call
// starts: the same letters name another program or file in another folder. A path is also
// taken without it, because a server elsewhere has its own folders.
func (n *narrower) folders() error {
	if n.rule.Action != Allow || n.call.Subject != ToolSubject || n.scope == Tool {
		return nil
	}
	binds, relative := n.starts()
	start := startOf(n.call)
	switch {
	case !binds:
		return nil
	case start != "":
		n.rule.state(cwdKey, Stated{Text: policytext.Quote(start), Globs: []string{start}})
		return inexact("the folder", start)
	case relative != "":
		return errors.New("the call names " + policytext.Quote(relative) + ", and the folder in which it starts is not known: the rule would hold in every folder")
	}
	return nil
}

// starts reports whether the call means another thing in another folder, and names the
// first word of its commands that does.
func (n *narrower) starts() (binds bool, relative string) {
	runs := screen.RunsText(n.call.Names[0])
	for _, s := range suspectsIn(n.call.Args) {
		name := strings.ToLower(s.path[len(s.path)-1])
		command := runs || slices.ContainsFunc(commandNames, func(part string) bool { return strings.Contains(name, part) })
		for _, text := range s.texts {
			why := reading.SuspectText(reading.ClassOf(name), text, n.call.OS == Windows)
			switch {
			case command, why == reading.AsCommand:
				binds = true
				if relative == "" {
					relative = relativeWord(text)
				}
			case why != reading.AsURL && !strings.Contains(text, "://") && !hasRoot(text):
				binds = true
			}
		}
	}
	return binds, relative
}

// commandNames are parts of the names of arguments whose text is run.
var commandNames = []string{"command", "cmd", "script", "exec", "shell", "code", "run"}

// scriptEnds are how files end that an interpreter runs.
var scriptEnds = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd", ".mk", ".r"}

// relativeWord is the first word of a command that names a program or a file of the
// folder in which it runs; "" without one.
func relativeWord(text string) string {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&<>()=,", r) }) {
		low := strings.ToLower(w)
		switch {
		case hasRoot(w), strings.Contains(w, "://"):
		case strings.ContainsAny(w, `/\`), strings.HasPrefix(w, "."),
			slices.ContainsFunc(scriptEnds, func(end string) bool { return strings.HasSuffix(low, end) }):
			return w
		}
	}
	return ""
}

// hasRoot reports whether a path starts in the same place in every folder.
func hasRoot(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || s == "~" || reading.IsFile(s) || reading.HasDrive(s) && len(s) > 2 && (s[2] == '/' || s[2] == '\\')
}
