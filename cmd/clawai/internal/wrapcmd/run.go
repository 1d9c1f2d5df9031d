package wrapcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// wrapRun is one run of wrap or unwrap. It has the command line, and the files and servers on this
// machine.
type wrapRun struct {
	c         *cli.Context
	op        wrap.Op
	out, errs io.Writer
	prose     io.Writer // writes sentences to out, and breaks lines at the terminal's width
	diffs     io.Writer // writes diffs to out, in color
	in        *bufio.Reader
	Found
	selection  wrap.Selection
	all        bool              // true with --all: every selected server or client
	hooks      bool              // the run changes hooks, not servers
	models     bool              // the run changes the addresses of models, not servers
	routes     *wrap.ModelRoutes // routes of the owner's proxy of models; nil if they were not read
	routesLost bool              // true if the routes cannot be read; then they are not changed
	dryRun     bool
	terminal   bool           // true if a person can answer at the terminal
	vault      *vaultMoves    // never nil
	rules      *policy.Policy // the owner's policy; nil if it is not read, or if this run creates it
	hookRules  *hookRules     // rules that the policy lacks for the new hooks; nil if it lacks none
}

// Found has the clients' files and servers on this machine.
type Found struct {
	folders config.Folders
	env     client.Env
	rows    []client.Row
	Places  []wrap.ConfigFile
	Judge   wrap.Planner
}

// FindServers reads the catalogue of clients, the clients' files, and the journal of earlier
// changes.
func FindServers() (f Found, err error) {
	if f.folders, err = config.ReadFolders(); err != nil {
		return f, err
	}
	if f.env, err = wrap.SystemEnv(); err != nil {
		return f, err
	}
	var own [][]byte
	src, err := config.ReadFile(f.folders.ClientsFile())
	switch {
	case err == nil:
		own = append(own, src)
	case !errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("%s: %w", f.folders.ClientsFile(), err)
	}
	if f.rows, err = client.LoadCatalogue(own...); err != nil {
		return f, fmt.Errorf("%s: %w", f.folders.ClientsFile(), err)
	}
	if f.Judge.HTTPProxy, err = httpproxy.Read(f.folders.State); err != nil {
		return f, err
	}
	f.Places = wrap.FindConfigFiles(f.env, f.rows)
	f.Judge.Program, f.Judge.Getenv = wrap.FindProgram(), os.Getenv
	if f.Judge.Journal, err = wrap.ReadJournal(f.folders.State); err != nil {
		return f, fmt.Errorf("the journal cannot be read: %w", err)
	}
	f.Judge.Hub, err = f.readHub()
	return f, err
}

// newWrapRun reads the command line and finds the files and servers on this machine. The functions
// in the parameter checks see all options, also those after the names.
func newWrapRun(c *cli.Context, op wrap.Op, checks ...func(*cli.Context) error) (*wrapRun, error) {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	// Without this, a closed pipe (| head) would end clawai before it has written the files.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	r := &wrapRun{
		c: c, op: op, in: bufio.NewReader(os.Stdin),
		out: c.App.Writer, prose: cmdline.ProseWriter(c.App.Writer), diffs: cmdline.ProseWriter(c.App.Writer, diffMarks...), errs: cmdline.ProseWriter(c.App.ErrWriter),
	}
	if c.Bool("all") && len(names) > 0 {
		what := "server"
		if c.Bool("hooks") || c.Bool("llm") {
			what = "client"
		}
		return nil, cmdline.Usagef("--all means every %s; name %[1]ss or give --all, not both", what)
	}
	if r.Found, err = FindServers(); err != nil {
		return nil, err
	}
	if c.Command.Name == protect {
		names = nil // the only argument is the client, which the flag already has
	} else if names, err = r.chooseHub(c, names); err != nil {
		return nil, err
	}
	r.Judge.Hub.Into = op == wrap.Wrap && c.Bool("hub")
	if r.selection, err = r.selectionOf(c, names); err != nil {
		return nil, err
	}
	if op == wrap.Wrap && r.Judge.Program.Err != nil {
		return nil, r.Judge.Program.Err
	}
	r.all = c.Bool("all") || r.Judge.Hub.Into || c.String("client") == "all" && len(names) > 0
	r.vault = &vaultMoves{run: r}
	if op == wrap.Unwrap || c.Bool("vault") {
		r.Judge.Secrets = r.vault
	}
	r.Judge.Observe = op == wrap.Wrap && c.Bool("observe")
	if err := r.chooseForm(c); err != nil {
		return nil, err
	}
	r.dryRun = c.Bool("dry-run")
	if c.Bool("json") {
		if !r.dryRun && !c.Bool("yes") {
			return nil, cmdline.Usagef("--json asks nothing; give --yes too, or --dry-run to look first")
		}
		r.out, r.prose, r.diffs = io.Discard, io.Discard, io.Discard
	}
	r.terminal = !c.Bool("yes") && r.out == io.Writer(os.Stdout) && choose.HasTerminal(os.Stdin, os.Stdout)
	if c.Bool("all") && !r.terminal && !c.Bool("yes") && !r.dryRun {
		return nil, cmdline.Usagef("--all edits every client's file, and nobody can be asked here; give --yes too, or --dry-run to look first")
	}
	if c.Bool("vault") && !r.terminal && !c.Bool("yes") && !r.dryRun {
		return nil, cmdline.Usagef("--vault asks about each secret, and nobody can be asked here; give --yes too, or --dry-run to look first")
	}
	return r, nil
}

// askLine prints a question at the terminal and reads a line as the answer. What was typed before the
// question is no answer.
func (r *wrapRun) askLine(question string) (string, error) {
	_, _ = r.in.Discard(r.in.Buffered()) // cannot fail
	term.DropInput(os.Stdin)
	fmt.Fprint(r.prose, question)
	line, err := r.in.ReadString('\n')
	return strings.TrimSpace(line), err
}

// findUncoverable returns the places on this machine that clawai cannot protect by changing a file.
// It returns a place with paths if one of these paths exists. It returns a place without paths if
// its client has a file on this machine. The parameter id selects one client; "" selects all.
func (f *Found) findUncoverable(id string) []client.Uncoverable {
	all, err := client.LoadUncoverables()
	if err != nil {
		return nil // cannot happen, because FindServers has read the same table
	}
	return slices.DeleteFunc(all, func(u client.Uncoverable) bool {
		if id != "" && id != u.Client {
			return true
		}
		if len(u.Paths.All)+len(u.Paths.Linux)+len(u.Paths.MacOS)+len(u.Paths.Windows) > 0 {
			return len(u.FindPaths(f.env)) == 0
		}
		return !slices.ContainsFunc(f.Places, func(p wrap.ConfigFile) bool { return p.Row.Client == u.Client })
	})
}

// diffMarks color the lines of a unified diff.
var diffMarks = []cmdline.Mark{
	{Pattern: `^((?:---|\+\+\+) .*)`, Color: cmdline.Bold},
	{Pattern: `^(@@ .*)`, Color: cmdline.Dim},
	{Pattern: `^(-.*)`, Color: cmdline.Red},
	{Pattern: `^(\+.*)`, Color: cmdline.Green},
}

// ShortPath returns a path with ~ for the home folder, safe for a terminal.
func (f *Found) ShortPath(path string) string {
	if rest, ok := strings.CutPrefix(path, f.env.Home+string(filepath.Separator)); ok {
		path = filepath.Join("~", rest)
	}
	return term.VisibleText(path)
}
