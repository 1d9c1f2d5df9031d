package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func allowCommand() *cli.Command {
	return &cli.Command{
		Name:  "allow",
		Usage: "open a call of the record, or a folder, by a rule",
		UsageText: "clawai policy allow --from RECORD [--scope SCOPE] [--yes]\n" +
			"clawai policy allow FOLDER [--server NAME] [--write] [--yes]",
		Description: "Shows the rules, where they go, what they open and what stays refused, and asks.\n" +
			"RECORD is an id that clawai log or a refusal shows, or the beginning of one.\n" +
			"A FOLDER is opened as the policy opens other folders: for reading, and with --write\n" +
			"for writing, where the policy asks as it asks there. What a rule denies stays\n" +
			"denied. To take it back: clawai policy undo",
		Flags: append(fromFlags("open"),
			&cli.StringFlag{Name: "server", Usage: "with a folder: only for the server `NAME` (default: for each that has rules about a folder)"},
			&cli.BoolFlag{Name: "write", Usage: "with a folder: also for what writes there"},
		),
		Action: runAllow,
	}
}

func denyCommand() *cli.Command {
	return &cli.Command{
		Name:  "deny",
		Usage: "close a call of the record, or a folder, by a rule",
		UsageText: "clawai policy deny --from RECORD [--scope SCOPE] [--yes]\n" +
			"clawai policy deny FOLDER [--server NAME] [--yes]",
		Description: "Shows the rules, where they go and what they close, and asks. RECORD is an id that\n" +
			"clawai log shows, or the beginning of one. A FOLDER is closed to every tool, above\n" +
			"all other rules. To take it back: clawai policy undo",
		Flags: append(fromFlags("close"),
			&cli.StringFlag{Name: "server", Usage: "with a folder: only for the server `NAME` (default: for every server)"},
		),
		Action: runDeny,
	}
}

func undoCommand() *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "take back the rule that was last written by an answer, allow or deny",
		UsageText: "clawai policy undo [--yes]",
		Description: "Gives the policy file back the bytes that it had before. Once more takes back the\n" +
			"rule before that. A file that was edited since is left as it is.",
		Flags:  editFlags(),
		Action: runUndo,
	}
}

// editFlags returns the flags of all commands that change a policy file.
func editFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` (default: yours)"},
		&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
	}
}

func fromFlags(verb string) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "from", Usage: verb + " the call of this `RECORD`"},
		&cli.StringFlag{Name: "scope", Usage: "how far the rule reaches: `SCOPE` exact, file, folder, or tool (default: you are asked; with --yes exact)"},
	}, editFlags()...)
}

// policyEdit is one run of a command that changes a policy file.
type policyEdit struct {
	c       *cli.Context
	folders config.Folders
	file    string
	writer  *remember.Writer
}

// newPolicyEdit reads the policy as a proxy in the folder dir would read it. If dir is "", it uses
// the current folder.
func newPolicyEdit(c *cli.Context, dir string) (*policyEdit, error) {
	e, err := readPolicyEdit(c.String("policy"), dir)
	if err != nil {
		return nil, err
	}
	e.c = c
	return e, nil
}

// readPolicyEdit does the work of newPolicyEdit without a command line. path is the policy file; if
// path is "", it is the owner's policy.
func readPolicyEdit(path, dir string) (*policyEdit, error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir, _ = os.Getwd() // after an error there is no project
	}
	if path != "" { // running proxies use the absolute path of the file
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	files := base.Files{Policy: path, Project: dir, Disk: disk.SystemDisk(), Packs: packs.Read}
	if files.Hide, err = config.LoadHideDenied(folders); err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	under, err := files.Load(folders)
	if err != nil {
		return nil, cmdline.Usagef("nothing was written: %w", err)
	}
	return &policyEdit{folders: folders, file: under.Path, writer: session.NewRuleWriter(under.Path, under.Options(), folders, cmdline.ViewOptions(folders))}, nil
}

func (e *policyEdit) say(format string, a ...any) {
	fmt.Fprintf(cmdline.ProseWriter(e.c.App.Writer), format+"\n", a...)
}

func (e *policyEdit) hasTerminal() bool {
	return e.c.App.Writer == io.Writer(os.Stdout) && choose.HasTerminal(os.Stdin, os.Stdout)
}

func runAllow(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	switch {
	case err != nil:
		return err
	case len(args) == 0 && (c.IsSet("server") || c.IsSet("write")):
		return cmdline.Usagef("--server and --write go with a folder")
	case len(args) == 0:
		return runFrom(c, policy.Allow)
	case len(args) > 1:
		return cmdline.Usagef("one folder at a time, not %s", cmdline.Quote(args))
	case c.IsSet("from"):
		return cmdline.Usagef("policy allow opens a record or a folder, not both: --from is %s, and the folder is %s; an empty variable does that, too", cmdline.Quote([]string{c.String("from")}), cmdline.Quote(args))
	case c.IsSet("scope"):
		return cmdline.Usagef("--scope goes with --from RECORD; a folder is opened with all that is in it")
	}
	return openFolder(c, args[0])
}

// runFrom writes a rule that allows or denies a recorded call.
func runFrom(c *cli.Context, action policy.Action) error {
	if c.String("from") == "" {
		return cmdline.Usagef("policy %s needs --from RECORD or a folder; the ids stand in refusals, and the last ones are: clawai log -n 5 | cat", action)
	}
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	entry, err := record.FindDecision(dir, c.String("from"))
	if err != nil {
		return err
	}
	e, err := newPolicyEdit(c, entry.Cwd)
	if err != nil {
		return err
	}
	late, err := e.planRecord(entry, action)
	if late != nil {
		late.tell(e)
	}
	if err != nil {
		return err
	}
	scope, err := e.pickScope(late.Offers, entry.Record, action)
	if err != nil {
		return err
	}
	plan, err := late.plan(c.Context, scope)
	if err != nil {
		return err
	}
	for _, line := range late.describePlan(plan) {
		e.say("%s", line)
	}
	if err := e.writePlan(plan, "Write this rule?", []string{"policy", action.String(), "--from", entry.Record, "--scope", scope}); err != nil {
		return err
	}
	e.say("Written. To take it back: clawai policy undo")
	return nil
}

// checkUnrecorded returns an error if a new rule would have no effect. This happens if the recorded
// call was decided by a rule about data that is not in the record, such as the labels of the
// session. That rule is above the new rule, so it would still decide.
func (e *policyEdit) checkUnrecorded(entry *event.Entry, call *replay.Call) error {
	src, err := readPolicyFile(e.file)
	if err != nil {
		return err
	}
	j, err := replay.NewJudge(e.file, src, e.writer.Options)
	if err != nil {
		return cmdline.Usagef("the policy does not load, so nothing was written:\n%w", err)
	}
	_, left, _ := j.CertainPolicy(call)
	for i := range left {
		if entry.RuleLine > 0 && left[i].Action.String() == entry.Policy && left[i].Description == entry.RuleText && (entry.RuleText != "" || left[i].Pos.Line == entry.RuleLine) {
			return fmt.Errorf("no rule was written: the rule at %s decided, by what the record does not keep; it stands above what would be written",
				renderRule(left[i].Pos.File, left[i].Pos.Line, left[i].Description))
		}
	}
	return nil
}

func renderRule(file string, line int, description string) string {
	s := fmt.Sprintf("%s:%d", term.VisibleText(file), line)
	if description != "" {
		s += fmt.Sprintf(" %q", record.Short(description, record.MaxText))
	}
	return s
}

// errLeft returns the error for a person who leaves a question without an answer.
func errLeft() error {
	return &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("left; nothing was written")}
}

// pickScope returns the scope of --scope. Without --scope, the person chooses a scope.
func (e *policyEdit) pickScope(offers []view.Offer, id string, action policy.Action) (string, error) {
	var words, titles []string
	for _, o := range offers {
		words = append(words, o.Scope)
		titles = append(titles, fmt.Sprintf("%-10s %s", o.Scope, o.Title))
	}
	switch word := e.c.String("scope"); {
	case slices.Contains(words, word):
		return word, nil
	case word != "":
		return "", cmdline.Usagef("--scope %s is not offered for this call; offered: %s", word, strings.Join(words, ", "))
	case words[0] == policy.Exact.String() && (len(words) == 1 || e.c.Bool("yes")):
		return words[0], nil
	case e.c.Bool("yes"):
		return "", cmdline.Usagef("nothing was written: give a --scope; offered: %s", strings.Join(words, ", "))
	case e.hasTerminal():
		answers := []string{"Leave, write nothing"}
		for _, o := range offers {
			answers = append(answers, view.ScopeLabel(o.Scope))
		}
		picked, err := choose.PickAnswer(e.c.Context, os.Stdin, os.Stdout, capitalize(action.String())+" how much?", strings.Join(titles, "\n"), answers)
		switch {
		case errors.Is(err, choose.ErrLeft), err == nil && picked == 0:
			return "", errLeft()
		case err != nil:
			return "", err
		}
		return words[picked-1], nil
	}
	for _, title := range titles {
		e.say("%s", title)
	}
	e.say("Nothing was written. To see the rule of one of them:")
	for _, word := range words {
		e.say("  clawai policy %s --from %s --scope %s", action, id, word)
	}
	return "", &cmdline.ExitError{Code: cmdline.ExitFailed}
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func describeDecision(d *policy.Decision) string {
	if d.Rule == nil {
		return d.Action.String() + ", no rule"
	}
	return d.Action.String() + ", " + renderRule(d.Rule.Pos.File, d.Rule.Pos.Line, d.Rule.Description)
}

// writePlan asks the person and then writes a plan. Without a terminal and without --yes, it only
// prints the command that writes the plan.
func (e *policyEdit) writePlan(plan *remember.Plan, question string, command []string) error {
	if !e.c.Bool("yes") && !e.hasTerminal() {
		if path := e.c.String("policy"); path != "" {
			command = append(command, "--policy", path)
		}
		e.say("Nothing was written. To do it: clawai %s --yes", term.VisibleText(cmdline.Quote(command)))
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	if err := cmdline.ConfirmAction(e.c, question, "Nothing was written.", true); err != nil {
		return err
	}
	return e.applyPlan(e.c.Context, plan)
}

func (e *policyEdit) applyPlan(ctx context.Context, plan *remember.Plan) error {
	if err := e.writer.Apply(ctx, plan); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	// The text is confirmed for running proxies. Without this, they would wait if the text has
	// fewer rules or looks incomplete.
	if err := config.ConfirmPolicy(e.folders.State, e.file, plan.Next()); err != nil {
		return fmt.Errorf("it is written, and proxies that run may ask you to trust it: %w", err)
	}
	return nil
}

func runUndo(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	e, err := newPolicyEdit(c, "")
	if err != nil {
		return err
	}
	plan, err := e.writer.PlanUndo()
	if err != nil {
		return fmt.Errorf("nothing was undone: %w", err)
	}
	e.showUndo(plan)
	if err := e.writePlan(plan, "Take it back?", []string{"policy", "undo"}); err != nil {
		return err
	}
	e.say("Taken back.")
	return nil
}

// showUndo prints what the policy loses and gets back, and how its answers change.
func (e *policyEdit) showUndo(plan *remember.Plan) {
	e.say("%s gets back its text of before %s", term.VisibleText(e.file), plan.Time.Local().Format(time.DateTime))
	for _, part := range []struct{ title, text string }{{"It loses", plan.Text}, {"It gets back", plan.Back}} {
		if part.text == "" {
			continue
		}
		e.say("\n%s\n", part.title)
		printText(cmdline.ProseWriter(e.c.App.Writer), []byte(part.text))
	}
	e.say("")
	opened := widen.ShowReopened(plan.Old, plan.New)
	e.showChanges(opened)
	if e.c.Bool("yes") {
		return // the comparison takes seconds, and --yes asks nothing
	}
	done := cmdline.ShowProgress("Comparing the answers to all calls")
	report := diff.ComparePolicies(plan.Old, plan.New)
	done()
	of := "Of all calls"
	if len(opened) > 0 && len(report.Changes) == 0 {
		of = "Of all other calls"
	}
	e.say("%s: %s", of, report.Summary())
}
