package doctorcmd

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/canary"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/wrap"
)

// checkVersion compares the client's version with the first version that blocks a tool when the
// hook breaks.
func checkVersion(ctx context.Context, h wrap.Hooks) []finding {
	version, err := askVersion(ctx, h.Row.Probe)
	switch {
	case err != nil:
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%s: whether it blocks when the hook breaks is not known, as its version is not: %v", h.Row.Name, err),
			Fix: "see that it is " + h.Row.Blocks + " or later: " + strings.Join(h.Row.Probe, " ")}}
	case wrapcmd.CompareVersions(version, h.Row.Blocks) < 0:
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%s %s: %s; it blocks since %s", h.Row.Name, version, wrap.HookOpen.StateText(), h.Row.Blocks), Fix: "update it"}}
	}
	return healthyFinding("%s %s: %s", h.Row.Name, version, wrap.HookEnforced.StateText())
}

// askVersion runs the client, and returns the first version number in its output.
func askVersion(ctx context.Context, probe []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path, err := exec.LookPath(probe[0])
	if err != nil {
		return "", fmt.Errorf("%s is not on PATH", probe[0])
	}
	cmd := exec.CommandContext(ctx, path, probe[1:]...)
	cmd.WaitDelay = time.Second // limits the wait for child processes that the client leaves running
	out, err := cmd.Output()
	if version := regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`).FindString(string(out)); version != "" {
		return version, nil
	}
	if err == nil {
		err = fmt.Errorf("%s names none", strings.Join(probe, " "))
	}
	return "", err
}

// checkTried returns a finding if the client is newer than the version that we tested. The version
// comes from the client's files, or else from running the client.
func checkTried(ctx context.Context, h wrap.Hooks) []finding {
	if wrapcmd.TriedVersion(h) == "" || len(h.Row.Probe) == 0 {
		return nil
	}
	installed := wrapcmd.InstalledVersion(h)
	if installed == "" {
		installed, _ = askVersion(ctx, h.Row.Probe) // another check reports a client that cannot run
	}
	newer := wrapcmd.NewerClient(h, installed)
	if newer == "" {
		return nil
	}
	try := "clawai doctor --canary " + h.Row.Client
	if !slices.Contains(canary.ClientIDs(), h.Row.Client) {
		try = "have it run a tool that is denied, and look: clawai log --server " + h.Row.HookWord()
	}
	return []finding{{Health: doubtful, Text: newer, Fix: try}}
}
