package wrapcmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/wrap"
)

// previewChanges prints the planned changes. In a dry run it also prints the complete policy.
func (r *initRun) previewChanges(changes []wrap.Change) {
	if len(changes) == 0 {
		return
	}
	if !r.kept && r.dryRun {
		fmt.Fprintf(r.out, "--- %s (new)\n%s\n", r.ShortPath(r.policy.Path), r.plan.text)
	}
	for _, change := range changes {
		fmt.Fprint(r.diffs, change.Diff(r.ShortPath(change.Path)))
	}
	if !r.dryRun {
		r.tellPolicy(r.policyTitle("Policy to write"))
	}
}

// tellPolicyPlace prints where the policy is. If an existing policy gets rules for hooks, it prints
// these rules instead.
func (r *initRun) tellPolicyPlace(what string) {
	if r.hookRules != nil {
		verb := "To be put into"
		if r.policyDone {
			verb = "Put into"
		}
		r.hookRules.tellRules(r.wrapRun, verb)
		return
	}
	fmt.Fprintf(r.prose, "%s: %s, %s, revision %s.\n", what, r.ShortPath(r.policy.Path), cmdline.CountText(r.policy.Rules, "1 rule", "%d rules"), r.policy.Revision)
}

// tellPolicy prints where the policy is, and a summary of its rules.
func (r *initRun) tellPolicy(what string) {
	r.tellPolicyPlace(what)
	if r.kept {
		return
	}
	if len(r.policy.Profiles) > 0 {
		fmt.Fprintf(r.prose, "  Starter policies in it: %s.\n", strings.Join(r.policy.Profiles, ", "))
	}
	if n := len(r.plan.folders); n > 0 {
		var shown []string
		for _, folder := range r.plan.folders {
			shown = append(shown, r.ShortPath(folder))
		}
		whose := "the filesystem server's own"
		if r.terminal {
			whose = "what you said"
		}
		fmt.Fprintf(r.prose, "  The %s %s: %s.\n", cmdline.CountText(n, "folder it opens is", "%d folders it opens are"), whose, strings.Join(shown, ", "))
	} else if slices.ContainsFunc(r.policy.Profiles, opensProjects) {
		fmt.Fprintln(r.prose, "  The folder it opens is ~/projects. To open another: clawai policy allow FOLDER")
	}
	if asked := r.plan.askedServers; len(asked) > 0 && r.mode != modeStrict {
		fmt.Fprintf(r.prose, "  In other folders of %s you are asked, call by call; keys stay shut.\n", joinNames(asked))
	}
	if r.plan.agents {
		fmt.Fprintln(r.prose, "  "+builtInTools)
	}
	for _, e := range r.plan.known {
		fmt.Fprintf(r.prose, "  Known by its tools: %s, as %s.\n", joinNames(e.names), e.as)
	}
	if unknown := r.plan.unknownServers(); len(unknown) > 0 {
		verb := "Asked for, call by call"
		if r.mode == modeStrict {
			verb = "Refused until you write rules for them"
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return len(r.plan.told[name]) > 0 })
		if told := slices.Sorted(maps.Keys(r.plan.told)); len(told) > 0 {
			fmt.Fprintf(r.prose, "  By the tools that it lists itself: %s.\n", joinNames(told))
		}
		if len(unknown) > 0 {
			fmt.Fprintf(r.prose, "  %s: %s.\n", verb, joinNames(unknown))
		}
	}
}

// opensProjects reports whether a starter policy names the folder ~/projects.
func opensProjects(profile string) bool {
	src, err := fixtures.ReadProfile(profile)
	return err == nil && strings.Contains(string(src), "~/projects")
}

// finishRun prints what init has done, and the next steps.
func (r *initRun) finishRun(changes []wrap.Change, failed, refused []error) error {
	if failed == nil {
		failed = make([]error, len(changes))
	}
	if r.c.Bool("json") {
		if err := cmdline.WriteJSON(r.c.App.Writer, r.newDocument(changes, failed)); err != nil {
			return err
		}
		return r.tellErrors(append(refused, failed...))
	}
	if r.shared > 0 {
		fmt.Fprintf(r.prose, "Left alone, as git shares their files with others: %s (see: clawai wrap).\n", cmdline.CountText(r.shared, "1 server", "%d servers"))
	}
	switch {
	case len(changes) == 0 && len(refused) > 0:
		fmt.Fprintln(r.prose, "Nothing was written.")
		return r.tellErrors(refused)
	case len(changes) == 0:
		fmt.Fprintln(r.prose, "No server to put clawai in front of (see: clawai status).")
		r.tellUnhooked()
		if len(r.hooked) > 0 {
			fmt.Fprintf(r.prose, "Not judged: the tools built into %s (shell, editor, web). To judge them: %s\n", strings.Join(r.hooked, ", "), initHooks)
		}
		return r.tellErrors(refused)
	case r.dryRun:
		r.tellPolicy(r.policyTitle("Policy to write"))
		r.tellUnruled(changes)
		r.tellLeaks(changes)
		r.tellUnhooked()
		fmt.Fprintln(r.prose, "Nothing was written (--dry-run).")
		return r.tellErrors(refused)
	}
	if r.terminal { // the person has already seen the summary
		r.tellPolicyPlace(r.policyTitle("Wrote a policy"))
	} else {
		r.tellPolicy(r.policyTitle("Wrote a policy"))
	}
	r.reportChanges(changes, failed)
	r.tellUnhooked()
	if err := r.tellAsking(); err != nil {
		return err
	}
	if r.terminal {
		if err := r.tryQuestion(); err != nil {
			fmt.Fprintf(r.errs, "clawai: the question could not be tried: %v\n", err)
		}
	}
	fmt.Fprintln(r.prose, "\nNext, when the clients are started again:")
	for _, step := range r.nextSteps() {
		fmt.Fprintf(r.prose, "  %-23s %s\n", step.Command, step.Why)
	}
	return r.tellErrors(append(refused, failed...))
}

func (r *initRun) policyTitle(fresh string) string {
	if r.kept {
		return "Your policy stays as it is"
	}
	return fresh
}

// tellUnhooked prints the clients whose own tools clawai does not judge, because clawai-hook is
// missing.
func (r *initRun) tellUnhooked() {
	if len(r.bareClients) == 0 {
		return
	}
	why := r.hookFault.Error()
	if errors.Is(r.hookFault, wrap.ErrHookMissing) {
		why = "clawai-hook is not installed beside clawai: install both (docs/install.md)"
	}
	fmt.Fprintf(r.prose, "Not judged: the tools built into %s (shell, editor, web), as %s. Then: clawai wrap --hooks\n", strings.Join(r.bareClients, ", "), why)
}

type initStep struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

func (r *initRun) nextSteps() []initStep {
	last := initStep{"clawai doctor", "whether everything is in order, and who can be asked"}
	if r.mode == modeObserve {
		last = initStep{"clawai init --mode ask", "enforce it, when the record reads well"}
	}
	steps := []initStep{
		{"clawai approve", "answer what your agents ask, in a second terminal"},
		{"clawai status", "which servers are behind clawai"},
		{"clawai log --follow", "what your agents do, as they do it"},
		last,
	}
	if len(r.hooked) > 0 {
		steps = append(steps, initStep{"clawai wrap --hooks", "the same rules for the tools that your clients bring along"})
	}
	return steps
}

// initDoc is the output of init --json.
type initDoc struct {
	Mode    initMode         `json:"mode"`
	DryRun  bool             `json:"dry_run"`
	Policy  initPolicy       `json:"policy"`
	Servers []editedServer   `json:"servers"`
	Hooks   []editedSettings `json:"hooks,omitempty"`
	Asking  *askDoc          `json:"asking,omitempty"`
	// Unhooked lists the clients whose own tools clawai does not judge, because clawai-hook is
	// missing.
	Unhooked []string   `json:"unhooked,omitempty"`
	Undo     string     `json:"undo,omitempty"`
	Next     []initStep `json:"next"`
}

type initPolicy struct {
	policycmd.Starter
	// Written is true if a new policy was written. In a dry run it is false, and WouldWrite is true
	// instead.
	Written    bool     `json:"written"`
	WouldWrite bool     `json:"would_write,omitempty"`
	Folders    []string `json:"folders,omitempty"`
}

func (r *initRun) newDocument(changes []wrap.Change, failed []error) initDoc {
	fresh := !r.kept && len(changes) > 0
	doc := initDoc{
		Mode: r.mode, DryRun: r.dryRun, Next: r.nextSteps(), Unhooked: r.bareClients,
		Policy: initPolicy{r.policy, fresh && !r.dryRun, fresh && r.dryRun, r.plan.folders},
	}
	if asks, err := r.readAskSettings(); err == nil {
		doc.Asking = &asks
	}
	doc.Servers, doc.Undo = r.editedServers(changes, failed)
	doc.Hooks, _ = listSettings(changes, failed)
	for i, s := range doc.Servers {
		known := r.plan.servers[s.Name]
		if doc.Servers[i].Profile = profileOf(known); known != nil {
			doc.Servers[i].Known = known.ID
		}
	}
	return doc
}
