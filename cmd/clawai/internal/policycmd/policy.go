// Package policycmd implements "clawai policy", with one file for each subcommand. It converts
// flags into options of the packages below internal/check, and their results into an exit code.
package policycmd

import "github.com/urfave/cli/v2"

// Command returns "clawai policy". The parameter more has subcommands from another package, which
// read the clients' files.
func Command(more ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name:      "policy",
		Usage:     "write a policy, test it, compare it",
		UsageText: "clawai policy COMMAND [options]",
		Subcommands: append([]*cli.Command{
			initCommand(), checkCommand(), lintCommand(), explainCommand(),
			testCommand(), coverageCommand(), mutateCommand(), fmtCommand(),
			diffCommand(), replayCommand(), learnCommand(), trustCommand(),
			allowCommand(), denyCommand(), undoCommand(), updateCommand(), showCommand(), bundleCommand(),
		}, more...),
	}
}
