// Package approvecmd implements "clawai approve" and "clawai decide". A person or a script answers
// questions with these commands.
package approvecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
)

// Command returns "clawai approve".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "approve",
		Usage: "answer the calls that your rules want to ask you about",
		UsageText: "clawai approve [--once] [-p SECONDS]\n" +
			"clawai approve ID [--json|--list]\n" +
			"clawai approve --list|--history N|--granted|--revoke ID [--json]\n" +
			"clawai approve --web [--port N] [--ipv6] [--open]\n" +
			"clawai approve --gateway [--at URL] [ID] [--once|--list|--history N|--sign-out] [--json]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "print what waits, and exit"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document, and exit"},
			&cli.BoolFlag{Name: "once", Usage: "show what waits, answer one, and exit"},
			&cli.IntFlag{Name: "poll", Aliases: []string{"p"}, Value: 5, Usage: "look again every `SECONDS`, even if nothing was announced; changes that are announced show at once"},
			&cli.IntFlag{Name: "history", Usage: "print the last `N` that no longer wait, and exit"},
			&cli.BoolFlag{Name: "granted", Usage: "print the session answers in force, and exit"},
			&cli.StringFlag{Name: "revoke", Usage: "take the session answer `ID` back, and exit"},
			&cli.BoolFlag{Name: "web", Usage: "serve a local page instead"},
			&cli.IntFlag{Name: "port", Usage: "with --web: listen on port `N` (default: a free one)"},
			&cli.BoolFlag{Name: "ipv6", Usage: "with --web: listen on [::1]"},
			&cli.BoolFlag{Name: "open", Usage: "with --web: open the browser"},
			&cli.BoolFlag{Name: "gateway", Usage: "answer what your team's centre asks you, after you signed in on its page"},
			&cli.StringFlag{Name: "at", Usage: "with --gateway: the centre's `URL` (default: where this laptop is enrolled)"},
			&cli.BoolFlag{Name: "sign-out", Usage: "with --gateway: end your sign-in, and exit"},
		},
		Action: runApprove,
	}
}

func runApprove(c *cli.Context) error {
	ids, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if err := oneMode(c, len(ids)); err != nil {
		return err
	}
	color := cmdline.WantsColor(c.App.Writer, os.Getenv)
	if c.Bool("web") {
		return servePage(c, "/")
	}
	if c.Bool("sign-out") {
		dirs, err := config.ReadFolders()
		if err != nil {
			return err
		}
		return signOut(c.Context, c, dirs)
	}
	q, dirs, err := openAny(c, time.Duration(c.Int("poll"))*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = q.Close() }()
	switch {
	case len(ids) > 0:
		return approveID(c, q, dirs, ids[0])
	case c.IsSet("history"):
		return printHistory(c, q, dirs, color)
	case c.Bool("granted"):
		return printGrants(c, q)
	case c.IsSet("revoke"):
		return revokeGrant(c, q)
	case c.Bool("list") || c.Bool("json"):
		return printPending(c, q, dirs, color)
	}
	_, err = openConsole(c, q, dirs, "", false)
	return err
}

// ShowOverview opens the console at the terminal. If no question waits, the console shows the calls of
// the record. Without a terminal or a policy, it opens nothing, and the result shown is false. note is
// a text about the first step of the person, or "".
func ShowOverview(c *cli.Context) (shown bool, note string, err error) {
	if !choose.HasTerminal(os.Stdin, os.Stdout) {
		return false, "", nil
	}
	dirs, err := config.ReadFolders()
	if err != nil {
		return false, "", nil // without folders, only the help is shown
	}
	if _, err := os.Stat(dirs.PolicyFile()); err != nil {
		return false, "There is no policy here yet, so nothing is behind clawai. Start with: clawai init (or look first: clawai demo)", nil
	}
	if plainTerminal() {
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "This terminal shows no full screen. Use: clawai approve, clawai log --follow, clawai status. All commands: clawai --help")
		return true, "", nil
	}
	q, dirs, err := openQueue(overviewCheck)
	if err != nil {
		return true, "", err
	}
	defer func() { _ = q.Close() }()
	_, err = openConsole(c, q, dirs, "", true)
	return true, "", err
}

// tellPolicyFault returns a text for the screen if the owner's policy does not load. Without this text
// the screen would be empty and explain nothing.
func tellPolicyFault(dirs config.Folders) string {
	err := policyfile.FindFault(dirs)
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return "the policy cannot be used (clawai doctor): " + term.VisibleText(first)
}

// overviewCheck is the interval at which the overview reads the queue when there is no signal of a
// change.
const overviewCheck = 5 * time.Second

// oneMode returns an error for options that exclude each other.
func oneMode(c *cli.Context, ids int) error {
	var modes []string
	for _, name := range []string{"list", "once", "history", "granted", "revoke", "web", "sign-out"} {
		if c.IsSet(name) {
			modes = append(modes, "--"+name)
		}
	}
	switch {
	case ids > 1:
		return cmdline.Usagef("approve shows one request at a time, or all of them without an ID; to answer several from a script, run: clawai decide")
	case len(modes) > 1 || ids == 1 && len(modes) == 1 && !c.Bool("list"):
		return cmdline.Usagef("these do not go together: %s; see: clawai approve --help", strings.Join(append(modes, "an ID")[:len(modes)+ids], ", "))
	case !c.Bool("gateway") && (c.IsSet("at") || c.Bool("sign-out")):
		return cmdline.Usagef("--at and --sign-out go with --gateway; see: clawai approve --help")
	case c.Bool("gateway") && (c.Bool("web") || c.Bool("granted") || c.IsSet("revoke")):
		return cmdline.Usagef("--web, --granted and --revoke are about this laptop's own questions; leave --gateway out")
	case c.Bool("json") && (c.Bool("once") || c.Bool("web") || c.Bool("sign-out")):
		return cmdline.Usagef("--json prints and exits: it goes with --list, --history, --granted, --revoke, or an ID")
	case c.Int("poll") < 1:
		return cmdline.Usagef("-p: %d is not a number of seconds", c.Int("poll"))
	case c.IsSet("history") && c.Int("history") < 1:
		return cmdline.Usagef("--history: %d is not a number of requests", c.Int("history"))
	}
	return nil
}

func openQueue(check time.Duration) (*queue.Queue, config.Folders, error) {
	dirs, err := config.ReadFolders()
	if err != nil {
		return nil, dirs, err
	}
	if err := config.PrivateFolder(dirs.State); err != nil {
		return nil, dirs, err
	}
	q, err := queue.Open(filepath.Join(dirs.State, "queue"), queue.Options{Check: check})
	return q, dirs, err
}

// answerQueue is the queue with the questions to answer: the queue of this laptop, or the queue of
// a team's centre.
type answerQueue interface {
	console.Queue
	Close() error
}

// openAny opens the queue of the team's centre if --gateway is set, and otherwise the queue of this
// laptop.
func openAny(c *cli.Context, check time.Duration) (answerQueue, config.Folders, error) {
	if !c.Bool("gateway") {
		return openQueue(check)
	}
	dirs, err := config.ReadFolders()
	if err == nil {
		err = config.PrivateFolder(dirs.State)
	}
	if err != nil {
		return nil, dirs, err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	q, err := openCentre(ctx, c, dirs)
	if ctx.Err() != nil {
		err = &cmdline.ExitError{Code: cmdline.ExitInterrupted}
	}
	if err != nil {
		return nil, dirs, err
	}
	return q, dirs, nil
}

// idError adds the exit code ExitUsage to an error about an unknown or ambiguous id. It returns
// other errors unchanged.
func idError(err error) error {
	if errors.Is(err, queue.ErrUnknown) || errors.Is(err, queue.ErrAmbiguous) {
		return &cmdline.ExitError{Code: cmdline.ExitUsage, Err: err}
	}
	return err
}

// requestOf returns the request with an id.
func requestOf(ctx context.Context, q console.Queue, id string) (queue.Request, error) {
	r, err := q.Get(ctx, id)
	return r, idError(err)
}

// approveID shows one request, and asks the person at the terminal for the answer.
func approveID(c *cli.Context, q answerQueue, dirs config.Folders, id string) error {
	r, err := requestOf(c.Context, q, id)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return cmdline.WriteASCIIJSON(c.App.Writer, requestDoc(&r, cmdline.ViewOptions(dirs)))
	case c.Bool("list"):
		return printRequest(c.App.Writer, &r, cmdline.ViewOptions(dirs))
	case r.Status != queue.Pending:
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: errors.New(console.TooLateText(r))}
	}
	result, err := openConsole(c, q, dirs, r.ID, false)
	if err != nil || result.Answered {
		return err
	}
	if result.Request.ID == "" {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: errors.New("left without an answer; the call still waits")}
	}
	return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: errors.New(console.TooLateText(result.Request))}
}

// openConsole opens the console for all requests. If the parameter only is not "", it is the id of
// the one request to show. A console for all requests is registered at the laptop's queue as a
// person who can answer. callsFirst is console.Options.CallsFirst.
func openConsole(c *cli.Context, q answerQueue, dirs config.Folders, only string, callsFirst bool) (console.Result, error) {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	o := console.Options{
		Queue: q, By: cmdline.AccountName(), Only: only, Once: c.Bool("once"), View: cmdline.ViewOptions(dirs),
		Color: cmdline.WantsColor(c.App.Writer, os.Getenv), Every: time.Duration(max(c.Int("poll"), 0)) * time.Second,
		CallsFirst: callsFirst, OnceOnly: c.Bool("gateway"),
	}
	if own, ok := q.(*queue.Queue); ok && only == "" {
		all := overview.New(dirs, 0)
		o.Calls, o.Search, o.CallsPage, o.Pages = followCalls(all), searchCalls(all), callsPage, []console.Page{sessionsPage(all), serversPage(ctx, all)}
		o.Fault = all.PolicyFault
		o.Notice = tellPolicyFault(dirs)
		here, err := own.AddAnswerer("console")
		if err != nil {
			return console.Result{}, err
		}
		defer func() { _ = here.Close() }()
	}
	r, err := runConsole(ctx, c, filepath.Join(dirs.State, "terminal.lock"), o)
	if errors.Is(err, console.ErrInterrupted) || ctx.Err() != nil {
		return r, &cmdline.ExitError{Code: cmdline.ExitInterrupted}
	}
	if err == nil && r.Answered {
		fmt.Fprintf(c.App.Writer, "%s: %s\n", console.FactsOf(&r.Request, o.View).Title, console.AnswerText(r.Request.Answer))
	}
	return r, err
}

// runConsole runs the console on the whole screen of the terminal if possible, otherwise line by
// line. Without a terminal it reads standard input.
func runConsole(ctx context.Context, c *cli.Context, lock string, o console.Options) (console.Result, error) {
	if !choose.HasTerminal(os.Stdin, os.Stdout) {
		return console.RunPlain(ctx, &stream{in: os.Stdin, Writer: c.App.Writer}, o)
	}
	soon, cancel := context.WithTimeout(ctx, 2*time.Second)
	tty, err := term.OpenTerminal(soon, "/dev/tty", lock)
	cancel()
	if not, ok := errors.AsType[*term.NotOwned](err); ok && not.Reason == term.NoTerminal {
		return console.RunPlain(ctx, &stream{in: os.Stdin, Writer: c.App.Writer}, o)
	}
	if err != nil {
		return console.Result{}, err
	}
	defer func() { _ = tty.Close() }()
	if plainTerminal() {
		return console.RunPlain(ctx, tty, o)
	}
	return console.Run(ctx, tty, o)
}

func plainTerminal() bool {
	name := os.Getenv("TERM")
	return !term.Screens || name == "" || name == "dumb" || name == "unknown" || os.Getenv("CLAWAI_ACCESSIBLE") != ""
}

// stream is standard input that is not a terminal. It returns the input in lines.
type stream struct {
	io.Writer
	in    io.Reader
	lines chan string
}

// ReadLine returns the next line. A goroutine reads the lines. It ends only with the input or the
// process, because a read of a pipe cannot be cancelled.
func (s *stream) ReadLine(ctx context.Context) (string, error) {
	if s.lines == nil {
		s.lines = make(chan string)
		go func() {
			defer close(s.lines)
			for in := bufio.NewScanner(s.in); in.Scan(); {
				s.lines <- in.Text()
			}
		}()
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line, ok := <-s.lines:
		if !ok {
			return "", io.EOF
		}
		// Only a terminal shows a line break after the person's answer. For other input, this line
		// break is written here.
		_, err := io.WriteString(s.Writer, "\n")
		return line, err
	}
}

// Flush keeps the unread input, because a script may have sent its answers in advance.
func (s *stream) Flush() error { return nil }
