//go:build attack

// Package url_test attacks what policies promise of URLs (docs/attack.md).
package url_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/test/attack"
)

// batch is how many URLs are made before the programs are asked.
const batch = 2000

// attacker holds promises against programs.
type attacker struct {
	grammar
	helpers  []*helper
	policies []*policy.Policy
	promises []promise
	made     int
	allowed  []int // by promise
	programs map[string]int
}

func newAttacker(t *testing.T, seed uint64, promises ...promise) *attacker {
	a := &attacker{
		grammar: grammar{rand.New(rand.NewPCG(seed, 11))}, promises: promises, programs: map[string]int{}, allowed: make([]int, len(promises)),
		helpers: []*helper{startHelper(t, "node", "parsers.mjs"), startHelper(t, "python3", "parsers.py")},
	}
	for _, promise := range promises {
		p, err := policy.Parse("attack.toml", []byte(promise.policy), policy.Options{Home: "/home/user"})
		if err != nil {
			t.Fatal(err)
		}
		a.policies = append(a.policies, p)
	}
	return a
}

// round makes URLs, judges them, shows those that are allowed to the programs, and
// gives what broke a promise.
func (a *attacker) round(t *testing.T) (findings []string) {
	var urls []string
	var by [][]int // promises that allow it
	for range batch {
		u := a.url()
		a.made++
		args, err := json.Marshal(map[string]string{"url": u})
		if err != nil {
			t.Fatal(err)
		}
		call := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"fetch"}, Args: args}
		var allows []int
		for i, p := range a.policies {
			if p.Decide(&call).Action == policy.Allow {
				allows = append(allows, i)
				a.allowed[i]++
			}
		}
		if allows != nil {
			urls, by = append(urls, u), append(by, allows)
		}
	}
	places := make([][]place, len(urls))
	for _, h := range a.helpers {
		for i, seen := range h.read(t, urls) {
			places[i] = append(places[i], seen...)
		}
	}
	for i, u := range urls {
		for _, p := range append(places[i], inGo(u)...) {
			a.programs[p.program]++
			for _, at := range by[i] {
				promise := &a.promises[at]
				if !(promise.schemed && guessed(u, p.scheme)) && !promise.keeps(p) {
					findings = append(findings, fmt.Sprintf("%s allows %q, and %s goes to %+v\n%s", promise.name, u, p.program, p, promise.policy))
				}
			}
		}
	}
	return findings
}

// guessed says that a URL has not the scheme that a program found: neither in front, nor
// behind what wraps another URL.
func guessed(u, scheme string) bool {
	u = strings.ToLower(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(u))
	u = strings.TrimLeftFunc(u, func(r rune) bool { return r <= ' ' || r == '\ufeff' || r == '<' || unicode.IsSpace(r) })
	for {
		if strings.HasPrefix(u, scheme+":") {
			return false
		}
		head, rest, found := strings.Cut(u, ":")
		if !found || strings.Trim(head, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
			return true
		}
		u = rest
	}
}

func TestURLs(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	a := newAttacker(t, seed, promises...)
	found := 0
	for deadline := time.Now().Add(budget); time.Now().Before(deadline) && found < 20; {
		for _, finding := range a.round(t) {
			if found++; found <= 20 {
				t.Errorf("ATTACK_SEED=%d: %s", seed, finding)
			}
		}
	}
	t.Logf("ATTACK_SEED=%d: %d URLs, %d findings; read by %v", seed, a.made, found, a.programs)
	for i, n := range a.allowed {
		t.Logf("%-24s allowed %d", a.promises[i].name, n)
		if n == 0 {
			t.Errorf("nothing was allowed by %q: its promise was not tried", a.promises[i].name)
		}
	}
	for _, program := range []string{"node URL", "node url.parse", "python urlsplit", "python urllib.request", "libcurl", "go net/url", "go net/http"} {
		if a.programs[program] == 0 {
			t.Errorf("%s read nothing", program)
		}
	}
}

// TestPlantedURLs: a promise that its policy does not keep is found broken.
func TestPlantedURLs(t *testing.T) {
	a := newAttacker(t, 1, planted)
	for a.made < 20*batch {
		if findings := a.round(t); findings != nil {
			t.Logf("found after %d URLs: %s", a.made, findings[0])
			return
		}
	}
	t.Errorf("%d URLs, and the planted hole was not found", a.made)
}
