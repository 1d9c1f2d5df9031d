package remember

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// describeRule describes in few words which calls a rule allows: "Edit files below ~/projects/app".
// The text is harmless.
func (k *Writer) describeRule(c *policy.Call, n *policy.Narrowed, s policy.Scope) string {
	text := k.describeCall(c, n, s)
	if n.Cwd != "" {
		text += " in " + k.describePlace("", n.Cwd)
	}
	return text
}

func (k *Writer) describeCall(c *policy.Call, n *policy.Narrowed, s policy.Scope) string {
	name := argumentWord(n.Name)
	switch c.Subject {
	case policy.ToolSubject, policy.PromptSubject:
	case policy.ResourceSubject:
		return "Read " + k.describePlace("resources ", n.Name)
	case policy.SamplingSubject:
		return "Put this very text to the model"
	case policy.ElicitationSubject:
		return "Ask with this very message"
	default:
		return "Use " + name
	}
	verb, files := verbOf(c)
	switch {
	case len(n.Limits) == 0 && s == policy.Exact:
		return "Call " + name
	case len(n.Limits) == 0:
		return "Call " + name + " with any arguments"
	case s == policy.Exact:
		return "Call " + name + " with the same " + joinWords(limitNames(n))
	case verb != "" && len(n.Limits) == 1 && isPlace(n.Limits[0].Globs):
		text := verb + " " + k.describePlaces(files, n.Limits[0].Globs)
		if s == policy.File && verb != readVerb && files == "files " {
			text += ", any content"
		}
		return text
	}
	limits := make([]string, len(n.Limits))
	for i, l := range n.Limits {
		limits[i] = term.VisibleText(l.ArgumentName()) + " " + k.describePlaces("", l.Globs)
	}
	return "Call " + name + " with " + joinWords(limits)
}

// neverText returns the description of a rule that denies, from the text of the rule that allows.
func neverText(text string) string { return "Never " + strings.ToLower(text[:1]) + text[1:] }

const readVerb = "Read"

// verbOf returns a verb and an object for what a tool does, such as "Edit" and "files "; "" if the
// tool's name does not show this. A tool that writes and a tool that edits get different verbs,
// because a rule is about one tool.
func verbOf(c *policy.Call) (verb, files string) {
	if c.Subject != policy.ToolSubject {
		return "", ""
	}
	words := textclass.SplitWords(c.Names[0])
	has := func(list string) bool {
		return slices.ContainsFunc(strings.Fields(list), func(w string) bool { return slices.Contains(words, w) })
	}
	says := textclass.EffectsOf(words)
	switch {
	case says&(textclass.Executes|textclass.Reaches) != 0:
	case textclass.ChangesFiles(words):
		switch {
		case has("move mv rename copy cp clone trash symlink unpack unzip extract"): // these tools do more than change the content of one file
		case has("edit append apply insert modify patch prepend replace update"):
			return "Edit", "files "
		case has("directory dir folder mkdir"):
			return "Create", "folders "
		case has("write create make overwrite put save touch"):
			return "Write", "files "
		}
	case has("read") && says&(textclass.Acts|textclass.Changes) == 0:
		return readVerb, "files "
	}
	return "", ""
}

// onlyReads reports whether the name of the called tool suggests that the tool only reads.
func onlyReads(c *policy.Call) bool {
	if c.Subject == policy.ResourceSubject {
		return true
	}
	says := textclass.EffectsOf(textclass.SplitWords(c.Names[0]))
	return says&textclass.Reads != 0 && says&(textclass.Acts|textclass.Changes|textclass.Executes) == 0
}

// isPlace reports whether all globs are paths.
func isPlace(globs []string) bool {
	return !slices.ContainsFunc(globs, func(g string) bool { return !strings.ContainsAny(g, `/\`) || strings.Contains(g, "://") })
}

func (k *Writer) describePlaces(what string, globs []string) string {
	all := make([]string, len(globs))
	for i, g := range globs {
		if all[i] = k.describePlace(what, g); i > 0 {
			all[i] = strings.TrimPrefix(all[i], what)
		}
	}
	return strings.Join(all, " or ")
}

// describePlace returns a glob in words. The home folder becomes ~.
func (k *Writer) describePlace(what, glob string) string {
	dir := strings.TrimRight(glob, "*")
	stars := len(glob) - len(dir)
	folder := strings.HasSuffix(dir, "/") || strings.HasSuffix(dir, `\`)
	shown := func(s string) string {
		if s = view.TildePath(s, k.Options.Home); strings.ContainsAny(s, " \"") {
			return term.VisibleValue(s)
		}
		return term.VisibleLine(s)
	}
	switch {
	case strings.ContainsAny(dir, "*?"), stars > 0 && !folder:
		return what + "like " + term.VisibleValue(glob)
	case stars == 0:
		return shown(glob)
	}
	if len(dir) > 1 {
		dir = strings.TrimRight(dir, `/\`)
	}
	if stars > 1 {
		return what + "below " + shown(dir)
	}
	return what + "directly in " + shown(dir)
}
