package doctorcmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/clawai/clawai/cmd/clawai/internal/canary"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/wrap"
)

// hooksOf finds the hooks of the client with this name. The result why is the reason why the hooks
// must not be tried; it is "" if they can be tried.
func hooksOf(p *machine, name string) (h wrap.Hooks, why string, err error) {
	if p.foldersErr != nil {
		return h, "", p.foldersErr
	}
	if !slices.Contains(canary.ClientIDs(), name) {
		return h, "", cmdline.Usagef("%q cannot be tried: without an account only %s can be run", name, strings.Join(canary.ClientIDs(), ", "))
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return h, "", err
	}
	list, err := f.FindHooks(name)
	if err != nil {
		return h, "", err
	}
	for _, h := range list {
		if h.Row.Client != name {
			continue
		}
		switch state, why := f.Judge.HookState(h, list); state {
		case wrap.HookBare, wrap.HookUnreadable:
			return h, strings.TrimSuffix(state.StateText()+": "+why, ": "), nil
		// For these states, the canary shows whether the hook works.
		case wrap.HookEnforced, wrap.HookOpen, wrap.HookUntrusted, wrap.HookObserved, wrap.HookDrifted:
		}
		return h, "", nil
	}
	return h, "", fmt.Errorf("%q has no row among the clients with hooks", name)
}

// runCanary tries a client with the canary. If the parameter why is not "", it does not run the
// client, but reports this reason.
func runCanary(ctx context.Context, h wrap.Hooks, why string) []finding {
	r := canary.Result{Client: h.Row.Client, Verdict: canary.NotRun, Why: why}
	if why == "" {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		r = canary.Run(ctx, h, canary.Within)
	}
	f := finding{Health: broken, Text: h.Row.Name + ": " + canaryWords(r.Verdict), Canary: &r}
	if r.Why != "" {
		f.Text += ": " + r.Why
	}
	again := "clawai doctor --canary " + h.Row.Client
	switch r.Verdict {
	case canary.Enforced:
		f.Health = healthy
	case canary.Unheeded:
		f.Fix = "clawai wrap --hooks " + h.Row.Client + ", and update the client; then: " + again
	case canary.Silent:
		f.Fix = "clawai doctor --hooks says what is in its settings; " + h.Row.After + "; then: " + again
	case canary.NotRun:
		if why != "" {
			f.Fix = "clawai wrap --hooks " + h.Row.Client + "; then: " + again
			break
		}
		f.Fix = "see that it runs (" + strings.Join(h.Row.Probe, " ") + "); then: " + again
	}
	all := []finding{f}
	if len(r.Elsewhere) > 0 {
		all = append(all, finding{Health: healthy, Text: fmt.Sprintf("%s wanted to reach %s, and was kept from it", h.Row.Name, strings.Join(r.Elsewhere, ", "))})
	}
	return all
}

// liveHooks returns the hooks of a client that can run behind clawai llm-proxy. The result also
// names the client's files, because a setting in them could lead the client to another address.
func liveHooks(p *machine, name string) (h wrap.Hooks, err error) {
	if p.foldersErr != nil {
		return h, p.foldersErr
	}
	if !slices.Contains(canary.LiveIDs, name) {
		return h, cmdline.Usagef("%q cannot be tried behind clawai llm-proxy: only %s can", name, strings.Join(canary.LiveIDs, ", "))
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return h, err
	}
	list, err := f.FindHooks(name)
	if err != nil {
		return h, err
	}
	if i := slices.IndexFunc(list, func(h wrap.Hooks) bool { return h.Row.Client == name }); i >= 0 {
		return list[i], nil
	}
	return h, fmt.Errorf("%q has no row among the clients with hooks", name)
}

// runLive tries a client behind clawai llm-proxy, without its hooks.
func runLive(ctx context.Context, h wrap.Hooks) []finding {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	program, err := os.Executable()
	r := canary.Result{Client: h.Row.Client, Verdict: canary.NotRun}
	if err != nil {
		r.Why = err.Error()
	} else {
		r = canary.RunLive(ctx, h, program, canary.Within)
	}
	f := finding{Health: broken, Canary: &r, Text: h.Row.Name + ": " + map[canary.Verdict]string{
		canary.Enforced: "its calls came by, what was denied did not run, and what was allowed did", canary.Unheeded: "its calls came by, and what was denied ran",
		canary.Silent: "it ran a tool that did not come by", canary.NotRun: "the client could not be tried",
	}[r.Verdict]}
	if r.Why != "" {
		f.Text += ": " + r.Why
	}
	if r.Verdict == canary.Enforced {
		f.Health = healthy
	} else {
		f.Fix = "see that it runs (" + strings.Join(h.Row.Probe, " ") + "), and look in docs/llm-proxy.md for what leads it elsewhere; then: clawai doctor --live " + h.Row.Client
	}
	return []finding{f}
}

func canaryWords(v canary.Verdict) string {
	return map[canary.Verdict]string{
		canary.Enforced: "enforced: its hook was asked, what was denied did not run, and what was allowed did", canary.Unheeded: "the hook fired and did not stop the tool",
		canary.Silent: "the hook never fired", canary.NotRun: "the client could not be tried",
	}[v]
}
