// Package hookcmd implements "clawai hook". The command does the same as the small program
// clawai-hook. In addition, it can ask a person through the channels in the settings, and it knows
// the client's servers.
package hookcmd

import (
	"context"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/clientfiles"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/program"
)

// Command returns "clawai hook".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "hook",
		Usage: "answer an agent that is about to use a tool of its own",
		UsageText: "clawai hook CLIENT [options] < PAYLOAD\n\n" +
			"CLIENT is one of " + strings.Join(client.IDs(), ", ") + ".\n" +
			"The options are --policy, --layer, --state, --ask, --ask-timeout, --redact, --sync and --observe of clawai proxy.\n" +
			"If the policy allows the call, it says nothing and exits 0; if not, it says why and exits 2 (docs/hooks.md).\n" +
			"Clients start clawai-hook, which does the same faster, and starts this command when a person has to be asked.",
		SkipFlagParsing: true, // clawai-hook has no flag parser, and both must read the words in the same way
		Action:          runHook,
	}
}

func runHook(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 1 && (words[0] == "--help" || words[0] == "-h") {
		return cli.ShowSubcommandHelp(c)
	}
	line, err := program.Parse(words)
	if err != nil {
		return &cmdline.ExitError{Code: 2, Err: err} // clients treat exit code 2 as a denial too
	}
	line.Packs = packs.Read
	code := program.Run(line, c.App.Reader, c.App.Writer, c.App.ErrWriter, func(ctx context.Context, payload []byte, waits func()) client.Answer {
		waits() // from here clawai may wait for a person
		o := line.HookOptions("clawai " + cmdline.Version)
		o.Proxied, o.Servers = clientfiles.IsProxied, clientfiles.ListServers
		o.Heard = func(session, said string) error { return keepPrompt(&line, session, said) }
		o.Preview = func(q gate.Question) string {
			folders, err := line.BaseFiles("").FindFolders()
			if err != nil {
				return "none: " + err.Error()
			}
			return view.BriefPreview(session.PreviewQuestion(ctx, q, folders, ""))
		}
		o.Open = func(project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
			return openDoor(ctx, &line, project, req, ask)
		}
		return hook.Run(ctx, payload, o)
	})
	if code != 0 {
		return &cmdline.ExitError{Code: code}
	}
	return nil
}

// keepPrompt stores the user's prompt together with the labels of the agent's session.
func keepPrompt(line *program.Line, session, said string) error {
	files := line.BaseFiles("")
	folders, err := files.FindFolders()
	if err != nil {
		return err
	}
	return flow.HearIn(folders.State, session, said)
}

// clearSession deletes the labels of a client's session, because the client has started a new
// session in its place. It returns the result as a text for the record.
func clearSession(state, session string) string {
	if err := flow.CheckStarter(); err != nil {
		return "what the session has seen stays: " + err.Error()
	}
	one := flow.New(state, flow.ClientKeys())
	defer one.Close()
	one.FollowClient(os.Getenv)
	switch why, err := one.ClearLabels(flow.IDKey(session)); {
	case err != nil:
		return "what the session has seen stays: " + err.Error()
	case why != "":
		return "what the session has seen stays: " + why
	}
	return "cleared: what was seen and allowed before counts no more"
}

// openDoor opens the gate for one call of the hook. The gate asks the person through the client's
// dialog. If there is no dialog, it uses the channels in the settings.
func openDoor(ctx context.Context, line *program.Line, project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
	o, err := line.Open(project, req.Session, nil)
	if err != nil {
		return nil, err
	}
	rules, note := o.Policy.Policy, ""
	weighs := rules.FlowLevel() != policy.Off
	looks := weighs || rules.Labelled()
	if looks && req.Cleared {
		note = clearSession(o.Folders.State, req.Session)
	}
	known := cmdline.ViewOptions(o.Folders)
	known.Project = project
	one, err := session.Open(ctx, session.Spec{
		Program: "clawai " + cmdline.Version, Peer: session.Peer{Name: line.Client}, Call: &session.Call{Session: req.Session, Labels: looks},
		Folders: o.Folders, Files: base.Files{Project: project}, Policy: o.Policy, Recorder: o.Record, Ask: line.OptionValue,
		View: known, By: cmdline.AccountName(), ObserveOnly: line.OptionText("observe") == "true", Before: ask,
	})
	if err != nil {
		_ = o.Record.Close()
		return nil, err
	}
	return &hook.Door{Gate: one.Session, Policy: rules, Flow: weighs, Before: looks, Labels: one.Labels(), Identify: one.All.Identify, Note: note, Close: func() {
		_ = one.Close()
		_ = o.Record.Close() // the record already has the decisions, so the error changes nothing
	}}, nil
}
