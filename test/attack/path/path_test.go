//go:build attack

// Package path_test attacks what policies promise of paths (docs/attack.md).
package path_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/test/attack"
)

// batch is how many paths are made before the server is asked.
const batch = 1000

// promise is a policy, and what no call that it allows may bring back.
type promise struct {
	name, policy string
	never        []string
	links        bool // in a tree with links
}

// rule is one that is about every tool of the server; HOME stands for the home.
func rule(action, conditions string) string {
	return "[[rule]]\naction = \"" + action + "\"\ntool = \"*\"\n" + conditions + "\n"
}

var promises = []promise{
	{"glob at home", rule("allow", `args.path = ["~/projects", "~/projects/**"]`), []string{canary}, false},
	{"glob from the root", rule("allow", `args.path = "HOME/projects/**"`), []string{canary}, false},
	{"glob in a relative folder", rule("allow", `args.path = "projects/**"`), []string{canary}, false},
	{"URI", rule("allow", `args.path = "file://HOME/projects/**"`), []string{canary}, false},
	{"deny by names", rule("deny", `args.path = ["**/.ssh", "**/.ssh/**", "**/.env", "**/etc/**"]`) + rule("allow", `args.path = ["~/projects", "~/projects/**"]`), []string{canary, secret}, false},
	{"deny from the root", rule("deny", `args.path = ["HOME/.ssh", "HOME/.ssh/**"]`) + rule("allow", `args.path = ["~/**", "/proc/**", "/dev/**"]`), []string{keys}, false},
	{"under", rule("allow", `where.path.under = ["~/projects"]`), []string{canary}, true},
	{"deny under", rule("deny", `where.path.under = ["~/.ssh"]`) + rule("allow", `where.path.under = ["~"]`), []string{keys}, true},
}

// planted forgets that a glob follows no links.
var planted = promise{"planted", rule("allow", `args.path = "~/projects/**"`), []string{canary}, true}

// attacker holds promises against one tree and its server.
type attacker struct {
	grammar
	server   *server
	promises []promise
	policies []*policy.Policy
	made     int
	allowed  []int
	answers  map[string]int // that brought something back
}

func newAttacker(t *testing.T, seed uint64, links bool, promises ...promise) *attacker {
	tr := newTree(t, links)
	a := &attacker{grammar: grammar{rand.New(rand.NewPCG(seed, 11)), tr}, server: startServer(t, tr), answers: map[string]int{}}
	for _, promise := range promises {
		if promise.links != links {
			continue
		}
		text := strings.ReplaceAll(promise.policy, "HOME", tr.home())
		p, err := policy.Parse("attack.toml", []byte(text), policy.Options{Home: tr.home(), Disk: disk.RootedDisk("/")})
		if err != nil {
			t.Fatal(err)
		}
		promise.policy = text
		a.promises, a.policies = append(a.promises, promise), append(a.policies, p)
	}
	a.allowed = make([]int, len(a.promises))
	return a
}

// round makes paths, judges them, has those that are allowed opened, and gives what
// broke a promise.
func (a *attacker) round(t *testing.T) (findings []string) {
	var requests []map[string]any
	var paths []string
	var by [][]int
	for range batch {
		s, tool := a.path(), a.of("read_text_file", "read_text_file", "list_directory")
		a.made++
		args, err := json.Marshal(map[string]string{"path": s})
		if err != nil {
			t.Fatal(err)
		}
		c := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: args}
		var allows []int
		for i, p := range a.policies {
			if p.Decide(&c).Action == policy.Allow {
				allows = append(allows, i)
				a.allowed[i]++
			}
		}
		if allows != nil {
			requests, paths, by = append(requests, call(tool, s)), append(paths, s), append(by, allows)
		}
	}
	check := func(i int, program, brought string) {
		if brought == "" {
			return
		}
		a.answers[program]++
		for _, at := range by[i] {
			for _, never := range a.promises[at].never {
				if strings.Contains(brought, never) {
					findings = append(findings, fmt.Sprintf("%s allows %q, and %s brought back %.200q\n%s", a.promises[at].name, paths[i], program, brought, a.promises[at].policy))
				}
			}
		}
	}
	for i, answer := range a.server.ask(t, requests) {
		if strings.Contains(answer, `"isError":true`) {
			answer = ""
		}
		check(i, "the filesystem server", answer)
	}
	for i, s := range paths {
		for _, r := range readers {
			check(i, r.name, opened(a.tree, r.path, s))
		}
	}
	return findings
}

func TestPaths(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, links := range []bool{false, true} {
		a := newAttacker(t, seed, links, promises...)
		found := 0
		for deadline := time.Now().Add(budget / 2); time.Now().Before(deadline) && found < 20; {
			for _, finding := range a.round(t) {
				if found++; found <= 20 {
					t.Errorf("ATTACK_SEED=%d: %s", seed, finding)
				}
			}
		}
		t.Logf("ATTACK_SEED=%d, links %v: %d paths, %d findings; brought back something: %v", seed, links, a.made, found, a.answers)
		for i, n := range a.allowed {
			t.Logf("%-26s allowed %d", a.promises[i].name, n)
			if n == 0 {
				t.Errorf("nothing was allowed by %q: its promise was not tried", a.promises[i].name)
			}
		}
		if a.answers["the filesystem server"] == 0 || a.answers["open"] == 0 {
			t.Error("the server, or open(2), brought nothing back")
		}
	}
}

// TestPlantedPaths: a promise that its policy does not keep is found broken.
func TestPlantedPaths(t *testing.T) {
	a := newAttacker(t, 1, true, planted)
	for a.made < 20*batch {
		if findings := a.round(t); findings != nil {
			t.Logf("found after %d paths: %s", a.made, findings[0])
			return
		}
	}
	t.Errorf("%d paths, and the planted hole was not found", a.made)
}
