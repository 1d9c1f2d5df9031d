package wrapcmd

import (
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
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
)

// InitCommand returns "clawai init".
func InitCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "start: find your servers, write a policy for them, put clawai in front",
		UsageText: "clawai init\nclawai init --yes [--mode MODE] [--client CLIENT]",
		Flags: append(initFlags(),
			&cli.StringFlag{Name: "client", Usage: "only this `CLIENT`'s servers, as clawai status names it; all: every client's"}),
		Action: runInit,
	}
}

func initFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "mode", Usage: "the `MODE`: ask (you are asked about servers that clawai does not know), strict (they are refused), observe (only watch)"},
		&cli.BoolFlag{Name: "ask-servers", Usage: "start servers that clawai does not know, once, to see what tools they have"},
		&cli.BoolFlag{Name: "hooks", Usage: "also have the clients call clawai before each tool of their own (see wrap --hooks)"},
		editJSONFlag(),
	}, editFlags()...)
}

// initRun is one run of init.
type initRun struct {
	*wrapRun
	mode       initMode
	targets    []wrap.Target // the servers to wrap
	shared     int           // number of servers that are skipped because git tracks their file
	plan       starterPlan
	policy     policycmd.Starter
	kept       bool     // the policy already existed, and stays
	unnamed    []error  // servers that are skipped because no rule can name them
	hooked     []string // names of the clients that can have hooks but get none
	policyDone bool     // the policy is written, or the existing policy has got its missing rules

	bareClients []string // names of the clients that cannot get hooks
	hookFault   error    // why these clients cannot get hooks: clawai-hook is missing or unusable
}

func runInit(c *cli.Context) error {
	r, err := newInitRun(c)
	if err != nil {
		return err
	}
	if err := r.pickTargets(); err != nil {
		return err
	}
	if err := r.preparePolicy(); err != nil {
		return err
	}
	changes, refused := r.Judge.PlanChanges(wrap.Wrap, r.targets)
	refused = append(r.unnamed, refused...)
	hooks, more, err := r.offerHooks(changes)
	if err != nil {
		return err
	}
	if err := r.draftPolicy(); err != nil {
		return err
	}
	if r.hookRules, err = r.missingRules(hooks); err != nil {
		return err
	}
	changes, refused = append(changes, hooks...), append(refused, more...)
	if r.dryRun || r.terminal {
		r.previewChanges(changes)
	}
	if r.dryRun {
		return r.finishRun(changes, nil, refused)
	}
	if r.terminal && len(changes) > 0 {
		if answer, err := r.askLine("Write this? [y/N] "); err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
			fmt.Fprintln(r.prose, "Nothing was written.")
			return nil
		}
	}
	if len(changes) > 0 {
		if err := r.writePolicy(); err != nil {
			return err
		}
	}
	failed, err := r.applyChanges(changes)
	if err != nil {
		return err
	}
	return r.finishRun(changes, failed, refused)
}

func newInitRun(c *cli.Context) (*initRun, error) {
	if err := cmdline.NoArguments(c); err != nil && c.Command.Name != protect {
		return nil, err
	}
	mode := initMode(c.String("mode"))
	if mode != "" && !slices.Contains(initModes, mode) {
		return nil, cmdline.UnknownWord("--mode", "mode", string(mode), []string{"observe", "ask", "strict"})
	}
	w, err := newWrapRun(c, wrap.Wrap)
	if err != nil {
		return nil, err
	}
	if !w.terminal && !c.Bool("yes") && !w.dryRun {
		return nil, cmdline.Usagef("nobody can be asked here; give --yes (and --mode, --client), or --dry-run to look first")
	}
	return &initRun{wrapRun: w, mode: mode}, nil
}

// preparePolicy loads the existing policy. If there is none, it finds the servers for which the new
// policy needs rules.
func (r *initRun) preparePolicy() error {
	r.policy.Path, r.policy.Profiles = r.folders.PolicyFile(), []string{}
	loaded, err := config.LoadPolicyFor(r.policy.Path, policyfile.PolicyOptions(r.folders.Home))
	if err == nil {
		r.kept, r.rules = true, loaded.Policy
		r.policy.Rules, r.policy.Revision = len(loaded.Policy.Rules()), loaded.Policy.Revision()
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a wrapped server would not start: %w", err)
	}
	r.targets = slices.DeleteFunc(r.targets, func(t wrap.Target) bool {
		err := policycmd.CheckNameable(t.Entry.Name)
		if err != nil {
			r.unnamed = append(r.unnamed, err)
		}
		return err != nil
	})
	covered := slices.Clone(r.targets)
	for _, t := range wrap.SelectTargets(r.Places, wrap.Selection{}) {
		if w := t.Entry.Wrapped; w != nil && !w.Hub && policycmd.CheckNameable(t.Entry.Name) == nil {
			covered = append(covered, t)
		}
	}
	told, err := r.askServers(covered)
	if err != nil {
		return err
	}
	if r.plan, err = planStarter(r.mode, covered, told, r.folders); err != nil {
		return err
	}
	r.plan.agents, err = r.hasOurHooks()
	return err
}

// draftPolicy makes the text of a new policy. If a policy exists, it does nothing.
func (r *initRun) draftPolicy() error {
	if r.kept {
		return nil
	}
	if err := r.plan.writePolicyText(); err != nil {
		return err
	}
	if err := r.askFolders(); err != nil {
		return err
	}
	if err := r.plan.writePolicyText(); err != nil {
		return err
	}
	p, err := policy.Parse(r.policy.Path, r.plan.text, policyfile.PolicyOptions(r.folders.Home))
	if err != nil {
		return fmt.Errorf("no starter policy can be written for these servers: %w", err)
	}
	r.policy.Rules, r.policy.Revision = len(p.Rules()), p.Revision()
	r.policy.Profiles = append(r.policy.Profiles, r.plan.profiles...)
	return nil
}

// writePolicy writes the new policy. If a policy exists, it adds the missing rules for hooks to
// that policy. If r is nil, it does nothing.
func (r *initRun) writePolicy() error {
	switch {
	case r == nil:
		return nil
	case r.kept:
		r.policyDone = true
		return r.hookRules.writeRules(r.wrapRun)
	}
	r.policyDone = true
	if err := config.PrivateFolder(r.folders.Config); err != nil {
		return fmt.Errorf("cannot write a policy: %w", err)
	}
	if err := policyfile.KeepProfiles(r.policy.Path, r.plan.text); err != nil {
		return err
	}
	if err := policycmd.WriteNew(r.policy.Path, r.plan.text, false); err != nil {
		return err
	}
	if _, err := config.LoadPolicyFor(r.policy.Path, policyfile.PolicyOptions(r.folders.Home)); err != nil {
		return fmt.Errorf("the policy is written and the proxy would not take it: %w", err)
	}
	return nil
}

func (r *initRun) applyChanges(changes []wrap.Change) ([]error, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	if err := config.PrivateFolder(r.folders.State); err != nil {
		return nil, fmt.Errorf("no client's file was changed, as the journal cannot be kept: %w", err)
	}
	ctx, stop := signal.NotifyContext(r.c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return wrap.ApplyChanges(ctx, changes, r.applyOptions()), nil
}
