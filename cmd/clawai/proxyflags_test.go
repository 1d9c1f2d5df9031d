package main

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/wrap/proxyargs"
)

// TestTheProxyReadsItsOptionsAlike: what a wrapper's words are taken for is what
// the command takes them for.
func TestTheProxyReadsItsOptionsAlike(t *testing.T) {
	known := []string{
		"--server", "-server", "--server=x", "--server=-x", "--observe", "-observe", "-observe=t", "--observe=false", "--observe=x",
		"--policy", "--policy=/p", "--policy=", "--layer", "--layer=a,b", "--layer=", "--help", "-h", "--help=true", "-help=0", "--was=url", "--", "-", "x", "npx", "---x", "--=x", "--unknown", "-=",
	}
	// Not by rapid, whose tables would be made in every program that this test binary plays.
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	of := func(letters string, most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return string(b)
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	word := func() string {
		if random.IntN(2) == 0 {
			return known[random.IntN(len(known))]
		}
		return of("-", 3) + of(letters+"-", 8) + of("=", 1) + of(letters, 3)
	}
	for range 200 {
		words := make([]string, random.IntN(7))
		for i := range words {
			words[i] = word()
		}
		readsAlike(t, words)
	}
}

// Every option of every command refuses an empty value, before the command does anything.
func TestEmptyValues(t *testing.T) {
	var try func(path []string, commands []*cli.Command) int
	try = func(path []string, commands []*cli.Command) (tried int) {
		for _, c := range commands {
			path := append(slices.Clone(path), c.Name)
			tried += try(path, c.Subcommands)
			if c.SkipFlagParsing {
				continue
			}
			for _, f := range c.Flags {
				doc, ok := f.(cli.DocGenerationFlag)
				if !ok || !doc.TakesValue() {
					continue
				}
				for _, name := range f.Names() {
					option := strings.Repeat("-", min(len(name), 2)) + name
					if err := runHarmless(append(path, option, "")); err == nil {
						t.Errorf("%q %s takes an empty value", path, option)
					}
					tried++
				}
			}
		}
		return tried
	}
	if tried := try([]string{"clawai"}, newApp(io.Discard, io.Discard, listCommands()).Commands); tried < 150 {
		t.Errorf("only %d options were tried", tried)
	}
}

// runHarmless runs a command line with commands that do nothing.
func runHarmless(args []string) error {
	app := newApp(io.Discard, io.Discard, listCommands())
	var empty func(commands []*cli.Command)
	empty = func(commands []*cli.Command) {
		for _, c := range commands {
			c.Action = func(*cli.Context) error { return nil }
			empty(c.Subcommands)
		}
	}
	empty(app.Commands)
	return app.Run(args)
}

func readsAlike(t *testing.T, words []string) {
	t.Helper()
	line, err := proxyargs.Parse(words)
	var ran *cli.Context
	command := proxycmd.Command()
	command.Action = func(c *cli.Context) error { ran = c; return nil }
	app := newApp(io.Discard, io.Discard, listCommands())
	app.Commands = []*cli.Command{command}
	hardenCommands(app.Commands)
	failed := app.Run(append([]string{"clawai", "proxy"}, words...))
	help, asked := line.OptionValue("help")
	switch {
	case err != nil || help == "true":
		if ran != nil || err != nil && failed == nil {
			t.Fatalf("%q: read as %v, %v; and the command ran", words, line, err)
		}
		return
	case asked && ran == nil: // of two forms of an option the command takes none
		return
	case ran == nil:
		t.Fatalf("%q: read as %v; the command says %v", words, line, failed)
	}
	if got := ran.Args().Slice(); !slices.Equal(got, words[line.Command:]) {
		t.Fatalf("%q: the command is %q, and not %q", words, got, words[line.Command:])
	}
	for _, o := range proxyargs.ListOptions() {
		value, given := line.OptionValue(o.Name)
		switch {
		case given != ran.IsSet(o.Name):
			t.Fatalf("%q: --%s is set: %v", words, o.Name, ran.IsSet(o.Name))
		case o.Kind == proxyargs.Text && given && ran.String(o.Name) != value,
			o.Kind == proxyargs.Switch && ran.Bool(o.Name) != (value == "true"):
			t.Fatalf("%q: --%s is %q", words, o.Name, value)
		}
	}
}
