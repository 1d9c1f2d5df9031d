package proxycmd

import (
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/proxyargs"
)

// proxyFlags are the options of clawai proxy, from the definition that the
// wrappers in clients' files are read by as well.
func proxyFlags() []cli.Flag {
	var flags []cli.Flag
	for _, o := range proxyargs.Options() {
		switch o.Kind {
		case proxyargs.Switch:
			flags = append(flags, &cli.BoolFlag{Name: o.Name, Usage: o.Usage, Hidden: o.Hidden})
		case proxyargs.List:
			flags = append(flags, &cli.StringSliceFlag{Name: o.Name, Usage: o.Usage, Hidden: o.Hidden})
		case proxyargs.Text:
			flags = append(flags, &cli.StringFlag{Name: o.Name, Usage: o.Usage, Value: o.Preset, Hidden: o.Hidden})
		}
	}
	return flags
}
