package sandboxcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/lockcmd"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/proxy/listing"
)

// installFlags returns the flags of the commands install and update.
func installFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
		&cli.StringFlag{Name: "version", Usage: "the exact `VERSION` (default: the one that the client's entry or your lock names, or the newest)"},
		&cli.StringSliceFlag{Name: "net", Usage: "let npm reach the `HOST`, too; \"*\" opens your network (repeatable)"},
	}
}

// installRun is one run of clawai sandbox install or update.
type installRun struct {
	c        *cli.Context
	t        *target
	download servers.Download
	store    *installed.Store
	pins     *pinning.Store
	change   *installed.Change
	lists    pin.SelfDescription // lists of the new version: tools, prompts and templates
}

func (r *installRun) say(format string, a ...any) {
	fmt.Fprintf(cmdline.ProseWriter(r.c.App.Writer), "%s\n", term.VisibleText(fmt.Sprintf(format, a...)))
}

func runInstall(c *cli.Context) error {
	if _, err := cmdline.ParseArguments(c); err != nil { // ParseArguments also sets the options after the name
		return err
	}
	if c.Bool("remove") {
		return removeInstalled(c)
	}
	return beginInstall(c, (*installRun).install)
}

func runUpdate(c *cli.Context) error { return beginInstall(c, (*installRun).update) }

// beginInstall finds the server, locks its installation, and then runs the function in the
// parameter do.
func beginInstall(c *cli.Context, do func(*installRun) error) error {
	t, err := findTarget(c)
	if err != nil {
		return err
	}
	r := &installRun{c: c, t: t, store: installed.NewStore(t.folders.State)}
	if r.download, err = readDownload(t); err != nil {
		return err
	}
	if t.isSwitchedOff() {
		return fmt.Errorf("nothing was installed: %w", errOff)
	}
	if v := c.String("version"); v != "" && !servers.IsExactVersion(v) {
		return cmdline.Usagef("%s is not one version, such as 1.2.3", term.VisibleValue(v))
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	r.pins = pinning.NewStore(t.folders.State, here)
	if r.change, err = r.store.Begin(t.name); err != nil {
		return fmt.Errorf("nothing was installed: %w", err)
	}
	defer r.change.End()
	if err := do(r); err != nil {
		if _, ok := errors.AsType[*cmdline.ExitError](err); ok {
			return err
		}
		return fmt.Errorf("nothing was installed: %w", err)
	}
	return nil
}

// readDownload returns the package that the server's launcher would download. It returns an error
// if clawai cannot install this package.
func readDownload(t *target) (d servers.Download, err error) {
	shown := term.VisibleText(cmdline.Quote(t.command))
	d, ok := servers.ParseDownload(t.command)
	switch {
	case !ok && servers.DownloadsItself(t.command[0]):
		return d, cmdline.Usagef("clawai does not understand this command with certainty, so it installs nothing for it: %s", shown)
	case !ok:
		return d, cmdline.Usagef("it is started by no launcher that downloads it: %s; there is nothing to install", shown)
	case d.Launcher == "docker":
		return d, cmdline.Usagef("docker keeps the image by itself, and the container is the server's cage: there is nothing to install")
	case d.Launcher != "npx":
		command, program := d.InstallCommand("FOLDER", d.Version)
		return d, cmdline.Usagef("clawai was not tried with %s, so it installs nothing. By hand (not tried, either): %s; then start FOLDER%s in place of %s",
			d.Launcher, cmdline.Quote(command), strings.TrimPrefix(program, "FOLDER"), d.Launcher)
	case runtime.GOOS != "linux":
		return d, cmdline.Usagef("packages are installed in a sandbox, and there is none on %s", runtime.GOOS)
	}
	return d, nil
}

// install installs one version. The command line, the client's entry, the present installation or
// the lock names the version. It asks the person only if the server's lists differ from the
// approved lists.
func (r *installRun) install() error {
	version := r.c.String("version")
	old := r.change.Old
	if old != nil && !old.Matches(r.download) {
		old = nil
	}
	switch {
	case version != "":
	case servers.IsExactVersion(r.download.Version):
		version = r.download.Version
	case old != nil:
		version = old.Version
	default:
		version = r.lockedVersion()
	}
	if version == "" {
		version = r.download.Version // a range of versions, a tag, or ""
	}
	m, files, err := r.prepare(version)
	if err != nil {
		return err
	}
	was, known, err := r.approvedLists()
	if err != nil {
		return err
	}
	r.say("%s@%s lists %s.", m.Package, m.Version, lockcmd.DescribeCounts(&r.lists))
	was.Start = r.lists.Start // the version is already printed, so TellChanges must not print it as a difference
	if known {
		looks, err := lockcmd.TellChanges(r.c, r.t.name, &was, &r.lists)
		if err != nil {
			return err
		}
		if looks > 0 {
			r.say("That is not what was approved of %s.", r.t.name)
			if err := r.confirm("Install it all the same?", "Nothing was installed."); err != nil {
				return err
			}
		}
	}
	return r.commit(m, files)
}

// update installs a newer version in a new folder. Then it asks the person whether to use this
// version.
func (r *installRun) update() error {
	old := r.change.Old
	if old == nil || !old.Matches(r.download) {
		return cmdline.Usagef("nothing is installed of %s; write: clawai sandbox install %s", term.VisibleText(r.t.name), term.VisibleText(cmdline.Quote([]string{r.t.name})))
	}
	version := r.c.String("version")
	switch {
	case version == "":
		version = r.download.Version
	case servers.IsExactVersion(r.download.Version) && version != r.download.Version:
		return cmdline.Usagef("the entry of %s names the version %s, not %s; write %s into its client's file, then: clawai sandbox update %s",
			term.VisibleText(r.t.name), r.download.Version, version, version, term.VisibleText(cmdline.Quote([]string{r.t.name})))
	}
	m, files, err := r.prepare(version)
	if err != nil {
		return err
	}
	if m.Version == old.Version && m.Integrity == old.Integrity && old.CheckEntry(r.download) == nil {
		r.say("%s@%s is installed, and is the newest that its entry asks for.", old.Package, old.Version)
		return nil
	}
	was, err := old.ListedBefore()
	if err != nil {
		return err
	}
	r.say("%s: %s in place of %s", m.Package, m.Version, old.Version)
	was.Start = r.lists.Start // the version is already printed, so TellChanges must not print it as a difference
	looks, err := lockcmd.TellChanges(r.c, r.t.name, &was, &r.lists)
	switch {
	case err != nil:
		return err
	case looks == 0:
		r.say("Nobody has to look at what it lists.")
	}
	if err := r.confirm("Take it?", "Nothing was changed: "+old.Version+" stays."); err != nil {
		return err
	}
	return r.commit(m, files)
}

func (r *installRun) confirm(question, refusal string) error {
	return cmdline.ConfirmAction(r.c, question, refusal, choose.HasTerminal(os.Stdin, os.Stdout))
}

// prepare installs a version into the new folder. Then it starts the server from this folder in a
// sandbox, and reads the server's lists.
func (r *installRun) prepare(version string) (m installed.Manifest, files installed.Measured, err error) {
	done := cmdline.ShowProgress("Installing " + r.download.Package)
	defer done()
	npm := npmRun{server: r.t.name, folders: r.t.folders, dir: r.change.Dir, net: r.c.StringSlice("net")}
	if err := npm.installPackage(r.c.Context, r.download, version); err != nil {
		return m, files, err
	}
	if files, err = installed.Measure(r.change.Dir); err != nil {
		return m, files, err
	}
	m, scripts, err := describePackage(r.change.Dir, r.download)
	if err != nil {
		return m, files, err
	}
	list, err := r.listCaged(r.c.Context, &m)
	done()
	if len(scripts) > 0 {
		r.say("Their install scripts were not run: %s.", strings.Join(scripts, ", "))
	}
	if err != nil {
		return m, files, fmt.Errorf("%s@%s does not start in its sandbox: %w", m.Package, m.Version, err)
	}
	if r.lists, err = list.Describe(servers.PinVersion(r.t.command, m.Version)); err != nil {
		return m, files, err
	}
	// The arguments of the server are removed, because they may be secrets.
	r.lists.Start = slices.Clone(servers.PinVersion(r.t.command[:len(r.t.command)-len(r.download.Args)], m.Version))
	m.Lists = string(pin.Lock{r.t.name: r.lists}.Text())
	return m, files, nil
}

// listCaged starts the new version in a sandbox and returns the server's lists. The sandbox is from
// the policy. If the policy has none, it is the proposed sandbox.
func (r *installRun) listCaged(ctx context.Context, m *installed.Manifest) (list listing.List, err error) {
	command := append([]string{m.Runner}, m.Options...)
	command = append(append(command, filepath.Join(r.change.Dir, m.Script)), r.download.Args...)
	plan, err := r.t.planCageOf(command, r.change.Dir, !r.t.isCaged())
	if err != nil {
		return list, err
	}
	return listing.ListServer(ctx, listing.Options{Args: command, Env: r.t.env, Cage: plan, Within: listing.Within})
}

// lockedVersion returns the version of the server in the project's lock, or "".
func (r *installRun) lockedVersion() string {
	block, known, err := r.pins.LoadLock(r.t.name)
	if err != nil || !known {
		return ""
	}
	if d, ok := servers.ParseDownload(block.Start); ok && d.Package == r.download.Package && servers.IsExactVersion(d.Version) {
		return d.Version
	}
	return ""
}

// approvedLists returns the approved lists of the server. They are in the project's lock, or else
// in the pins. known is false if neither has the server.
func (r *installRun) approvedLists() (was pin.SelfDescription, known bool, err error) {
	if was, known, err = r.pins.LoadLock(r.t.name); err != nil || known {
		return was, known, err
	}
	st, err := r.pins.LoadState(r.t.name)
	if err != nil {
		return was, false, err
	}
	if len(st.Sighted) > 0 {
		return st.Approved, true, nil
	}
	if r.change.Old == nil {
		return was, false, nil
	}
	was, err = r.change.Old.ListedBefore()
	return was, err == nil, err
}

// commit activates the new version. It also approves the lists of this version, if there are pins
// for the server.
func (r *installRun) commit(m installed.Manifest, files installed.Measured) error {
	if err := r.change.Commit(m, files); err != nil {
		return err
	}
	r.say("Installed %s@%s, %s. Its client's entry stays as it is.", m.Package, m.Version, cmdline.CountText(files.Files, "1 file", "%d files"))
	if err := r.approveLists(); err != nil {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%s@%s is installed, but what it lists is not approved: %w", m.Package, m.Version, err)}
	}
	name := cmdline.Quote([]string{r.t.name})
	switch _, locked, err := r.pins.LoadLock(r.t.name); {
	case err == nil && locked:
		r.say("The project's lock counts as it is. If it is to have this version: clawai lock --server %s", name)
	case !r.t.isCaged():
		r.say("The policy has no sandbox for it, so it starts without one. To write one: clawai sandbox propose %s --write", name)
	default:
		r.say("It counts when the server starts again. To take it back: clawai sandbox install %s --remove", name)
	}
	return nil
}

func (r *installRun) approveLists() error {
	st, err := r.pins.LoadState(r.t.name)
	if err != nil || len(st.Sighted) == 0 {
		return err
	}
	return r.pins.ChangeState(r.t.name, func(now *pin.State) (bool, error) {
		return pinning.ApproveDifferences(now, &r.lists, pinning.UnseenDifferences(&now.Approved, &r.lists, nil)) > 0, nil
	})
}

func removeInstalled(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return cmdline.Usagef("which server? write: clawai sandbox install NAME --remove")
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	change, err := installed.NewStore(folders.State).Begin(names[0])
	if err != nil {
		return fmt.Errorf("nothing was removed: %w", err)
	}
	defer change.End()
	had, err := change.Remove()
	out := cmdline.ProseWriter(c.App.Writer)
	switch {
	case err != nil:
		return fmt.Errorf("not all of it was removed: %w", err)
	case !had:
		fmt.Fprintf(out, "Nothing is installed of %s.\n", term.VisibleLine(names[0]))
	default:
		fmt.Fprintf(out, "Removed. %s is started again as its client's entry says.\n", term.VisibleLine(names[0]))
	}
	return nil
}
