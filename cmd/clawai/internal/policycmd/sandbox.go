package policycmd

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// SandboxFlags returns the flags of the commands that write a sandbox table into a policy.
func SandboxFlags() []cli.Flag { return editFlags() }

// Opening is one value to add to the table of a sandbox. Key is read, write, net or env.
type Opening struct{ Key, Value string }

// WriteSandbox writes the table of a server's sandbox into the policy. If the policy has no table
// for this server, it inserts the table in the parameter text. Otherwise it adds the values in the
// parameter openings to the existing table. It shows the change to the person and asks first. The
// parameter command is the command line that makes the same change without a question.
func WriteSandbox(c *cli.Context, server, text string, openings []Opening, command []string) error {
	e, err := newPolicyEdit(c, "")
	if err != nil {
		return err
	}
	src, err := readPolicyFile(e.file)
	if err != nil {
		return err
	}
	old, err := parsePolicy(e.file, src, e.writer.Options)
	if err != nil {
		return err
	}
	own := slices.IndexFunc(old.CageTables(), func(t policy.CageTable) bool { return t.Server == server && t.From == "" })
	if own >= 0 && text != "" {
		return cmdline.Usagef("nothing was written: the policy has a sandbox for %s, at line %d; to open more: clawai sandbox open", term.VisibleText(server), old.CageTables()[own].Pos.Line)
	}
	if own < 0 && text == "" {
		return cmdline.Usagef("nothing was written: the policy has no sandbox for %s; make one first: clawai sandbox propose %s --write", term.VisibleText(server), term.VisibleText(cmdline.Quote([]string{server})))
	}
	next := append(slices.Clone(src), "\n"+text...)
	if text == "" {
		next, text = addOpenings(src, policytext.DottedKey("server", server, "sandbox"), openings, &old.CageTables()[own])
	}
	if text == "" {
		return cmdline.Usagef("nothing was written: its sandbox opens that already")
	}
	if _, err := policy.Parse(e.file, next, e.writer.Options); err != nil {
		return cmdline.Usagef("nothing was written:\n%w", err)
	}
	e.say("This goes into %s:", term.VisibleText(e.file))
	e.say("")
	printText(cmdline.ProseWriter(c.App.Writer), []byte(text))
	e.say("")
	if err := e.writePlan(remember.NewPlan(src, next, text), "Write it?", command); err != nil {
		return err
	}
	e.say("Written. It counts when the server starts again. To take it back: clawai policy undo")
	return nil
}

// addOpenings adds values to the lists of a table. The result next is the new text of the policy,
// and the result shown has the changed lines.
func addOpenings(src []byte, table string, openings []Opening, t *policy.CageTable) (next []byte, shown string) {
	lists := map[string][]string{"read": t.Read, "write": t.Write, "net": t.Net, "env": t.Env}
	next = src
	for _, o := range openings {
		if slices.Contains(lists[o.Key], o.Value) {
			continue
		}
		added, _, found := policytext.AppendElement(next, table, o.Key, policytext.Quote(o.Value))
		if !found {
			added, _ = policytext.AddPair(next, table, policytext.Pair{Key: o.Key, Value: policytext.FormatList(policytext.QuoteAll([]string{o.Value}))})
		}
		next = added
		shown += fmt.Sprintf("[%s] %s += %s\n", table, o.Key, policytext.Quote(o.Value))
		lists[o.Key] = append(lists[o.Key], o.Value)
	}
	return next, shown
}
