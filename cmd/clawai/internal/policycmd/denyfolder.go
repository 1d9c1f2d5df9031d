package policycmd

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

func runDeny(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	switch {
	case err != nil:
		return err
	case len(args) == 0 && c.IsSet("server"):
		return cmdline.Usagef("--server goes with a folder")
	case len(args) == 0:
		return runFrom(c, policy.Deny)
	case len(args) > 1:
		return cmdline.Usagef("one folder at a time, not %s", cmdline.Quote(args))
	case c.IsSet("from"):
		return cmdline.Usagef("policy deny closes a record or a folder, not both: --from is %s, and the folder is %s; an empty variable does that, too", cmdline.Quote([]string{c.String("from")}), cmdline.Quote(args))
	case c.IsSet("scope"):
		return cmdline.Usagef("--scope goes with --from RECORD; a folder is closed with all that is in it")
	}
	return closeFolder(c, args[0])
}

// closeFolder writes rules that deny all calls in a folder.
func closeFolder(c *cli.Context, folder string) error {
	e, err := newPolicyEdit(c, "")
	if err != nil {
		return err
	}
	if folder, err = e.findFolder(folder); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	for _, one := range []string{folder, real} {
		if err := widen.CheckClosed(one, e.folders.Home); err != nil {
			return cmdline.Usagef("nothing was written: %s", term.VisibleText(err.Error()))
		}
	}
	o := widen.Options{
		File: e.file, Parse: e.writer.Options, Folder: widen.SpellFolder(folder, e.folders.Home), Server: c.String("server"),
		Comment: fmt.Sprintf("# Written on %s by clawai policy deny.\n", time.Now().Format(time.DateOnly)),
	}
	command, err := nameServer(c, []string{"policy", "deny", folder})
	if err != nil {
		return err
	}
	if real = widen.SpellFolder(real, e.folders.Home); real == o.Folder {
		real = ""
	}
	src, err := readPolicyFile(e.file)
	if err != nil {
		return err
	}
	closing, err := widen.CloseFolder(src, o, real)
	if err != nil {
		return fmt.Errorf("nothing was written: %s", term.VisibleText(err.Error()))
	}
	e.showClosing(closing)
	if err := e.writePlan(remember.NewPlan(src, closing.Next, closing.Text), "Write these rules?", command); err != nil {
		return err
	}
	e.say("Written. To take it back: clawai policy undo")
	return nil
}

// showClosing prints the new rules, their place in the policy, and example calls that they deny.
func (e *policyEdit) showClosing(c *widen.Closing) {
	e.say("This goes into %s, above all other rules, at line %d:", term.VisibleText(e.file), c.Line)
	e.say("")
	printText(cmdline.ProseWriter(e.c.App.Writer), []byte(c.Text))
	e.say("")
	for i := range c.Changes {
		if i == 0 {
			e.say("It closes, for example")
		}
		call := c.Changes[i].Example
		e.say("  %s %s", record.Short(call.Names[0], record.MaxText), record.Short(string(call.Args), record.MaxText))
		e.say("    was %s", describeAnswer(&c.Changes[i].Old))
	}
	if len(c.Changes) == 0 {
		e.say("No rule opens this folder now; it stays refused also when a rule below is added.")
	}
	e.say("A command that reaches it in another way (cd, a variable, a pattern) is judged as before.")
	e.say("")
}

func describeAnswer(a *diff.Answer) string {
	return describeDecision(&policy.Decision{Action: a.Action, Rule: a.Rule})
}
