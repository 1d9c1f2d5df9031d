package logcmd

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

func statsCommand() *cli.Command {
	return &cli.Command{
		Name:      "stats",
		Usage:     "count what was called: most denied, most asked, slowest, by tool and by server",
		UsageText: "clawai log stats [options]",
		Flags: append(filterFlags(),
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "the first `N` of each list (default: as many as the window has room for)"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document, with every tool"},
		),
		Action: logStats,
	}
}

// statsDoc is the output of --json.
type statsDoc struct {
	From     time.Time   `json:"from"` // time of the first call; zero if there are no calls
	To       time.Time   `json:"to"`
	Sessions int         `json:"sessions"`
	Total    countsDoc   `json:"total"`
	Servers  []serverDoc `json:"servers"` // the server with the most calls first
	Tools    []toolDoc   `json:"tools"`
	// More is true if some tools are not counted separately, because there are too many.
	More  bool      `json:"more_tools,omitempty"`
	Hours []hourDoc `json:"hours"` // only hours with calls, the oldest first
}

type countsDoc struct {
	counts
	// MedianMS is the median time from the decision to the reply. Its error is at most 6 %.
	MedianMS  float64 `json:"median_ms,omitempty"`
	LongestMS float64 `json:"longest_ms,omitempty"`
}

type serverDoc struct {
	Server string `json:"server"`
	countsDoc
}

type toolDoc struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // name of the tool, or of another thing that calls name
	countsDoc
}

type hourDoc struct {
	Hour time.Time `json:"hour"`
	countsDoc
}

func logStats(c *cli.Context) error {
	if err := ownOptions(c); err != nil {
		return err
	}
	f, err := commonFilter(c, time.Now())
	if err != nil {
		return err
	}
	if n := c.Int("limit"); n < 0 || c.IsSet("limit") && n == 0 {
		return cmdline.Usagef("--limit: %d is not a number of tools", n)
	}
	f.Kinds, f.Replies = []event.Kind{event.Decision}, true
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	t := newTally()
	count := func(e *event.Entry) error { t.addEntry(e); return nil }
	if _, err := record.ShowEach(audit.Read(dir, f), count, c.App.ErrWriter); err != nil {
		return err
	}
	doc := t.newDocument()
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, doc)
	}
	if doc.Total.Calls == 0 {
		fmt.Fprintln(c.App.ErrWriter, noMatch(dir))
		return nil
	}
	p := statsPrinter{
		color: cmdline.WantsColor(c.App.Writer, os.Getenv), width: cmdline.ScreenWidth(c.App.Writer), most: c.Int("limit"),
	}
	if p.most == 0 {
		p.most = roomFor(cmdline.ScreenHeight(c.App.Writer))
	}
	return p.printStats(c.App.Writer, &doc)
}

// ownOptions returns an error if there are arguments, or if options of clawai log are before the
// name of the subcommand.
func ownOptions(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	if parent := c.Lineage()[1]; parent.NumFlags() > 0 {
		return cmdline.Usagef("options come behind %s: clawai log %[1]s --%s", c.Command.Name, parent.LocalFlagNames()[0])
	}
	return nil
}

// newDocument returns the counts as a sorted document.
func (t *tally) newDocument() statsDoc {
	doc := statsDoc{
		From: t.first, To: t.last, Sessions: len(t.sessions), Total: t.all.newDocument(), More: t.others,
		Servers: []serverDoc{}, Tools: []toolDoc{}, Hours: []hourDoc{},
	}
	servers := map[string]*counts{}
	for key, c := range t.tools {
		doc.Tools = append(doc.Tools, toolDoc{key.server, key.name, c.newDocument()})
		if servers[key.server] == nil {
			servers[key.server] = &counts{}
		}
		servers[key.server].addCounts(c)
	}
	for name, c := range servers {
		doc.Servers = append(doc.Servers, serverDoc{name, c.newDocument()})
	}
	slices.SortFunc(doc.Servers, func(a, b serverDoc) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server))
	})
	slices.SortFunc(doc.Tools, func(a, b toolDoc) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	for _, hour := range slices.Sorted(maps.Keys(t.hours)) {
		doc.Hours = append(doc.Hours, hourDoc{time.Unix(hour*3600, 0).UTC(), t.hours[hour].newDocument()})
	}
	return doc
}

func (c *counts) newDocument() countsDoc {
	return countsDoc{*c, milliseconds(c.replies.median()), milliseconds(c.replies.longest)}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// addCounts adds the counts of o to c.
func (c *counts) addCounts(o *counts) {
	c.Calls += o.Calls
	c.Allowed += o.Allowed
	c.Denied += o.Denied
	c.Asked += o.Asked
	c.Failed += o.Failed
	c.Watched += o.Watched
	c.replies.addTimes(&o.replies)
}

func (r *replyTimes) addTimes(o *replyTimes) {
	switch {
	case o.n == 0:
		return
	case r.n == 0:
		r.shortest = o.shortest
	}
	r.n += o.n
	r.shortest, r.longest = min(r.shortest, o.shortest), max(r.longest, o.longest)
	for i, n := range o.steps {
		if i == len(r.steps) {
			r.steps = append(r.steps, 0)
		}
		r.steps[i] += n
	}
}
