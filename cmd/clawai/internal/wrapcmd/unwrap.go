package wrapcmd

import (
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/wrap"
)

// UnwrapCommand returns "clawai unwrap".
func UnwrapCommand() *cli.Command {
	return &cli.Command{
		Name:      "unwrap",
		Usage:     "take clawai away from servers again, byte for byte",
		UsageText: "clawai unwrap [SERVER...] [options]\nclawai unwrap --hooks [CLIENT...] [options]\nclawai unwrap --llm CLIENT... [options]",
		Flags:     append(selectionFlags(), append(editFlags(), editJSONFlag(), hooksFlag(), modelsFlag())...),
		Action:    func(c *cli.Context) error { return runWrap(c, wrap.Unwrap) },
	}
}
