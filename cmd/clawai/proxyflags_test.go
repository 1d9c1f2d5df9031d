package main

import (
	"io"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"

	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/internal/proxyargs"
)

// TestTheProxyReadsItsOptionsAlike: what a wrapper's words are taken for is what
// the command takes them for.
func TestTheProxyReadsItsOptionsAlike(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom([]string{
		"--server", "-server", "--server=x", "--server=-x", "--observe", "-observe", "-observe=t", "--observe=false", "--observe=x",
		"--policy", "--policy=/p", "--layer", "--layer=a,b", "--help", "-h", "--help=true", "-help=0", "--was=url", "--", "-", "x", "npx", "---x", "--=x", "--unknown", "-=",
	}), rapid.StringMatching(`-{0,3}[a-z-]{0,8}=?[a-z]{0,3}`))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 0, 6).Draw(t, "words")
		line, err := proxyargs.Parse(words)
		var ran *cli.Context
		command := proxycmd.Command()
		command.Action = func(c *cli.Context) error { ran = c; return nil }
		app := newApp(io.Discard, io.Discard)
		app.Commands = []*cli.Command{command}
		harden(app.Commands)
		failed := app.Run(append([]string{"clawai", "proxy"}, words...))
		help, asked := line.Value("help")
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
		for _, o := range proxyargs.Options() {
			value, given := line.Value(o.Name)
			switch {
			case given != ran.IsSet(o.Name):
				t.Fatalf("%q: --%s is set: %v", words, o.Name, ran.IsSet(o.Name))
			case o.Kind == proxyargs.Text && given && ran.String(o.Name) != value,
				o.Kind == proxyargs.Switch && ran.Bool(o.Name) != (value == "true"):
				t.Fatalf("%q: --%s is %q", words, o.Name, value)
			}
		}
	})
}
