//go:build attack

// Package shell attacks the constraint `command`: texts made by a grammar, judged
// by policies, and run in real shells where a policy allowed them.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/test/attack"
)

// rules are a policy, and what its patterns let run, read on their own account:
// words, and ** for any more of them.
type rules struct {
	name   string
	source string
	may    []string // every call is one of these; or
	never  []string // no call is one of these
	named  []string // how the grammar begins a command
	evil   string
}

var subjects = []rules{
	{
		name: "the cookbook's \"Shell commands that only look\"",
		source: `[[rule]]
action = "allow"
tool = "run_command"
where.command = { command = ["ls **", "grep **", "git status", "git log **", "wc **"] }`,
		may:   []string{"ls **", "grep **", "git status", "git log **", "wc **"},
		named: []string{"ls", "grep -n", "git status", "git log --oneline", "wc -l", "ls", "wc"},
		evil:  "pwn x",
	},
	{
		name: "a list with programs that run others",
		source: `[[rule]]
action = "allow"
tool = "run_command"
where.command = { command = ["ls **", "look **", "cat **", "echo **", "printf **", "test **", "[ **", "cd **", "true", "env **", "xargs **",
  "timeout **", "nice **", "find **", "sh **", "bash **", "dash **", "zsh **", "mksh **", "time **", "eval **", "command **"] }`,
		may:   []string{"ls **", "look **", "cat **"},
		named: []string{"ls", "look", "cat", "echo", "printf '%s'", "test -n", "[ a =", "cd", "true", "look -a", "ls"},
		evil:  "pwn x",
	},
	{
		name: "a table",
		source: `[[rule]]
action = "allow"
tool = "run_command"
where.command.command = { run = ["ls **", "grep **", "git status", "git log **", "wc **"], not = ["wc -c **"], without = ["--zero"], env = ["V=1"] }`,
		may:   []string{"ls **", "grep **", "git status", "git log **", "wc **"},
		named: []string{"ls", "LANG=C ls", "V=1 wc -l", "CI=1 V=1 git status", "git --no-pager status", "git -P log --oneline", "NO_COLOR= grep -n", "TZ=UTC wc"},
		evil:  "pwn x",
	},
	{
		name: "a deny list",
		source: `[[rule]]
action = "deny"
tool = "run_command"
where.command = { command = ["rm **", "pwn **", "git push **"] }
[[rule]]
action = "allow"
tool = "run_command"`,
		never: []string{"rm **", "pwn **", "git push **"},
		named: []string{"ls", "grep -n", "git status", "git log", "look", "wc", "shift", "ulimit -n", "exit", "return", "echo", "printf '%s'", "test -n", "cat"},
		evil:  "rm x",
	},
}

// lets says whether the patterns of a policy let a call run.
func (r *rules) lets(call []string) bool {
	for len(call) > 1 && call[0] == "git" && slices.Contains([]string{"-P", "--no-pager"}, call[1]) {
		call = append([]string{"git"}, call[2:]...) // they change nothing about what runs
	}
	meets := func(pattern string) bool {
		words := strings.Fields(pattern)
		if rest := len(words) - 1; words[rest] == "**" {
			return len(call) >= rest && slices.Equal(call[:rest], words[:rest])
		}
		return slices.Equal(call, words)
	}
	if r.never != nil {
		return !slices.ContainsFunc(r.never, meets)
	}
	return slices.ContainsFunc(r.may, meets)
}

// judge says whether a text may run.
type judge func(text string) bool

func (r *rules) judge(t *testing.T) judge {
	p, err := policy.Parse("policy.toml", []byte(r.source), policy.Options{})
	must(t, err)
	return func(text string) bool {
		args, _ := json.Marshal(map[string]string{"command": text})
		c := &policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"run_command"}, Args: args}
		return p.Decide(c).Action == policy.Allow
	}
}

// hunt makes texts until the time is over or it found something, and runs those
// that may run. It returns what it found.
type hunt struct {
	rules
	may    judge
	random *rand.Rand
	jail   *jail

	mu                    sync.Mutex
	made, ran, alone, cut int
	findings              []string
}

// batchSize is how many texts run in one process of each shell; two of them also
// run in processes of their own.
const batchSize = 400

// next makes texts until enough of them may run.
func (h *hunt) next(until time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := &grammar{Rand: h.random, named: h.named, evil: h.evil}
	var batch []string
	for n := 0; len(batch) < batchSize; n++ {
		if n%100 == 0 && time.Now().After(until) {
			break
		}
		s := g.text()
		h.made++
		if len(s) < 2000 && h.may(s) {
			batch = append(batch, s)
		}
	}
	return batch
}

// try runs a batch in some shells and looks into what seems wrong, text by text.
func (h *hunt) try(ctx context.Context, shells []kind, texts []string, alone ...int) error {
	all, err := h.jail.run(ctx, shells, texts, alone...)
	if err != nil {
		return err
	}
	suspects := map[int]bool{}
	for _, s := range all {
		switch {
		case h.fine(s):
		case s.text >= 0 && len(s.files) == 0:
			suspects[s.text] = true
		default: // a file, or a call, of which it is not known whose it is
			for i := range texts {
				suspects[i] = true
			}
		}
	}
	for i := range suspects {
		if err := h.confirm(ctx, texts[i]); err != nil {
			return err
		}
	}
	for _, s := range all {
		if !s.cut || s.text+1 == len(texts) {
			continue
		}
		h.count(func() { h.cut++ })
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == s.kind })
		if err := h.try(ctx, kinds[i:i+1], texts[s.text+1:]); err != nil {
			return err
		}
	}
	return nil
}

func (h *hunt) count(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// fine says whether nothing ran and no file was made that the policy does not
// allow. A deny list says nothing about files.
func (h *hunt) fine(s seen) bool {
	return (h.never != nil || len(s.files) == 0) && !slices.ContainsFunc(s.calls, func(c []string) bool { return !h.lets(c) })
}

// confirm runs one text alone, and keeps what it did.
func (h *hunt) confirm(ctx context.Context, text string) error {
	all, err := h.jail.run(ctx, nil, []string{text}, 0)
	for _, s := range all {
		if !h.fine(s) {
			h.count(func() {
				h.findings = append(h.findings, fmt.Sprintf("policy: %s\n%s\ntext: %q\nshell: %s %s\ncalled: %q\nfiles: %q",
					h.name, h.source, text, s.kind, s.way, s.calls, s.files))
			})
			break
		}
	}
	return err
}

// run hunts until a time, or until it found a few, with two workers.
func (h *hunt) run(ctx context.Context, until time.Time) error {
	errs := make(chan error)
	for range 2 {
		go func() { errs <- h.work(ctx, until) }()
	}
	return errors.Join(<-errs, <-errs)
}

func (h *hunt) work(ctx context.Context, until time.Time) error {
	for found := 0; found < 5; h.count(func() { found = len(h.findings) }) {
		batch := h.next(until)
		if len(batch) == 0 {
			return nil
		}
		alone := []int{0, len(batch) / 2}
		if err := h.try(ctx, kinds, batch, alone...); err != nil {
			return err
		}
		h.count(func() { h.ran += len(batch); h.alone += len(alone) })
	}
	return nil
}

func TestShells(t *testing.T) {
	budget, err := attack.Budget()
	must(t, err)
	seed, err := attack.Seed()
	must(t, err)
	versions(t)
	j := newJail(t)
	made, ran := 0, 0
	for i, subject := range subjects {
		h := &hunt{rules: subject, may: subject.judge(t), random: rand.New(rand.NewPCG(seed, uint64(i))), jail: j}
		must(t, h.run(t.Context(), time.Now().Add(budget/time.Duration(len(subjects)))))
		t.Logf("%s: seed %d: %d texts made, %d may run and ran in %d shells, %d of them alone too; %d times a text ended the shell of its batch", h.name, seed, h.made, h.ran, len(kinds), h.alone, h.cut)
		for _, f := range h.findings {
			t.Errorf("seed %d\n%s", seed, f)
		}
		if h.ran == 0 {
			t.Errorf("%s: nothing ran", h.name)
		}
		made += h.made
		ran += h.ran
	}
	t.Logf("%d texts made, %d ran", made, ran)
}

// TestTheAttackFinds: a judge that believes one parser, as this one once did, is
// found out.
func TestTheAttackFinds(t *testing.T) {
	subject := subjects[0]
	h := &hunt{rules: subject, random: rand.New(rand.NewPCG(1, 1)), jail: newJail(t), may: believes(subject)}
	must(t, h.run(t.Context(), time.Now().Add(2*time.Minute)))
	t.Logf("%d texts made, %d ran, %d findings", h.made, h.ran, len(h.findings))
	if len(h.findings) == 0 {
		t.Error("nothing was found with a judge that believes a parser of bash")
	} else {
		t.Log(h.findings[0])
	}
}

// believes is a judge with holes: the simple commands that a parser of bash
// finds are all there is.
func believes(r rules) judge {
	return func(text string) bool {
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			return false
		}
		good, some := true, false
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				var call []string
				for _, w := range n.Args {
					call = append(call, w.Lit())
				}
				some = some || len(call) > 0
				good = good && (len(call) == 0 || r.lets(call)) && len(n.Assigns) == 0
			case *syntax.FuncDecl, *syntax.ArithmExp, *syntax.DeclClause, *syntax.TestClause:
				good = false
			case *syntax.Redirect:
				good = good && n.Op == syntax.Hdoc
			}
			return good
		})
		return good && some
	}
}

// versions says which shells there are; without one of them there is no attack.
func versions(t *testing.T) {
	t.Helper()
	for _, k := range kinds {
		if k.version == nil {
			continue
		}
		out, err := exec.Command(k.version[0], k.version[1:]...).CombinedOutput()
		line, _, _ := strings.Cut(string(out), "\n")
		if err != nil {
			t.Fatalf("%s: %v; install it: .ci/run names the packages", k.name, err)
		}
		t.Logf("%s: %s", k.name, line)
	}
}
