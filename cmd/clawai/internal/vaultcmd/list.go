package vaultcmd

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/term"
)

// entryDoc is one entry in the output of vault list. It contains no value and no length of a value.
type entryDoc struct {
	Name     string          `json:"name"`
	Set      time.Time       `json:"set"`
	Expires  *time.Time      `json:"expires,omitempty"`
	Bindings []vault.Binding `json:"bindings"`
	Reveal   bool            `json:"reveal,omitempty"` // agents may read the value
}

func runList(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	store, err := vaultplace.Open()
	if err != nil {
		return err
	}
	all, err := vault.ListEntries(store)
	if err != nil {
		return err
	}
	entries := make([]entryDoc, 0, len(all))
	for _, e := range all {
		l := entryDoc{Name: e.Name, Set: e.Set, Bindings: e.Bindings, Reveal: e.Reveal}
		if l.Bindings == nil {
			l.Bindings = []vault.Binding{}
		}
		if at, _ := e.ExpiryTime(time.Now()); !at.IsZero() {
			l.Expires = &at
		}
		entries = append(entries, l)
	}
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, struct {
			Store   vault.StoreKind `json:"store"`
			Entries []entryDoc      `json:"entries"`
		}{store.Kind(), entries})
	}
	if len(entries) == 0 {
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "The vault is empty. To keep a value: clawai vault set NAME")
		return nil
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSET\tEXPIRES\tFOR")
	for _, e := range entries {
		expires := "never"
		if e.Expires != nil {
			expires = e.Expires.Local().Format(time.DateOnly)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, e.Set.Local().Format(time.DateOnly), expires, renderUsers(e))
	}
	return w.Flush()
}

func renderUsers(e entryDoc) string {
	var all []string
	if e.Reveal {
		all = append(all, "agents")
	}
	for _, b := range e.Bindings {
		all = append(all, fmt.Sprintf("%s (%s)", term.VisibleValue(b.Server), term.VisibleText(b.Program)))
	}
	if len(all) == 0 {
		return "no server yet"
	}
	return strings.Join(all, ", ")
}

// checkDoc is the result of vault check for one entry.
type checkDoc struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

func runCheck(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	store, err := vaultplace.Open()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if names, err = store.Names(); err != nil {
			return err
		}
	}
	results, bad := make([]checkDoc, 0, len(names)), 0
	for _, name := range names {
		r := checkDoc{Name: name, OK: true}
		if problem := checkEntry(store, name); problem != nil {
			r.OK, r.Problem = false, problem.Error()
			bad++
		}
		results = append(results, r)
	}
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, struct {
			Store   vault.StoreKind `json:"store"`
			Entries []checkDoc      `json:"entries"`
		}{store.Kind(), results})
	} else {
		out := cmdline.ProseWriter(c.App.Writer)
		for _, r := range results {
			if r.OK {
				r.Problem = "ok"
			}
			fmt.Fprintf(out, "%s: %s\n", term.VisibleText(r.Name), r.Problem)
		}
		fmt.Fprintf(out, "%s in %s.\n", cmdline.CountText(len(results), "1 entry", "%d entries"), store.Kind())
	}
	if err == nil && bad > 0 {
		err = &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}

// checkEntry returns an error if no server would get the entry.
func checkEntry(store vault.Store, name string) error {
	e, err := store.Get(name)
	if errors.Is(err, vault.ErrNone) {
		return fmt.Errorf("%w; set it: clawai vault set NAME", err)
	}
	if err != nil {
		return err
	}
	if at, expired := e.ExpiryTime(time.Now()); expired {
		return fmt.Errorf("too old since %s; set a new value: clawai vault set %s", at.Local().Format(time.DateOnly), name)
	}
	if len(e.Bindings) == 0 && !e.Reveal {
		return fmt.Errorf("no server may have it; clawai vault bind %s --server SERVER -- COMMAND", name)
	}
	return nil
}
