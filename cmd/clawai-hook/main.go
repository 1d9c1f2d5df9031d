// Command clawai-hook is the program that agents start before they run a tool. It judges like
// clawai, but it starts much faster, because it lacks some parts of clawai. If the judgement needs
// one of these parts, clawai-hook starts clawai (clawai hook), and clawai judges the same payload.
// Examples are:
//   - A rule asks a person, and the client has no dialog of its own for this.
//   - The rules allow a tool of an MCP server. That server may have a proxy, and only clawai knows
//     this.
//   - The policy counts calls, uses the labels of the session, or does not load here.
package main

import (
	"context"
	"fmt"
	"os"

	_ "github.com/clawai/clawai/cmd/clawai-hook/internal/singlethread"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/program"
)

// version is set by the release build.
var version = "dev"

func main() { os.Exit(runHook(os.Args[1:])) }

func runHook(words []string) int {
	if len(words) == 1 && words[0] == "--version" {
		fmt.Fprintln(os.Stdout, "clawai-hook", version)
		return 0
	}
	line, err := program.Parse(words)
	if err != nil {
		fmt.Fprintf(os.Stderr, "clawai-hook: %v\n", err)
		return 2
	}
	return program.Run(line, os.Stdin, os.Stdout, os.Stderr, func(ctx context.Context, payload []byte, waits func()) client.Answer {
		o := line.HookOptions("clawai-hook " + version)
		o.Open = func(project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
			return openDoor(&line, project, req, ask)
		}
		o.Elsewhere = func() client.Answer {
			waits()
			return judgeByClawai(ctx, &line, payload)
		}
		return hook.Run(ctx, payload, o)
	})
}

// openDoor opens the gate of the hook. This gate can ask a person only through the client's own
// dialog.
func openDoor(line *program.Line, project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
	o, err := line.Open(project, req.Session, req.Calls)
	if err != nil {
		return nil, err
	}
	caller := base.NewCaller(o.Folders.State, o.Policy.Policy)
	guard, err := gate.New(gate.Options{
		Policy: o.Policy.Policy, Recorder: o.Record, Approver: ask, Concluder: gate.None{}, Inspector: detectors{}, Labels: gate.None{}, Releases: gate.None{},
		Limits: hook.Uncounted{}, ObserveOnly: line.OptionText("observe") == "true",
	})
	if err != nil {
		_ = o.Record.Close()
		return nil, err
	}
	door := &hook.Door{Gate: guard, Policy: o.Policy.Policy, Flow: o.Policy.Policy.FlowLevel() != policy.Off, Before: o.Policy.Policy.FlowLevel() != policy.Off || o.Policy.Policy.Labelled(), Identify: caller.Identify, Close: func() {
		guard.Close()
		_ = o.Record.Close() // the record already has the decisions, so the error changes nothing
	}}
	if coversPolicy(o.Policy.Policy) {
		door.Carries = detectors{}.Carries
	}
	return door, nil
}
