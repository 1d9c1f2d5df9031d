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

// completionScripts are our own scripts. The library's script for bash evaluates the words that the
// user has typed so far: completing `clawai log $(cmd)` would run cmd. Our scripts pass the words
// to `clawai __complete` as arguments and evaluate nothing.
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

// completeCommand returns the hidden command that prints the candidates for the last word, one on
// each line. The scripts of the shells call it.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name:            "__complete",
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			completeWords(c.App.Writer, c.App.Commands, c.Args().Slice())
			return nil
		},
	}
}

func completeWords(w io.Writer, cmds []*cli.Command, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, last := words[:len(words)-1], words[len(words)-1]
	// The words after "--" are the server's command line, so clawai has no candidates.
	if slices.Contains(typed, "--") {
		return
	}
	// bash splits --server=fi into three words, so the option and "=" are joined again.
	if last == "=" {
		typed, last = append(slices.Clone(typed), last), ""
	}
	inline := ""
	if n := len(typed); n > 0 && typed[n-1] == "=" {
		typed = typed[:n-1]
	} else if name, value, found := strings.Cut(last, "="); found && strings.HasPrefix(name, "-") {
		typed, last, inline = append(slices.Clone(typed), name), value, name+"="
	}
	at := readPlace(cmds, typed)
	for _, word := range at.candidateWords(last) {
		if strings.HasPrefix(word, last) {
			fmt.Fprintln(w, inline+word)
		}
	}
}

// place is the part of a command line that contains the word to complete.
type place struct {
	command     *cli.Command // nil for clawai itself
	path        string       // the words that name the command, such as "log explain"
	subcommands []*cli.Command
	option      cli.DocGenerationFlag // the option whose value is typed here; nil for none
	arguments   int                   // number of arguments before this word
}

// readPlace reads the words before the word to complete, and returns the place of that word.
func readPlace(cmds []*cli.Command, typed []string) place {
	at := place{subcommands: cmds}
	for i, word := range typed {
		if at.option != nil {
			at.option = nil // this word is the option's value
			continue
		}
		if i == 0 && word == "help" {
			continue // after help, the words name a command
		}
		if strings.HasPrefix(word, "-") {
			if flag := at.findFlag(word); flag != nil && flag.TakesValue() {
				at.option = flag
			}
			continue
		}
		if next := findCommand(at.subcommands, word); next != nil && (at.command == nil || at.arguments == 0) {
			at.command, at.subcommands = next, next.Subcommands
			at.path = strings.TrimSpace(at.path + " " + next.Name)
			continue
		}
		at.arguments++
	}
	return at
}

// findFlag returns the option that a word names. For --NAME=VALUE it returns nil, because the value
// is already there.
func (at *place) findFlag(word string) cli.DocGenerationFlag {
	return cmdline.FlagNamed(at.placeFlags(), strings.TrimLeft(word, "-"))
}

func (at *place) placeFlags() []cli.Flag {
	if at.command == nil {
		return []cli.Flag{cmdline.ColorFlag()}
	}
	return at.command.Flags
}

// candidateWords returns the words that are possible at this place.
func (at *place) candidateWords(last string) (found []string) {
	switch {
	case at.option != nil:
		return optionValues(at.path, at.option.Names()[0])
	case strings.HasPrefix(last, "-"):
		return append(cmdline.FlagNames(at.placeFlags()), "--help")
	}
	if at.command == nil || at.arguments == 0 {
		for _, c := range visibleCommands(at.subcommands) {
			found = append(found, c.Name)
		}
	}
	return append(found, argumentValues(at.path, at.arguments)...)
}

func findCommand(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
