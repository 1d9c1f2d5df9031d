package approvecmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"
	xterm "golang.org/x/term"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/oauth"
)

// approveWeb serves the page of clawai approve --web until it is interrupted. Its flags are
// port (0 takes a free one), ipv6 ([::1] instead of 127.0.0.1) and open (in the browser; never
// as root, since the browser would then run as root).
func approveWeb(c *cli.Context) error {
	port := c.Int("port")
	if port < 0 || port > 65535 {
		return cmdline.Usagef("--port: %d is no port", port)
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
	opened := func() { fmt.Fprintln(c.App.Writer, "The link has been used; it opens nothing more.") }
	s, err := web.New(webOptions(q, dirs, opened), l)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	printLink(ctx, c, s)
	if err := s.Serve(ctx); err != nil {
		return err
	}
	return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
}

func webOptions(q *queue.Queue, dirs config.Folders, opened func()) web.Options {
	return web.Options{
		Queue: q, By: cmdline.AccountName(), Home: dirs.Home, Own: []string{dirs.Config, dirs.State}, ReadFile: cmdline.ReadFile, Opened: opened,
		AddAnswerer: func() (io.Closer, error) {
			a, err := q.AddAnswerer(web.Channel)
			if err != nil {
				return nil, err
			}
			return a, nil
		},
		Records: func(ctx context.Context) iter.Seq2[event.Entry, error] {
			dir := filepath.Join(dirs.State, "audit")
			_ = os.MkdirAll(dir, 0o700) // there may not be a first session yet
			return audit.Follow(ctx, dir, audit.Filter{Kinds: web.RecordKinds(), Last: web.RecordLength})
		},
	}
}

// printLink prints the link, opens it with --open, and makes a new one for each line from the
// terminal.
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
	// A read of a terminal cannot be cancelled: this goroutine ends with the process.
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
