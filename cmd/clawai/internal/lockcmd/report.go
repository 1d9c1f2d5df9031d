package lockcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

func formatOf(c *cli.Context) (string, error) {
	format := c.String("format")
	formats := check.FormatNames(false)
	switch {
	case c.Bool("json") && c.IsSet("format") && format != "json":
		return "", cmdline.Usagef("--json and --format %s say two things", format)
	case c.Bool("json"):
		format = "json"
	case !slices.Contains(formats, format):
		return "", cmdline.UnknownWord("--format", "form", format, formats)
	}
	if format != "text" && c.Command.Name == "lock" && !c.Bool("check") {
		return "", cmdline.Usagef("--format and --json go with --check")
	}
	return format, nil
}

func sortedNames(l pin.Lock) []string { return slices.Sorted(maps.Keys(l)) }

// serverDoc is one server in the output of --json.
type serverDoc struct {
	Name        string          `json:"name"`
	State       state           `json:"state"` // one of same, drift, missing, failed
	Why         string          `json:"why,omitempty"`
	Differences []differenceDoc `json:"differences"`
}

type differenceDoc struct {
	Kind    string      `json:"kind"` // one of tool, prompt, template, server
	Name    string      `json:"name,omitempty"`
	Class   string      `json:"class"` // the worst class of the changes
	Asks    bool        `json:"asks"`  // true if a person must look
	Changes []changeDoc `json:"changes"`
}

type changeDoc struct {
	Class string          `json:"class"`
	At    string          `json:"at"`
	Was   json.RawMessage `json:"was,omitempty"`
	Is    json.RawMessage `json:"is,omitempty"`
	What  string          `json:"what,omitempty"`
}

func newServerDoc(o *outcome) serverDoc {
	doc := serverDoc{Name: o.name, State: o.state, Why: o.why, Differences: []differenceDoc{}}
	for _, d := range o.differences {
		one := differenceDoc{Kind: d.Kind.String(), Name: d.Name, Class: d.Class.String(), Asks: d.Class.NeedsApproval()}
		for _, ch := range d.Changes {
			one.Changes = append(one.Changes, changeDoc{ch.Class.String(), ch.At, ch.Was, ch.Is, ch.What})
		}
		doc.Differences = append(doc.Differences, one)
	}
	return doc
}

// showOutcomes writes the outcomes in a format. path is the path of the lock file.
func showOutcomes(c *cli.Context, format, path string, found []outcome) error {
	switch format {
	case "json":
		docs := []serverDoc{}
		for i := range found {
			docs = append(docs, newServerDoc(&found[i]))
		}
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Servers []serverDoc `json:"servers"`
		}{docs})
	case "text":
		return tellOutcomes(c, found)
	}
	return check.FindFormat(format).Findings(c.App.Writer, check.Tool{Name: "clawai lock", Version: cmdline.Version}, listFindings(path, found))
}

// tellOutcomes prints the outcomes as text for a person.
func tellOutcomes(c *cli.Context, found []outcome) error {
	if err := tellDifferences(c, found, true); err != nil {
		return err
	}
	var b strings.Builder
	for i := range found {
		o := &found[i]
		fmt.Fprintf(&b, "%s: %s", term.VisibleLine(o.name), o.state)
		if o.why != "" {
			b.WriteString(": " + term.VisibleText(o.why))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer), b.String())
	return err
}

// listFindings returns a finding for everything that a person must look at, for CI systems.
func listFindings(path string, found []outcome) (all []check.Finding) {
	at := policy.Position{File: path}
	for i := range found {
		o := &found[i]
		if o.why != "" {
			all = append(all, check.Finding{Code: "lock-" + string(o.state), Severity: check.Error, Pos: at, Message: fmt.Sprintf("%s: %s.", o.name, o.why)})
		}
		for _, d := range o.differences {
			if !d.Class.NeedsApproval() {
				continue
			}
			all = append(all, check.Finding{
				Code: "lock-" + d.Class.String(), Severity: check.Error, Pos: at,
				Message: fmt.Sprintf("%s, %s: %s at %s.", o.name, entryName(d), d.Class, strings.Join(changePlaces(d), ", ")),
				Fix:     "Look at it with clawai lock --check, then write it down with clawai lock",
			})
		}
	}
	return all
}

func entryName(d pin.Difference) string { return strings.TrimSpace(d.Kind.String() + " " + d.Name) }

func changePlaces(d pin.Difference) (all []string) {
	for _, ch := range d.Changes {
		if ch.At != "" {
			all = append(all, ch.At)
		}
	}
	if len(all) == 0 {
		return []string{"the whole"}
	}
	return slices.Compact(all)
}

// marks colors the classes of differences, and the lines that were added or removed.
var marks = []cmdline.Mark{
	{Pattern: `^  (refused|widened|new|text|started|loosened)\b`, Color: cmdline.Yellow},
	{Pattern: `^(      \+ .*)`, Color: cmdline.Green},
	{Pattern: `^(      - .*)`, Color: cmdline.Red},
}

// tellDifferences prints the differences of each server for a person, with the worst class first.
// If the parameter asks is true, it marks the differences that a person must look at.
func tellDifferences(c *cli.Context, found []outcome, asks bool) error {
	var b strings.Builder
	for i := range found {
		o := &found[i]
		if len(o.differences) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", term.VisibleLine(o.name))
		sorted := slices.Clone(o.differences)
		slices.SortStableFunc(sorted, func(x, y pin.Difference) int { return int(y.Class) - int(x.Class) })
		for _, d := range sorted {
			fmt.Fprintf(&b, "  %s %s", cmdline.Pad(d.Class.String(), 9), term.VisibleText(entryName(d)))
			if asks && d.Class.NeedsApproval() {
				b.WriteString("  somebody has to look")
			}
			b.WriteByte('\n')
			tellChanges(&b, d)
		}
	}
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer, marks...), b.String())
	return err
}

func tellChanges(b *strings.Builder, d pin.Difference) {
	for _, ch := range d.Changes {
		if ch.Class == pin.Added || ch.Class == pin.Removed {
			continue // the lock shows the complete entry
		}
		fmt.Fprintf(b, "    %s  %s\n", ch.Class, term.VisibleText(ch.At))
		if ch.What != "" {
			fmt.Fprintf(b, "      %s\n", term.VisibleText(ch.What))
			continue
		}
		for _, line := range view.DiffWords(pin.ValueText(ch.Was), pin.ValueText(ch.Is)) {
			fmt.Fprintf(b, "      %c %s\n", line.Op, line.Text)
		}
	}
}

// renderCounts returns how many tools, prompts and templates a server lists, as a text.
func renderCounts(s *pin.SelfDescription) string {
	all := []string{cmdline.CountText(s.Len(pin.Tool), "1 tool", "%d tools")}
	if n := s.Len(pin.Prompt); n > 0 {
		all = append(all, cmdline.CountText(n, "1 prompt", "%d prompts"))
	}
	if n := s.Len(pin.Template); n > 0 {
		all = append(all, cmdline.CountText(n, "1 template", "%d templates"))
	}
	return strings.Join(all, ", ")
}

// TellChanges prints the changes in the lists of a server. The result looks is the number of
// changes that a person must look at.
func TellChanges(c *cli.Context, name string, was, is *pin.SelfDescription) (looks int, err error) {
	found := []outcome{{name: name, is: *is, differences: pin.Lock{name: *was}.CompareServer(name, is)}}
	for _, d := range found[0].differences {
		if d.Class.NeedsApproval() || d.Class == pin.Removed {
			looks++
		}
	}
	return looks, tellDifferences(c, found, true)
}

// DescribeCounts returns how many tools, prompts and templates a server lists, as a text.
func DescribeCounts(s *pin.SelfDescription) string { return renderCounts(s) }
