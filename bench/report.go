//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report has the measured values: one for each figure, way and round.
type report struct {
	machine string
	date    string
	ways    []string
	commits map[string]string
	rounds  map[*figure]map[string][]float64
}

func newReport(ctx context.Context, bed *testbed) *report {
	r := &report{
		machine: machine(ctx), date: time.Now().UTC().Format(time.DateOnly), commits: bed.commits, rounds: map[*figure]map[string][]float64{},
	}
	for _, w := range bed.ways {
		r.ways = append(r.ways, w.name)
	}
	return r
}

// machine describes the machine, so that a reader can judge the absolute
// figures.
func machine(ctx context.Context) string {
	kernel, _ := command(ctx, "", "uname", "-sr")
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, model, _ := strings.Cut(string(text), "model name\t: ")
	model, _, _ = strings.Cut(model, "\n")
	load, _ := os.ReadFile("/proc/loadavg")
	before, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d processors (%s), %s, load %s at the start", kernel, runtime.NumCPU(), model, runtime.Version(), before)
}

func (r *report) add(f *figure, w way, value float64) {
	if r.rounds[f] == nil {
		r.rounds[f] = map[string][]float64{}
	}
	r.rounds[f][w.name] = append(r.rounds[f][w.name], value)
}

// others returns the names of the other builds and the hubs.
func (r *report) others() []string {
	return slices.DeleteFunc(slices.Clone(r.ways), func(name string) bool {
		return slices.Contains([]string{bare, byteRelay, lineRelay, clawai, twoRules}, name)
	})
}

// shown returns the ways in the order of the table. The policies that people use come first.
func (r *report) shown() []string {
	return slices.Concat([]string{clawai, twoRules, bare, byteRelay, lineRelay}, r.others())
}

// table returns a Markdown table of medians. It also compares clawai with other ways: it shows the
// median and the quartiles over all rounds.
func (r *report) table() string {
	var b strings.Builder
	against := r.others()
	var builds []string
	for _, name := range r.ways {
		if commit := r.commits[name]; commit != "" && name != twoRules {
			builds = append(builds, name+" is "+commit)
		}
	}
	fmt.Fprintf(&b, "%s. %s; %s.\n\n", r.machine, r.date, strings.Join(builds, ", "))
	head := append(append([]string{"figure"}, r.shown()...), "clawai beside", "two rules beside")
	for _, name := range against {
		head = append(head, "× "+name)
	}
	head = append(head, "goal")
	line(&b, head)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(head)))
	for _, f := range figures {
		if r.rounds[f] != nil {
			line(&b, r.row(f, against))
		}
	}
	return b.String()
}

func (r *report) row(f *figure, against []string) []string {
	row := []string{f.name}
	for _, name := range r.shown() {
		cell := ""
		if values := r.rounds[f][name]; len(values) > 0 {
			cell = strings.TrimSpace(fmt.Sprintf("%.*f %s", f.digits, quartilesOf(values).Median, f.unit))
		}
		row = append(row, cell)
	}
	for _, of := range []string{clawai, twoRules} {
		cell := ""
		if q, ok := r.compareWays(f, of)[f.against]; ok && f.relation == ratio {
			cell = fmt.Sprintf("%.2f × %s (%.2f to %.2f)", q.Median, f.against, q.First, q.Third)
		} else if ok {
			cell = fmt.Sprintf("%s + %.*f %s (%.*f to %.*f)", f.against, f.digits, q.Median, f.unit, f.digits, q.First, f.digits, q.Third)
		}
		row = append(row, cell)
	}
	for _, name := range against {
		cell := ""
		if q, ok := r.compareWays(f, ownOf(name))[name]; ok {
			cell = fmt.Sprintf("%.2f (%.2f to %.2f)", q.Median, q.First, q.Third)
		}
		row = append(row, cell)
	}
	return append(row, f.goal)
}

// ownOf returns the name of the clawai way that has the same policy as the named way. For a hub,
// this is the policy with two rules.
func ownOf(name string) string {
	if strings.HasSuffix(name, strings.TrimPrefix(twoRules, clawai)) || strings.HasPrefix(name, hub) {
		return twoRules
	}
	return clawai
}

// isUnderInit reports whether a way has the policy that clawai init writes.
func (r *report) isUnderInit(name string) bool {
	return r.commits[name] != "" && ownOf(name) == clawai
}

// compareWays compares one of our own ways with other ways, round by round. The other ways are the
// one that the figure names, and other builds with the same policy. It skips ways with the value
// zero, because such a time is below the clock's resolution.
func (r *report) compareWays(f *figure, own string) map[string]quartiles {
	all := map[string]quartiles{}
	for name, values := range r.rounds[f] {
		how := ratio
		if name == f.against {
			how = f.relation
		} else if name == own || r.commits[name] == "" || ownOf(name) != own {
			continue
		}
		if len(r.rounds[f][own]) > 0 && (how == difference || slices.Min(values) > 0) {
			all[name] = compare(how, r.rounds[f][own], values)
		}
	}
	return all
}

func line(w io.Writer, cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// jsonFigure is one row in JSON: the quartiles of each way, the comparisons with other ways in the
// same round, and the values of all rounds. A comparison is a ratio, but for the start time it is a
// difference.
type jsonFigure struct {
	Name     string               `json:"name"`
	Unit     string               `json:"unit,omitempty"`
	Goal     string               `json:"goal,omitempty"`
	Ways     map[string]quartiles `json:"ways"`
	Beside   map[string]quartiles `json:"clawai_beside"`
	TwoRules map[string]quartiles `json:"two_rules_beside"`
	ByRounds map[string][]float64 `json:"rounds"`
}

func writeJSON(path string, stdout io.Writer, r *report) error {
	out := struct {
		Machine string            `json:"machine"`
		Date    string            `json:"date"`
		Commits map[string]string `json:"commits"`
		Figures []jsonFigure      `json:"figures"`
	}{Machine: r.machine, Date: r.date, Commits: r.commits}
	for _, f := range figures {
		if r.rounds[f] == nil {
			continue
		}
		one := jsonFigure{f.name, f.unit, f.goal, map[string]quartiles{}, r.compareWays(f, clawai), r.compareWays(f, twoRules), r.rounds[f]}
		for name, values := range r.rounds[f] {
			one.Ways[name] = quartilesOf(values)
		}
		out.Figures = append(out.Figures, one)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("a figure cannot be written: %w", err)
	}
	text = append(text, '\n')
	if path == "-" {
		_, err = stdout.Write(text)
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// benchmarksDoc is the document with the tables. Each table is between the mark of its command and
// endMark.
const (
	benchmarksDoc = "bench/README.md"
	waysMark      = "<!-- go run ./bench --write -->\n"
	sizesMark     = "<!-- go run ./bench --sizes --write -->\n"
	roomsMark     = "<!-- go run ./bench --rooms --write -->\n"
	endMark       = "<!-- end -->\n"
)

// renew replaces the table after a mark in a file.
func renew(path, mark, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	before, rest, begun := strings.Cut(string(text), mark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return fmt.Errorf("%s has no table between %q and %q", path, strings.TrimSpace(mark), strings.TrimSpace(endMark))
	}
	return os.WriteFile(path, []byte(before+mark+"\n"+table+"\n"+endMark+after), 0o644)
}
