package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/shown"
	"github.com/clawai/clawai/internal/gateway/simulation"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
)

// Limits of a simulation on a page. The command line has no such limits.
const (
	maxUpload      = 1 << 20 // bytes of the form, with the candidate
	maxUploads     = 8       // forms that are being read at the same time
	simulationTime = 40 * time.Second
	maxSimulated   = 1_000_000 // calls that are judged
	proofWork      = 1 << 22   // limit of a proof's work (prove.Options); with this limit a proof takes seconds
	shownGroups    = 50        // groups of one class
	shownRows      = 30
	sinceAtFirst   = "30d"
)

// readFiles reads a form with a file. The whole form stays in memory.
func (v *visit) readFiles() error {
	if !v.s.beginWork("upload", maxUploads) {
		return refuse(http.StatusTooManyRequests, "Other files are being sent. Try again in a minute.")
	}
	defer v.s.endWork("upload")
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxUpload)
	if err := v.r.ParseMultipartForm(maxUpload); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("The file has more than %s. Run: clawai-gateway simulate NEW", sizeText(maxUpload)))
		}
		return refuse(http.StatusBadRequest, "The form cannot be read.")
	}
	v.form, v.files = v.r.MultipartForm.Value, v.r.MultipartForm.File
	return nil
}

// bundlesData is the data of the page of bundles.
type bundlesData struct {
	Proposals              proposalsData
	Bundles                []bundleRow
	MaySimulate, AnyPolicy bool
	Since, Trouble         string
}

type bundleRow struct {
	Counter                              uint64
	Created, Published, By, Signer, Hash string
}

func newBundleRow(b *store.Bundle) bundleRow {
	return bundleRow{b.Counter, stampText(b.Created), stampText(b.Published), b.By, b.Key, b.Digest[:min(len(b.Digest), 16)]}
}

func (v *visit) showBundles(string) error {
	return v.writeBundles(http.StatusOK, sinceAtFirst, "")
}

// writeBundles writes the page of bundles. trouble says what is wrong with a form; "" if nothing is
// wrong.
func (v *visit) writeBundles(status int, since, trouble string) error {
	all, err := v.s.centre.Store.ListBundles(v.r.Context(), 50)
	if err != nil {
		return err
	}
	d := bundlesData{MaySimulate: v.who.Has(simulators...), AnyPolicy: v.who.Has(principal.Payload), Since: since, Trouble: trouble}
	if d.Proposals, err = v.newProposals(); err != nil {
		return err
	}
	for i := range all {
		d.Bundles = append(d.Bundles, newBundleRow(&all[i]))
	}
	return v.write(status, "bundles", "Bundles", bundlesPage, d)
}

// simulate judges the recorded calls by the file in the form.
func (v *visit) simulate(string) error {
	since, now := v.form.Get("since"), v.s.centre.Now()
	wrong := func(format string, a ...any) error {
		return v.writeBundles(http.StatusUnprocessableEntity, since, fmt.Sprintf(format, a...))
	}
	name, src, err := v.readCandidate()
	if err != nil {
		return wrong("Nothing was judged: %v.", err)
	}
	o := simulation.Options{Now: now, Page: RecordPath, Most: maxSimulated, Work: proofWork}
	if o.Since, err = ParseTime(since, now); err != nil {
		return wrong("%q is no time. Write an age such as 12h or 30d, or a day such as 2026-11-30.", since)
	}
	// Run one simulation at a time, because several would use too much memory and time.
	if !v.s.beginWork(simulatePath, 1) {
		return refuse(http.StatusTooManyRequests, "Another simulation runs. Try again in a minute.")
	}
	defer v.s.endWork(simulatePath)
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(simulationTime + writeTime))
	ctx, cancel := context.WithTimeout(v.r.Context(), simulationTime)
	defer cancel()
	candidate, err := simulation.NewSentCandidate(ctx, name, src)
	if err != nil && ctx.Err() == nil {
		return wrong("%s: %v", name, err)
	}
	var r *simulation.Report
	if err == nil {
		r, err = simulation.Run(ctx, v.s.centre.Store, candidate, o)
	}
	switch {
	case errors.Is(err, simulation.ErrTooMany), err != nil && ctx.Err() != nil:
		return wrong("There is more to judge than a page waits for. Choose a shorter time, or run: clawai-gateway simulate NEW --since %s", since)
	case err != nil:
		return err
	case r.Decisions == 0:
		return wrong("No laptop has shipped a call since then, so nothing was judged. Choose a longer time.")
	}
	return v.show("simulation", "Simulation", bundlesPage, v.newSimulationData(r))
}

// readCandidate returns the file in the form. A person could find out the arguments of recorded calls by
// judging them with rules that name a value of an argument. So a person without the role
// principal.Payload can only use a bundle that the team has signed.
func (v *visit) readCandidate() (name string, src []byte, err error) {
	if len(v.files["candidate"]) != 1 {
		return "", nil, errors.New("choose one file, a policy or a bundle")
	}
	head := v.files["candidate"][0]
	f, err := head.Open()
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	if src, err = io.ReadAll(f); err != nil {
		return "", nil, err
	}
	if !v.who.Has(principal.Payload) {
		if _, _, err := v.s.centre.ReadSigned(src); err != nil {
			return "", nil, fmt.Errorf("without the role %s only a signed bundle is judged: %w", principal.Payload, err)
		}
	}
	return head.Filename, src, nil
}

// simulationData is the data of the page of a simulation.
type simulationData struct {
	Name           string
	Summary, Proof []textLine
	Classes        []simulatedClass
	Tables         []countTable
}

type simulatedClass struct {
	Title  string
	Groups []simulatedGroup
	More   int
}

type simulatedGroup struct {
	Calls, Person, Tool, ToolLink, Server, From, To string
	Record                                          int64
	Time, Laptop, Args, Rule, RuleText              string
}

type countTable struct {
	Title string
	Rows  []countRow
	More  int
}

type countRow struct {
	simulation.Row
	Link string
}

func (v *visit) newSimulationData(r *simulation.Report) simulationData {
	d := simulationData{Name: r.Candidate, Summary: splitLines(r.SummaryText()), Proof: splitLines(r.ProofText())}
	since := r.Since.UTC().Format(time.RFC3339)
	for _, class := range r.ListClasses() {
		shown := class.Groups[:min(len(class.Groups), shownGroups)]
		c := simulatedClass{Title: class.Title, More: len(class.Groups) - len(shown)}
		for i := range shown {
			c.Groups = append(c.Groups, v.newSimulatedGroup(&shown[i], since))
		}
		d.Classes = append(d.Classes, c)
	}
	people := newCountTable("Person", r.People, func(string) string { return "" })
	servers := newCountTable("Server", r.Servers, func(name string) string {
		return page.Address(recordsPage, "server", name, "since", since)
	})
	d.Tables = []countTable{people, servers}
	return d
}

func (v *visit) newSimulatedGroup(g *simulation.Group, since string) simulatedGroup {
	x := &g.Example
	row := simulatedGroup{
		Calls: fmt.Sprintf("%d ×", g.N), Person: g.Person, Tool: g.Tool, Server: g.Server, From: g.From, To: g.Answer(),
		Record: x.ID, Time: x.Time.UTC().Format(time.RFC3339), Laptop: x.LaptopName, Args: x.Args,
	}
	if x.Rule != nil {
		row.Rule, row.RuleText = fmt.Sprintf("%s:%d", x.Rule.File, x.Rule.Line), x.Rule.Description
	}
	if !v.who.Has(principal.Payload) {
		row.Args = ""
		if g.Address || g.Tool != g.Method && !shown.IsName(g.Tool) {
			row.Tool = g.Method
			return row
		}
	}
	row.ToolLink = page.Address(recordsPage, "tool", g.Tool, "server", g.Server, "since", since)
	return row
}

// newCountTable returns the rows with a change or with a call whose answer is not known.
func newCountTable(title string, all []simulation.Row, link func(name string) string) countTable {
	t := countTable{Title: title}
	for _, row := range all {
		switch {
		case row.Changed()+row.NotKnown == 0:
		case len(t.Rows) == shownRows:
			t.More++
		default:
			t.Rows = append(t.Rows, countRow{row, link(row.Name)})
		}
	}
	return t
}

// textLine is a line of a text. The blanks at its start are left out, because a page would show them as
// escapes.
type textLine struct {
	Depth int // number of pairs of blanks at its start, at most 4
	Text  string
}

func splitLines(text string) (lines []textLine) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		bare := strings.TrimLeft(line, " ")
		lines = append(lines, textLine{min((len(line)-len(bare))/2, 4), bare})
	}
	return lines
}
