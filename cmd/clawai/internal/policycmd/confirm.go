package policycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// confirmPolicy tells running proxies that the owner wants the present policy. Proxies wait for
// this if the policy has lost rules, has no end mark or was deleted.
func confirmPolicy(c *cli.Context, folders config.Folders, path string) error {
	shown := term.VisibleText(path)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s is gone. Its last good text is in force in the proxies that run, until you agree.\n", shown)
		return confirmTrust(c, folders, path, nil)
	}
	text, err := config.ReadFile(path)
	if err != nil {
		return cmdline.Usagef("policy %w", err)
	}
	o := policyfile.PolicyOptions(folders.Home)
	o.Extend = base.ReadExtension
	rules, err := policy.Parse(path, text, o)
	if err != nil {
		return cmdline.Usagef("it does not load, and was not trusted:\n%w", err)
	}
	printText(cmdline.ProseWriter(c.App.Writer), text)
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s: %s.\n", shown, policyfile.CountRules(rules))
	return confirmTrust(c, folders, path, text)
}

func confirmTrust(c *cli.Context, folders config.Folders, path string, text []byte) error {
	if err := askToTrust(c, "Is it meant to be so?"); err != nil {
		return err
	}
	if err := config.ConfirmPolicy(folders.State, path, text); err != nil {
		return fmt.Errorf("nothing was trusted: %w", err)
	}
	fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "Trusted: the proxies that run take it up now.")
	return nil
}
