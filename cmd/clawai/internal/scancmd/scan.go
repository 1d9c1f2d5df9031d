// Package scancmd implements "clawai scan".
package scancmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/term"
)

// Command returns "clawai scan".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "scan",
		Usage:     "find secrets in a text, and what a reader of it does not see",
		UsageText: "clawai scan [options] [FILE|-]...   (without FILE: standard input)",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "find", Usage: "only the `KIND`, one of those that --kinds lists (repeatable)"},
			&cli.StringSliceFlag{Name: "pack", Usage: "look for what the pack in `FILE` finds as well (repeatable)"},
			&cli.BoolFlag{Name: "kinds", Usage: "list what is looked for, and stop"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runScan,
	}
}

// place is one finding in one file, in the output of --json.
type place struct {
	File   string       `json:"file"`   // "-" for standard input
	Line   int          `json:"line"`   // starts at 1
	Column int          `json:"column"` // in characters; starts at 1
	Start  int          `json:"start"`  // offset in the file, in bytes
	End    int          `json:"end"`
	Kind   inspect.Kind `json:"kind"`
	What   string       `json:"what"`
	Shows  string       `json:"shows,omitempty"` // the found text, safe for a terminal; never a secret
}

func runScan(c *cli.Context) error {
	own, err := readPacks(c.StringSlice("pack"))
	if err != nil {
		return err
	}
	if c.Bool("kinds") {
		return listKinds(c, own)
	}
	wanted, err := inspect.ParseKinds(c.StringSlice("find"), own...)
	if err != nil {
		return cmdline.Usagef("--find: %v", err)
	}
	files, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	all := []place{}
	var unread []string
	for _, name := range files {
		text, err := readText(name)
		if err != nil {
			unread = append(unread, err.Error())
			continue
		}
		all = append(all, findPlaces(name, text, wanted)...)
	}
	if err := showPlaces(c, len(files)-len(unread), all); err != nil {
		return err
	}
	if len(unread) > 0 {
		return cmdline.Usagef("%s", strings.Join(unread, "; "))
	}
	if len(all) > 0 {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// readPacks reads packs as a policy would. It does not check who owns the files.
func readPacks(files []string) (own []*inspect.Pack, err error) {
	for _, name := range files {
		src, err := readText(name)
		if err != nil {
			return nil, cmdline.Usagef("--pack: %v", err)
		}
		p, err := packs.Parse(name, []byte(src))
		if err != nil {
			return nil, cmdline.Usagef("--pack: %v", err)
		}
		if slices.ContainsFunc(own, func(q *inspect.Pack) bool { return q.Kind() == p.Kind() }) {
			return nil, cmdline.Usagef("--pack: %s is a second pack of the name %q", term.VisibleText(name), p.Name)
		}
		own = append(own, p)
	}
	return own, nil
}

// maxFile is the maximum number of bytes that are read of a file. No ordinary text is larger.
const maxFile = 64 << 20

// readText reads a complete file. If name is "-", it reads standard input.
func readText(name string) (string, error) {
	var src []byte
	var err error
	if name == "-" {
		src, err = cmdline.ReadAtMost(os.Stdin, maxFile)
	} else {
		src, err = cmdline.ReadNamed(name, maxFile)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", term.VisibleText(name), err)
	}
	return string(src), nil
}

// findPlaces returns the findings in a text, with the lines and columns where they start.
func findPlaces(name, text string, wanted inspect.Kinds) (all []place) {
	line, column, at := 1, 1, 0
	found := inspect.SearchDocument(text, wanted) // the findings are sorted by their start
	shows := showFindings(text, found)
	for i, f := range found {
		before := text[at:f.Start]
		if n := strings.LastIndexByte(before, '\n'); n >= 0 {
			line += strings.Count(before, "\n")
			before, column = before[n+1:], 1
		}
		column += utf8.RuneCountInString(before)
		at = f.Start
		all = append(all, place{name, line, column, f.Start, f.End, f.Kind, f.What, shows[i]})
	}
	return all
}

// kindMark colors the kind of a finding.
var kindMark = cmdline.Mark{Pattern: `^\S.*:\d+:\d+  ([a-z0-9:-]+)  `, Color: cmdline.Yellow}

func showPlaces(c *cli.Context, read int, all []place) error {
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Found []place `json:"found"`
		}{all})
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s:%d:%d  %s  %s", term.VisibleText(p.File), p.Line, p.Column, p.Kind, p.What)
		if p.Shows != "" {
			b.WriteString(": " + p.Shows)
		}
		b.WriteByte('\n')
	}
	number := "Nothing found"
	if len(all) > 0 {
		number = cmdline.CountText(len(all), "1 finding", "%d findings")
	}
	fmt.Fprintf(&b, "%s in %s.\n", number, cmdline.CountText(read, "1 text", "%d texts"))
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer, kindMark), b.String())
	return err
}

func listKinds(c *cli.Context, own []*inspect.Pack) error {
	var b strings.Builder
	for _, k := range inspect.KindWords() {
		fmt.Fprintf(&b, "%s  %s\n", cmdline.Pad(k, 14), inspect.Kind(k).DescribeKind())
	}
	for _, p := range own {
		fmt.Fprintf(&b, "%s  a pack of yours: %s\n", cmdline.Pad(p.Kind(), 14), term.VisibleText(p.Says))
	}
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer), b.String())
	return err
}
