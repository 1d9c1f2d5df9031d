package widen

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// addNames adds the folder to those lists of [folders] where the addition opens exactly what the
// owner asked for. It returns the new text, the changed lines, and the number of the first one.
func (w *widener) addNames() (next []byte, lines []string, at int, err error) {
	next = w.src
	var offset int
	kept := map[string]string{} // why a list does not get the folder, by the name of the list
	for _, l := range w.old.Folders() {
		if slices.ContainsFunc(l.Written, w.isAdded) {
			w.added = append(w.added, l.Name) // the list gets the folder through another list that it names
			continue
		}
		if slices.ContainsFunc(l.Folders, func(folder string) bool { return w.absolute(folder) == w.absolute(w.o.Folder) }) {
			w.added = append(w.added, l.Name)
			continue
		}
		if !w.usesName(l.Name) {
			continue
		}
		if why := w.nameOpensMore(l.Name); why != "" {
			kept[l.Name] = fmt.Sprintf("%s of [folders] stays as it is: %s", l.Name, why)
			continue
		}
		for _, element := range l.Written { // the lists that this list names need no reason, because this list opens the folder
			name, _ := policy.ListName(element)
			delete(kept, name)
		}
		all := policytext.FormatList(policytext.QuoteAll(append(w.ownElements(&l), w.o.Folder)))
		switch {
		case l.From == "":
			var found bool
			if next, offset, found = policytext.AppendElement(next, "folders", l.Name, policytext.Quote(w.o.Folder)); !found {
				return nil, nil, 0, fmt.Errorf("the list %s of [folders] cannot be read", l.Name)
			}
		case strings.HasPrefix(l.From, "profile:"):
			next, offset = policytext.AddPair(next, "folders", policytext.Pair{Key: l.Name, Value: all})
		default:
			continue // the list is in an extended file, which is not changed
		}
		if at == 0 {
			at = strings.Count(string(next[:offset]), "\n") + 1
		}
		lines = append(lines, l.Name+" = "+all)
		w.added = append(w.added, l.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		w.left = append(w.left, kept[name])
	}
	return next, lines, at, nil
}

// isAdded reports whether an element of a list is the name of a list that got the folder.
func (w *widener) isAdded(element string) bool {
	name, ok := policy.ListName(element)
	return ok && slices.Contains(w.added, name)
}

// ownElements returns the elements of a list, as the policy's own file can write them. If an
// element is the name of a list that only an extended file has, it returns the folders of the list
// instead.
func (w *widener) ownElements(l *policy.FolderList) []string {
	lists := w.old.Folders()
	isOwn := func(element string) bool {
		name, named := policy.ListName(element)
		return !named || slices.ContainsFunc(lists, func(of policy.FolderList) bool { return of.Name == name && of.From == "" })
	}
	if slices.ContainsFunc(l.Written, func(element string) bool { return !isOwn(element) }) {
		return l.Folders
	}
	return l.Written
}

// usesName reports whether a rule that allows or asks uses this list of [folders].
func (w *widener) usesName(name string) bool {
	return slices.ContainsFunc(w.sources, func(s policy.Source) bool {
		return opens(&s) && slices.Contains(s.FolderNames, name) && (w.o.Server == "" || s.Servers == nil || meetAny(s.Servers, []string{w.o.Server}))
	})
}

func opens(s *policy.Source) bool {
	return s.Subject == policy.ToolSubject && (s.Action == policy.Allow || s.Action == policy.Prompt)
}

// nameOpensMore returns the reason why the folder must not be added to a list; "" if there is none.
// There are three possible reasons: other servers would get the folder, tools could write there
// without a question, or a rule about this folder that is further down in the policy would lose its
// effect.
func (w *widener) nameOpensMore(name string) string {
	for i := range w.sources {
		s := &w.sources[i]
		switch {
		case !slices.Contains(s.FolderNames, name):
		case w.o.Server != "" && !slices.Equal(s.Servers, []string{w.o.Server}):
			return "other servers have it, too"
		case !w.o.Write && opens(s) && s.Action == policy.Allow && !textclass.OnlyRead(s.Names) && !onlyTries(s):
			return fmt.Sprintf("the rule on %s lets tools write there; add --write to accept that", lineOf(s))
		case opens(s):
			if below := w.shutBelow(s); below != nil {
				return fmt.Sprintf("the rule on %s would win over the rule on %s, which is about this place", lineOf(s), lineOf(below))
			}
		}
	}
	return ""
}

// lineOf returns the position of a rule, for people.
func lineOf(s *policy.Source) string {
	if s.From != "" {
		return fmt.Sprintf("line %d of %s", s.Pos.Line, s.From)
	}
	return fmt.Sprintf("line %d", s.Pos.Line)
}

// onlyTries reports whether a rule only matches dry runs, which change nothing.
func onlyTries(s *policy.Source) bool {
	return slices.ContainsFunc(s.Where, func(c policy.WhereSource) bool {
		return c.Key == "one_of" && c.Text == "[true]" && slices.Contains(textclass.SplitWords(c.Path[len(c.Path)-1]), "dry")
	})
}

// shutBelow looks for a rule below s that denies some of the same calls, or asks about them, because of
// their folder. It returns nil if it finds no such rule. It ignores rules about files in any folder (**/.env),
// because the order of rules matters for these files in all folders of the list.
func (w *widener) shutBelow(s *policy.Source) *policy.Source {
	for j := s.Index + 1; j < len(w.sources); j++ {
		below := &w.sources[j]
		if j == w.closing || !shutsSome(below) || !meetAny(w.names[s.Index], w.names[j]) || !meetServers(s, below) {
			continue
		}
		if below.Pinned || len(below.Where) > 0 || slices.ContainsFunc(below.Args, func(a policy.ArgSource) bool { return slices.ContainsFunc(a.Globs, w.namesPlace) }) {
			return below
		}
	}
	return nil
}

// namesPlace reports whether a glob may be about the folder, a place inside it, or a folder around
// it. It returns false for a glob about files in any folder.
func (w *widener) namesPlace(g string) bool {
	head, _, _ := strings.Cut(g, "*")
	head, _, _ = strings.Cut(head, "?")
	head, folder := w.wholePath(head), w.wholePath(w.o.Folder)
	return head != "" && (strings.HasPrefix(head, folder) || strings.HasPrefix(folder, strings.TrimSuffix(head, "/")))
}

// absolute replaces ~ at the start of a path by the home folder.
func (w *widener) absolute(path string) string {
	if rest, below := strings.CutPrefix(path, "~"); below {
		return strings.TrimSuffix(filepath.ToSlash(w.o.Parse.Home), "/") + rest
	}
	return path
}

// wholePath returns an absolute path in lower case. Some disks ignore case.
func (w *widener) wholePath(path string) string { return strings.ToLower(w.absolute(path)) }

// namedRule returns a rule that opens the folder through a list in w.added, together with the
// rule's conditions on the folder. For any other rule it returns nil.
func (w *widener) namedRule(s *policy.Source) *copied {
	if !opens(s) || !slices.ContainsFunc(s.FolderNames, func(name string) bool { return slices.Contains(w.added, name) }) {
		return nil
	}
	c := &copied{source: s}
	for _, a := range s.Args {
		if i := slices.IndexFunc(a.Globs, func(g string) bool { return g == w.o.Folder || strings.HasPrefix(g, w.o.Folder+"/") }); i >= 0 {
			c.args = append(c.args, policy.ArgSource{Path: a.Path, Globs: a.Globs[i:]})
		}
	}
	return c
}

// listChanges returns an example call for each rule in w.named whose answer changes.
func (w *widener) listChanges(op *Opening) (all []diff.Change) {
	for _, c := range w.named {
		call := w.callOf(c, "")
		if kind := kindOf(op, call); kind != "" {
			all = append(all, diff.Change{Kind: kind, Example: call})
		}
	}
	return all
}
