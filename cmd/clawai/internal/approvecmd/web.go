package approvecmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
	xterm "golang.org/x/term"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/dashboard"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/oauth"
)

// DashboardCommand returns "clawai dashboard".
func DashboardCommand() *cli.Command {
	return &cli.Command{
		Name:      "dashboard",
		Usage:     "show what goes on as a local page: calls by hour, sessions, rules",
		UsageText: "clawai dashboard [--port N] [--ipv6] [--open]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", Usage: "listen on port `N` (default: a free one)"},
			&cli.BoolFlag{Name: "ipv6", Usage: "listen on [::1]"},
			&cli.BoolFlag{Name: "open", Usage: "open the browser"},
		},
		Action: func(c *cli.Context) error {
			if err := cmdline.NoArguments(c); err != nil {
				return err
			}
			return servePage(c, dashboard.Start)
		},
	}
}

// servePage serves the page until an interrupt. The parameter start is the path of the tab that the
// link opens. servePage reads two flags: port (0 for a free port) and ipv6 ([::1] instead of
// 127.0.0.1). printLink reads the flag open.
func servePage(c *cli.Context, start string) error {
	port := c.Int("port")
	if port < 0 || port > 65535 {
		return cmdline.Usagef("--port: %d is not a port", port)
	}
	q, dirs, err := openQueue(0)
	if err != nil {
		return err
	}
	defer func() { _ = q.Close() }()
	l, err := web.Listen(port, c.Bool("ipv6"))
	if err != nil {
		return fmt.Errorf("the page cannot be served: %w", err)
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := webOptions(q, dirs)
	o.Start, o.Views = start, dashboard.New(ctx, q, overview.New(dirs, dashboard.Period()))
	o.Opened = func() { fmt.Fprintln(c.App.Writer, "The link has been used; it opens nothing more.") }
	s, err := web.New(o, l)
	if err != nil {
		return err
	}
	printLink(ctx, c, s)
	if err := s.Serve(ctx); err != nil {
		return err
	}
	return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
}

func webOptions(q *queue.Queue, dirs config.Folders) web.Options {
	return web.Options{
		Queue: q, By: cmdline.AccountName(), Home: dirs.Home, Own: []string{dirs.Config, dirs.State}, ReadFile: cmdline.ReadFile,
		AddAnswerer: func() (io.Closer, error) {
			a, err := q.AddAnswerer(web.Channel)
			if err != nil {
				return nil, err
			}
			return a, nil
		},
	}
}

// printLink prints the link to the page. With --open it also opens the link in the browser. Each
// time the person presses Enter at the terminal, it prints a new link.
func printLink(ctx context.Context, c *cli.Context, s *web.Server) {
	out := c.App.Writer
	link := s.NewLink()
	fmt.Fprintf(out, "Open this link in your browser. It works once:\n\n  %s\n\n", link)
	keys := xterm.IsTerminal(int(os.Stdin.Fd()))
	if keys {
		fmt.Fprintln(out, "Enter makes a new link, Ctrl-C ends it.")
	}
	if c.Bool("open") {
		openLink(ctx, c, link)
	}
	if !keys {
		return
	}
	stayInBackground()
	// This goroutine ends only with the process, because a read of a terminal cannot be cancelled.
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan() && ctx.Err() == nil; {
			fmt.Fprintf(out, "A new link, for once. A page that is open ends when it is used:\n\n  %s\n\n", s.NewLink())
		}
	}()
}

func openLink(ctx context.Context, c *cli.Context, link string) {
	if os.Geteuid() == 0 {
		fmt.Fprintln(cmdline.ProseWriter(c.App.ErrWriter), "clawai: --open starts no browser as root; open the link yourself")
		return
	}
	if err := oauth.OpenBrowser(ctx, "", link); err != nil {
		fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: no browser could be opened: %v\n", err)
	}
}
