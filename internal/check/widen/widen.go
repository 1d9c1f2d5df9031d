// Package widen opens a new folder in a policy. If a rule names its folders by a list of [folders],
// the folder is added to the list. If a rule names a folder itself, a copy of the rule is written
// for the new folder. A copy opens nothing that a rule denies, because it goes below every rule
// that denies such calls. Only the last rule, which denies everything else, stays below it.
package widen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Options are the options of OpenFolder.
type Options struct {
	File    string // name of the policy file
	Parse   policy.Options
	Folder  string // the folder to open: absolute or below ~/, clean, with slashes
	Server  string // name of the only server that gets the folder; "": all servers that have folders
	Write   bool   // open the folder also for tools that write
	Comment string // comment lines above the new rules
}

// Opening is a policy in which a new folder is open.
type Opening struct {
	Text     string // text of the new rules
	Next     []byte // the policy with the new rules
	Line     int    // line of the comment above the first new rule
	Places   int    // number of places in the file with new rules
	Old, New *policy.Policy
	Changes  []diff.Change // an example for each class of calls whose answer changes
	Kept     []Kept
	Left     []string // rules that were not copied, with the reasons
}

// Kept is a file in the folder that stays closed.
type Kept struct {
	File string
	Tool string
	By   policy.Rule
}

// copied is a rule about a folder, and its copy for the new folder.
type copied struct {
	source *policy.Source
	args   []policy.ArgSource // the conditions of the rule that name folders
	dirs   []string           // the folders in args
	reads  bool
	except []policy.ArgSource
	at     int // the copy goes above the rule with this index
}

// OpenFolder returns the policy with the folder opened. If it returns an error, the policy stays as
// it is.
func OpenFolder(src []byte, o Options) (*Opening, error) {
	old, err := policy.Parse(o.File, src, o.Parse)
	if err != nil {
		return nil, err
	}
	w := &widener{o: o}
	w.read(src, old)
	next, lines, at, err := w.addNames()
	if err != nil {
		return nil, err
	}
	if len(lines) > 0 {
		named, err := policy.Parse(o.File, next, o.Parse)
		if err != nil {
			return nil, fmt.Errorf("the policy would not load with the folder: %w", err)
		}
		w.read(next, named)
	}
	w.findRules()
	if len(w.copies)+len(lines) == 0 {
		if len(w.added) > 0 {
			return nil, errKnown
		}
		return nil, w.noRules()
	}
	op, err := w.copyRules()
	if err != nil {
		return nil, err
	}
	if op.Text == "" && len(lines) == 0 {
		return nil, errKnown
	}
	if op.Old = old; len(lines) > 0 {
		// op.Changes compares with a policy whose lists of folders are already longer. In that policy a
		// rule with a list may decide a call that another rule decides in old.
		if slices.ContainsFunc(op.Changes, func(c diff.Change) bool { return kindOf(op, c.Example) != c.Kind }) {
			op.Changes = diff.ComparePolicies(old, op.New).Changes
		}
		if op.Changes = append(w.listChanges(op), op.Changes...); len(op.Changes) == 0 {
			return nil, errKnown
		}
		text := "[folders]\n" + strings.Join(lines, "\n") + "\n"
		if op.Text != "" {
			text += "\n" + op.Text
		}
		op.Text, op.Line, op.Places = text, at, op.Places+1
	}
	w.listKept(op)
	return op, nil
}

// errKnown means that the rules already treat the folder like their other folders.
var errKnown = errors.New("the policy already treats this folder like its other folders")

// read sets the policy whose rules will be copied.
func (w *widener) read(src []byte, p *policy.Policy) {
	w.src, w.old, w.sources, w.names = src, p, p.Sources(), nil
	for i := range w.sources {
		w.names = append(w.names, addAliases(w.sources[i].Names))
	}
	w.closing = slices.IndexFunc(w.sources, func(s policy.Source) bool { return s.Subject == policy.ToolSubject && s.RefusesTheRest() })
	if w.closing >= 0 && slices.ContainsFunc(w.sources[w.closing+1:], func(s policy.Source) bool { return s.Subject == policy.ToolSubject }) {
		w.closing = -1 // another rule follows, so the rule at closing is not the last one
	}
}

type widener struct {
	o       Options
	src     []byte
	old     *policy.Policy
	sources []policy.Source
	names   [][]string // names of each rule, with the other names of agents' built-in tools
	closing int        // index of the last rule, if it denies everything else; otherwise -1
	copies  []*copied
	added   []string  // names of the lists of [folders] that got the folder
	named   []*copied // rules that use such a list; they are not copied
	left    []string
}

func (w *widener) noRules() error {
	what := "read in"
	if w.o.Write {
		what = "read or write in"
	}
	whose := "any tool"
	if w.o.Server != "" {
		whose = "a tool of " + w.o.Server
	}
	text := fmt.Sprintf("no rule of the policy lets %s %s a folder, so there is no rule to copy", whose, what)
	if len(w.left) > 0 {
		text += "; " + strings.Join(w.left, "; ")
	}
	return errors.New(text)
}

// findRules finds the rules to copy, and the place of each copy.
func (w *widener) findRules() {
	var all []*copied
	for i := range w.sources {
		if c := w.namedRule(&w.sources[i]); c != nil {
			w.named = append(w.named, c)
		} else if c := w.copyOf(&w.sources[i]); c != nil {
			all = append(all, c)
		}
	}
	for _, yields := range []func(c, other *copied) bool{liesInside, asksLess} {
		before := slices.Clone(all)
		all = slices.DeleteFunc(all, func(c *copied) bool {
			return slices.ContainsFunc(before, func(other *copied) bool { return other != c && w.shareCalls(c, other) && yields(c, other) })
		})
	}
	for _, c := range all {
		if w.placeRule(c) {
			w.copies = append(w.copies, c)
		}
	}
	slices.SortStableFunc(w.copies, func(a, b *copied) int { return a.at - b.at })
}

// copyOf returns the copy of a rule; nil if the rule opens no folder.
func (w *widener) copyOf(s *policy.Source) *copied {
	if s.Subject != policy.ToolSubject || !s.TakesRulesAbove() || s.Action != policy.Allow && s.Action != policy.Prompt || s.Pinned {
		return nil
	}
	if slices.ContainsFunc(s.Calls, func(c policy.Stated) bool { return c.Key != "server" }) || slices.ContainsFunc(s.Where, func(c policy.WhereSource) bool { return c.Key == "command" || c.Key == "sql" }) {
		return nil // the rule depends on a working folder, on findings, or on the meaning of a text
	}
	if w.o.Server != "" && s.Servers != nil && !meetAny(s.Servers, []string{w.o.Server}) {
		return nil
	}
	c := &copied{source: s, reads: textclass.OnlyRead(s.Names)}
	if executes(s.Names) || !c.reads && !w.o.Write || c.reads && s.Action != policy.Allow {
		return nil
	}
	for _, a := range s.Args {
		dirs, bare := foldersOf(a.Globs)
		if len(dirs) == 0 {
			continue
		}
		globs := []string{w.o.Folder + "/**"}
		if bare || c.reads {
			globs = []string{w.o.Folder, w.o.Folder + "/**"}
		}
		c.args = append(c.args, policy.ArgSource{Path: a.Path, Globs: globs})
		c.dirs = append(c.dirs, dirs...)
	}
	if len(c.args) == 0 {
		return nil
	}
	return c
}

// shareCalls reports whether two rules may match the same call.
func (w *widener) shareCalls(a, b *copied) bool {
	return a.reads == b.reads && meetAny(w.names[a.source.Index], w.names[b.source.Index]) && meetServers(a.source, b.source)
}

// liesInside reports whether all folders of the rule c are inside folders of another rule (the
// parameter other). An "always" answer writes a rule like c. Such a rule is not copied, because the
// person did not mean further folders.
func liesInside(c, other *copied) bool {
	return !slices.ContainsFunc(c.dirs, func(dir string) bool {
		return !slices.ContainsFunc(other.dirs, func(outer string) bool { return strings.HasPrefix(dir, strings.TrimSuffix(outer, "/")+"/") })
	})
}

// asksLess reports whether the rule c lets tools write without a question, although another rule
// (the parameter other) asks a person. Then c is not copied, because the person must still be
// asked.
func asksLess(c, other *copied) bool {
	return !c.reads && c.source.Action == policy.Allow && other.source.Action == policy.Prompt
}

// placeRule finds the place of a copy. The place is below the rule, and below every rule that
// denies such calls or asks about them for another reason. It returns false if there is no such
// place.
func (w *widener) placeRule(c *copied) bool {
	c.at = c.source.Index + 1
	asks := c.source.Action == policy.Prompt
	if asks { // a copy that asks goes to the end, so that it asks about no call that another rule allows
		c.at = w.restPlace()
	}
	for j := c.at; j < len(w.sources); j++ {
		s := &w.sources[j]
		if j == w.closing || !shutsSome(s) && !asks || !meetAny(w.names[c.source.Index], w.names[j]) || !w.meetServer(c, s) {
			continue
		}
		if !s.TakesRulesAbove() {
			w.left = append(w.left, fmt.Sprintf("the rule on line %d was not copied: a rule of %s, which the policy extends, would stand below the copy", c.source.Pos.Line, s.From))
			return false
		}
		c.at = j + 1
	}
	return w.isPlace(c.at)
}

// isPlace reports whether a rule can be inserted at this place.
func (w *widener) isPlace(at int) bool {
	return at == policy.EndOfOwn(w.sources) || at < len(w.sources) && w.sources[at].TakesRulesAbove()
}

// restPlace returns the place above the rule that denies everything else; the end if there is no
// such rule.
func (w *widener) restPlace() int {
	if w.closing >= 0 {
		return w.closing
	}
	return policy.EndOfOwn(w.sources)
}

func (w *widener) meetServer(c *copied, s *policy.Source) bool {
	if w.o.Server != "" {
		return s.Servers == nil || meetAny(s.Servers, []string{w.o.Server})
	}
	return meetServers(c.source, s)
}

// shutsSome reports whether a rule denies calls, or asks about calls that other rules allow.
func shutsSome(s *policy.Source) bool {
	if s.Subject != policy.ToolSubject {
		return false
	}
	return s.Action == policy.Deny || s.Action == policy.Prompt &&
		(s.Pinned || slices.ContainsFunc(s.Calls, func(c policy.Stated) bool { return c.Key != "server" && c.Key != "cwd" }))
}

func meetServers(a, b *policy.Source) bool {
	return a.Servers == nil || b.Servers == nil || meetAny(a.Servers, b.Servers)
}

// copyRules writes the copies for the new folder. It leaves out copies that change no decision.
func (w *widener) copyRules() (*Opening, error) {
	w.shutPlaces()
	op, err := w.compose()
	if err != nil {
		return nil, err
	}
	report := diff.ComparePolicies(op.Old, op.New)
	if err := w.checkChanges(report); err != nil {
		return nil, err
	}
	// Leave out the copies that change no decision.
	changed := map[int]bool{}
	for i := range report.Changes {
		noteRule(changed, report.Changes[i].New.Rule)
	}
	for i := range report.Doubts {
		noteRule(changed, report.Doubts[i].New.Rule)
	}
	var kept []*copied
	for i, c := range w.copies {
		if changed[c.at+i] || w.changesSample(op, c) {
			kept = append(kept, c)
		}
	}
	if len(kept) < len(w.copies) {
		w.copies = kept
		if op, err = w.compose(); err != nil {
			return nil, err
		}
	}
	op.Changes = report.Changes
	return op, nil
}

// changesSample reports whether a copy changes the answer to a call about one file of the folder.
// It is needed because the comparison of two large policies does not find a call for each rule.
func (w *widener) changesSample(op *Opening, c *copied) bool {
	call := w.callOf(c, "notes.md")
	return kindOf(op, call) != ""
}

// kindOf returns how the answer to a call changes, or "" if it does not change.
func kindOf(op *Opening, call *policy.Call) diff.ChangeKind {
	was, is := op.Old.Decide(call), op.New.Decide(call)
	return diff.KindOf(diff.Answer{Action: was.Action}, diff.Answer{Action: is.Action})
}

func noteRule(all map[int]bool, r *policy.Rule) {
	if r != nil {
		all[r.Index] = true
	}
}

// checkChanges returns an error if the new policy lets through a call that a rule denied.
func (w *widener) checkChanges(r *diff.Report) error {
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Old.Action == policy.Deny && c.Old.Rule != nil && (w.closing < 0 || *c.Old.Rule != w.sources[w.closing].Rule) {
			return fmt.Errorf("it would open what the rule on line %d denies", c.Old.Rule.Pos.Line)
		}
	}
	return nil
}

// compose inserts the copies into the text of the policy.
func (w *widener) compose() (op *Opening, err error) {
	op = &Opening{Old: w.old, New: w.old, Next: w.src, Left: w.left}
	if len(w.copies) == 0 {
		return op, nil
	}
	texts := map[int]string{} // text to insert, by place
	for i, c := range w.copies {
		text := w.old.CopyRule(c.source.Rule, policy.RuleCopy{
			Args: c.args, Under: []string{w.o.Folder}, Except: c.except, Server: w.o.Server, Description: w.describeCopy(c),
		})
		if i == 0 || texts[c.at] == "" {
			text = w.o.Comment + text
		} else {
			text = "\n" + text
		}
		texts[c.at] += text
	}
	op.Places = len(texts)
	end := policy.EndOfOwn(w.sources)
	for at := len(w.sources); at >= 0; at-- { // from the end, because an insertion moves the places below it
		switch text := texts[at]; {
		case text == "":
			continue
		case at == end:
			op.Next = policytext.InsertBelow(op.Next, text)
		default:
			if texts[at], err = w.old.PlaceAbove(w.sources[at].Rule, text); err != nil {
				return nil, err
			}
			if op.Next, err = w.old.InsertAbove(op.Next, w.sources[at].Rule, texts[at]); err != nil {
				return nil, err
			}
		}
		op.Text = strings.TrimSuffix(texts[at]+"\n"+op.Text, "\n")
	}
	op.Text += "\n"
	if op.New, err = policy.Parse(w.o.File, op.Next, w.o.Parse); err != nil {
		return nil, fmt.Errorf("the policy would not load with the rules: %w", err)
	}
	op.Line = op.New.Rules()[w.copies[0].at].Pos.Line - strings.Count(w.o.Comment, "\n")
	return op, nil
}

// describeCopy returns the description of a copy: the description of its rule, and the folder.
func (w *widener) describeCopy(c *copied) string {
	if c.source.Description == "" {
		return "In " + w.o.Folder
	}
	text, _, _ := strings.Cut(c.source.Description, alsoIn)
	return text + alsoIn + w.o.Folder
}

const alsoIn = ", also in "

// executes reports whether a name has a word for running, deleting or sending.
func executes(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return textclass.RunsText(name) || textclass.EffectsOf(textclass.SplitWords(name))&textclass.Executes != 0
	})
}
