package prove_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	readings "github.com/clawai/clawai/policy/reading"
)

// maxPolicies is how many policies the property tests generate: five of each kind of world by day.
func maxPolicies() int { return slow.Rounds(55, 5_000) }

// world is the calls that are tried against a policy: all texts over a, b and /
// up to a length, and paths from an unknown base.
type world struct {
	kind            string
	subject         policy.Subject
	names, servers  []string
	args            []string
	values          []string
	globs, argGlobs int // elements of a glob
	cased           bool
	further         bool // rules and calls with arguments that no rule names
	beyond          bool // rules with exceptions, or about any argument: no proof need be found
	finds           bool // rules about what is found, and calls with each set of some kinds
}

func texts(n int, extra ...string) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, c := range "ab/" {
				next = append(next, s+string(c))
			}
		}
		all, last = append(all, next...), next
	}
	return append(all, extra...)
}

// worlds have a bound on the texts that no witness needs to pass: a shortest
// one goes through no state of the product of the automata twice, and those of
// globs of so few elements tell texts apart by their first and last characters
// and by what occurs between.
func worlds(t *testing.T) []world {
	// The run that people wait for looks at texts a character shorter.
	more := 0
	if maxPolicies() > 2000 {
		more = 1
	}
	few := []string{"", "a", "b", "ab", "/a", "b/a"}
	unknown := []string{"..", "../a", "../b/a"}
	return []world{
		{kind: "names", subject: policy.ToolSubject, names: texts(5 + more), servers: []string{"x"}, globs: 4},
		{kind: "servers", subject: policy.ToolSubject, names: texts(3), servers: texts(2 + more)[1:], globs: 2},
		{kind: "one argument", subject: policy.ToolSubject, names: []string{"a", "b"}, servers: []string{"x"},
			args: []string{"p"}, values: texts(5+more, unknown...), globs: 1, argGlobs: 4},
		{kind: "two arguments", subject: policy.ToolSubject, names: []string{"a", "b"}, servers: []string{"x"},
			args: []string{"p", "q"}, values: texts(2+more, unknown...), globs: 1, argGlobs: 2},
		{kind: "everything", subject: policy.ToolSubject, names: few, servers: []string{"a", "b"},
			args: []string{"p"}, values: texts(3+more, unknown...), globs: 2, argGlobs: 3},
		{kind: "resources", subject: policy.ResourceSubject, names: texts(5+more, unknown...), servers: []string{"x"}, globs: 4},
		{kind: "letter case", subject: policy.ToolSubject, names: []string{"a", "b"}, servers: []string{"x"},
			args: []string{"p"}, values: cased(texts(4+more, unknown...)), globs: 1, argGlobs: 4, cased: true},
		{kind: "further arguments", subject: policy.ToolSubject, names: []string{"a", "b"}, servers: []string{"x"},
			args: []string{"p", "q"}, values: texts(1+more, unknown...), globs: 1, argGlobs: 2, further: true},
		{kind: "exceptions", subject: policy.ToolSubject, names: few, servers: []string{"a", "b"},
			args: []string{"p", "q"}, values: texts(1+more, unknown...), globs: 2, argGlobs: 2, beyond: true},
		{kind: "findings", subject: policy.ToolSubject, names: few, servers: []string{"x"},
			args: []string{"p"}, values: texts(1+more, unknown...), globs: 2, argGlobs: 2, finds: true},
		{kind: "methods", subject: policy.MethodSubject, names: texts(5), servers: []string{"x"}, globs: 4},
	}
}

func randomGlob(r *rand.Rand, n int) string {
	// b is in the world as the character that no glob names.
	pieces := []string{"a", "/", "*", "**", "?", "a"}
	if n > 2 && r.IntN(6) == 0 {
		return "**/" + pieces[r.IntN(len(pieces))]
	}
	var b strings.Builder
	for range 1 + r.IntN(n) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// cased adds the texts in which an a or two are capitals.
func cased(texts []string) []string {
	for _, s := range slices.Clone(texts) {
		for i := range len(s) {
			for j := i; j < len(s); j++ {
				t := []byte(s)
				if t[i] = 'A'; s[i] == 'a' && s[j] == 'a' {
					t[j] = 'A'
					texts = append(texts, string(t))
				}
			}
		}
	}
	return texts
}

// argGlob is a glob for an argument.
func (w *world) argGlob(r *rand.Rand) string {
	glob := randomGlob(r, w.argGlobs)
	if w.cased && r.IntN(2) == 0 {
		glob = strings.Replace(glob, "a", "A", 1+r.IntN(2))
	}
	return glob
}

func (w *world) policy(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		w.rule(r, &b)
	}
	return b.String()
}

func (w *world) rule(r *rand.Rand, b *strings.Builder) {
	action := []string{"allow", "deny", "prompt"}[r.IntN(3)]
	fmt.Fprintf(b, "[[rule]]\naction = %q\n", action)
	if w.finds && action != "allow" && r.IntN(4) > 0 {
		kinds := []string{"secret", "card", "hidden", "*"}
		r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		fmt.Fprintf(b, "find = [%s]\n", strings.Join(quoted(kinds[:1+r.IntN(3)]), ", "))
	}
	fmt.Fprintf(b, "%s = %s\n", w.subject.RuleKey(), oneOrTwo(r, func() string {
		if w.globs == 1 {
			return []string{"a", "*", "**"}[r.IntN(3)]
		}
		return randomGlob(r, w.globs)
	}))
	if len(w.servers) > 1 && r.IntN(2) == 0 {
		fmt.Fprintf(b, "server = %s\n", oneOrTwo(r, func() string { return randomGlob(r, 2) }))
	}
	for _, arg := range w.args {
		if r.IntN(5) > 0 {
			fmt.Fprintf(b, "args.%s = %s\n", arg, oneOrTwo(r, func() string { return w.argGlob(r) }))
		}
	}
	if w.beyond {
		for _, e := range []struct {
			name string
			glob func() string
		}{
			{"not.tool", func() string { return randomGlob(r, 2) }}, {"not.server", func() string { return randomGlob(r, 1) }},
			{"not.args.p", func() string { return w.argGlob(r) }}, {`args."*"`, func() string { return w.argGlob(r) }}, {`not.args."*"`, func() string { return w.argGlob(r) }},
		} {
			if r.IntN(4) == 0 {
				fmt.Fprintf(b, "%s = %s\n", e.name, oneOrTwo(r, e.glob))
			}
		}
	}
	if w.further {
		text := b.String()
		rule := text[strings.LastIndex(text, "[[rule]]"):]
		switch r.IntN(5) {
		case 0:
			b.WriteString("args_only = true\n")
		case 1:
			b.WriteString("args_only = [\"q\", \"z\"]\n")
		case 2:
			if strings.Contains(rule, "\"allow\"") && strings.Contains(rule, "args.") {
				b.WriteString("args_open = true\n")
			}
		}
	}
}

// oneOrTwo writes a glob, or now and then a list of two.
func oneOrTwo(r *rand.Rand, glob func() string) string {
	if r.IntN(4) == 0 {
		return fmt.Sprintf("[%q, %q]", glob(), glob())
	}
	return strconv.Quote(glob())
}

// carried are what calls may carry: sets of the kinds that rules name, and of one that none
// does. The call without is that in which nobody has looked.
func (w *world) carried() (all [][]string) {
	if !w.finds {
		return nil
	}
	kinds := []string{"secret", "card", "hidden", "gap"}
	for of := range 1 << len(kinds) {
		var finds []string
		for i, kind := range kinds {
			if of&(1<<i) != 0 {
				finds = append(finds, kind)
			}
		}
		all = append(all, finds)
	}
	return all
}

func quoted(words []string) (out []string) {
	for _, w := range words {
		out = append(out, strconv.Quote(w))
	}
	return out
}

// calls visits every call of the world.
func (w *world) calls(visit func(*policy.Call)) {
	objects := []map[string]string{{}}
	for _, arg := range w.args {
		for _, o := range slices.Clone(objects) {
			for _, v := range w.values {
				with := maps.Clone(o)
				with[arg] = v
				objects = append(objects, with)
			}
		}
	}
	if w.further {
		for _, o := range slices.Clone(objects) {
			for name, v := range map[string]string{"r": "x", "r_path": "x", "z": "/x"} {
				with := maps.Clone(o)
				with[name] = v
				objects = append(objects, with)
			}
		}
	}
	for _, name := range w.names {
		for _, server := range w.servers {
			for _, o := range objects {
				args, err := json.Marshal(o)
				if err != nil {
					panic(err)
				}
				c := policy.Call{Subject: w.subject, Names: []string{name}, Server: server, Args: args}
				visit(&c)
				for _, finds := range w.carried() {
					with := c
					with.Finds, with.Screened = finds, true
					visit(&with)
				}
			}
		}
	}
}

// other maps the characters that stand for all that no glob names to the one
// that does so in the world, where globs do not name it.
var other = strings.NewReplacer("x", "b", "y", "b", "0", "b")

// within says whether a call is one of the world's, up to what other characters
// it has.
func (w *world) within(c *policy.Call) bool {
	var args map[string]string
	if c.Args != nil && json.Unmarshal(c.Args, &args) != nil {
		return false
	}
	for name, v := range args {
		if !w.further && !slices.Contains(w.args, name) || !slices.Contains(w.values, other.Replace(v)) {
			return false
		}
	}
	return slices.Contains(w.names, other.Replace(c.Names[0])) && (len(w.servers) == 1 || slices.Contains(w.servers, other.Replace(c.Server)))
}

// started is a call to a server of which it is known where its relative paths start.
func started(c *policy.Call, seed int) *policy.Call {
	in := *c
	in.Cwd = []string{"/", "/a", "/b/a", "/A"}[seed/9%4]
	return &in
}

// suspicious says that a call has an argument that a rule which does not name it
// may watch for.
func suspicious(c *policy.Call) bool {
	var args map[string]string
	if json.Unmarshal(c.Args, &args) != nil {
		return false
	}
	for name, v := range args {
		if readings.SuspectReason(name, v) != "" {
			return true
		}
	}
	return false
}

// TestReachAgainstBruteForce tries every call of a small world on generated
// policies: what it finds reached must be so found, what is called covered must
// be met by no call, and every witness must stand before the policy.
func TestReachAgainstBruteForce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	ws := worlds(t)
	calls := make([][]*policy.Call, len(ws))
	for i := range ws {
		ws[i].calls(func(c *policy.Call) {
			if !ws[i].finds || c.Screened { // of calls in which nothing has looked, reach says nothing
				calls[i] = append(calls[i], c)
			}
		})
	}
	counts := map[string]int{}
	for seed := range maxPolicies() {
		if seed > 0 && seed%10000 == 0 {
			t.Logf("%d policies", seed)
		}
		i := seed % len(ws)
		w := &ws[i]
		text := w.policy(rand.New(rand.NewPCG(1, uint64(seed))))
		p := parse(t, text)
		findings := prove.Reach(p, prove.Options{})
		reached := make([]*policy.Call, len(findings))
		missing := len(findings)
		for _, c := range calls[i] {
			if missing == 0 && !w.further {
				break
			}
			tr := p.Trace(c)
			for _, r := range tr.ReachedRules() {
				if reached[r] == nil {
					missing--
				}
				if reached[r] == nil || w.further && suspicious(reached[r]) {
					reached[r] = c
				}
			}
		}
		if slices.ContainsFunc(findings, func(f prove.Finding) bool { return f.Status == prove.Covered && !f.AsWritten }) {
			for _, c := range calls[i] {
				in := started(c, seed)
				tr := p.Trace(in)
				for _, r := range tr.ReachedRules() {
					if f := &findings[r]; f.Status == prove.Covered && !f.AsWritten && !(f.Bare && suspicious(in)) {
						t.Errorf("%s %d: rule %d is called covered by %v, and %s in %s reaches it\n%s", w.kind, seed, r, f.By, c.Args, in.Cwd, text)
						break
					}
				}
			}
		}
		for r, f := range findings {
			counts[fmt.Sprint(f.Status, f.AsWritten)]++
			switch {
			case f.Status == prove.Undecided && (w.further || w.beyond):
				counts["further, undecided"]++
			case f.Status == prove.Covered && f.Bare && reached[r] != nil && suspicious(reached[r]):
				counts["covered but for further arguments"]++
			case f.Status == prove.Undecided:
				t.Errorf("%s %d: rule %d is undecided (%s)\n%s", w.kind, seed, r, f.Reason, text)
			case f.Status == prove.Covered && reached[r] != nil:
				t.Errorf("%s %d: rule %d is called covered by %v, and %v %s reaches it\n%s", w.kind, seed, r, f.By, reached[r].Names, reached[r].Args, text)
			case f.Status == prove.Reached:
				tr := p.Trace(f.Witness)
				if !slices.Contains(tr.ReachedRules(), r) {
					t.Errorf("%s %d: %v %s does not reach rule %d\n%s", w.kind, seed, f.Witness.Names, f.Witness.Args, r, text)
				}
				if reached[r] == nil && w.within(f.Witness) {
					t.Errorf("%s %d: the brute force missed %v", w.kind, seed, f.Witness)
				}
				if reached[r] == nil {
					counts["beyond the world"]++
				}
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("rules: %v", counts)
}
