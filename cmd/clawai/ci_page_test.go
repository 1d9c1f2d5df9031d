package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestContributingNamesEveryStep compares the table of promises in CONTRIBUTING.md with the
// steps of .ci/run: each step stands in its tier's column, and each name there is a step.
func TestContributingNamesEveryStep(t *testing.T) {
	script, page := read(t, ".ci/run"), read(t, "CONTRIBUTING.md")
	columns := map[string]int{"day": 2, "night": 3}
	for tier, column := range columns {
		list := regexp.MustCompile(`(?m)^` + tier + `="([^"]+)"$`).FindStringSubmatch(script)
		if list == nil {
			t.Fatalf(".ci/run has no list of the steps of the %s", tier)
		}
		steps := strings.Fields(list[1])
		var promised []string
		for _, row := range regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(page, -1) {
			cells := strings.Split(row, "|")
			for _, m := range regexp.MustCompile("`([a-z0-9-]+)`").FindAllStringSubmatch(cells[column], -1) {
				promised = append(promised, m[1])
			}
		}
		for _, step := range steps {
			if !strings.Contains(script, "\nstep_"+step+"() {") {
				t.Errorf(".ci/run lists the step %s, which it does not define", step)
			}
			if !slices.Contains(promised, step) {
				t.Errorf("CONTRIBUTING.md names no promise of the step %s in the column of the %s", step, tier)
			}
		}
		for _, step := range promised {
			if step != "demo" && !slices.Contains(steps, step) {
				t.Errorf("CONTRIBUTING.md promises something by %s, which is no step of the %s", step, tier)
			}
		}
	}
}
