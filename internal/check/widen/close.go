package widen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Closing is a policy in which a folder is closed.
type Closing struct {
	Text     string // text of the new rules
	Next     []byte // the policy with the new rules
	Line     int    // line of the first new rule in Next
	Old, New *policy.Policy
	Changes  []diff.Change // for each rule that opened the folder, an example call that is now refused
}

// CloseFolder returns the policy with new rules above all others. The new rules deny each call that
// names the folder in an argument or in a command. They only deny, so they cannot allow anything.
// real is the path of the folder without symbolic links; "" if its path has none.
func CloseFolder(src []byte, o Options, real string) (*Closing, error) {
	old, err := policy.Parse(o.File, src, o.Parse)
	if err != nil {
		return nil, err
	}
	c := &Closing{Old: old, Text: o.Comment + closingRules(o, real)}
	c.Next = policytext.InsertFirst(src, c.Text)
	if c.New, err = policy.Parse(o.File, c.Next, o.Parse); err != nil {
		return nil, fmt.Errorf("the policy would not load with the rules: %w", err)
	}
	c.Line = c.New.Rules()[0].Pos.Line
	c.Changes = closedCalls(old, c.New, o.Folder, o.Server)
	return c, nil
}

// closingRules returns the text of the rules that close the folder.
func closingRules(o Options, real string) string {
	var globs, names []string
	for _, folder := range []string{o.Folder, real} {
		if folder == "" {
			continue
		}
		globs = append(globs, folder, folder+"/**")
		names = append(names, spellings(folder, strings.TrimSuffix(o.Parse.Home, "/"))...)
	}
	pattern := `(?s)(?:.*[^\w.~/-])?(?:` + strings.Join(names, "|") + `)(?:[^\w.-].*)?`
	written, plain := policytext.LiteralString(pattern)
	if !plain {
		written = policytext.Quote(pattern)
	}
	begin := []policytext.Pair{policytext.StringPair("action", "deny"), policytext.StringPair("tool", "*")}
	if o.Server != "" {
		begin = append(begin, policytext.StringPair("server", o.Server))
	}
	return policytext.WriteRule(append(slices.Clone(begin),
		policytext.Pair{Key: `args."*"`, Value: policytext.FormatList(policytext.QuoteAll(globs))},
		policytext.StringPair("description", o.Folder+" stays shut"))...) + "\n" +
		policytext.WriteRule(append(begin,
			policytext.Pair{Key: "where.command.regex", Value: written},
			policytext.StringPair("description", o.Folder+" stays shut to commands that name it"))...)
}

// spellings returns patterns for the usual ways to write a folder in a command.
func spellings(folder, home string) []string {
	rest, below := strings.CutPrefix(folder, "~/")
	if !below {
		return []string{regexp.QuoteMeta(folder)}
	}
	all := []string{"~", `\$HOME`, `\$\{HOME\}`}
	if home != "" {
		all = append(all, regexp.QuoteMeta(home))
	}
	return []string{"(?:" + strings.Join(all, "|") + ")/" + regexp.QuoteMeta(rest)}
}

// maxClosed is the maximum number of example calls.
const maxClosed = 8

// ShowReopened returns calls that the policy shut denies, by rules like those of CloseFolder, and
// that the policy open allows or asks about. A comparison of all calls often does not decide about
// such rules, because they name every argument.
func ShowReopened(shut, open *policy.Policy) (all []diff.Change) {
	sources := shut.Sources()
	for i := range sources {
		s := &sources[i]
		if s.Action != policy.Deny || len(s.Args) != 1 || !policy.EveryArgument(s.Args[0].Path) {
			continue
		}
		server := ""
		if len(s.Servers) > 0 {
			server = sample(s.Servers[0])
		}
		folders, _ := foldersOf(s.Args[0].Globs)
		for _, folder := range folders {
			for _, c := range closedCalls(open, shut, folder, server) {
				c.Old, c.New = c.New, c.Old
				c.Kind = diff.KindOf(c.Old, c.New)
				all = append(all, c)
			}
		}
	}
	return all[:min(len(all), maxClosed)]
}

// closedCalls returns calls about a file in the folder that the old policy allows or asks about,
// and that the new policy denies. The parameter only is the name of a server; "" for every server.
func closedCalls(old, next *policy.Policy, folder, only string) (all []diff.Change) {
	file := folder + "/notes.md"
	seen := map[string]bool{}
	try := func(call *policy.Call) {
		was, is := old.Decide(call), next.Decide(call)
		name := call.Server + " " + call.Names[0]
		if kind := diff.KindOf(diff.Answer{Action: was.Action}, diff.Answer{Action: is.Action}); kind == diff.NewlyDenied && !seen[name] {
			seen[name] = true
			all = append(all, diff.Change{Kind: kind, Old: diff.Answer{Action: was.Action, Rule: was.Rule}, New: diff.Answer{Action: is.Action, Rule: is.Rule}, Example: call})
		}
	}
	sources := old.Sources()
	for i := range sources {
		s := &sources[i]
		if !opens(s) || only != "" && s.Servers != nil && !meetAny(s.Servers, []string{only}) {
			continue
		}
		server := only
		if server == "" && len(s.Servers) > 0 {
			server = sample(s.Servers[0])
		}
		if len(s.Args) > 0 && !slices.ContainsFunc(s.Args, func(a policy.ArgSource) bool { return !namesFiles(a.Path) }) {
			args := map[string]any{}
			for _, a := range s.Args {
				setMember(args, a.Path, file)
			}
			try(newCall(s, server, args))
		}
		if slices.Contains(s.Names, "shell") && slices.ContainsFunc(s.Where, func(c policy.WhereSource) bool { return c.Key == "command" }) {
			try(newCall(s, server, map[string]any{"command": "cat " + file}))
		}
	}
	slices.SortStableFunc(all, func(a, b diff.Change) int { return cmp.Compare(b.Old.Action, a.Old.Action) }) // calls that were allowed come before calls that were asked about
	return all[:min(len(all), maxClosed)]
}

// namesFiles reports whether an argument is one that holds files or folders.
func namesFiles(path []string) bool {
	words := textclass.SplitWords(path[len(path)-1])
	return policy.EveryArgument(path) || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(strings.Fields("path paths file files filename dir directory folder repo source destination"), word)
	})
}
