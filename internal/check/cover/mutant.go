package cover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Mutant is a policy with one small change, such as its author could make by mistake.
type Mutant struct {
	Rule  int    // index of the changed rule in the policy
	Line  int    // line of the changed rule in the file
	Kind  string // drop-rule, action, widen, narrow, drop-glob, drop-kind, drop-condition, flip, bound, swap
	Name  string // description of the rule and the change; it does not depend on the rule's position
	scope *scope
	edits []policytext.Edit
	// short makes the mutant's change in a shorter list. It is nil if the mutant does not change an
	// element of a longer list.
	short *shortList
	// denies means that all affected calls are denied, with and without the change: by the changed
	// rule or by rules below it. The change then has no effect.
	denies bool
}

// shortList holds two edits that replace a long list by a short one: the edit before writes the
// list without the mutant's change, and the edit after writes it with the change. The short list
// has only the changed element; if the change drops the element, the list has one other element
// too. With a short list, a call that shows the change is found faster, and most of these calls
// also show the change in the long list.
type shortList struct{ before, after policytext.Edit }

// parseMutant parses the mutant. It includes a rule only if the given function returns true for the
// index of the rule.
func (m *Mutant) parseMutant(keep func(int) bool) (*policy.Policy, error) {
	return m.scope.document.parseRules(keep, m.edits...)
}

// readDocument splits the text of a policy into rules. src is the text of p.
func readDocument(file string, src []byte, p *policy.Policy, o policy.Options) (*document, error) {
	doc, err := policytext.ReadDocument(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d := &document{file: file, src: src, options: o, policy: p, sources: p.Sources()}
	d.rules = make([]policytext.Rule, len(d.sources))
	at := map[int]policytext.Rule{}
	for _, r := range doc.Rules() {
		at[r.Start] = r
	}
	for i := range d.sources {
		if d.isOwn(i) {
			d.rules[i] = at[d.sources[i].Start]
			delete(at, d.sources[i].Start)
		}
	}
	if len(at) > 0 {
		return nil, fmt.Errorf("%s: %d rules more than the policy has", file, len(at))
	}
	return d, nil
}

// editsCalls reports whether a rule only edits requests of a server to the client. Such rules have
// no mutants.
func editsCalls(s *policy.Source) bool { return s.Subject == policy.NoSubject && s.On == policy.OnCall }

// countUndecided returns the number of rules in the file that have no mutants.
func (d *document) countUndecided() (n int) {
	for i := range d.rules {
		if d.isOwn(i) && editsCalls(&d.sources[i]) {
			n++
		}
	}
	return n
}

// listMutants lists all mutants in the order of the file. Some are no valid policies.
func listMutants(d *document) []Mutant {
	m := mutator{document: d}
	for i := range m.rules {
		if !m.isOwn(i) || editsCalls(&m.sources[i]) {
			continue
		}
		m.scope = d.scopeOf(i)
		m.mutateRule(i)
	}
	return m.out
}

type mutator struct {
	*document
	scope *scope // the scope of the rule that is changed now
	out   []Mutant
}

func (m *mutator) addMutant(rule int, kind, what string, edits ...policytext.Edit) {
	s := m.sources[rule]
	m.out = append(m.out, Mutant{Rule: rule, Line: s.Pos.Line, Kind: kind, scope: m.scope, edits: edits,
		Name:   fmt.Sprintf("%s: %s", ruleTitle(&s), what),
		denies: s.On == policy.OnCall && (m.deniesFrom(rule) && kind != "action" || m.deniesSlashes(rule, what, kind)),
	})
}

// ruleTitle returns a short title of a rule: its action and its subject.
func ruleTitle(s *policy.Source) string {
	on := ""
	if s.On != policy.OnCall {
		on = s.On.String() + " of "
	}
	return fmt.Sprintf("%s %s%s", s.Action, on, strings.TrimSpace(s.About.RuleKey()+" "+formatNames(s)))
}

// formatNames returns the names of a rule as TOML.
func formatNames(s *policy.Source) string {
	if s.CoversAllSubjects() {
		return "anything"
	}
	return policytext.OneOrList(policytext.QuoteAll(s.Names))
}

// deniesSlashes reports whether a mutant has no effect because names with a slash are denied with
// and without the change. This is so under three conditions. The rule denies. The mutant widens or
// narrows a name, so that only names with a slash can be affected. No rule from rule i on allows
// names with a slash or asks about them.
func (m *mutator) deniesSlashes(i int, what, kind string) bool {
	subject := m.sources[i].Subject
	if kind != "widen" && kind != "narrow" || !strings.HasPrefix(what, subject.RuleKey()+" ") ||
		m.sources[i].Action != policy.Deny || subject != policy.ToolSubject && subject != policy.PromptSubject {
		return false
	}
	return !slices.ContainsFunc(m.sources[i:], func(s policy.Source) bool {
		slashes := func(name string) bool { return strings.Contains(name, "**") || strings.ContainsAny(name, "/?") }
		return s.Subject == subject && s.Action != policy.Deny && slices.ContainsFunc(s.Names, slashes)
	})
}

// deniesFrom reports whether the policy denies every call that no rule above rule i decides.
func (m *mutator) deniesFrom(i int) bool {
	subject := m.sources[i].Subject
	return subject != policy.MethodSubject && !slices.ContainsFunc(m.sources[i:], func(s policy.Source) bool {
		return s.Subject == subject && s.Action != policy.Deny
	})
}

func (m *mutator) mutateRule(i int) {
	r := &m.rules[i]
	m.addMutant(i, "drop-rule", "drop the rule", policytext.Edit{Start: r.Start, End: r.End})
	leaves, parts := r.Leaves(), map[string]int{}
	for j := range leaves {
		l := &leaves[j]
		switch l.Path[0] {
		case "action":
			m.mutateActions(i, l)
		case "args":
			m.mutateGlobs(i, l)
			m.addMutant(i, "drop-condition", "drop "+leafName(l), l.RemoveEdits()...)
		case "where":
			m.mutateConstraint(i, l)
			m.addMutant(i, "drop-condition", "drop "+leafName(l), l.RemoveEdits()...)
		case "not":
			m.mutateGlobs(i, l)
			m.addMutant(i, "drop-condition", "drop "+leafName(l), l.RemoveEdits()...)
		case "args_only":
			for j := range l.Value.Elements {
				m.dropElement(i, l, j, "drop-glob")
			}
			m.addMutant(i, "drop-condition", "drop args_only", l.RemoveEdits()...)
			if m.sources[i].Action == policy.Allow && len(m.sources[i].ArgumentPaths()) > 0 {
				cut := l.RemoveEdits()
				cut[0].Text = "args_open = true\n"
				m.addMutant(i, "widen", "args_only to args_open", cut...)
			}
		case "args_open":
			m.addMutant(i, "drop-condition", "drop args_open", l.RemoveEdits()...)
		case m.sources[i].About.RuleKey():
			m.mutateGlobs(i, l)
		default:
			call, found := policy.CallKeyOf(l.Path[0])
			if !found {
				break // the value of this key is an effect, not a condition
			}
			if call.Glob {
				m.mutateGlobs(i, l)
			}
			for j := range l.Value.Elements {
				if call.Proof == policy.FoundKinds {
					m.dropElement(i, l, j, "drop-kind")
				}
			}
			parts[call.Name]++
			m.addMutant(i, "drop-condition", "drop "+leafName(l), l.RemoveEdits()...)
		}
	}
	whole := r.Leaves(constraintPaths(m.sources[i])...)
	for j := range whole {
		if l := &whole[j]; l.Path[0] == "where" && l.Value.Kind == policytext.TableValue {
			m.addMutant(i, "drop-condition", "drop "+leafName(l), l.RemoveEdits()...)
		}
	}
	for _, c := range m.sources[i].Calls {
		if parts[c.Key] > 1 {
			m.addMutant(i, "drop-condition", "drop "+c.Key, r.RemoveKey(c.Key)...)
		}
	}
	m.swapRules(i)
}

// mutateActions adds mutants that have another action. A rule about calls gets one mutant for each
// of the two other actions. A rule about replies gets one mutant with the next looser action, and
// one with the next stricter action. mutateActions removes the keys ask, preview and args_open,
// because not every action allows them.
func (m *mutator) mutateActions(i int, l *policytext.Leaf) {
	for _, to := range otherActions(&m.sources[i]) {
		edits := []policytext.Edit{l.SetValue(policytext.Quote(to.String()))}
		for _, key := range []string{"ask", "preview", "args_open"} {
			edits = append(edits, m.rules[i].RemoveKey(key)...)
		}
		m.addMutant(i, "action", "action to "+to.String(), edits...)
	}
}

func otherActions(s *policy.Source) (to []policy.Action) {
	if s.On == policy.OnCall {
		return slices.DeleteFunc([]policy.Action{policy.Allow, policy.Prompt, policy.Deny}, func(a policy.Action) bool { return a == s.Action })
	}
	fits := func(a policy.Action) bool {
		_, err := s.On.ParseAction(a.String())
		return err == nil && (a != policy.Redact || s.Finds != nil)
	}
	for a := s.Action + 1; a <= policy.Allow && len(to) == 0; a++ {
		if fits(a) {
			to = append(to, a)
		}
	}
	for a := s.Action; a > policy.Deny; a-- {
		if fits(a - 1) {
			return append(to, a-1)
		}
	}
	return to
}

// mutateGlobs changes the globs of a condition one by one.
func (m *mutator) mutateGlobs(i int, l *policytext.Leaf) {
	values := []policytext.Value{l.Value}
	if l.Value.Kind == policytext.ListValue {
		values = l.Value.Elements
	}
	for j, v := range values {
		change := func(kind, to string) {
			if to != v.Text {
				m.addMutant(i, kind, fmt.Sprintf("%s %q to %q", leafName(l), v.Text, to), policytext.Edit{Start: v.Start, End: v.End, Text: policytext.Quote(to)})
				m.setShortened(l, []string{policytext.Quote(v.Text)}, []string{policytext.Quote(to)})
			}
		}
		change("widen", widenStars(v.Text))
		change("narrow", strings.ReplaceAll(v.Text, "**", "*"))
		m.dropElement(i, l, j, "drop-glob")
	}
}

// dropElement adds a mutant without one element of a list. The list must have several elements.
func (m *mutator) dropElement(i int, l *policytext.Leaf, element int, kind string) {
	list := l.Value.Elements
	if len(list) < 2 {
		return
	}
	m.addMutant(i, kind, fmt.Sprintf("%s without %s", leafName(l), m.src[list[element].Start:list[element].End]), removeElement(l, element))
	other := 0
	if element == 0 {
		other = 1
	}
	text := func(i int) string { return string(m.src[list[i].Start:list[i].End]) }
	m.setShortened(l, []string{text(element), text(other)}, []string{text(other)})
}

// setShortened sets the short list of the last mutant. The parameters before and after have the
// TOML elements of the short list, without and with the mutant's change.
func (m *mutator) setShortened(l *policytext.Leaf, before, after []string) {
	if len(l.Value.Elements) > len(before) {
		list := func(elements []string) policytext.Edit { return l.SetValue("[" + strings.Join(elements, ", ") + "]") }
		m.out[len(m.out)-1].short = &shortList{list(before), list(after)}
	}
}

// removeElement returns the edit that removes one element of a list. The list must have several
// elements.
func removeElement(l *policytext.Leaf, element int) policytext.Edit {
	list := l.Value.Elements
	if element+1 < len(list) {
		return policytext.Edit{Start: list[element].Start, End: list[element+1].Start}
	}
	return policytext.Edit{Start: list[element-1].End, End: list[element].End}
}

// mutateConstraint changes a typed constraint: it drops an element of a list, inverts a boolean, or
// adds 1 to an integer or subtracts 1.
func (m *mutator) mutateConstraint(i int, l *policytext.Leaf) {
	for j := range l.Value.Elements {
		m.dropElement(i, l, j, "drop-glob")
	}
	text := l.Value.Text
	if l.Value.Kind != policytext.OtherValue {
		return
	}
	switch text {
	case "true", "false":
		to := strconv.FormatBool(text == "false")
		m.addMutant(i, "flip", fmt.Sprintf("%s to %s", leafName(l), to), l.SetValue(to))
		return
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	for _, to := range []int64{n - 1, n + 1} {
		m.addMutant(i, "bound", fmt.Sprintf("%s %d to %d", leafName(l), n, to), l.SetValue(strconv.FormatInt(to, 10)))
	}
}

// swapRules swaps a rule with the next rule, if both have the same subject and different actions.
// Otherwise the order would have no effect.
func (m *mutator) swapRules(i int) {
	if i+1 == len(m.rules) || !m.isOwn(i+1) || !sameSubject(&m.sources[i], &m.sources[i+1]) || m.sources[i].Action == m.sources[i+1].Action {
		return
	}
	a, b := m.rules[i], m.rules[i+1]
	text := func(r policytext.Rule) string { return string(m.src[r.Start:r.End]) }
	next := m.sources[i+1]
	m.scope = m.document.scopeOf(i, i+1)
	m.addMutant(i, "swap", fmt.Sprintf("below the next rule, %s %s", next.Action, formatNames(&next)),
		policytext.Edit{Start: a.Start, End: a.End, Text: text(b)}, policytext.Edit{Start: b.Start, End: b.End, Text: text(a)})
}

// widenStars doubles every star of a glob. It leaves a star after "**/" as it is, because doubling
// it would not change the texts that match.
func widenStars(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		b.WriteByte(glob[i])
		if glob[i] != '*' || strings.HasSuffix(glob[:i], "**/") {
			continue
		}
		b.WriteByte('*')
		for i+1 < len(glob) && glob[i+1] == '*' {
			i++
		}
	}
	return b.String()
}

// leafName returns the key of a leaf in the notation of a policy.
func leafName(l *policytext.Leaf) string { return strings.Join(l.Path, ".") }
