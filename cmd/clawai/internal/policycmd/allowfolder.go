package policycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/internal/text/term"
)

// openFolder writes rules that allow calls in a further folder.
func openFolder(c *cli.Context, folder string) error {
	e, err := newPolicyEdit(c, "")
	if err != nil {
		return err
	}
	if folder, err = e.findFolder(folder); err != nil {
		return err
	}
	if err := widen.CheckFolder(folder, e.folders.Home, []string{e.folders.Config, e.folders.State}); err != nil {
		return cmdline.Usagef("nothing was written: %s", term.VisibleText(err.Error()))
	}
	src, err := readPolicyFile(e.file)
	if err != nil {
		return err
	}
	command, err := nameServer(c, []string{"policy", "allow", folder})
	if err != nil {
		return err
	}
	if c.Bool("write") {
		command = append(command, "--write")
	}
	done := cmdline.ShowProgress("Trying what the rules would open")
	defer done()
	op, err := widen.OpenFolder(src, widen.Options{
		File: e.file, Parse: e.writer.Options, Folder: widen.SpellFolder(folder, e.folders.Home), Server: c.String("server"), Write: c.Bool("write"),
		Comment: fmt.Sprintf("# Written on %s by clawai policy allow.\n", time.Now().Format(time.DateOnly)),
	})
	done()
	if err != nil {
		return fmt.Errorf("nothing was written: %s", term.VisibleText(err.Error()))
	}
	e.showOpening(op)
	if err := e.writePlan(remember.NewPlan(src, op.Next, op.Text), "Write these rules?", command); err != nil {
		return err
	}
	e.say("Written. To take it back: clawai policy undo")
	e.say("A server that gets its folders in its command needs this one there, too.")
	return nil
}

// findFolder returns the absolute path of an existing folder.
func (e *policyEdit) findFolder(folder string) (string, error) {
	folder, err := filepath.Abs(expandHome(folder, e.folders.Home))
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", cmdline.Usagef("nothing was written: there is no folder %s", term.VisibleText(folder))
	}
	return folder, nil
}

// nameServer adds the option --server to a command, if the person has used this option.
func nameServer(c *cli.Context, command []string) ([]string, error) {
	server := c.String("server")
	if server == "" {
		return command, nil
	}
	if err := CheckNameable(server); err != nil {
		return nil, cmdline.Usagef("--server: %v", err)
	}
	return append(command, "--server", server), nil
}

// expandHome replaces ~ at the start of a path by the home folder, as a shell does outside quotes.
func expandHome(folder, home string) string {
	rest, below := strings.CutPrefix(folder, "~")
	if below && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return home + rest
	}
	return folder
}

// showOpening prints the new rules and their place in the policy. It also prints which calls they
// allow, and which calls stay refused.
func (e *policyEdit) showOpening(op *widen.Opening) {
	where := fmt.Sprintf("line %d", op.Line)
	if op.Places > 1 {
		where = fmt.Sprintf("%d places, each below the rules that stay above, the first at line %d", op.Places, op.Line)
	}
	e.say("This goes into %s, at %s:", term.VisibleText(e.file), where)
	e.say("")
	printText(cmdline.ProseWriter(e.c.App.Writer), []byte(op.Text))
	e.say("")
	e.showChanges(op.Changes)
	if len(op.Kept) > 0 {
		e.say("It stays refused")
	}
	for i := range op.Kept {
		k := &op.Kept[i]
		e.say("  %s %s", term.VisibleText(k.Tool), term.VisibleText(k.File))
		e.say("    by  %s", renderRule(k.By.Pos.File, k.By.Pos.Line, k.By.Description))
	}
	for _, left := range op.Left {
		e.say("%s", term.VisibleText(left))
	}
	e.say("")
}

// showChanges prints an example call for each change in a comparison.
func (e *policyEdit) showChanges(all []diff.Change) {
	for _, of := range []struct {
		kind  diff.ChangeKind
		title string
	}{
		{diff.NewlyAllowed, "It opens what was refused, for example"},
		{diff.NoLongerAsked, "It opens what you were asked about, for example"},
		{diff.NewlyAsked, "You are asked about what was refused, for example"},
	} {
		title := of.title
		for i := range all {
			c := &all[i]
			if c.Kind != of.kind {
				continue
			}
			if title != "" {
				e.say("%s", title)
				title = ""
			}
			e.say("  %s %s", record.Short(strings.Join(c.Example.Names, " "), record.MaxText), record.Short(string(c.Example.Args), record.MaxText))
		}
	}
}
