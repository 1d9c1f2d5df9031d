package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show which servers of your MCP clients are behind clawai",
		UsageText: "clawai status [--json] [--check]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
			&cli.BoolFlag{Name: "check", Usage: "exit 1 when a server that can be wrapped is not, or a file cannot be read"},
		},
		Action: runStatus,
	}
}

// statusDoc is what --json prints.
type statusDoc struct {
	Clawai     string             `json:"clawai"`
	Program    string             `json:"program,omitempty"` // what wrap would write
	Files      []statusFile       `json:"files"`
	NotCovered []statusUncovered  `json:"not_covered"`
	Counts     map[wrap.State]int `json:"counts"`
	Unreadable int                `json:"unreadable"`
}

type statusFile struct {
	Client       string         `json:"client"`
	Name         string         `json:"name"`
	Scope        client.Scope   `json:"scope"`
	Path         string         `json:"path"`
	Real         string         `json:"real,omitempty"` // when a symlink leads there
	Experimental bool           `json:"experimental,omitempty"`
	Tracked      bool           `json:"tracked,omitempty"` // by git
	Error        string         `json:"error,omitempty"`
	Servers      []statusServer `json:"servers"`
}

type statusServer struct {
	Name    string     `json:"name"`
	Key     []string   `json:"key"`
	Line    int        `json:"line"`
	State   wrap.State `json:"state"`
	Why     string     `json:"why,omitempty"`
	Differs []string   `json:"differs,omitempty"` // of drifted: each thing that is not as wrap writes it
	Remote  bool       `json:"remote,omitempty"`  // reached by a url
	Project string     `json:"project,omitempty"`
}

type statusUncovered struct {
	Client  string   `json:"client"`
	What    string   `json:"what"`
	Why     string   `json:"why"`
	Instead string   `json:"instead,omitempty"`
	Paths   []string `json:"paths,omitempty"`
}

func runStatus(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	f, err := look()
	if err != nil {
		return err
	}
	doc := f.status()
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetIndent("", "  ")
		err = enc.Encode(doc)
	} else {
		err = f.printStatus(c.App.Writer, doc)
	}
	if err != nil {
		return err
	}
	if c.Bool("check") && doc.Counts[wrap.Bare]+doc.Counts[wrap.Drifted]+doc.Unreadable > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (f *found) status() statusDoc {
	doc := statusDoc{
		Clawai: version, Program: f.judge.Program.Path,
		Files: []statusFile{}, NotCovered: []statusUncovered{}, Counts: map[wrap.State]int{},
	}
	for i := range f.places {
		p := &f.places[i]
		file := statusFile{
			Client: p.Row.Client, Name: p.Row.Name, Scope: p.Row.Scope, Path: p.Path, Tracked: p.Tracked,
			Experimental: p.Row.Confidence == client.Experimental, Servers: []statusServer{},
		}
		if p.Err != nil {
			file.Error = p.Err.Error()
			doc.Unreadable++
		}
		if p.Real != p.Path {
			file.Real = p.Real
		}
		for _, e := range p.Entries {
			state, why := f.judge.State(p, e)
			doc.Counts[state]++
			file.Servers = append(file.Servers, statusServer{e.Name, e.KeyPath, e.Line, state, why, f.judge.Differs(p, e), e.Kind == client.Remote, project(wrap.Target{Place: p, Entry: e})})
		}
		if p.Err != nil || len(p.Entries) > 0 {
			doc.Files = append(doc.Files, file)
		}
	}
	for _, u := range f.sources("") {
		doc.NotCovered = append(doc.NotCovered, statusUncovered{u.Client, u.Name, u.Why, u.Instead, u.Found(f.env)})
	}
	return doc
}

func (f *found) printStatus(w io.Writer, doc statusDoc) error {
	if len(doc.Files) == 0 {
		_, err := fmt.Fprintln(w, "No MCP client here has a server in a file that clawai knows.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SERVER\tSTATE\tCLIENT\tFILE\t")
	for _, file := range doc.Files {
		name := file.Client
		if file.Experimental {
			name += " (experimental)"
		}
		if file.Error != "" {
			fmt.Fprintf(t, "?\tunreadable\t%s\t%s\t%s\n", name, f.short(file.Path), term.Text(file.Error))
		}
		for _, s := range file.Servers {
			why := term.Text(s.Why)
			if s.Remote && why == "" {
				why = "a remote server"
			}
			if s.Project != "" {
				why = strings.TrimPrefix(why+"; for "+f.short(s.Project), "; ")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", term.Visible(s.Name), s.State, name, f.short(file.Path), why)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := doc.Counts[wrap.Observed]; n > 0 {
		fmt.Fprintf(w, "\nNOTHING IS ENFORCED for %s wrapped with --observe: every call passes and is recorded.\n", count(n, "the server", "the %d servers"))
	}
	for i, u := range doc.NotCovered {
		if i == 0 {
			fmt.Fprintln(w, "\nNot covered:")
		}
		fmt.Fprintf(w, "  %s: %s\n", u.What, u.Why)
	}
	if doc.Counts[wrap.Bare]+doc.Counts[wrap.Drifted] > 0 {
		fmt.Fprintln(w, "\nNext: clawai wrap")
	}
	return nil
}
