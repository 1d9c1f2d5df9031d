// Package enrollcmd implements "clawai enroll" and "clawai unenroll". It turns the command line
// into options of internal/courier, and the results into an exit code.
package enrollcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/courier"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// Command returns "clawai enroll".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "enroll",
		Usage:     "take a team's rules from its centre, and copy your record to it",
		UsageText: "clawai enroll URL [--name NAME]\nclawai enroll sync [--stay]",
		Description: "The centre's rules only tighten yours. The record goes there as it lies in your state folder,\n" +
			"from now on (docs/team.md). clawai unenroll ends it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "the `NAME` of this laptop at the centre (default: the machine's)"},
		},
		Action: runEnroll,
		Subcommands: []*cli.Command{{
			Name:      "sync",
			Usage:     "ask the centre for new rules and copy the record to it, now",
			UsageText: "clawai enroll sync [--stay]",
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "stay", Usage: "go on until no session has run for two minutes; sessions start this by themselves"},
				&cli.StringFlag{Name: "state", Usage: "the state `DIR` (default: yours)"},
				&cli.DurationFlag{Name: "poll-every", Hidden: true},
				&cli.DurationFlag{Name: "ship-every", Hidden: true},
			},
			Action: runSync,
		}},
	}
}

// UnenrollCommand returns "clawai unenroll".
func UnenrollCommand() *cli.Command {
	return &cli.Command{
		Name:      "unenroll",
		Usage:     "leave the team's centre: its rules end, and nothing is copied any more",
		UsageText: "clawai unenroll",
		Action:    runUnenroll,
	}
}

// stopContext returns a context that ends with Ctrl-C or SIGTERM.
func stopContext(c *cli.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
}

func runEnroll(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return cmdline.Usagef("name the centre; write: clawai enroll https://HOST")
	}
	address, err := enrolment.ParseURL(args[0])
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	if e, err := enrolment.ReadEnrolment(folders.State); !errors.Is(err, enrolment.ErrNone) {
		if err != nil {
			return err
		}
		return cmdline.Usagef("this laptop is enrolled at %s already; to leave it: clawai unenroll", e.URL)
	}
	if err := config.PrivateFolder(folders.State); err != nil {
		return err
	}
	ask := enrolment.AskEnrolment{Name: c.String("name"), OS: runtime.GOOS, Version: cmdline.ReleaseVersion()}
	if ask.Name == "" {
		ask.Name, _ = os.Hostname() // after an error, the centre chooses the name
	}
	ctx, stop := stopContext(c)
	defer stop()
	centre := courier.NewCentre(folders, address.String(), "")
	defer centre.Close()
	code, err := centre.AskCode(ctx, enrolment.EnrollPath, ask)
	if err != nil {
		return err
	}
	out := cmdline.ProseWriter(c.App.Writer)
	fmt.Fprint(out, whatItMeans)
	page := code.VerificationURI
	if code.Complete != "" {
		page = code.Complete
	}
	fmt.Fprintf(out, "\nOpen this page and confirm the code %s:\n  %s\n", code.UserCode, term.VisibleText(page))
	var grant enrolment.Grant
	err = centre.AwaitGrant(ctx, enrolment.TokenPath, code, &grant)
	if errors.Is(err, context.Canceled) {
		return &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("nothing was enrolled")}
	}
	if err != nil {
		return fmt.Errorf("nothing was enrolled: %w", err)
	}
	e := enrolment.Enrolment{URL: address.String(), Laptop: grant.Laptop, Token: grant.Token, BundleKeys: grant.BundleKeys, Offline: grant.Offline, Since: time.Now().UTC(), CheckpointKey: grant.CheckpointKey}
	if _, err = bundle.ParseKeys(e.BundleKeys); err == nil {
		err = enrolment.WriteEnrolment(folders.State, e)
	}
	if err != nil {
		return fmt.Errorf("nothing was enrolled: the centre's answer cannot be used: %w", err)
	}
	fmt.Fprintf(out, "\nEnrolled at %s as %s.\n%s.\n", e.URL, term.VisibleText(e.Laptop), upperFirst(e.Offline.String()))
	return syncNow(ctx, out, folders, true)
}

// whatItMeans explains what the enrolment changes. The person sees it before the enrolment.
const whatItMeans = `Enrolled, this laptop
  - takes the centre's rules, if they are signed. They only tighten yours: what you deny or are asked
    about stays so.
  - copies the record of sessions that begin from now on to the centre, as it lies in your state folder:
    which tools were called, with their arguments (secrets redacted), what was decided, and how it ended.
    Of agents' own tools, whose calls of a day share a file, it copies all of today.
  - takes the centre's word for who uses it and in which roles. That opens only what a rule of yours
    allows for a role.
clawai unenroll ends all of it. clawai status shows where it stands.
`

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func runSync(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	folders, err := base.Files{State: c.String("state")}.FindFolders()
	if err != nil {
		return err
	}
	ctx, stop := stopContext(c)
	defer stop()
	pace := courier.Pace{Poll: c.Duration("poll-every"), Ship: c.Duration("ship-every")}
	if c.Bool("stay") {
		// A person has started this process by hand, perhaps while no session runs. Without
		// WantSync the process would then end at once.
		enrolment.WantSync(folders.State, time.Now())
		return courier.Stay(ctx, folders, pace)
	}
	if pace != (courier.Pace{}) {
		return cmdline.Usagef("--poll-every and --ship-every go with --stay")
	}
	return syncNow(ctx, cmdline.ProseWriter(c.App.Writer), folders, false)
}

// syncNow asks the centre for the bundle once, copies the record, and prints the result. If the
// parameter fresh is true, the laptop was enrolled just now. In this case, syncNow also starts the
// process that stays, and a failure of the centre is not an error.
func syncNow(ctx context.Context, out io.Writer, folders config.Folders, fresh bool) error {
	c, err := courier.NewCourier(folders)
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := c.Poll(ctx)
	if err == nil {
		for more := true; more && err == nil; {
			more, err = c.Ship(ctx)
		}
	}
	p, unread := enrolment.ReadProgress(folders.State)
	if unread != nil {
		return unread
	}
	if p.Refused != "" {
		fmt.Fprintf(out, "The centre's newest bundle is not in force: %s\n", term.VisibleText(p.Refused))
	}
	switch {
	case a.Counter == 0:
		fmt.Fprintln(out, "No bundle of the centre is in force yet.")
	case a.New:
		fmt.Fprintf(out, "The centre's bundle %d is in force now, revision %s.\n", a.Counter, a.Revision)
	default:
		fmt.Fprintf(out, "The centre's bundle %d is in force, revision %s.\n", a.Counter, a.Revision)
	}
	switch {
	case fresh && err != nil:
		fmt.Fprintf(out, "The first exchange with the centre failed, and is tried again with the next session: %v\n", err)
	case err != nil:
		return err
	case p.Refused != "":
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	if fresh && enrolment.WantSync(folders.State, time.Now()) {
		// Sessions that already run need this process. After an error, the next session tries
		// again.
		_ = enrolment.StartSync(folders.State)
	}
	return nil
}

// goodbyePatience is how long unenroll waits for the centre.
const goodbyePatience = 5 * time.Second

func runUnenroll(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	ctx, stop := stopContext(c)
	defer stop()
	where, said := "its centre", errors.New("it could not be told")
	// After an error there is no centre to tell, but the damaged enrolment is removed all the same.
	if carrier, err := courier.NewCourier(folders); err == nil {
		where = carrier.URL()
		short, cancel := context.WithTimeout(ctx, goodbyePatience)
		said = carrier.SayGoodbye(short)
		cancel()
		carrier.Close()
	}
	switch err := courier.EndEnrolment(ctx, folders.State); {
	case errors.Is(err, enrolment.ErrNone):
		return cmdline.Usagef("this laptop is not enrolled, so there is nothing to leave")
	case err != nil:
		return err
	}
	out := cmdline.ProseWriter(c.App.Writer)
	fmt.Fprintf(out, "This laptop has left %s. Its rules hold no more, and nothing is copied to it any more; what was copied stays there.\n", where)
	if said != nil {
		fmt.Fprintln(out, "The centre does not know it yet; its owner sees a laptop that is silent.")
	}
	return nil
}
