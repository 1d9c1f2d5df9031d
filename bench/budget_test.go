//go:build linux && !race

package main

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What one call may cost stands in budget.json. Neither figure hangs on the clock or on
// what else the machine does. The race detector would allocate for itself.
const (
	budgetFile = "budget.json"
	renewing   = "go test ./bench -run Budget -renew"
	moreAllocs = "go test ./bench -run '^$' -bench Path -memprofile mem.out -memprofilerate 1 -o bench.test && go tool pprof -sample_index=alloc_objects -top bench.test mem.out"
	moreWork   = "go test ./bench -run '^$' -bench Path -cpuprofile cpu.out -o bench.test && go tool pprof -top bench.test cpu.out"
)

var renewBudget = flag.Bool("renew", false, "write what is measured into "+budgetFile)

// budgets are those of all scenarios, by name.
type budgets map[string]*budget

type budget struct {
	Allocations  float64 `json:"allocations_per_call"`
	Bytes        float64 `json:"allocated_bytes_per_call"`
	Instructions float64 `json:"instructions_per_call"` // counts.steady
}

func readBudgets(t *testing.T) (b budgets) {
	text, err := os.ReadFile(budgetFile)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		t.Fatalf("%v; write it: %s", err, renewing)
	}
	return b
}

// within holds a figure to its budget: no more, and not so much less that what was gained
// could be lost again unseen.
func within(t *testing.T, what string, measured, allowed, slack float64, look string) {
	t.Helper()
	if math.Abs(measured-allowed) <= slack {
		t.Logf("%s: %.1f, budget %.1f", what, measured, allowed)
		return
	}
	if measured < allowed {
		t.Errorf("%s: %.1f, and bench/%s still has %.1f. Hold what was gained: %s", what, measured, budgetFile, allowed, renewing)
		return
	}
	t.Errorf("%s: %.1f, where bench/%s allows %.1f.\n\tWhere they come from: %s\n\tIf they are worth it, say why in the commit and renew the budget: %s",
		what, measured, budgetFile, allowed, look, renewing)
}

func save(t *testing.T, scenario string, change func(*budget)) {
	b := budgets{}
	if _, err := os.Stat(budgetFile); err == nil {
		b = readBudgets(t)
	}
	if b[scenario] == nil {
		b[scenario] = &budget{}
	}
	change(b[scenario])
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(budgetFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ofScenario returns the budget of a scenario.
func ofScenario(t *testing.T, name string) *budget {
	b := readBudgets(t)[name]
	if b == nil {
		t.Fatalf("bench/%s has no %q; write it: %s", budgetFile, name, renewing)
	}
	return b
}

// TestBudgetOfAllocations: calls one after the other, each through the whole path.
func TestBudgetOfAllocations(t *testing.T) {
	slow.Test(t)
	for _, s := range builtBed(t).scenarios() {
		t.Run(s.name, func(t *testing.T) { countAllocations(t, &s) })
	}
}

func countAllocations(t *testing.T, s *scenario) {
	calls := 3 * s.calls
	var before, after runtime.MemStats
	throughPath(t, &s.way, func(p *process) {
		for i := range 2 * calls {
			if i == calls { // what is pooled has been made
				runtime.ReadMemStats(&before)
			}
			if err := p.call(0); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
	})
	allocs := math.Round(10*float64(after.Mallocs-before.Mallocs)/float64(calls)) / 10
	bytes := math.Round(float64(after.TotalAlloc-before.TotalAlloc) / float64(calls))
	if *renewBudget {
		save(t, s.name, func(b *budget) { b.Allocations, b.Bytes = allocs, bytes })
		return
	}
	b := ofScenario(t, s.name)
	within(t, "allocations a call", allocs, b.Allocations, max(b.Allocations*0.02, 0.9), moreAllocs)
	within(t, "bytes allocated a call", bytes, b.Bytes, max(b.Bytes*0.15, 64), moreAllocs)
}

// TestBudgetOfInstructions runs clawai under valgrind, which takes a while:
// CI does it in the step of the benchmarks.
func TestBudgetOfInstructions(t *testing.T) {
	if os.Getenv("CLAWAI_BUDGET") == "" && !*renewBudget {
		t.Skip("CLAWAI_BUDGET=1 counts instructions, too")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Fatal("valgrind is not installed, which counts them: apt-get install valgrind")
	}
	bed := builtBed(t)
	for _, s := range bed.scenarios() {
		t.Run(s.name, func(t *testing.T) { countInstructions(t, bed, &s) })
	}
}

func countInstructions(t *testing.T, bed *testbed, s *scenario) {
	found, err := bed.perCall(t.Context(), s.way, s.calls)
	if err != nil {
		t.Fatal(err)
	}
	n := found.counts()
	if *renewBudget {
		save(t, s.name, func(b *budget) { b.Instructions = float64(n.steady) })
		return
	}
	b := ofScenario(t, s.name)
	within(t, "instructions a call", float64(n.steady), b.Instructions, 0.15*b.Instructions, moreWork)
}
