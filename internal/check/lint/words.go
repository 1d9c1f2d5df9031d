package lint

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

func formatInt(n int) string { return strconv.Itoa(n) }

// oneLine returns a call and its answer on one line. An example is: tool read_file {"path":"/x"} is
// allowed by the rule on line 7
func (l *linter) oneLine(c *policy.Call, d *policy.Decision) string {
	var b strings.Builder
	b.WriteString(c.Subject.RuleKey() + " " + strings.Join(quoteOddNames(c.Names), ", "))
	if len(c.Args) > 0 {
		b.WriteString(" " + string(c.Args))
	}
	if c.Server != "" && c.Server != anyServer {
		b.WriteString(" at server " + strconv.Quote(c.Server))
	}
	if len(c.Finds) > 0 {
		b.WriteString(" carrying " + strings.Join(c.Finds, ", "))
	}
	b.WriteString(map[policy.Action]string{policy.Allow: " is allowed", policy.Deny: " is denied", policy.Prompt: " is asked about"}[d.Action])
	switch {
	case d.Rule != nil:
		b.WriteString(" by " + l.describeRule(d.Rule.Pos))
	case d.Reason != "":
		b.WriteString(": " + d.Reason)
	default:
		b.WriteString(": no rule matches")
	}
	return b.String()
}

// anyServer is the server's name in a witness if no rule names a server.
const anyServer = "x"

// quoteOddNames quotes names that are hard to read without quotes.
func quoteOddNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = n; n == "" || strings.ContainsFunc(n, func(r rune) bool { return r == ' ' || r == '"' || !strconv.IsPrint(r) }) {
			out[i] = strconv.Quote(n)
		}
	}
	return out
}

// formatGlobs returns one glob, or a list of globs, as TOML.
func formatGlobs(globs []string) string { return policytext.OneOrList(policytext.QuoteAll(globs)) }

// joinNames returns names as a list in a sentence. It shortens long lists.
func joinNames(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + formatInt(len(names)-most) + " more"
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// linesOf returns a phrase that names rules by their line numbers.
func (l *linter) linesOf(rules []int) string {
	var lines, places []string
	for _, i := range rules {
		pos := l.sources[i].Pos
		places = append(places, l.describeRule(pos))
		if pos.File == l.options.File {
			lines = append(lines, formatInt(pos.Line))
		}
	}
	if len(places) == 1 || len(lines) < len(places) {
		return joinNames(places)
	}
	return "the rules on lines " + joinNames(lines)
}

// withArgument returns a copy of a tool call with one argument added or replaced. It returns nil if the
// call's arguments are not an object.
func withArgument(base *policy.Call, path []string, value string) *policy.Call {
	if policy.EveryArgument(path) {
		path = []string{"x"}
	}
	args := map[string]any{}
	if base.Args != nil && json.Unmarshal(base.Args, &args) != nil {
		return nil
	}
	at := args
	for _, name := range path[:len(path)-1] {
		below, ok := at[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[name] = below
		}
		at = below
	}
	at[path[len(path)-1]] = value
	raw, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	c := *base
	c.Args = raw
	return &c
}

func isAllow(r *policy.Source) bool { return r.Action == policy.Allow }

// visitRules calls visit for each rule that decides calls.
func (l *linter) visitRules(visit func(i int, r *policy.Source)) {
	for i := range l.sources {
		if l.sources[i].Subject != policy.NoSubject {
			visit(i, &l.sources[i])
		}
	}
}
