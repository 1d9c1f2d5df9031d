//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// instructions counts the instructions of one call with cachegrind, because other work on the
// machine has almost no effect on this number. It skips the bare way, because that way has no
// proxy.
func (t *trial) instructions(ctx context.Context) error {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return nil // without valgrind, the table has no such row
	}
	for range t.rounds {
		for _, w := range t.bed.ways[1:] {
			found, err := t.bed.perCall(ctx, w, t.of(6000))
			if err != nil {
				return err
			}
			n := found.counts()
			t.report.add(instructions, w, float64(n.own))
			t.report.add(sha256Instructions, w, float64(n.sha256))
			if t.bed.commits[w.name] == "" || w.hub {
				continue
			}
			w.manner = manner{listed: true, meta: true}
			if found, err = t.bed.perCall(ctx, w, t.of(6000)); err != nil {
				return err
			}
			t.report.add(usualInstructions, w, float64(found.counts().own))
		}
	}
	return nil
}

// counts holds numbers of instructions. sha256 is separate, because valgrind does not support SHA
// instructions and runs many other instructions in their place. own counts all other instructions.
// steady is the part of own that does not depend on other processes. It includes copying, but not
// Go's scheduler and garbage collector.
type counts struct{ own, sha256, steady int }

// perCall returns the instructions of one call in the whole process, by function. It measures 2n
// calls and n calls, and divides the difference by n.
func (b *testbed) perCall(ctx context.Context, w way, n int) (profile, error) {
	once, err := b.count(ctx, w, n)
	if err != nil {
		return nil, err
	}
	twice, err := b.count(ctx, w, 2*n)
	if err != nil {
		return nil, err
	}
	for name, executed := range once {
		twice[name] -= executed
	}
	for name := range twice {
		twice[name] /= n
	}
	return twice, nil
}

func (b *testbed) count(ctx context.Context, w way, calls int) (profile, error) {
	file := b.path("cachegrind.out")
	// Valgrind does not know RDTSCP, which Go's runtime uses where a thread waits for a lock.
	p, err := b.start(ctx, w, "env", "GODEBUG=cpu.rdtscp=off", "valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=no",
		"--log-file=/dev/null", "--cachegrind-out-file="+file)
	if err != nil {
		return nil, err
	}
	for range calls {
		if err := p.call(0); err != nil {
			return nil, err
		}
	}
	if err := p.stop(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := parseCachegrind(string(text))
	if len(found) == 0 {
		return nil, fmt.Errorf("cachegrind counted nothing in %s", w.name)
	}
	return found, nil
}

// profile holds the number of instructions of each function.
type profile map[string]int

// ofRuntime reports whether a function belongs to Go's scheduler or garbage collector. Other
// processes have an effect on how many instructions these two run. For functions that copy memory,
// ofRuntime returns false. The three named functions are assembly code without a package name.
// "gogo" switches to another goroutine: a waiting garbage collector once ran "gogo" three million
// times in one call.
func ofRuntime(function string) bool {
	switch function {
	case "gogo", "callRet", "gosave_systemstack_switch":
		return true
	}
	return strings.HasPrefix(function, "runtime.") && !strings.HasPrefix(function, "runtime.mem") ||
		strings.HasPrefix(function, "internal/runtime/atomic.") || strings.HasPrefix(function, "internal/runtime/gc")
}

// parseCachegrind adds up the instructions in a cachegrind file by function. A line "fn=" names a
// function. The next lines belong to that function and have the form "LINE INSTRUCTIONS".
func parseCachegrind(text string) profile {
	all, function := profile{}, ""
	for line := range strings.Lines(text) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name, is := strings.CutPrefix(field, "fn="); is {
			function = name
		}
		executed, err := strconv.Atoi(value)
		if _, noLine := strconv.Atoi(field); err == nil && noLine == nil {
			all[function] += executed
		}
	}
	return all
}

func (p profile) counts() (n counts) {
	for name, executed := range p {
		if strings.Contains(name, "sha256") {
			n.sha256 += executed
			continue
		}
		n.own += executed
		if !ofRuntime(name) {
			n.steady += executed
		}
	}
	return n
}
