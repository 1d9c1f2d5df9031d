package remember

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// ruleTitle describes in plain words which calls a rule matches and what it leaves open. Text from
// the wire is in quotes and harmless.
func ruleTitle(c *policy.Call, n *policy.Narrowed, s policy.Scope) string {
	on := " on every server (this one's name is not known)"
	if n.Server != "" {
		on = " on " + term.VisibleValue(n.Server)
	}
	if n.Cwd != "" {
		on += " in " + term.VisibleValue(n.Cwd)
	}
	if len(n.Not) > 0 {
		on += " (but for " + term.VisibleText(strings.Join(n.Not, ", ")) + ")"
	}
	name := term.VisibleValue(n.Name)
	switch c.Subject {
	case policy.ToolSubject, policy.PromptSubject:
		return callTitle(name+on, n, s)
	case policy.ResourceSubject:
		if s == policy.Exact {
			return "this exact resource, " + name + on
		}
		return "every resource " + globText(n.Name) + on
	case policy.SamplingSubject:
		return "this exact text, " + name + "," + on + "; the rest of the request may be anything"
	case policy.ElicitationSubject:
		return "this exact message, " + name + "," + on + "; the form below it may be any"
	default:
		return "every " + name + on + ", whatever its parameters"
	}
}

// callTitle returns the title of a rule about a tool or a prompt.
func callTitle(name string, n *policy.Narrowed, s policy.Scope) string {
	more, only := n.ArgsOnlyNames()
	more = slices.DeleteFunc(slices.Clone(more), func(name string) bool {
		return slices.ContainsFunc(n.Limits, func(l policy.Limit) bool { return l.Path[0] == name })
	})
	if s == policy.Exact {
		text, tail := "this exact call, "+name, ""
		if len(n.Limits) > 0 {
			text += " with the same " + joinWords(limitNames(n))
		}
		switch {
		case len(more) > 0:
			tail = "; " + term.VisibleText(joinWords(more)) + " may come with it"
		case only:
		case len(n.Limits) > 0:
			tail = "; more arguments may come with it"
		default:
			tail = "; it may come with arguments"
		}
		return text + tail
	}
	if len(n.Limits) == 0 {
		switch {
		case len(more) > 0:
			return name + " with any " + term.VisibleText(joinWords(more))
		case only:
			return name + " without arguments"
		}
		return name + " with any arguments"
	}
	if !only {
		more = append(slices.Clone(n.Open), "all other arguments")
	}
	limits, others := make([]string, len(n.Limits)), ""
	if len(more) > 0 {
		others = "; " + term.VisibleText(joinWords(more)) + " may be anything"
	}
	for i, l := range n.Limits {
		places := make([]string, len(l.Globs))
		for j, g := range l.Globs {
			places[j] = globText(g)
		}
		limits[i] = term.VisibleText(l.ArgumentName()) + " " + strings.Join(places, " or ")
		if policy.EveryArgument(l.Path) {
			limits[i], others = "every argument "+strings.Join(places, " or "), ""
		}
	}
	return name + " with " + strings.Join(limits, ", ") + others
}

func limitNames(n *policy.Narrowed) []string {
	names := make([]string, len(n.Limits))
	for i, l := range n.Limits {
		names[i] = term.VisibleText(l.ArgumentName())
		if policy.EveryArgument(l.Path) {
			names[i] = "limits on every argument"
		}
	}
	return names
}

// globText describes a glob in words: a folder, a single text, or "like" and the glob.
func globText(glob string) string {
	dir := strings.TrimRight(glob, "*")
	stars := len(glob) - len(dir)
	folder := strings.HasSuffix(dir, "/") || strings.HasSuffix(dir, `\`)
	switch {
	case strings.ContainsAny(dir, "*?"), stars > 0 && !folder:
		return "like " + term.VisibleValue(glob)
	case stars > 1:
		return "in " + term.VisibleValue(dir) + " and below"
	case stars == 1:
		return "directly in " + term.VisibleValue(dir)
	}
	return "as " + term.VisibleValue(glob)
}

// argumentWords returns argumentWord of each name.
func argumentWords(names []string) (all []string) {
	for _, name := range names {
		all = append(all, argumentWord(name))
	}
	return all
}

func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
