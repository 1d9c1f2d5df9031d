package wrapcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// StatusCommand is "clawai status".
func StatusCommand() *cli.Command {
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

// Status is what --json prints.
type Status struct {
	Clawai     string             `json:"clawai"`
	Program    string             `json:"program,omitempty"` // what wrap would write
	Files      []FileStatus       `json:"files"`
	NotCovered []statusUncovered  `json:"not_covered"`
	Counts     map[wrap.State]int `json:"counts"`
	Unreadable int                `json:"unreadable"`
}

// FileStatus is one file of a client.
type FileStatus struct {
	Client       string         `json:"client"`
	Name         string         `json:"name"`
	Scope        client.Scope   `json:"scope"`
	Path         string         `json:"path"`
	Real         string         `json:"real,omitempty"` // when a symlink leads there
	Experimental bool           `json:"experimental,omitempty"`
	Tracked      bool           `json:"tracked,omitempty"` // by git
	Error        string         `json:"error,omitempty"`
	Servers      []ServerStatus `json:"servers"`
}

// ServerStatus is one server in it.
type ServerStatus struct {
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
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	f, err := Find()
	if err != nil {
		return err
	}
	doc := f.Status()
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
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// Status judges every server that was found.
func (f *Found) Status() Status {
	doc := Status{
		Clawai: cmdline.Version, Program: f.Judge.Program.Path,
		Files: []FileStatus{}, NotCovered: []statusUncovered{}, Counts: map[wrap.State]int{},
	}
	for i := range f.Places {
		p := &f.Places[i]
		file := FileStatus{
			Client: p.Row.Client, Name: p.Row.Name, Scope: p.Row.Scope, Path: p.Path, Tracked: p.Tracked,
			Experimental: p.Row.Confidence == client.Experimental, Servers: []ServerStatus{},
		}
		if p.Err != nil {
			file.Error = p.Err.Error()
			doc.Unreadable++
		}
		if p.Real != p.Path {
			file.Real = p.Real
		}
		for _, e := range p.Entries {
			state, why := f.Judge.State(p, e)
			doc.Counts[state]++
			file.Servers = append(file.Servers, ServerStatus{e.Name, e.KeyPath, e.Line, state, why, f.Judge.Differs(p, e), e.Kind == client.Remote, project(wrap.Target{File: p, Entry: e})})
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

func (f *Found) printStatus(w io.Writer, doc Status) error {
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
			fmt.Fprintf(t, "?\tunreadable\t%s\t%s\t%s\n", name, f.Short(file.Path), term.Text(file.Error))
		}
		for _, s := range file.Servers {
			why := term.Text(s.Why)
			if s.Remote && why == "" {
				why = "a remote server"
			}
			if s.Project != "" {
				why = strings.TrimPrefix(why+"; for "+f.Short(s.Project), "; ")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", term.Visible(s.Name), s.State, name, f.Short(file.Path), why)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := doc.Counts[wrap.Observed]; n > 0 {
		fmt.Fprintf(w, "\nNOTHING IS ENFORCED for %s wrapped with --observe: every call passes and is recorded.\n", cmdline.Count(n, "the server", "the %d servers"))
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
