package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/shell"
)

// folderKeys are the names of arguments that hold the folder in which a command starts.
var folderKeys = []string{"cwd", "workdir", "workingdirectory", "workingdir", "directory", "dir", "basepath"}

// CommandOf returns the words of the command that a call would run, and the folder in which the
// call would run it. A single word is a text for a shell. If the call runs no command, there are no
// words.
func CommandOf(c *policy.Call) (words []string, folder string) {
	w, err := walkJSON(c.Args, &builder{})
	if err != nil || c.Subject != policy.ToolSubject || len(c.Names) == 0 {
		return nil, ""
	}
	folder, _ = memberText(w.leaves, "", folderKeys)
	return runWords(c.Names[0], w.leaves), folder
}

// runWords returns the words of the command that a tool would run.
func runWords(tool string, leaves []leaf) []string {
	if words := commandWords(leaves); textclass.RunsText(tool) && len(words) > 0 {
		return words
	}
	return findTexts(leaves, func(key string) bool { return slices.Contains(plainCommandKeys, key) })
}

// maxTold is the maximum number of names in one line about a command.
const maxTold = 8

// tellCommand returns the facts that the shell parser finds in a command, with one line for each
// kind of fact.
func tellCommand(words []string) (lines []string) {
	if len(words) == 0 {
		return nil
	}
	text := words[0]
	if len(words) > 1 {
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		text = strings.Join(quoted, " ")
	}
	t := shell.Tell(text)
	for _, row := range []struct {
		label string
		names []string
	}{{"runs", t.Programs}, {"reads", t.Reads}, {"writes", t.Writes}, {"deletes", t.Deletes}, {"hosts", t.Hosts}} {
		if len(row.names) > 0 {
			lines = append(lines, LabelLine(row.label, joinNames(row.names)))
		}
	}
	switch {
	case t.Hidden:
		lines = append(lines, LabelLine("hidden", "it also runs what its words do not show"))
	case len(t.Hides) > 0:
		lines = append(lines, LabelLine("hidden", "what "+joinNames(t.Hides)+" runs or loads, its words do not show"))
	}
	return lines
}

// joinNames returns the first maxTold names as harmless text, and the number of further names.
func joinNames(names []string) string {
	var shown []string
	for _, s := range names[:min(len(names), maxTold)] {
		shown = append(shown, nameOf(s).cutText(60))
	}
	if more := len(names) - len(shown); more > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(shown, ", ")
}
