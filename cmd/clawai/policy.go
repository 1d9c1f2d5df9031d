package main

import "github.com/urfave/cli/v2"

func policyCommand() *cli.Command {
	return &cli.Command{
		Name:      "policy",
		Usage:     "write a policy, test it, compare it",
		UsageText: "clawai policy COMMAND [options]",
		Subcommands: []*cli.Command{
			policyInitCommand(), policyCheckCommand(), policyLintCommand(), policyExplainCommand(),
			policyTestCommand(), policyCoverageCommand(), policyMutateCommand(), policyFmtCommand(),
			policyDiffCommand(), policyReplayCommand(), policyLearnCommand(), policyTrustCommand(),
		},
	}
}
