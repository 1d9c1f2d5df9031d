package proxycmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/wrap/proxyargs"
)

// Flags returns the flags of clawai proxy with the given names. Without names it returns all flags.
// Package proxyargs defines them, because the wrappers in clients' files are read with the same
// definitions.
func Flags(names ...string) []cli.Flag {
	var flags []cli.Flag
	channels := strings.Join(session.ChannelNames(), ", ")
	for _, o := range proxyargs.ListOptions() {
		if names != nil && !slices.Contains(names, o.Name) {
			continue
		}
		o.Usage = strings.Replace(o.Usage, proxyargs.Channels, channels, 1)
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

// These types are flags of the library with a faster method Names. The library's method uses a
// regular expression and runs for all flags many times. It took a fifth of the instructions at
// start.
type (
	boolFlag struct{ *cli.BoolFlag }
	listFlag struct{ *cli.StringSliceFlag }
	textFlag struct{ *cli.StringFlag }
)

// Names returns the only name, because the flag has no alias.
func (f boolFlag) Names() []string { return []string{f.Name} }

// Names returns the only name, because the flag has no alias.
func (f listFlag) Names() []string { return []string{f.Name} }

// Names returns the only name, because the flag has no alias.
func (f textFlag) Names() []string { return []string{f.Name} }
