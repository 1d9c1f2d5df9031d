package doctorcmd

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/wrap"
)

// checkVersion asks the client for its version, where what happens when the hook breaks
// hangs on that.
func checkVersion(ctx context.Context, h wrap.Hooks) []finding {
	version, err := askVersion(ctx, h.Row.Probe)
	switch {
	case err != nil:
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%s: whether it blocks when the hook breaks is not known, as its version is not: %v", h.Row.Name, err),
			Fix: "see that it is " + h.Row.Blocks + " or later: " + strings.Join(h.Row.Probe, " ")}}
	case older(version, h.Row.Blocks):
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%s %s: %s; it blocks since %s", h.Row.Name, version, wrap.HookOpen.Words(), h.Row.Blocks), Fix: "update it"}}
	}
	return fine("%s %s: %s", h.Row.Name, version, wrap.HookEnforced.Words())
}

// askVersion runs the client and takes the first version that it prints.
func askVersion(ctx context.Context, probe []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path, err := exec.LookPath(probe[0])
	if err != nil {
		return "", fmt.Errorf("%s is not on PATH", probe[0])
	}
	cmd := exec.CommandContext(ctx, path, probe[1:]...)
	cmd.WaitDelay = time.Second // for what it starts and leaves behind
	out, err := cmd.Output()
	if version := regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`).FindString(string(out)); version != "" {
		return version, nil
	}
	if err == nil {
		err = fmt.Errorf("%s names none", strings.Join(probe, " "))
	}
	return "", err
}

// older compares versions of three numbers.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i]) // of digits alone
		n, _ := strconv.Atoi(y[i])
		if c := cmp.Compare(m, n); c != 0 {
			return c < 0
		}
	}
	return false
}
