package program

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/gateway/simulation"
	"github.com/clawai/clawai/internal/gateway/site"
)

// runSimulate judges the record of all laptops by a candidate. Its exit codes are those of clawai
// policy diff.
func runSimulate(c *call) error {
	name := c.arguments[0]
	src, err := readInput(name)
	if err != nil {
		return usagef("%v", err)
	}
	candidate, err := simulation.NewCandidate(filepath.ToSlash(name), src)
	if err != nil {
		return usagef("%s: %v", name, err)
	}
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	o := simulation.Options{Now: is.Now(), Page: is.Settings.URL + site.RecordPath}
	if o.Since, err = site.ParseTime(c.since, o.Now); err != nil {
		return usagef("--since %q is no time; write an age such as 2h or 30d, or a time such as 2026-11-30T10:00:00Z", c.since)
	}
	r, err := simulation.Run(ctx, is.Store, candidate, o)
	if err != nil {
		return err
	}
	if r.Decisions == 0 {
		return usagef("no laptop has shipped a decision since %s, so nothing was judged; try a longer --since", c.since)
	}
	if c.json {
		e := json.NewEncoder(c.stdout.w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = r.WriteText(c.stdout)
	}
	if err == nil && r.HasChanges() {
		err = errFailed
	}
	return err
}

// readInput reads a policy or a bundle. The name - stands for standard input.
func readInput(name string) ([]byte, error) {
	if name == "-" {
		return readLimited(os.Stdin, "standard input")
	}
	return readBundle(name)
}
