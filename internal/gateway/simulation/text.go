package simulation

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/text/term"
)

// titles are the titles of the classes in the report for people.
var titles = map[replay.Class]string{
	replay.NewlyDenied: "Would be denied", replay.NewlyAsked: "Would be asked",
	Released: "No longer denied or asked about by the team's rules (each laptop's own rules decide)", replay.NotJudged: "Not known",
}

// Maximum lengths of lists on a terminal. The option --json prints the whole lists.
const (
	shownGroups = 15
	shownRows   = 10
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, list := range r.ListClasses() {
		writeClass(w, list)
	}
	for _, list := range []struct {
		title string
		rows  []Row
	}{{"Person", r.People}, {"Server", r.Servers}, {"Tool", r.Tools}} {
		writeRows(w, list.title, list.rows)
	}
	fmt.Fprintf(w, "%s\n", r.ProofText())
	fmt.Fprint(w, r.SummaryText())
	return w.Flush()
}

// ClassGroups holds the title and the groups of one class.
type ClassGroups struct {
	Title  string
	Groups []Group
}

// ListClasses returns the groups by class. A class without groups is left out.
func (r *Report) ListClasses() (all []ClassGroups) {
	for at, end := 0, 0; at < len(r.Groups); at = end {
		class := r.Groups[at].Class
		for end < len(r.Groups) && r.Groups[end].Class == class {
			end++
		}
		all = append(all, ClassGroups{titles[class], r.Groups[at:end]})
	}
	return all
}

func writeClass(w io.Writer, list ClassGroups) {
	fmt.Fprintf(w, "%s\n", list.Title)
	for i := range list.Groups[:min(len(list.Groups), shownGroups)] {
		list.Groups[i].writeGroup(w)
	}
	if left := len(list.Groups) - shownGroups; left > 0 {
		fmt.Fprintf(w, "  and %d more rows; all: --json\n", left)
	}
	fmt.Fprintln(w)
}

func (g *Group) writeGroup(w io.Writer) {
	x := &g.Example
	fmt.Fprintf(w, "  %s  %s on %s, %s: %s -> %s\n", countText(g.N, "call"), term.VisibleText(g.Tool), term.VisibleText(g.Server), term.VisibleText(g.Person), g.From, g.Answer())
	fmt.Fprintf(w, "    for example %s of %s, %s  %s\n", term.VisibleText(x.Record), term.VisibleText(x.LaptopName), x.Time.UTC().Format(time.DateTime), x.Page)
	if x.Args != "" {
		fmt.Fprintf(w, "      %s\n", term.VisibleText(x.Args))
	}
	if x.Rule != nil {
		fmt.Fprintf(w, "    by %s:%d %s\n", term.VisibleText(x.Rule.File), x.Rule.Line, term.VisibleText(x.Rule.Description))
	}
}

func countText(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// writeRows writes the rows with a change or with a call whose answer is not known.
func writeRows(out io.Writer, title string, all []Row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	shown := 0
	for i := range all {
		row := &all[i]
		if row.Changed()+row.NotKnown == 0 {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintf(w, "%s\tdenied\tasked\treleased\tnot known\tunchanged\n", title)
		}
		if shown <= shownRows {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", term.VisibleText(row.Name), row.Denied, row.Asked, row.Released, row.NotKnown, row.Unchanged)
		}
	}
	_ = w.Flush()
	if shown > shownRows {
		fmt.Fprintf(out, "and %d more; all: --json\n", shown-shownRows)
	}
	if shown > 0 {
		fmt.Fprintln(out)
	}
}

// ProofText returns lines about possible changes that no recorded call shows.
func (r *Report) ProofText() string {
	beside := "rules that say nothing, since no bundle is published"
	if r.Present > 0 {
		beside = fmt.Sprintf("bundle %d", r.Present)
	}
	if !r.unseen.HasChanges() {
		return fmt.Sprintf("Proved beside %s: nothing else is answered differently\n", beside)
	}
	var w strings.Builder
	fmt.Fprintf(&w, "Could change beside %s, and has not occurred in these records:\n", beside)
	_ = r.unseen.WriteText(&w)
	return w.String()
}

// SummaryText returns lines that tell how many calls were judged, and for how many the
// answer is not known.
func (r *Report) SummaryText() string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s of %s since %s UTC: %d would be denied, %d asked, %d released, %d not known, %d unchanged\n",
		countText(r.Decisions, "decision"), countText(r.Laptops, "laptop"), r.Since.UTC().Format(time.DateTime), r.Denied, r.Asked, r.Released, r.NotKnown, r.Unchanged)
	writeWhys(&w, r.NotKnownFor)
	if r.Observed > 0 {
		fmt.Fprintf(&w, "  %d of them were only observed: their sessions enforce nothing\n", r.Observed)
	}
	if r.Beyond > 0 {
		fmt.Fprintf(&w, "  %d of them are in no row: more than %d differ\n", r.Beyond, maxGroups)
	}
	if r.Damaged > 0 {
		fmt.Fprintf(&w, "  %d places of the records cannot be read; see the laptops that are red\n", r.Damaged)
	}
	if r.Answers != nil {
		fmt.Fprintln(&w, r.Answers.SummarizeAnswers())
		writeWhys(&w, r.Answers.NotJudged)
	}
	return w.String()
}

func writeWhys(w io.Writer, counts map[replay.Why]int) {
	for _, why := range listWhys() {
		if n := counts[why]; n > 0 {
			fmt.Fprintf(w, "  not known, %d: %s\n", n, whyText(why))
		}
	}
}
