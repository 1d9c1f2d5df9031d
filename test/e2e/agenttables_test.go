//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

// TestFaultTable holds the table of docs/hooks.md to what TestAgentFaults sees.
func TestFaultTable(t *testing.T) {
	all := allAgents()
	table, rule := "| what happens to the hook |", "|---|"
	for i := range all {
		table += " `" + all[i].word(t) + "` " + all[i].version(t) + " |"
		rule += "---|"
	}
	table += "\n" + rule + "\n"
	last := ""
	for _, st := range slices.Concat(faults, slowFault) {
		if st.row == "" || st.row == last {
			continue
		}
		last = st.row
		table += "| " + st.row + " |"
		for i := range all {
			table += " " + st.cell(&all[i]) + " |"
		}
		table += "\n"
	}
	says(t, "../../docs/hooks.md", table)
}

func (st *agentStep) cell(a *agent) string {
	switch runs := st.runsFor(a.id); {
	case st.row == slowFault[0].row && a.limit == "":
		return a.slow
	case runs:
		return "**ran**"
	case a.stops || slices.Contains(st.ends, a.id):
		return "no, the run ended"
	}
	return "no"
}

// says is that a page has this text.
func says(t *testing.T, page, text string) {
	t.Helper()
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), "\n"+text) {
		t.Errorf("%s does not say\n%s", page, text)
	}
}

// row is what docs/clients.md has of a client's session.
func (a *agent) row(t *testing.T, log string) string {
	t.Helper()
	no := "did not run, the agent went on"
	if a.stops {
		no = "did not run, **the run ended**"
	}
	events := "start"
	if strings.Contains(log, "builtin/prompt") {
		events += " and prompt"
	}
	return "| " + strings.Join([]string{"`" + a.word(t) + "`", a.version(t), "ran", no, "held, then denied", "ran", "did not run", "`" + a.helper.name() + "`: the same", events}, " | ") + " |\n"
}

// name is the tool's without the space it stands in.
func (h *helper) name() string { return h.tool[strings.LastIndexByte(h.tool, '.')+1:] }

// word is how clawai calls the client in rules and records.
func (a *agent) word(t *testing.T) string {
	t.Helper()
	rows, err := client.HookRows()
	if err != nil {
		t.Fatal(err)
	}
	return rows[slices.IndexFunc(rows, func(r client.HookRow) bool { return r.Client == a.id })].HookWord()
}

var numbers = regexp.MustCompile(`\d+\.\d+\.\d+`)

// version is that of the client's package in package.json.
func (a *agent) version(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pinned struct{ Dependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(src, &pinned); err != nil {
		t.Fatal(err)
	}
	for _, word := range a.command {
		path, err := filepath.EvalSymlinks(word)
		if err != nil || word == nodeProgram {
			continue
		}
		for _, packages := range []map[string]string{pinned.Dependencies, pinned.OptionalDependencies} {
			for name, version := range packages {
				if strings.HasPrefix(path, "node_modules/"+name+"/") {
					return numbers.FindString(version)
				}
			}
		}
	}
	t.Fatalf("%s is no program of package.json, or is not installed", a.id)
	return ""
}
