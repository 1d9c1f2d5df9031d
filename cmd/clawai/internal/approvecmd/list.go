package approvecmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/config"
)

// listed is the maximum length of a request's text in a list, in characters.
const listed = 160

func printPending(c *cli.Context, q console.Queue, dirs config.Folders, color bool) error {
	all, err := q.Pending(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Pending []requestJSON `json:"pending"`
		}{requestDocs(all, cmdline.ViewOptions(dirs))})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "Nothing waits for an answer.")
		return err
	}
	all = console.CarefulFirst(all, cmdline.ViewOptions(dirs))
	for i := range all {
		r := &all[i]
		if err := printLine(c, r, cmdline.ViewOptions(dirs), console.TimeLeft(r, time.Now())+" left", color); err != nil {
			return err
		}
	}
	return nil
}

func printHistory(c *cli.Context, q console.Queue, dirs config.Folders, color bool) error {
	all, err := q.History(c.Context, c.Int("history"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			History []requestJSON `json:"history"`
		}{requestDocs(all, cmdline.ViewOptions(dirs))})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "Nothing has been asked yet.")
		return err
	}
	const below = "          " // an indent as wide as the time
	for i := range all {
		r := &all[i]
		if err := printLine(c, r, cmdline.ViewOptions(dirs), r.Decided.Local().Format(time.DateTime), color); err != nil {
			return err
		}
		sgr := "31"
		if r.Answer.Reply.Allows() {
			sgr = "32"
		}
		for _, line := range view.WrapWords(console.StatusText(*r), max(0, cmdline.ScreenWidth(c.App.Writer)-len(below))) {
			if _, err := fmt.Fprintf(c.App.Writer, "%s%s\n", below, cmdline.Paint(color, sgr, line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// printLine prints one request as a line: the start of its id, the time, and the text. On a
// terminal, the text is cut so that the line fits, but keeps at least 24 characters. Elsewhere, the
// maximum length of the text is the constant listed.
func printLine(c *cli.Context, r *queue.Request, o view.Options, when string, color bool) error {
	o.ReadFile = nil
	f := console.FactsOf(r, o)
	before, danger := console.ShortID(r.ID)+"  "+when+"  ", ""
	if f.NeedsCare() {
		danger = "DANGEROUS  "
	}
	room := listed
	if columns := cmdline.ScreenWidth(c.App.Writer); columns > 0 {
		room = max(24, columns-len(before)-len(danger))
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s%s%s\n", before, cmdline.Paint(color, cmdline.Bold+";"+cmdline.Red, danger), f.RequestLine(room))
	return err
}

// printRequest prints everything about one request as plain text.
func printRequest(w io.Writer, r *queue.Request, o view.Options) error {
	_, err := fmt.Fprintln(w, strings.Join(console.FactLines(r, o), "\n"))
	return err
}

func printGrants(c *cli.Context, q console.Queue) error {
	all, err := q.Grants(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Granted []grantJSON `json:"granted"`
		}{grantDocs(all)})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "No answer holds for a session.")
		return err
	}
	for i := range all {
		g := &all[i]
		used := cmdline.CountText(g.Uses, "used once", "used %d times")
		if _, err := fmt.Fprintf(c.App.Writer, "%s  since %s, %s  %s\n",
			term.VisibleText(g.ID), g.Since.Local().Format(time.DateTime), used, console.GrantLine(g, listed)); err != nil {
			return err
		}
	}
	return nil
}

func revokeGrant(c *cli.Context, q console.Queue) error {
	if err := q.Revoke(c.Context, c.String("revoke")); err != nil {
		return idError(err)
	}
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Revoked string `json:"revoked"`
		}{c.String("revoke")})
	}
	_, err := fmt.Fprintln(c.App.Writer, "Taken back. The next such call is asked about again.")
	return err
}
