// Package policycmd implements "clawai policy", with one file for each command. It turns
// options into those of the packages below internal/check, and their results into an exit code.
package policycmd

import "github.com/urfave/cli/v2"

// Command returns "clawai policy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "policy",
		Usage:     "write a policy, test it, compare it",
		UsageText: "clawai policy COMMAND [options]",
		Subcommands: []*cli.Command{
			initCommand(), checkCommand(), lintCommand(), explainCommand(),
			testCommand(), coverageCommand(), mutateCommand(), fmtCommand(),
			diffCommand(), replayCommand(), learnCommand(), trustCommand(),
			allowCommand(), denyCommand(), undoCommand(),
		},
	}
}
