package wrapcmd

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
)

func hubFlag() cli.Flag {
	return &cli.BoolFlag{Name: "hub", Usage: "move this client's servers into config.toml, and leave one entry in its file: clawai hub"}
}

// readHub reads the configuration of the hub, and the list of servers that were moved into it. It
// sets Check, which finds errors in a changed configuration.
func (f *Found) readHub() (*wrap.Hub, error) {
	h, err := wrap.ReadHub(f.folders.SettingsFile(), f.folders.State)
	h.Check = func(src []byte) error {
		_, err := config.ParseHub(f.folders, src, os.LookupEnv)
		return err
	}
	return &h, err
}

// chooseHub reads the command line of wrap --hub. With --hub, the command line names a client
// instead of a server.
func (r *wrapRun) chooseHub(c *cli.Context, names []string) ([]string, error) {
	if !c.Bool("hub") || r.op == wrap.Unwrap {
		return names, nil
	}
	for _, flag := range []string{"hooks", "vault", "observe"} {
		if c.Bool(flag) {
			return nil, cmdline.Usagef("--hub and --%s are two steps; run clawai wrap --%[1]s first", flag)
		}
	}
	if len(names) > 1 || len(names) == 1 && c.String("client") != "" || len(names) == 0 && (c.String("client") == "" || c.String("client") == "all") {
		return nil, cmdline.Usagef("which client? clawai wrap --hub CLIENT, as clawai status --json names it")
	}
	if len(names) == 1 {
		if err := c.Set("client", names[0]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// tellHub prints how the hub's configuration will change.
func (r *wrapRun) tellHub(changes []wrap.Change) {
	if c := r.Judge.Hub.PreviewConfig(r.op, changes); c != nil {
		fmt.Fprint(r.diffs, c.Diff(r.ShortPath(c.Path)))
	}
}

// settleHub completes the moves of servers between the clients' files and the hub. It reads the
// clients' files again to see which moves were really made.
func (r *wrapRun) settleHub(ctx context.Context) error {
	for i, p := range r.Places {
		r.Places[i] = wrap.ReadConfigFile(p.Row, p.Path)
	}
	changed, err := r.Judge.Hub.SettleMoves(ctx, r.Places, r.applyOptions())
	if len(changed) > 0 {
		fmt.Fprintf(r.prose, "Left in %s, as you have changed it since: %s.\n", r.ShortPath(r.folders.SettingsFile()), term.VisibleText("[upstream."+strings.Join(changed, "], [upstream.")+"]"))
	}
	if err != nil {
		return fmt.Errorf("the hub's configuration: %w; run: clawai unwrap", err)
	}
	return nil
}

// HubTrouble returns texts about problems with the hub: unfinished moves of servers, and servers
// that are missing.
func (f *Found) HubTrouble() (all []string) {
	if f.Judge.Hub.HasUnsettled(f.Places) {
		all = append(all, "servers were being moved between a client's file and the hub when clawai was cut off; they are where they were. To clear up, run: clawai unwrap --client all --dry-run, then again without --dry-run")
	}
	return append(all, f.Judge.Hub.FindLost(f.Places)...)
}
