package proxycmd

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/wrap/proxyargs"
)

// proxyFlags gives the options of clawai proxy, from the definition that the
// wrappers in clients' files are read by as well; only those of these names, or all.
func proxyFlags(names ...string) []cli.Flag {
	var flags []cli.Flag
	for _, o := range proxyargs.ListOptions() {
		if names != nil && !slices.Contains(names, o.Name) {
			continue
		}
		switch o.Kind {
		case proxyargs.Switch:
			flags = append(flags, boolFlag{&cli.BoolFlag{Name: o.Name, Usage: o.Usage, Hidden: o.Hidden}})
		case proxyargs.List:
			flags = append(flags, listFlag{&cli.StringSliceFlag{Name: o.Name, Usage: o.Usage, Hidden: o.Hidden}})
		case proxyargs.Text:
			flags = append(flags, textFlag{&cli.StringFlag{Name: o.Name, Usage: o.Usage, Value: o.Preset, Hidden: o.Hidden}})
		}
	}
	return flags
}

// The library's flags, but for their names: it makes those with a regular expression, and
// asks every flag for them for every flag, which was a fifth of the instructions of a start.
type (
	boolFlag struct{ *cli.BoolFlag }
	listFlag struct{ *cli.StringSliceFlag }
	textFlag struct{ *cli.StringFlag }
)

// Names is the one name.
func (f boolFlag) Names() []string { return []string{f.Name} }

// Names is the one name.
func (f listFlag) Names() []string { return []string{f.Name} }

// Names is the one name.
func (f textFlag) Names() []string { return []string{f.Name} }
