package policy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What an answer writes, for whatever policy, call and scope:
//   - the new policy loads, holds every byte of the old one, and gives the call
//     the answer;
//   - what was denied stays denied;
//   - a call is answered differently only if the rule asked about it that was
//     answered for;
//   - a rule about a server stays about it;
//   - what denies opens nothing at all.
func TestAnswers(t *testing.T) {
	slow.Test(t)
	policies := slow.Rounds(1500, 100_000)
	var written, compared, changed int
	for seed := range policies {
		a := answers{T: t, gen: gen{rand.New(rand.NewPCG(uint64(seed), 1))}, seed: seed}
		a.run()
		written, compared, changed = written+a.written, compared+a.compared, changed+a.changed
		if t.Failed() {
			break
		}
	}
	t.Logf("%d policies, %d rules written, %d other calls judged before and after, %d answered differently", policies, written, compared, changed)
	if written < policies || changed < policies {
		t.Error("too few for anything to be shown")
	}
}

// answers is one generated policy and what is written into it.
type answers struct {
	*testing.T
	gen
	seed int
	src  []byte
	old  *Policy

	written, compared, changed int
}

func (a *answers) run() {
	a.src = []byte(a.policy())
	var err error
	if a.old, err = Parse("p.toml", a.src, Options{Home: home}); err != nil {
		a.Fatalf("seed %d: %v\n%s", a.seed, err, a.src)
	}
	asked := 0
	for range 12 {
		call := a.call()
		d := a.old.Decide(call)
		if d.Action != Prompt {
			continue
		}
		others := a.others(call)
		for _, s := range AllScopes() {
			for _, action := range []Action{Allow, Deny} {
				a.answer(*d.Rule, call, s, action, others)
			}
		}
		if asked++; asked == 2 {
			return
		}
	}
}

func (a *answers) answer(r Rule, call *Call, s Scope, action Action, others []*Call) {
	n, err := a.old.NarrowRule(r, call, s, action)
	if err != nil {
		return
	}
	a.written++
	fail := func(format string, args ...any) {
		a.Errorf("seed %d: %s %s to %s%s writes\n%s\n%s\ninto\n%s", a.seed, action, s, call.Names, call.Args, n.Text, fmt.Sprintf(format, args...), a.src)
	}
	next, err := a.old.InsertAbove(a.src, r, n.Text)
	if err != nil {
		fail("%v", err)
		return
	}
	after, err := Parse("p.toml", next, Options{Home: home})
	switch {
	case err != nil:
		fail("%v", err)
		return
	case !holdsInOrder(next, a.src):
		fail("which changes a byte: %s", next)
	case after.Decide(call).Action != action || n.Policy.Decide(call).Action != action:
		fail("which says %+v", after.Decide(call))
	}
	asked, wrote := &a.old.sources[r.Index], &after.sources[r.Index]
	if from := asked.server(); from != nil && (wrote.server() == nil || *wrote.server() != *from && (*wrote.server() != call.Server || !refGlob(*from, call.Server))) {
		fail("which is about another server")
	}
	granted := after
	if action == Allow { // what is written nowhere is held to the same
		g, err := a.old.Grant(r, call, s)
		if err != nil || g.Text != n.Text {
			fail("which is not what is granted: %v", err)
			return
		}
		granted = g.Policy
	}
	for _, other := range others {
		a.compared++
		was, is := a.old.Decide(other), after.Decide(other)
		if d := granted.Decide(other); d.Action != is.Action {
			fail("and %s%s of server %q: %+v where it is granted, %+v where it is written", other.Names, other.Args, other.Server, d, is)
		}
		if is.Action != was.Action {
			a.changed++
		}
		if why := against(was, is, r, action); why != "" {
			fail("and %s%s of server %q %s: %+v before, %+v after", other.Names, other.Args, other.Server, why, was, is)
		}
	}
}

// against says what law a change of answers breaks.
func against(was, is Decision, asked Rule, action Action) string {
	byOther := was.Rule == nil || was.Rule.Index != asked.Index
	switch {
	case action == Deny && is.Action > was.Action:
		return "becomes less strict"
	case action == Deny:
	case was.Action == Deny && is.Action != Deny:
		return "is not denied any more"
	case is.Action != was.Action && (was.Action != Prompt || byOther):
		return "was not asked about by the rule"
	case is.Action < was.Action:
		return "becomes stricter"
	}
	if byOther && was.Action == Prompt && is.Action == Prompt && was.Rule.OutOfBand && !is.Rule.OutOfBand {
		return "may be answered by anybody now"
	}
	return ""
}

// holdsInOrder says whether whole is part with one piece put in.
func holdsInOrder(whole, part []byte) bool {
	n := 0
	for n < len(part) && whole[n] == part[n] {
		n++
	}
	for ; n >= 0; n-- {
		if bytes.HasSuffix(whole, part[n:]) {
			return true
		}
	}
	return false
}

// gen draws small policies and calls from words that meet often.
type gen struct{ *rand.Rand }

func (g gen) of(words ...string) string { return words[g.IntN(len(words))] }

func (g gen) name() string { return g.of("read", "write", "write", "a/b", "Read", "x?", "re*") }

func (g gen) glob() string {
	return g.of("*", "**", "**", "/srv/**", "/srv/p/**", "/srv/p/*", "/srv/p/x", "/SRV/P/**", "**/x", "**/p/*", "~/**", "/home/user/**", "~/p/*",
		"?*", "/srv/?/**", "src/**", "**x**", "[**", "{*", "100*", "1*", "file:///srv/**", "file:///srv/p/*", `C:\**`, "C:/Users/**", "https://h.example/**", "https://**", "/srv/%70/**", "./**", "é*", "../**", "true")
}

func (g gen) value() string {
	return g.of(`"/srv/p/x"`, `"/srv/p/x"`, `"/srv/p/y"`, `"/srv/p/sub/x"`, `"/srv/q/x"`, `"/srv/p/"`, `"/srv/p"`, `"/srv/p/../q/x"`, `"/srv/%70/x"`, `"/srv/p/%2e%2e/x"`,
		`"/srv//p/x"`, `"/SRV/P/X"`, `"/srv/p/X"`, `"~/p/x"`, `"/home/user/p/x"`, `"/home/user/x"`, `"~root/x"`, `"src/x"`, `"./src/x"`, `"../src/x"`, `".env"`, `"x"`, `"100%"`,
		`"C:\\Users\\me\\x"`, `"C:/Users/me/x"`, `"file:///srv/p/x"`, `"FILE:/srv/p/x"`, `"https://H.Example/a?b"`, `"https://h.example/a/x"`, `"https://u@h.example/a"`,
		`"[\"/srv/p/x\"]"`, `"[\"/srv/p/x\", \"/srv/q/x\"]"`, `"{\"a\":\"/srv/p/x\"}"`, `"{\"a\":100,\"b\":[]}"`, `"[\"/srv/p/"`,
		`"text x text"`, `" /srv/p/x"`, `"/srv/p/x "`, `"line\nbreak"`, `"/srv\n/p"`, `"\u00e9x"`, `"e\u0301x"`, `"a*"`, `""`, `"/srv/p/\u0000"`, `"/srv/\u200bp"`,
		`100`, `1e2`, `100.0`, `-1`, `true`, `null`, `[]`, `["/srv/p/x"]`, `["/srv/p/x","/srv/q/x"]`, `["/srv/p/x",[1]]`, `{"a":"/srv/p/x"}`, `{}`, `[{"a":"x"},{"a":"/srv/p/x"}]`)
}

// policy writes policies whose layout varies as much as their rules.
func (g gen) policy() string {
	var b strings.Builder
	for i := range 1 + g.IntN(4) {
		b.WriteString(g.of("", "", "# comment\n", "\n# one\n# two\n", "\n") + g.of("", "", "  "))
		action := g.of("prompt", "prompt", "prompt", "allow", "deny")
		subject := g.of("tool", "tool", "tool", "tool", "resource", "prompt", "sampling", "method")
		name := g.of("*", "**", "**", "re*", "write", "?*")
		if subject == "resource" {
			name = g.glob()
		}
		fmt.Fprintf(&b, "[[rule]]\n\taction = '%s'\n%s = '%s'\n", action, subject, name)
		if action == "prompt" {
			b.WriteString(g.of("", "", "", "ask = 'out-of-band'\n"))
		}
		if g.IntN(4) == 0 {
			fmt.Fprintf(&b, "server = '%s' # of rule %d\n", g.of("fs", "f*", "*"), i)
		}
		if subject == "tool" || subject == "prompt" {
			for _, arg := range []string{"path", "Path", "o.a", "n"} {
				if g.IntN(4) == 0 {
					fmt.Fprintf(&b, "args.%s = ['%s', '%s']\n", arg, g.glob(), g.glob())
				}
			}
		}
	}
	src := b.String()
	if g.IntN(4) == 0 {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return strings.TrimRight(src, g.of("", "\r\n"))
}

func (g gen) call() *Call {
	subject := []Subject{ToolSubject, ToolSubject, ToolSubject, ToolSubject, ResourceSubject, PromptSubject, SamplingSubject, MethodSubject}[g.IntN(8)]
	c := &Call{Server: g.of("", "fs", "fs", "git"), Subject: subject, Names: []string{g.name()}}
	switch subject {
	case ResourceSubject:
		c.Names[0] = strings.Trim(g.value(), `"`)
	case SamplingSubject:
		if g.IntN(3) == 0 {
			c.Names = append(c.Names, g.name())
		}
	case ToolSubject, PromptSubject:
		c.Args = g.args()
	}
	return c
}

func (g gen) args() []byte {
	var members []string
	for _, name := range []string{"path", "o", "n", g.of("more", "PATH", "Path")} {
		// Names that fold together do not pass the reading of frames.
		if g.IntN(2) == 0 && !slices.ContainsFunc(members, func(m string) bool {
			return strings.HasPrefix(strings.ToLower(m), `"path"`) && strings.EqualFold(name, "path")
		}) {
			members = append(members, fmt.Sprintf("%q: %s", name, g.value()))
		}
	}
	return []byte("{" + strings.Join(members, ", ") + "}")
}

// others are calls beside one, most of them hardly different.
func (g gen) others(c *Call) []*Call {
	calls := make([]*Call, 0, 24)
	for range 4 {
		calls = append(calls, g.call())
	}
	for range 20 {
		other := *c
		switch g.IntN(8) {
		case 0:
			other.Server = g.of("", "fs", "git")
		case 1:
			other.Names = []string{g.name()}
		}
		switch {
		case c.Subject == ResourceSubject:
			other.Names = []string{strings.Trim(g.value(), `"`)}
		case c.Args == nil:
		case g.IntN(3) == 0:
			other.Args = g.args()
		default:
			other.Args = g.changed(c.Args)
		}
		calls = append(calls, &other)
	}
	return calls
}

// changed gives one or two members other values, or puts one in.
func (g gen) changed(args []byte) []byte {
	members := strings.Split(string(args[1:len(args)-1]), `, "`)
	if len(members) == 1 && members[0] == "" {
		return []byte(`{"path": ` + g.value() + `}`)
	}
	for range 1 + g.IntN(2) {
		i := g.IntN(len(members))
		name, _, _ := strings.Cut(members[i], ": ")
		members[i] = name + ": " + g.value()
	}
	out := strings.Join(members, `, "`)
	if g.IntN(3) == 0 {
		out += `, "extra": ` + g.value()
	}
	return []byte("{" + out + "}")
}

// An answer says of a rule that an [[extends]] brings what it says of a rule that stands in the file:
// of every call, also after further answers.
func TestAnswersToExtendedRules(t *testing.T) {
	slow.Test(t)
	written, policies := 0, slow.Rounds(1000, 100_000)
	for seed := range policies {
		g := gen{rand.New(rand.NewPCG(uint64(seed), 3))}
		src := strings.ReplaceAll(g.policy(), "\r", "")
		for strings.Contains(src, "[[rule]]\n") { // two rules may have one description
			src = strings.Replace(src, "[[rule]]\n", "[[rule]] \ndescription = '"+g.of("a", "b")+"'\n", 1)
		}
		extend := Options{Home: home, Extend: func(x Extension) (string, []byte, error) { return x.String(), []byte(src), nil }}
		texts := [2][]byte{[]byte(src), []byte("[[extends]]\nprofile = 'p'\n")}
		for range 4 {
			p, err := Parse("p.toml", texts[0], extend)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, texts[0])
			}
			e, err := Parse("p.toml", texts[1], extend)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, texts[1])
			}
			call := g.call()
			for _, other := range append(g.others(call), call) {
				if a, b := p.Decide(other), e.Decide(other); a.Action != b.Action {
					t.Fatalf("seed %d: %s%s is %v, and extended %v\n%s\n%s", seed, other.Names, other.Args, a, b, texts[0], texts[1])
				}
			}
			d, f := p.Decide(call), e.Decide(call)
			if d.Action != Prompt {
				continue
			}
			s, action := AllScopes()[g.IntN(len(AllScopes()))], []Action{Allow, Deny}[g.IntN(2)]
			n, err := p.NarrowRule(*d.Rule, call, s, action)
			m, failed := e.NarrowRule(*f.Rule, call, s, action)
			if (err == nil) != (failed == nil) {
				t.Fatalf("seed %d: %v, and extended %v", seed, err, failed)
			}
			if err != nil {
				continue
			}
			written++
			next, err := p.InsertAbove(texts[0], *d.Rule, n.Text)
			if err != nil {
				t.Fatal(err)
			}
			below, err := e.InsertAbove(texts[1], *f.Rule, m.Text)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			texts = [2][]byte{next, below}
		}
	}
	if written < policies/10 {
		t.Errorf("%d rules were written", written)
	}
}
