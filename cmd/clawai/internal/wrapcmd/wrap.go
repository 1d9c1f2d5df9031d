// Package wrapcmd contains the commands that change or show clients' files: init, wrap, unwrap and
// status.
package wrapcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
)

// WrapCommand returns "clawai wrap".
func WrapCommand() *cli.Command {
	flags := append(selectionFlags(), append(editFlags(), editJSONFlag())...)
	return &cli.Command{
		Name:      "wrap",
		Usage:     "put clawai in front of the servers your MCP clients have",
		UsageText: "clawai wrap [SERVER...] [options]\nclawai wrap --hooks [CLIENT...] [options]\nclawai wrap --hub CLIENT [options]\nclawai wrap --llm CLIENT... [options]",
		Flags: append(flags,
			hooksFlag(),
			hubFlag(),
			modelsFlag(),
			&cli.BoolFlag{Name: "vault", Usage: "move secrets in the environment and headers of these servers out of the files, into the vault"},
			&cli.BoolFlag{Name: "observe", Usage: "only watch: let every call pass, and record what the policy says of it"},
			&cli.StringFlag{Name: "remote", Value: "bridge", Usage: "the `FORM` for servers with a url: bridge (a process in place of the url) or proxy (the url of your clawai proxy --listen)"},
			&cli.StringFlag{Name: "listen", Value: wrap.DefaultListen, Usage: "the `ADDRESS:PORT` of that proxy; with --llm, of clawai llm-proxy (" + wrap.DefaultModelListen + ")"},
		),
		Action: func(c *cli.Context) error { return runWrap(c, wrap.Wrap) },
	}
}

func editJSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document; with --yes or --dry-run"}
}

// editFlags returns the flags of wrap and unwrap, without the flags that select servers.
func editFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "show what would change and write nothing"},
		&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
		&cli.BoolFlag{Name: "follow", Usage: "edit files outside your home folder that a symlink leads to"},
		&cli.BoolFlag{Name: "while-running", Usage: "edit a file although its client runs and may write over it"},
	}
}

func runWrap(c *cli.Context, op wrap.Op) error {
	r, err := newWrapRun(c, op, checkModels, checkHooks)
	if err != nil {
		return err
	}
	r.hooks, r.models = c.Bool("hooks"), c.Bool("llm")
	changes, refused, targets, err := r.planChanges(c.Context)
	if err != nil {
		return err
	}
	if changes, refused, err = r.dropUnwritable(changes, refused); err != nil {
		return err
	}
	switch {
	case len(changes) == 0 && r.op == wrap.Unwrap && !r.dryRun && r.Judge.Hub.HasUnsettled(r.Places):
		unlock, err := r.Judge.Hub.LockRuns(c.Context, r.applyOptions())
		if err != nil {
			return err
		}
		defer unlock()
		return r.settleHub(c.Context)
	case len(changes) == 0 && len(targets) == 0 && len(refused) == 0 && !r.hooks && !r.models:
		return r.explainNothing()
	case len(changes) == 0:
		return errors.Join(r.printDocument(nil, nil), r.tellErrors(refused))
	}
	first, err := r.checkPolicy(targets)
	if err != nil {
		return err
	}
	if r.hookRules, err = r.missingRules(changes); err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprint(r.diffs, change.Diff(r.ShortPath(change.Path)))
		for _, note := range change.Notes {
			fmt.Fprintf(r.prose, "Beside it in %s, %s.\n", r.ShortPath(change.Path), term.VisibleText(note))
		}
	}
	r.tellHub(changes)
	r.vault.tellMoves()
	if r.dryRun || r.terminal {
		r.hookRules.tellRules(r, "To be put into")
	}
	if r.dryRun {
		fmt.Fprintln(r.prose, "Nothing was written (--dry-run).")
		if !r.hooks && !r.models {
			r.tellUncovered()
			r.tellUnruled(changes)
			r.tellLeaks(changes)
		}
		return errors.Join(r.printDocument(changes, nil), r.tellErrors(refused))
	}
	files := len(changes)
	if r.hookRules != nil {
		files++
	}
	if !r.confirmWrite(files) {
		return nil
	}
	if err := errors.Join(first.writePolicy(), r.hookRules.writeRules(r)); err != nil {
		return err
	}
	if err := config.PrivateFolder(r.folders.State); err != nil {
		return fmt.Errorf("nothing was written, as the journal cannot be kept: %w", err)
	}
	if err := r.saveProxyState(changes); err != nil {
		return err
	}
	if r.models && r.op == wrap.Wrap {
		if changes, refused, err = r.saveModelRoutes(changes); err != nil {
			return err
		}
		if len(changes) == 0 { // another clawai has already made the changes
			return errors.Join(r.printDocument(nil, nil), r.tellErrors(refused))
		}
	}
	if err := r.vault.keepSecrets(); err != nil {
		return err
	}
	// From here the run handles an interrupt itself. Before this line, an interrupt ends the run at
	// once.
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	unlock, err := r.Judge.Hub.LockRuns(ctx, r.applyOptions())
	if err != nil {
		return err
	}
	defer unlock()
	if r.Judge.Hub.Into {
		if err := r.Judge.Hub.BeginMoves(ctx, r.applyOptions()); err != nil {
			return errors.Join(err, r.settleHub(ctx))
		}
	}
	failed := wrap.ApplyChanges(ctx, changes, r.applyOptions())
	if err := r.settleHub(ctx); err != nil {
		refused = append(refused, err)
	}
	if err := r.vault.finishMoves(changes, failed); err != nil {
		refused = append(refused, fmt.Errorf("the vault: %w", err))
	}
	if err := r.forgetModelRoutes(changes, failed); err != nil {
		refused = append(refused, err)
	}
	r.hookRules.tellRules(r, "Put into")
	r.reportChanges(changes, failed)
	if first != nil {
		if err := first.tellAsking(); err != nil {
			return err
		}
	}
	return errors.Join(r.printDocument(changes, failed), r.tellErrors(append(refused, failed...)))
}

// dropUnwritable removes the changes of files that cannot be written, before the person sees the
// plan. A move into the hub or the vault needs all its files, so for such a move it returns an
// error instead.
func (r *wrapRun) dropUnwritable(changes []wrap.Change, refused []error) ([]wrap.Change, []error, error) {
	writable, failed := r.applyOptions().SplitWritable(changes)
	if len(failed) > 0 && (r.Judge.Hub.Into || r.Judge.Secrets != nil) {
		return nil, nil, fmt.Errorf("nothing was written: %w", errors.Join(failed...))
	}
	return writable, append(refused, failed...), nil
}

// planChanges plans the changes for this command line.
func (r *wrapRun) planChanges(ctx context.Context) (changes []wrap.Change, refused []error, targets []wrap.Target, err error) {
	switch {
	case r.hooks:
		changes, refused, err = r.planHooks(ctx)
		return changes, refused, nil, err
	case r.models:
		changes, refused, err = r.planModels()
		return changes, refused, nil, err
	}
	if targets, err = r.findTargets(); err != nil {
		return nil, nil, nil, err
	}
	if r.Judge.Hub.Into {
		r.Judge.Hub.ForgetUnsettled(r.Places)
	}
	changes, refused = r.Judge.PlanChanges(r.op, targets)
	r.vault.filterMoves(changes)
	if r.op == wrap.Unwrap && r.all && len(r.selection.Names) == 0 && r.selection.Scope == "" && r.selection.File == "" {
		hooks, err := r.FindHooks()
		if err != nil {
			return nil, nil, nil, err
		}
		hooks = slices.DeleteFunc(hooks, func(h wrap.Hooks) bool { return r.selection.Client != "" && h.Row.Client != r.selection.Client })
		more, failed := r.Judge.PlanHooks(r.op, hooks, changes)
		changes, refused = append(changes, more...), append(refused, failed...)
		files, err := r.readModels()
		if err != nil {
			return nil, nil, nil, err
		}
		files = slices.DeleteFunc(files, func(f wrap.ModelFile) bool {
			return r.selection.Client != "" && f.Row.Client != r.selection.Client || f.Err != nil && !r.routes.Leads(f.Row.Client)
		})
		more, failed = r.routes.PlanModels(r.op, files, changes)
		changes, refused = append(changes, more...), append(refused, failed...)
	}
	return changes, refused, targets, nil
}

// checkPolicy returns an error if wrapped servers would not start because of the policy. If there
// is no policy and the person wants one, it returns the init run that writes the policy.
func (r *wrapRun) checkPolicy(targets []wrap.Target) (*initRun, error) {
	if r.op == wrap.Unwrap {
		return nil, nil
	}
	path := r.folders.PolicyFile()
	loaded, err := config.LoadPolicyFor(path, policyfile.PolicyOptions(r.folders.Home))
	switch {
	case err == nil:
		r.rules = loaded.Policy
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		if r.terminal && !r.dryRun && !r.hooks && !r.models {
			return r.offerPolicy(targets)
		}
		err = fmt.Errorf("there is no policy at %s, and without one "+r.missingPolicyText()+"; "+r.firstRules(), path)
	default:
		err = fmt.Errorf("with this policy "+r.missingPolicyText()+": %w", err)
	}
	if r.dryRun {
		fmt.Fprintf(r.errs, "clawai: %v\n", err)
		return nil, nil
	}
	return nil, err
}

// missingPolicyText returns the consequence of a missing policy.
func (r *wrapRun) missingPolicyText() string {
	if r.models {
		return "clawai llm-proxy does not start"
	}
	if r.hooks {
		return "every tool of the client is refused"
	}
	return "a wrapped server does not start"
}

// firstRules returns advice on how to create a policy.
func (r *wrapRun) firstRules() string {
	if r.hooks {
		return initHooks + " writes one, or: " + initProfile + "coding-agent"
	}
	return initServers + " writes one, or: " + initProfile + "filesystem"
}

// offerPolicy asks the person whether to write a policy. If the person agrees, it prepares the
// policy for these servers as clawai init does, and shows it. The returned initRun holds this
// policy, which is not written yet.
func (r *wrapRun) offerPolicy(targets []wrap.Target) (*initRun, error) {
	answer, err := r.askLine(fmt.Sprintf("There is no policy at %s, and without one a wrapped server does not start.\nWrite one for the servers here, as clawai init does? [Y/n] ", r.ShortPath(r.folders.PolicyFile())))
	if err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return nil, errors.New("nothing was written; clawai init writes a policy, or: clawai policy init --profile NAME")
	}
	first := &initRun{wrapRun: r, mode: modeAsk, targets: targets}
	if err := first.preparePolicy(); err != nil {
		return nil, err
	}
	if err := first.draftPolicy(); err != nil {
		return nil, err
	}
	first.tellPolicy("Policy to write")
	return first, nil
}

func (r *wrapRun) applyOptions() wrap.Options {
	return wrap.Options{
		State: r.folders.State, Version: cmdline.Version, Home: r.env.Home, Dir: r.env.Dir,
		Follow: r.c.Bool("follow"), WhileRunning: r.c.Bool("while-running"), Replan: r.Judge.Replan,
	}
}

// tellErrors prints all errors. It returns one error with an exit code, or nil.
func (r *wrapRun) tellErrors(errs []error) error {
	bad := r.tellUnreadable()
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

// tellUnreadable prints the files that could not be read. It returns true if the command must end
// with an error because of these files. If the command line names servers, it returns false,
// because the user may mean servers in other files.
func (r *wrapRun) tellUnreadable() bool {
	bad := false
	for _, p := range r.Places {
		if r.hooks || r.models {
			break // the hooks and addresses are in other files
		}
		if p.Err != nil && r.selection.MatchesFile(&p) {
			fmt.Fprintf(r.errs, "clawai: %s (%s): %v; the file was left alone\n", r.ShortPath(p.Path), p.Row.Name, p.Err)
			bad = bad || len(r.selection.Names) == 0
		}
	}
	return bad
}

func (r *wrapRun) confirmWrite(files int) bool {
	if !r.terminal {
		return true
	}
	question := fmt.Sprintf("Write %s? [y/N] ", cmdline.CountText(files, "this file", "these %d files"))
	answer, err := r.askLine(question)
	if err != nil || !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		fmt.Fprintln(r.prose, "Nothing was written.")
		return false
	}
	return true
}
