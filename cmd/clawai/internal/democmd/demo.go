// Package democmd implements "clawai demo", and the server that the demo starts.
package democmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/demo"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
)

// Command returns "clawai demo".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "demo",
		Usage:     "watch an agent try things against a real server under a policy",
		UsageText: "clawai demo [--keep]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "keep", Usage: "leave the demo's folder and print its path"},
		},
		Action: runDemo,
	}
}

// ServerCommand returns "clawai demo-server", the hidden command that runs the demo's server.
func ServerCommand() *cli.Command {
	return &cli.Command{
		Name:   "demo-server",
		Hidden: true,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return cmdline.Usagef("demo-server needs one folder; it is started by: clawai demo")
			}
			return demo.Serve(c.Args().First())
		},
	}
}

func runDemo(c *cli.Context) (err error) {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	folder, err := demo.MakeFolder(fixtures.FilesystemPolicy)
	defer func() { err = errors.Join(err, cleanUp(c, folder)) }()
	if err != nil {
		return err
	}
	if err := playStory(ctx, c.App.Writer, folder); err != nil {
		if ctx.Err() != nil {
			return &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("interrupted")}
		}
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

func cleanUp(c *cli.Context, f demo.Folder) error {
	if f.Root == "" {
		return nil
	}
	if c.Bool("keep") {
		fmt.Fprintf(c.App.Writer, "\nKept: %s\n", f.Root)
		return nil
	}
	return f.Remove()
}

// playStory plays the story with an agent and the real proxy. At the end it shows the record.
func playStory(ctx context.Context, w io.Writer, f demo.Folder) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	proxy := exec.CommandContext(ctx, self, "proxy", "--server", "filesystem", "--", self, "demo-server", f.Home)
	proxy.Env = f.Environ()
	// A client that works on this project would start the proxy in this folder.
	proxy.Dir = filepath.Join(f.Home, "projects", "app")
	proxy.Stderr = os.Stderr
	agent, err := demo.Start(proxy)
	if err != nil {
		return err
	}
	defer func() { _ = agent.Close() }()
	tools, err := agent.ListTools()
	if err != nil {
		return err
	}
	fmt.Fprintf(cmdline.ProseWriter(w), "A real MCP server (tools: %s) behind clawai proxy,\nunder the starter policy for filesystem servers. ~ is a folder made for this demo.\n", strings.Join(tools, ", "))
	state := filepath.Join(f.Home, ".local", "state", "clawai", "audit")
	for i, step := range f.Steps() {
		if err := showStep(w, f, agent, state, i+1, step); err != nil {
			return err
		}
	}
	if err := agent.Close(); err != nil {
		return err
	}
	return showRecord(w, f, state)
}

// stepMarks color the lines of a step: the agent's action, the verdict, and the answer of the
// server or of clawai.
var stepMarks = []cmdline.Mark{
	{Pattern: `^(\d+\. The agent .*)`, Color: cmdline.Bold},
	{Pattern: `^   (ALLOW): `, Color: cmdline.Green},
	{Pattern: `^   (DENY): `, Color: cmdline.Red},
	{Pattern: `^   (\|.*)`, Color: cmdline.Dim},
}

func showStep(w io.Writer, f demo.Folder, agent *demo.Agent, state string, n int, step demo.Step) error {
	w = cmdline.ProseWriter(w, stepMarks...)
	fmt.Fprintf(w, "\n%d. The agent %s.\n   %s %s\n", n, step.Says, step.Tool, f.ShortenHome(step.ArgsJSON()))
	got, err := agent.TryStep(step)
	if err != nil {
		return err
	}
	for entry, err := range audit.Read(state, audit.Filter{Kinds: []event.Kind{event.Decision}, Last: 1}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "   %s: %s\n", strings.ToUpper(entry.Decision), decidedBy(entry))
	}
	for line := range strings.Lines(strings.TrimSpace(got.Text)) {
		fmt.Fprintf(w, "   | %s\n", f.ShortenHome(strings.TrimRight(line, "\n")))
	}
	return nil
}

// decidedBy returns the rule that decided. If no rule decided, it returns the reason.
func decidedBy(e event.Entry) string {
	if e.RuleFile == "" {
		return e.Reason
	}
	text := fmt.Sprintf("%q (%s:%d)", e.RuleText, filepath.Base(e.RuleFile), e.RuleLine)
	if e.Event.Policy != policy.Prompt.String() {
		return text
	}
	if e.Event.Decision == policy.Allow.String() {
		return text + " asked, and you said yes"
	}
	if e.Reason == "" {
		return text + " asked, and you said no"
	}
	return text + " asks: " + e.Reason
}

// homeWriter replaces the demo's home folder by ~ in everything that is written to it.
type homeWriter struct {
	w io.Writer
	f demo.Folder
}

func (s homeWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, s.f.ShortenHome(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func showRecord(w io.Writer, f demo.Folder, state string) error {
	fmt.Fprintf(w, "\nThe record of it, as clawai log shows it:\n")
	kinds := []event.Kind{event.Decision, event.Answered, event.Outcome}
	lines := record.Printer{Out: homeWriter{w, f}, Color: cmdline.WantsColor(w, os.Getenv), Width: cmdline.ScreenWidth(w), Home: f.Home}
	fold := record.Folder{Emit: lines.Print}
	for entry, err := range audit.Read(state, audit.Filter{Kinds: kinds}) {
		if err == nil {
			err = fold.Add(&entry)
		}
		if err != nil {
			return err
		}
	}
	if err := fold.Close(); err != nil {
		return err
	}
	report, err := audit.Verify(state, "", audit.Retention{})
	if err != nil {
		return err
	}
	if !report.IsIntact() {
		return fmt.Errorf("the record does not verify: %v", report.Findings)
	}
	fmt.Fprintf(cmdline.ProseWriter(w, cmdline.Mark{Pattern: "^(Verified)", Color: cmdline.Green}), "Verified: %d lines, chained, none changed.\n\n", report.Records)
	install := ""
	// The demo was started with go run, or from a download that is not installed.
	if wrap.FindProgram().Err != nil {
		install = "go install ./cmd/..., then "
	}
	fmt.Fprintf(cmdline.ProseWriter(w), "Next: %sclawai init.\nIt finds the servers your clients have, writes a policy for them and puts clawai\nin front, asking before it writes.\n", install)
	return nil
}
