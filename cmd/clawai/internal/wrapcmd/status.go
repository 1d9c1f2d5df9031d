package wrapcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// StatusCommand returns "clawai status".
func StatusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show which servers of your MCP clients are behind clawai",
		UsageText: "clawai status [--json] [--check]\nclawai status --tokens [--json]\nclawai status --forget FILE [--yes]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
			&cli.BoolFlag{Name: "check", Usage: "exit 1 when a server could be wrapped and is not, an installed hook does nothing, a client was led through clawai llm-proxy and that does not run, the policy does not load, the team's centre was not reached for so long that every call is denied, or a file cannot be read"},
			&cli.BoolFlag{Name: "tokens", Usage: "estimate what each server's tools cost the model, by the lists on record"},
			&cli.StringFlag{Name: "forget", Usage: "end the labels of a FILE into which a session wrote after it had read what strangers wrote"},
			&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
		},
		Action: runStatus,
	}
}

// Status is the output of clawai status --json.
type Status struct {
	Clawai string `json:"clawai"`
	// Program is the path of the program that wrap would write into entries.
	Program    string             `json:"program,omitempty"`
	Files      []FileStatus       `json:"files"`
	Hooks      []HookStatus       `json:"hooks"`
	NotCovered []statusUncovered  `json:"not_covered"`
	Counts     map[wrap.State]int `json:"counts"`
	Unreadable int                `json:"unreadable"`
	// Hub has the problems with moves between the clients' files and the hub.
	Hub      []string     `json:"hub,omitempty"`
	Models   ModelsStatus `json:"models"`
	Policy   string       `json:"policy,omitempty"`   // the reason why the policy does not load
	Sessions []flow.Shown `json:"sessions,omitempty"` // the labels of agents' sessions

	// Centre is the state of the enrolment at the team's centre. It is nil if this laptop is not
	// enrolled.
	Centre *enrolment.Standing `json:"centre,omitempty"`
}

// FileStatus is one file of a client, with its servers.
type FileStatus struct {
	Client       string         `json:"client"`
	Name         string         `json:"name"`
	Scope        client.Scope   `json:"scope"`
	Path         string         `json:"path"`
	Real         string         `json:"real,omitempty"` // the target if Path is a symbolic link
	Experimental bool           `json:"experimental,omitempty"`
	Tracked      bool           `json:"tracked,omitempty"` // git tracks the file
	Error        string         `json:"error,omitempty"`
	Notes        []string       `json:"notes,omitempty"` // texts that the owner of the file should know
	Servers      []ServerStatus `json:"servers"`
}

// ServerStatus is the state of one server in a file.
type ServerStatus struct {
	Name  string     `json:"name"`
	Key   []string   `json:"key"`
	Line  int        `json:"line"`
	State wrap.State `json:"state"`
	Why   string     `json:"why,omitempty"`
	// Differs has each difference from the entry that wrap writes, if the entry has drifted.
	Differs []string `json:"differs,omitempty"`
	Remote  bool     `json:"remote,omitempty"` // the server has a URL
	Project string   `json:"project,omitempty"`
	// Sandbox is the level of the sandbox from the policy and the client's file, or the reason why
	// the sandbox is not in force.
	Sandbox string `json:"sandbox,omitempty"`
	// Program describes the installation of the server, or the launcher that downloads the server.
	Program string `json:"program,omitempty"`
	// Within is a program in the server's own command that runs the server in a sandbox or a
	// container.
	Within string `json:"within,omitempty"`
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
	if c.String("forget") != "" {
		return forgetFile(c, c.String("forget"))
	}
	if c.Bool("tokens") {
		if c.Bool("check") {
			return cmdline.Usagef("--tokens and --check are two questions; ask one")
		}
		return printTokens(c)
	}
	f, err := FindServers()
	if err != nil {
		return err
	}
	doc := f.JudgeStatus()
	f.addSandboxes(&doc)
	if err := policyfile.FindFault(f.folders); err != nil {
		doc.Policy = err.Error()
	}
	doc.Centre = enrolment.FindStanding(f.folders.State, time.Now())
	if doc.Hooks, err = f.HookStatus(); err != nil {
		return err
	}
	if doc.Models, err = f.FindModels(c.Context); err != nil {
		return err
	}
	if c.Bool("json") {
		if doc.Sessions, err = flow.ListSessions(f.folders.State); err == nil {
			err = cmdline.WriteJSON(c.App.Writer, doc)
		}
	} else if err = f.printStatus(c.App.Writer, doc); err == nil {
		err = printSessions(c.App.Writer, flow.EachSession(f.folders.State))
	}
	if err != nil {
		return err
	}
	if c.Bool("check") && doc.Counts[wrap.Bare]+doc.Counts[wrap.Drifted]+doc.Unreadable+len(doc.Hub)+len(doc.Policy) > 0 || c.Bool("check") && (hasBrokenHooks(doc.Hooks) || doc.Models.IsBroken() || doc.Centre != nil && doc.Centre.Broken) {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// addSandboxes adds the servers' sandboxes, from the policy in force in the current folder. If the
// policy does not load, it does nothing, because doctor reports this.
func (f *Found) addSandboxes(doc *Status) {
	loaded, err := policyfile.LoadHere(f.folders)
	if err != nil {
		return
	}
	for i := range doc.Files {
		for j := range doc.Files[i].Servers {
			s := &doc.Files[i].Servers[j]
			level := loaded.Policy.CageLevel(s.Name)
			switch {
			case level <= policy.CageOff:
			case s.Remote:
				s.Sandbox = "not in force: remote"
			case s.State != wrap.Wrapped && s.State != wrap.Observed:
				s.Sandbox = "not in force: " + string(s.State)
			case s.Sandbox != "":
				s.Sandbox += ", narrowed by the policy"
			default:
				s.Sandbox = level.String()
			}
		}
	}
}

// describeProgram returns a text for a server that a launcher downloads. It describes the
// installation, or says that each start downloads the server. For other servers it returns "".
func (f *Found) describeProgram(e client.Entry) string {
	if e.Kind != client.Stdio || e.Unclear {
		return ""
	}
	command, _ := LaunchCommand(e)
	store := installed.NewStore(f.folders.State)
	m, err := policyfile.CheckInstalled(store, e.Name, command)
	switch {
	case err != nil:
		return err.Error()
	case m != nil:
		return "installed: " + m.Package + "@" + m.Version
	}
	if passed, _ := policyfile.DescribePassed(store, e.Name, command); passed != "" {
		return passed
	}
	if servers.DownloadsItself(command[0]) {
		return "not installed: " + filepath.Base(command[0]) + " downloads it at each start"
	}
	return ""
}

// forgetFile removes the labels of a file if the owner agrees.
func forgetFile(c *cli.Context, file string) error {
	f, err := FindServers()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	shown := term.VisibleText(f.ShortPath(path))
	question := shown + " may hold what strangers wrote. Treat it as your own?"
	if err := cmdline.ConfirmAction(c, question, "Nothing was forgotten.", choose.HasTerminal(os.Stdin, os.Stdout)); err != nil {
		return err
	}
	had, err := flow.ForgetFile(f.folders.State, path)
	switch {
	case err != nil:
		return fmt.Errorf("nothing was forgotten: %w", err)
	case !had:
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s has no labels of its own.\n", shown)
		return nil
	}
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "The labels of %s are forgotten. Sessions that have read it keep theirs.\n", shown)
	return nil
}

// JudgeStatus returns the state of every server in the clients' files.
func (f *Found) JudgeStatus() Status {
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
		file.Notes = fileNotes(p)
		if p.Real != p.Path {
			file.Real = p.Real
		}
		for _, e := range p.Entries {
			state, why := f.Judge.EntryState(p, e)
			doc.Counts[state]++
			file.Servers = append(file.Servers, ServerStatus{e.Name, e.KeyPath, e.Line, state, why, f.Judge.FindDifferences(p, e), e.Kind == client.Remote, projectFolder(wrap.Target{File: p, Entry: e}), clientsSandbox(state, e), f.describeProgram(e), servers.FindSandboxer(append([]string{e.Command}, e.Args...))})
		}
		if p.Err != nil || len(p.Entries) > 0 {
			doc.Files = append(doc.Files, file)
		}
	}
	doc.Hub = f.HubTrouble()
	for _, u := range f.findUncoverable("") {
		doc.NotCovered = append(doc.NotCovered, statusUncovered{u.Client, u.Name, u.Why, u.Instead, u.FindPaths(f.env)})
	}
	return doc
}

// clientsSandbox returns a text about the sandbox that the client's file has for a server, or "".
func clientsSandbox(state wrap.State, e client.Entry) string {
	switch {
	case len(e.Sandbox) == 0:
		return ""
	case state == wrap.Wrapped || state == wrap.Observed:
		return "enforce, as its client's file has it"
	case e.Wrapped == nil:
		return "its client's own"
	}
	return ""
}

// fileNotes returns texts that the owner of a file should know, apart from the state of its
// servers.
func fileNotes(p *wrap.ConfigFile) (all []string) {
	if p.HasMark() {
		all = append(all, "the file starts with a byte order mark, which "+p.Row.Name+" may not read: save it without")
	}
	if p.Row.Retired != "" {
		all = append(all, p.Row.Retired)
	}
	return all
}

// ServerNames returns the sorted names of all servers in the clients' files.
func (f *Found) ServerNames() (names []string) {
	for i := range f.Places {
		for _, e := range f.Places[i].Entries {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ClientNames returns the sorted names of the clients that have a server or an unreadable file on
// this machine.
func (f *Found) ClientNames() (names []string) {
	for i := range f.Places {
		if p := &f.Places[i]; p.Err != nil || len(p.Entries) > 0 {
			names = append(names, p.Row.Client)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// FindUnruled returns two lists of wrapped servers:
//   - shut: no rule allows anything for these servers.
//   - elsewhere: only rules that name no server may allow something for these servers.
func (f *Found) FindUnruled(rules []policy.Source) (shut, elsewhere []string) {
	for i := range f.Places {
		for _, e := range f.Places[i].Entries {
			if state, _ := f.Judge.EntryState(&f.Places[i], e); state != wrap.Wrapped || e.Wrapped.Hub {
				continue // rules see the servers of the hub, and these are in the hub's own file
			}
			switch openFor(rules, e, starterFor(e)) {
			case closed:
				shut = append(shut, e.Name)
			case openedElsewhere:
				elsewhere = append(elsewhere, e.Name)
			case opened:
			}
		}
	}
	return dropRepeats(shut), dropRepeats(elsewhere)
}
