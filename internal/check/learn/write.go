package learn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Compose returns the text of the policy: the extended policy with the rules added, or a new
// policy.
func (l *Learner) Compose(rules []*Rule) ([]byte, error) {
	rules = l.orderRules(rules) // sort again, because a person may have changed the action of a rule
	if l.judge == nil {
		return l.composeNew(rules)
	}
	sources := l.judge.Policy().Sources()
	own := slices.DeleteFunc(slices.Clone(sources), func(s policy.Source) bool { return s.Pos.File != l.o.File })
	st := styleOf(l.o.Policy, own)
	text := l.o.Policy
	above := map[int][]*Rule{}
	var loose []*Rule
	for _, r := range rules {
		if r.Above == nil {
			loose = append(loose, r)
		} else {
			above[r.Above.Index] = append(above[r.Above.Index], r)
		}
	}
	// Begin with the last rule, because an insertion moves all rules below it.
	for i := len(sources) - 1; i >= 0; i-- {
		if len(above[i]) == 0 {
			continue
		}
		parts := l.folderDenials(above[i], st)
		for _, r := range above[i] {
			part, err := l.writeNarrowed(r, st)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		var err error
		if text, err = l.judge.Policy().InsertAbove(text, sources[i].Rule, strings.Join(parts, "\n")); err != nil {
			return nil, err
		}
	}
	if len(loose) > 0 {
		// No rule of the extended policy matches the calls of these rules, so they come last.
		parts := l.folderDenials(loose, st)
		for _, r := range loose {
			parts = append(parts, l.formatComment(r)+st.writePairs(r.rulePairs(st)))
		}
		text = policytext.AppendText(text, strings.Join(parts, "\n"))
	}
	if _, err := policy.Parse(cmp.Or(l.o.File, "learned"), text, l.o.ParseOptions); err != nil {
		return nil, fmt.Errorf("the policy would not load with what was learned: %w", err)
	}
	return text, nil
}

func (l *Learner) composeNew(rules []*Rule) ([]byte, error) {
	st := styleOf(nil, nil)
	var b strings.Builder
	fmt.Fprintf(&b, "# Learned by clawai on %s from %d recorded decisions. Read it before you use it.\n# The first rule that matches decides; what no rule matches is denied.\n", l.o.Now.Format(time.DateOnly), l.Seen)
	for _, part := range secretDenials(rules, st) {
		b.WriteString("\n" + part)
	}
	for _, r := range rules {
		b.WriteString("\n" + l.formatComment(r) + st.writePairs(r.rulePairs(st)))
	}
	b.WriteString("\n# Everything else is denied: no rule matches it.\n")
	text := []byte(b.String())
	if _, err := policy.Parse("learned", text, l.o.ParseOptions); err != nil {
		return nil, fmt.Errorf("what was learned does not load: %w", err)
	}
	return text, nil
}

// rulePairs returns the keys and values of a rule as TOML.
func (r *Rule) rulePairs(st style) []policytext.Pair {
	pairs := []policytext.Pair{
		st.makePair("action", r.Action.String()), st.makePair(r.Subject.RuleKey(), r.Name), st.makePair("server", r.Server),
	}
	for _, c := range r.Conditions {
		pairs = append(pairs, st.makePair(policytext.DottedKey("args", c.Arg), c.Globs...))
	}
	return append(append(pairs, r.wherePairs(st)...), st.makePair("description", r.DescribeRule()))
}

// wherePairs returns the typed constraints of a rule: arguments that must be absent, and folders
// that a path must not leave through symbolic links.
func (r *Rule) wherePairs(st style) (pairs []policytext.Pair) {
	for _, name := range r.Absent {
		pairs = append(pairs, policytext.Pair{Key: policytext.DottedKey("where", name, "present"), Value: "false"})
	}
	for _, c := range r.Conditions {
		if dirs := foldersOf(c.Globs); r.links && r.Class != Executes && len(dirs) > 0 {
			pairs = append(pairs, policytext.Pair{Key: policytext.DottedKey("where", c.Arg, "under"), Value: policytext.FormatList(st.quoteAll(dirs))})
		}
	}
	return pairs
}

// foldersOf returns the folders of globs for paths on the disk; nil if a glob is for something
// else.
func foldersOf(globs []string) (dirs []string) {
	for _, g := range globs {
		if !strings.HasPrefix(g, "/") && !strings.HasPrefix(g, "~/") {
			return nil
		}
		if dir := g[:strings.LastIndexByte(g, '/')]; dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (l *Learner) formatComment(r *Rule) string {
	s := "# Learned on " + l.o.Now.Format(time.DateOnly) + " from " + r.DescribeEvidence() + ".\n"
	if len(r.Open) > 0 {
		open := make([]string, 0, len(r.Open))
		for _, name := range r.Open {
			open = append(open, policytext.DottedKey(name))
		}
		slices.Sort(open)
		s += "# Arguments it does not name stay open: " + strings.Join(open, ", ") + ".\n"
	}
	return s
}

// writeNarrowed returns the text of a rule that goes above r.Above. It has every condition of
// r.Above, so it matches only calls that r.Above matches.
func (l *Learner) writeNarrowed(r *Rule, st style) (string, error) {
	call, scope := r.sampleCall()
	n, err := l.judge.Policy().NarrowRule(*r.Above, &call, scope, r.Action)
	if err != nil {
		return "", err
	}
	asked, now := l.judge.Policy().Sources()[r.Above.Index], n.Policy.Sources()[r.Above.Index]
	if len(now.Where) < len(asked.Where) || !keepsConditions(asked.Calls, now.Calls) || !sameExceptions(&asked.Not, &now.Not) {
		return "", fmt.Errorf("the rule on line %d has conditions that a learned rule cannot keep", r.Above.Pos.Line)
	}
	doc, err := policytext.ReadDocument([]byte(n.Text))
	if err != nil {
		return "", err
	}
	var pairs []policytext.Pair
	for _, s := range doc.Statements[1:] {
		k, v := policytext.DottedKey(s.Key[0], s.Key[1:]...), n.Text[s.Value.Start:s.Value.End]
		for _, c := range r.Conditions {
			if k == policytext.DottedKey("args", c.Arg) {
				v = st.formatGlobs(narrowGlobs(c.Globs, limitOf(n, c.Arg)))
			}
		}
		switch k {
		case "resource":
			v = st.quoteString(narrowGlobs([]string{r.Name}, []string{n.Name})[0])
		case "description":
			v = st.quoteString(r.DescribeRule())
		case "action", "tool", "prompt":
			v = st.requoteString(v)
		default:
			if call, _ := policy.CallKeyOf(k); call.Glob {
				v = st.requoteString(v)
			}
		}
		pairs = append(pairs, policytext.Pair{Key: k, Value: v})
	}
	pairs = append(pairs, r.wherePairs(st)...)
	if !slices.ContainsFunc(pairs, func(p policytext.Pair) bool { return p.Key == "description" }) {
		pairs = append(pairs, st.makePair("description", r.DescribeRule()))
	}
	return l.formatComment(r) + st.writePairs(pairs), nil
}

// sameExceptions reports whether two rules have the same exceptions.
func sameExceptions(a, b *policy.Exceptions) bool {
	return slices.Equal(a.Names, b.Names) &&
		slices.EqualFunc(a.Calls, b.Calls, func(x, y policy.Stated) bool { return x.Key == y.Key && x.Text == y.Text }) &&
		slices.EqualFunc(a.Args, b.Args, func(x, y policy.ArgSource) bool {
			return slices.Equal(x.Path, y.Path) && slices.Equal(x.Globs, y.Globs)
		})
}

// keepsConditions reports whether a narrowed rule still has all those conditions of the old rule
// that are about the whole call.
func keepsConditions(old, narrowed []policy.Stated) bool {
	return !slices.ContainsFunc(old, func(a policy.Stated) bool {
		return !slices.ContainsFunc(narrowed, func(n policy.Stated) bool { return n.Key == a.Key })
	})
}

// requoteString changes the double quotes of a TOML string to the quotes that the author uses.
func (st style) requoteString(v string) string {
	if st.literal && !strings.ContainsAny(v, `\'`) && len(v) > 1 && v[0] == '"' && v[len(v)-1] == '"' {
		return "'" + v[1:len(v)-1] + "'"
	}
	return v
}

// limitOf returns the globs that a narrowed rule has for an argument; nil if it has none.
func limitOf(n *policy.Narrowed, arg string) []string {
	for _, limit := range n.Limits {
		if len(limit.Path) == 1 && limit.Path[0] == arg {
			return limit.Globs
		}
	}
	return nil
}

// narrowGlobs returns those globs that a glob in outer covers. If there are none, it returns outer.
func narrowGlobs(globs, outer []string) []string {
	var kept []string
	for _, g := range globs {
		for _, o := range outer {
			dir, star := strings.TrimRight(o, "*"), len(o)-len(strings.TrimRight(o, "*"))
			rest, below := strings.CutPrefix(g, dir)
			if g == o || below && strings.HasSuffix(dir, "/") && (star == 2 || star == 1 && !strings.Contains(rest, "/") && !strings.HasSuffix(g, "**")) {
				kept = append(kept, g)
				break
			}
		}
	}
	if len(kept) == 0 {
		return outer
	}
	return kept
}

// sampleCall returns a call that the rule matches, and a scope. policy.NarrowRule narrows r.Above
// to this call and scope.
func (r *Rule) sampleCall() (policy.Call, policy.Scope) {
	c := r.calls[0].call
	c.At = time.Time{}
	switch {
	case r.Subject == policy.ResourceSubject:
		c.Names = []string{sampleText(r.Name)}
		return c, policy.Folder
	case len(r.Conditions) == 0:
		c.Args = r.calls[0].call.Args
		return c, policy.Tool
	case r.Class == Executes:
		return c, policy.Exact
	}
	args := map[string]any{}
	for _, cond := range r.Conditions {
		texts := make([]string, len(cond.Globs))
		for i, g := range cond.Globs {
			texts[i] = sampleText(g)
		}
		args[cond.Arg] = texts
	}
	c.Args, _ = json.Marshal(args) // the error is ignored, because strings can always be encoded
	return c, policy.Folder
}

// sampleText returns a text that a learned glob matches.
func sampleText(glob string) string {
	if dir := strings.TrimRight(glob, "*"); dir != glob {
		return dir + "x"
	}
	return glob
}
