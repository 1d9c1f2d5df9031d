// Package policycmd is "clawai policy": one file a command. It turns options into those
// of the rooms below internal/check, and their answers into an exit code.
package policycmd

import "github.com/urfave/cli/v2"

// Command is "clawai policy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "policy",
		Usage:     "write a policy, test it, compare it",
		UsageText: "clawai policy COMMAND [options]",
		Subcommands: []*cli.Command{
			initCommand(), checkCommand(), lintCommand(), explainCommand(),
			testCommand(), coverageCommand(), mutateCommand(), fmtCommand(),
			diffCommand(), replayCommand(), learnCommand(), trustCommand(),
		},
	}
}
