// Package wrapcmd is the commands that look at clients' files: init, wrap, unwrap and
// status.
package wrapcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/wrap"
)

// WrapCommand is "clawai wrap".
func WrapCommand() *cli.Command {
	flags := append(selectionFlags(), append(editFlags(), editJSONFlag())...)
	return &cli.Command{
		Name:      "wrap",
		Usage:     "put clawai in front of the servers your MCP clients have",
		UsageText: "clawai wrap [SERVER...] [options]",
		Flags: append(flags,
			&cli.BoolFlag{Name: "observe", Usage: "only watch: let every call pass, and record what the policy says of it"},
			&cli.StringFlag{Name: "remote", Value: "bridge", Usage: "the `FORM` for servers reached by a url: bridge, a process in the url's place; proxy, the url of your clawai proxy --listen"},
			&cli.StringFlag{Name: "listen", Value: wrap.DefaultListen, Usage: "the `ADDRESS:PORT` of that proxy"},
		),
		Action: func(c *cli.Context) error { return runWrap(c, wrap.Wrap) },
	}
}

func editJSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document; with --yes or --dry-run"}
}

// editFlags are those of wrap and unwrap besides the selection.
func editFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "show what would change and write nothing"},
		&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
		&cli.BoolFlag{Name: "follow", Usage: "edit files outside your home folder that a symlink leads to"},
		&cli.BoolFlag{Name: "while-running", Usage: "edit a file although its client runs and may write over it"},
	}
}

func runWrap(c *cli.Context, op wrap.Op) error {
	r, err := newWrapRun(c, op)
	if err != nil {
		return err
	}
	targets, err := r.targets(c.Context)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return r.nothing()
	}
	changes, refused := r.Judge.Plan(op, targets)
	if len(changes) == 0 {
		return errors.Join(r.document(nil, nil), r.end(refused))
	}
	if err := r.ready(); err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprint(r.out, change.Diff(r.Short(change.Path)))
	}
	if r.dryRun {
		fmt.Fprintln(r.out, "Nothing was written (--dry-run).")
		r.uncovered()
		r.unruled(changes)
		return errors.Join(r.document(changes, nil), r.end(refused))
	}
	if !r.confirmed(len(changes)) {
		return nil
	}
	if err := config.PrivateFolder(r.folders.State); err != nil {
		return fmt.Errorf("nothing was written, as the journal cannot be kept: %w", err)
	}
	if err := r.led(changes); err != nil {
		return err
	}
	// Only now: until here an interrupt ends us at once, also at the question.
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := wrap.Apply(ctx, changes, r.options())
	r.report(changes, failed)
	return errors.Join(r.document(changes, failed), r.end(append(refused, failed...)))
}

// ready says why wrapping would leave servers that do not start.
func (r *wrapRun) ready() error {
	if r.op == wrap.Unwrap {
		return nil
	}
	path := r.folders.PolicyFile()
	loaded, err := config.LoadPolicyFor(path, policyfile.Options(r.folders.Home))
	switch {
	case err == nil:
		r.rules = loaded.Policy
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("there is no policy at %s, and without one a wrapped server does not start; clawai init writes one, or: clawai policy init --profile filesystem", path)
	default:
		err = fmt.Errorf("a wrapped server would not start: %w", err)
	}
	if r.dryRun {
		fmt.Fprintf(r.errs, "clawai: %v\n", err)
		return nil
	}
	return err
}

func (r *wrapRun) options() wrap.Options {
	return wrap.Options{
		State: r.folders.State, Version: cmdline.Version, Home: r.env.Home, Dir: r.env.Dir,
		Follow: r.c.Bool("follow"), WhileRunning: r.c.Bool("while-running"),
	}
}

// end tells every error and turns them into one exit code.
func (r *wrapRun) end(errs []error) error {
	bad := r.unreadable()
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(r.errs, "clawai: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
			bad = true
		}
	}
	if bad {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// unreadable tells of the files that could not be read. With names that were
// found elsewhere it is a warning: the file may well not be meant.
func (r *wrapRun) unreadable() bool {
	bad := false
	for _, p := range r.Places {
		if p.Err != nil && r.meant(&p) {
			fmt.Fprintf(r.errs, "clawai: %s (%s): %v; the file was left alone\n", r.Short(p.Path), p.Row.Name, p.Err)
			bad = bad || len(r.selection.Names) == 0
		}
	}
	return bad
}

func (r *wrapRun) confirmed(files int) bool {
	if !r.terminal {
		return true
	}
	question := fmt.Sprintf("Write %s? [y/N] ", cmdline.Count(files, "this file", "these %d files"))
	fmt.Fprint(r.out, question)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(line), "y") && !strings.EqualFold(strings.TrimSpace(line), "yes") {
		fmt.Fprintln(r.out, "Nothing was written.")
		return false
	}
	return true
}
