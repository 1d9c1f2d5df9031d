package approvecmd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/release"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
)

// ReleaseCommand returns "clawai release".
func ReleaseCommand() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "let the next answer to a call through, after one was withheld",
		UsageText: "clawai release RECORD",
		Description: "RECORD is the id that the agent was given with the withheld answer, or that clawai log\n" +
			"shows. You see the call and what was found, and are asked. Then the next answer to the\n" +
			"very same call goes on once, within ten minutes, with marks around its texts. What a\n" +
			"rule takes out is still taken out. The agent must make the call again, and what the\n" +
			"tool does, it does again. Needs a terminal: no option answers for you.",
		Action: runRelease,
	}
}

func runRelease(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return cmdline.Usagef("release needs the RECORD of a withheld answer; the last ones are: clawai log --decision deny -n 5 | cat")
	}
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	call, err := record.FindDecision(dir, args[0])
	if err != nil {
		return err
	}
	withheld := record.FindReply(dir, call, args[0])
	if err := checkReleasable(call, withheld); err != nil {
		return err
	}
	out := cmdline.ProseWriter(c.App.Writer)
	for _, line := range describeWithheld(call, withheld) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "\nThe next answer to this very call goes on once, within %d minutes, with marks around its texts.\nThe agent must call again, and what the tool does, it does again.\n", int(release.Holds.Minutes()))
	if !choose.HasTerminal(os.Stdin, os.Stdout) {
		return cmdline.Usagef("nothing was released: only a person at a terminal can do it; there, run: clawai release %s", term.VisibleText(withheld.Record))
	}
	if err := cmdline.ConfirmAction(c, "Release it?", "Nothing was released.", true); err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	until, err := session.ReleaseAnswer(folders, call, withheld, cmdline.AccountName())
	if err != nil {
		return fmt.Errorf("nothing was released: %w", err)
	}
	fmt.Fprintf(out, "Released until %s. Let the agent make the same call again.\n", until.Local().Format(time.TimeOnly))
	return nil
}

// checkReleasable returns an error if the answer to a call cannot be released. withheld is the
// record of that answer; nil means that no answer was withheld.
func checkReleasable(call, withheld *event.Entry) error {
	shown := term.VisibleText(call.Record)
	switch {
	case call.Decision == "deny":
		return cmdline.Usagef("record %s is a call that was refused, so there is no answer; to open the call: clawai policy allow --from %s", shown, shown)
	case withheld == nil:
		return cmdline.Usagef("the record has no answer to the call %s; see: clawai log --record %s", shown, shown)
	case withheld.Decision != "deny":
		return cmdline.Usagef("the answer to the call %s was not withheld; see: clawai log --record %s", shown, shown)
	case !record.CanRelease(withheld):
		return cmdline.Usagef("the answer to the call %s cannot be released: it could not be looked at, or a rule takes something out of it, and that cannot be done here; see: clawai log explain %s", shown, shown)
	}
	return nil
}

// describeWithheld returns lines about a withheld answer, for the person who decides about its
// release. The lines are safe for a terminal.
func describeWithheld(call, withheld *event.Entry) []string {
	lines := []string{
		fmt.Sprintf("record %s of %s: an answer of %s was withheld", term.VisibleText(withheld.Record), withheld.Time.Local().Format(time.DateTime), record.Short(call.Server+call.ServerGuess, record.MaxText)),
		"call       " + record.Short(strings.Join(call.Names, " "), record.MaxText) + "  " + record.Short(escape.ReadableJSON(call.Args), 10*record.MaxText),
	}
	if withheld.RuleLine > 0 {
		lines = append(lines, fmt.Sprintf("rule       %s:%d  %s", term.VisibleText(withheld.RuleFile), withheld.RuleLine, record.Short(withheld.RuleText, 2*record.MaxText)))
	}
	if withheld.Reason != "" {
		lines = append(lines, "why        "+record.Short(withheld.Reason, 2*record.MaxText))
	}
	if len(withheld.Finds) > 0 {
		lines = append(lines, "found      "+record.Short(strings.Join(withheld.Finds, ", "), 10*record.MaxText))
	}
	return lines
}
