package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

// The scripts are our own: the library's bash script evaluates the words the
// user has typed so far, so that completing `clawai log $(cmd)` would run cmd.
// Ours hand the words to `clawai __complete` as arguments and evaluate nothing.
//
//go:embed completion
var completionScripts embed.FS

var completionShells = []string{"bash", "fish", "powershell", "zsh"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		UsageText: "clawai completion " + strings.Join(completionShells, "|"),
		Description: "The script's first line says how to load it. For bash:\n" +
			"source <(clawai completion bash)",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(completionShells, shell) {
				return cmdline.Usagef("completion needs one shell: clawai completion %s", strings.Join(completionShells, "|"))
			}
			script, err := completionScripts.ReadFile("completion/" + shell)
			if err != nil {
				return err
			}
			_, err = c.App.Writer.Write(script)
			return err
		},
	}
}

// completeCommand prints the candidates for the last word typed, one a line.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name:            "__complete",
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			complete(c.App.Writer, c.App.Commands, c.Args().Slice())
			return nil
		},
	}
}

func complete(w io.Writer, cmds []*cli.Command, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, last := words[:len(words)-1], words[len(words)-1]
	// Behind "--" stands the server's command line, which is not ours.
	if slices.Contains(typed, "--") {
		return
	}
	var cmd *cli.Command
	for i, word := range typed {
		if i == 0 && word == "help" {
			continue // what follows are commands
		}
		if next := find(cmds, word); next != nil {
			cmd, cmds = next, next.Subcommands
		}
	}
	var found []string
	if strings.HasPrefix(last, "-") {
		if cmd != nil {
			found = cmdline.FlagNames(cmd.Flags)
		}
		found = append(found, "--help")
	} else {
		for _, c := range cmds {
			if !c.Hidden {
				found = append(found, c.Name)
			}
		}
		if cmd != nil && cmd.Name == "completion" {
			found = append(found, completionShells...)
		}
	}
	for _, name := range found {
		if strings.HasPrefix(name, last) {
			fmt.Fprintln(w, name)
		}
	}
}

func find(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
