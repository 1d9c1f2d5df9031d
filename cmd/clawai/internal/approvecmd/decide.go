package approvecmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// DecideCommand returns "clawai decide".
func DecideCommand() *cli.Command {
	return &cli.Command{
		Name:  "decide",
		Usage: "answer one waiting call by its id",
		UsageText: "clawai decide ID allow|deny [-n NOTE] [--for once|session|always] [--scope exact|file|folder|tool] [--json]\n" +
			"clawai decide --gateway [--at URL] ID allow|deny [-n NOTE] [--json]",
		Description: "The beginning of an ID is enough if it fits no other; clawai approve --list shows 8\n" +
			"characters, which always do.\n" +
			"Waits up to five seconds for what became of the call. Exits 0 when the answer\n" +
			"held, 1 when it came too late, somebody else was first, or the call was denied\n" +
			"all the same, and 2 when no single request has that id.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "note", Aliases: []string{"n"}, Usage: "tell the agent `NOTE`"},
			&cli.StringFlag{Name: "for", Value: "once", Usage: "how `LONG` the answer holds: once, session, or always (a rule is written)"},
			&cli.StringFlag{Name: "scope", Usage: "how far --for session and --for always reach: `SCOPE` exact, file, folder, or tool (default: exact; if that is not offered, --for always needs a scope)"},
			&cli.BoolFlag{Name: "json", Usage: "print the request and its answer as one JSON document"},
			&cli.BoolFlag{Name: "gateway", Usage: "answer a question of your team's centre; see: clawai approve --gateway --list"},
			&cli.StringFlag{Name: "at", Usage: "with --gateway: the centre's `URL` (default: where this laptop is enrolled)"},
		},
		Action: runDecide,
	}
}

func runDecide(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return cmdline.Usagef("decide needs an ID and allow or deny; see: clawai decide --help")
	}
	a, err := answerOf(c, args[1])
	if err != nil {
		return err
	}
	if !c.Bool("gateway") && c.IsSet("at") {
		return cmdline.Usagef("--at goes with --gateway; see: clawai decide --help")
	}
	q, dirs, err := openAny(c, 0)
	if err != nil {
		return err
	}
	defer func() { _ = q.Close() }()
	r, err := requestOf(c.Context, q, args[0])
	if err != nil {
		return err
	}
	if r.Status == queue.Pending {
		if err := checkAnswer(&a, &r); err != nil {
			return err
		}
	}
	now, err := console.SendAnswer(c.Context, q, r.ID, a)
	if settled, ok := errors.AsType[*queue.ResolvedError](err); ok {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: errors.New(console.TooLateText(settled.Request))}
	}
	if err != nil {
		return idError(err)
	}
	if c.Bool("json") {
		err = cmdline.WriteASCIIJSON(c.App.Writer, requestDoc(&now, cmdline.ViewOptions(dirs)))
	} else {
		_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", console.FactsOf(&r, view.Options{Home: dirs.Home}).Title, console.ResultText(now))
	}
	if err == nil && !console.TookEffect(now) {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}

// answerOf returns the answer that the command line names.
func answerOf(c *cli.Context, word string) (queue.Answer, error) {
	a := queue.Answer{Channel: "decide", By: cmdline.AccountName(), Words: strings.TrimSpace(c.String("note")), Scope: c.String("scope")}
	replies := map[string]gate.Reply{
		"allow once": gate.AllowOnce, "allow session": gate.AllowSession, "allow always": gate.AllowAlways,
		"deny once": gate.DenyOnce, "deny always": gate.DenyAlways,
	}
	if word == "approve" { // the earlier word for allow
		word = "allow"
	}
	hold := c.String("for")
	reply, known := replies[word+" "+hold]
	switch {
	case word != "allow" && word != "deny":
		return a, cmdline.UnknownWord("decide", "answer", word, []string{"allow", "deny"})
	case word == "deny" && hold == "session":
		return a, cmdline.Usagef("--for session goes with allow; a denied call is not asked again at once anyway")
	case !known:
		return a, cmdline.UnknownWord("--for", "reach", hold, []string{"once", "session", "always"})
	case a.Scope != "" && hold == "once":
		return a, cmdline.Usagef("--scope goes with --for session and --for always")
	case len(a.Words) > maxNote:
		return a, cmdline.Usagef("-n: the note has more than %d bytes", maxNote)
	}
	a.Reply = reply
	return a, nil
}

// maxNote is the maximum size of a note for the agent, in bytes.
const maxNote = 4096

// exactScope is the default scope. A rule with this scope matches only calls that are equal to the
// answered call.
var exactScope = policy.Exact.String()

// checkAnswer returns an error if the request does not accept the answer. It also fills in the
// default scope.
func checkAnswer(a *queue.Answer, r *queue.Request) error {
	f := console.FactsOf(r, view.Options{})
	if f.Err != nil && a.Reply != gate.DenyOnce {
		return fmt.Errorf("this call cannot be shown, so it can only be denied: %w", f.Err)
	}
	if r.DenyOnly() != nil && a.Reply != gate.DenyOnce {
		return errors.New(term.VisibleText(r.DenyOnly().Error()))
	}
	switch a.Reply {
	case gate.AllowSession:
		if !r.Lasting {
			return errors.New("an answer for the session cannot hold for this call; without --for session it is allowed once")
		}
		if scopes := scopesOf(view.ForSession(r.Offers)); a.Scope != "" && !slices.Contains(scopes, a.Scope) {
			return cmdline.Usagef("--scope: %q is not offered for this call and session (one of %s)", a.Scope, strings.Join(scopes, ", "))
		}
	case gate.AllowAlways, gate.DenyAlways:
		offers := console.OffersFor(r, a.Reply)
		if len(offers) == 0 {
			why := r.NoOffer
			if why == "" {
				why = "no rule can be written for this call"
			}
			return fmt.Errorf("--for always is not offered: %s", term.VisibleText(why))
		}
		scopes := scopesOf(offers)
		if a.Scope == "" {
			if !slices.Contains(scopes, exactScope) {
				return scopeError(r.ID, a, offers)
			}
			a.Scope = exactScope
		}
		if !slices.Contains(scopes, a.Scope) {
			return cmdline.Usagef("--scope: %q is not offered for this call (one of %s)", a.Scope, strings.Join(scopes, ", "))
		}
	case gate.AllowOnce, gate.DenyOnce:
	}
	return nil
}

func scopesOf(offers []view.Offer) (scopes []string) {
	for _, o := range offers {
		scopes = append(scopes, o.Scope)
	}
	return scopes
}

// scopeError returns the error for an answer that names no scope, if each offered rule would match
// more calls than the answered call. Only the person may choose a scope with more calls. The scope
// has no default then, because the text of the call decides which rules are offered, and the caller
// controls this text.
func scopeError(id string, a *queue.Answer, offers []view.Offer) error {
	word := "deny"
	if a.Reply.Allows() {
		word = "allow"
	}
	var b strings.Builder
	b.WriteString("--for always: no rule about this exact call alone is offered, so say with --scope how far it should reach; one of")
	for _, o := range offers {
		fmt.Fprintf(&b, "\n  clawai decide %s %s --for always --scope %-6s  # %s", console.ShortID(id), word, term.VisibleText(o.Scope), term.VisibleText(o.Title))
	}
	return cmdline.Usagef("%s", b.String())
}
