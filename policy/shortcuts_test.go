package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy/internal/effort"
)

// The short ways to an answer are compared with plain ones, which are their definition.

// decidePlainly judges each kind and the whole, whatever the rules are about.
func decidePlainly(p *Policy, on On, calls []Call, kinds []string) Decision {
	q := p.screens[on]
	if q == nil {
		return Decision{Action: Allow}
	}
	cs := slices.Clone(calls)
	if len(cs) == 0 {
		cs = []Call{{}}
	}
	worst, left := Decision{Action: Allow}, effort.Max
	for _, kind := range append([]string{""}, slices.Compact(slices.Sorted(slices.Values(kinds)))...) {
		for i := range cs {
			c := cs[i]
			if c.Finds, c.Screened = nil, true; kind != "" {
				c.Finds = []string{kind}
			}
			var d Decision
			d, left = q.decideLayers(&c, left)
			d.Kind = kind
			worst.mergeReading(&d, i)
		}
	}
	return worst
}

// starterPolicies are the policies of the fixtures, each read twice: the second has no sieves. The
// last one has the rules of all.
func starterPolicies(t testing.TB) (all [][2]*Policy) {
	files, err := filepath.Glob("../fixtures/*/policy.toml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	const projects, reads = "[folders]\nprojects = [\"~/projects\"]\n", "reads = [\"${projects}\"]\n"
	together := []byte(projects + reads) // once, above all rules
	read := func(src []byte) {
		var two [2]*Policy
		for i := range two {
			p, err := Parse("policy.toml", src, Options{Home: "/home/user"})
			if err != nil {
				t.Fatal(err)
			}
			two[i] = p
		}
		withoutSieves(two[1])
		withoutSieves(two[1].forSystem(Windows))
		all = append(all, two)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read(src)
		src = bytes.Replace(bytes.Replace(src, []byte(projects), nil, 1), []byte(reads), nil, 1)
		together = append(together, src...)
	}
	read(together)
	return all
}

// recordedCalls are the calls of the fixtures, under several servers' names.
func recordedCalls(t testing.TB) (all []Call) {
	files, err := filepath.Glob("../fixtures/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Method, Server, Cwd, OS string
			Params                  struct {
				Name, URI string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal(src, &f) != nil {
			continue
		}
		c := Call{Method: f.Method, Server: f.Server, Facts: Facts{Cwd: f.Cwd, OS: f.OS}, Args: f.Params.Arguments, Names: []string{f.Params.Name}}
		switch f.Method {
		case "tools/call":
			c.Subject = ToolSubject
		case "prompts/get":
			c.Subject = PromptSubject
		case "resources/read":
			c.Subject, c.Names = ResourceSubject, []string{f.Params.URI}
		default:
			c.Subject, c.Names = MethodSubject, []string{f.Method}
		}
		for _, server := range []string{f.Server, "", "fetch"} {
			c.Server = server
			all = append(all, c)
		}
	}
	return append(all, Call{}, Call{Server: "fetch"}, Call{Malformed: "x", Subject: ToolSubject, Names: []string{"fetch"}})
}

func sameDecision(a, b Decision) bool {
	index := func(d *Decision) int {
		if d.Rule == nil {
			return -1
		}
		return d.Rule.Index
	}
	if len(a.Alters) != len(b.Alters) || len(a.Rates) != len(b.Rates) {
		return false
	}
	for i := range a.Alters {
		if a.Alters[i].Rule.Index != b.Alters[i].Rule.Index || a.Alters[i].Kind != b.Alters[i].Kind || a.Alters[i].Call != b.Alters[i].Call {
			return false
		}
	}
	return a.Action == b.Action && index(&a) == index(&b) && a.Reading == b.Reading && a.Reason == b.Reason && a.Kind == b.Kind
}

// No short way changes an answer: neither a sieve, nor to leave out rules about the whole that cannot
// be about a reply, nor not to look into arguments that no rule with a find can be about. By day all
// calls are put to the starters in one file, which have every rule, and each fifth to a starter alone.
func TestShortWaysChangeNoAnswer(t *testing.T) {
	slow.Test(t)
	calls := recordedCalls(t)
	each := slow.Rounds(5, 1)
	policies := starterPolicies(t)
	for nr, p := range policies {
		for i := range calls {
			if nr < len(policies)-1 && (i+nr)%each != 0 {
				continue
			}
			c := calls[i]
			if got, want := p[0].Decide(&c), p[1].Decide(&c); !sameDecision(got, want) {
				t.Errorf("%+v: %+v, without sieves %+v", c, got, want)
			}
			if !p[0].FindsIn(&c) {
				for _, finds := range [][]string{nil, findKinds} {
					carries := c
					carries.Screened, carries.Finds = true, finds
					if got, want := p[0].Decide(&c), p[0].Decide(&carries); !sameDecision(got, want) {
						t.Errorf("%+v: %+v, and with %v in it %+v", c, got, finds, want)
					}
				}
			}
			for _, on := range []On{OnReply, OnList} {
				for _, kinds := range [][]string{nil, {"hidden"}, {"secret", "hidden"}} {
					if got, want := p[0].DecideReply(on, []Call{c}, kinds), decidePlainly(p[0], on, []Call{c}, kinds); !sameDecision(got, want) {
						t.Errorf("%v of %+v with %v: %+v, plainly %+v", on, c, kinds, got, want)
					}
				}
			}
		}
		for _, on := range []On{OnReply, OnList} {
			if got, want := p[0].DecideReply(on, nil, nil), decidePlainly(p[0], on, nil, nil); !sameDecision(got, want) {
				t.Errorf("%v of nothing known: %+v, plainly %+v", on, got, want)
			}
		}
	}
}

// In doubt about a name a rule with a find may match: by a spelling of the client's, by the class of
// a tool that an agent brings along, on any server where its name is not known.
func TestFindsIn(t *testing.T) {
	p := parseReply(t, "[[rule]]\naction = 'deny'\ntool = ['write_*', 'a.b', 'shell']\nserver = 'files'\nfind = 'secret'\n[[rule]]\naction = 'redact'\nsampling = '**'\nfind = 'secret'\n[[rule]]\naction = 'allow'\ntool = '*'\n", Options{})
	tool := func(server, name string) Call {
		return Call{Method: "tools/call", Server: server, Subject: ToolSubject, Names: []string{name}}
	}
	dotless := tool("files", "a_b")
	if p.FindsIn(&dotless) {
		t.Error("another name")
	}
	dotless.Spelling = Dotless
	for name, c := range map[string]struct {
		call Call
		want bool
	}{
		"the tool":           {tool("files", "write_file"), true},
		"another tool":       {tool("files", "read_file"), false},
		"another server":     {tool("other", "write_file"), false},
		"an unknown server":  {tool("", "write_file"), true},
		"another spelling":   {dotless, true},
		"a text for a model": {sampled("a"), true},
		"a resource":         {Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{"file:///a"}}, false},
	} {
		if got := p.FindsIn(&c.call); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFindsInOfManyServers: what is kept for servers changes no answer, and a server that finds no room there costs no more
// than a look at the rules.
func TestFindsInOfManyServers(t *testing.T) {
	var rules strings.Builder
	for i := range 9 {
		fmt.Fprintf(&rules, "[[rule]]\naction = 'deny'\ntool = 'write'\nserver = 's*%d'\nfind = 'secret'\n", 2*i)
	}
	p, all := parseReply(t, rules.String(), Options{}), make([]Call, 3*maxServed)
	for i := range all {
		all[i] = Call{Method: "tools/call", Server: fmt.Sprintf("s%d", i), Subject: ToolSubject, Names: []string{"write"}}
	}
	for range 2 {
		for i := range all {
			if got, want := p.FindsIn(&all[i]), i%2 == 0; got != want {
				t.Errorf("server %s: %v", all[i].Server, got)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		for i := range all {
			p.FindsIn(&all[i])
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d servers", n, len(all))
	}
}
