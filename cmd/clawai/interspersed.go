package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// interspersed reads the options behind the names too, which the flag package
// would hand over as names. Behind -- there are names alone.
func interspersed(c *cli.Context) (names []string, err error) {
	args := c.Args().Slice()
	if before := len(os.Args) - len(args) - 1; before >= 0 && os.Args[before] == "--" {
		args = append([]string{"--"}, args...) // which the flag package has taken away
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			names = append(names, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			names = append(names, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		flag := flagNamed(c.Command.Flags, name)
		switch {
		case name == "help" || name == "h":
			return nil, usagef("write: clawai %s--help", commandPath(c))
		case flag == nil:
			return nil, unknownOption(c, arg)
		case inline:
		case !flag.TakesValue():
			value = "true"
		case len(args) == 0:
			return nil, usagef("flag needs an argument: %s; see: clawai %s--help", arg, commandPath(c))
		default:
			value, args = args[0], args[1:]
		}
		if err := c.Set(flag.Names()[0], value); err != nil {
			return nil, usagef("%s: %w", arg, err)
		}
	}
	if slices.Contains(names, "") {
		return nil, usagef("an argument is empty")
	}
	return names, nil
}

func flagNamed(flags []cli.Flag, name string) cli.DocGenerationFlag {
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return doc
		}
	}
	return nil
}
