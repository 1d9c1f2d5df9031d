package doctorcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/sample"
	"github.com/clawai/clawai/wrap"
)

// These are the two commands that playSamples tries, and the complete policy for them. The owner's
// rules and record are not used.
const (
	playedAllow = "true clawai-doctor"
	playedDeny  = "false clawai-doctor"
	playedRules = "[[rule]]\naction = \"allow\"\ntool = \"shell\"\nargs.command = \"" + playedAllow + "\"\nargs_open = true\n"
)

// playSamples runs the hook entry of the client with two sample requests. The policy allows the
// command of one request and denies the other. The client and the commands do not run.
func playSamples(ctx context.Context, h wrap.Hooks) []finding {
	line, ok := entryOf(h)
	row := client.FindRow(h.Row.HookWord())
	if !ok || row == nil || runtime.GOOS == "windows" {
		return nil // only --canary can try a plugin, or a command without a shell
	}
	for command, denied := range map[string]bool{playedAllow: false, playedDeny: true} {
		payload, ok := sample.CommandRequest(row.ID, command)
		if !ok {
			return nil
		}
		a, err := playHook(ctx, line, payload)
		if err == nil && row.IsDenial(a) != denied {
			err = fmt.Errorf("it answers a call that is %s with exit code %d and %q", map[bool]string{true: "denied", false: "allowed"}[denied], a.Code, a.Stdout)
		}
		if err != nil {
			return []finding{{Health: broken, Text: h.Row.Name + ": its entry was played a request of " + row.Seen + ": " + err.Error(), Fix: "clawai wrap --hooks " + h.Row.Client}}
		}
	}
	return healthyFinding("%s: its entry lets go what is allowed and stops what is denied, asked as %s asks (%s)", h.Row.Name, row.Seen, row.From)
}

// entryOf returns the command line of our hook entry, from an event that comes before a tool runs.
func entryOf(h wrap.Hooks) (string, bool) {
	for _, file := range h.Files {
		for _, hook := range file.Hooked.Ours {
			switch {
			case !slices.Contains(h.Row.ToolEvents(), hook.Event):
			case hook.Command != "":
				return hook.Command, true
			case filepath.Ext(file.Path) == "":
				return "'" + strings.ReplaceAll(file.Path, "'", `'\''`) + "'", true
			}
		}
	}
	return "", false
}

func playHook(ctx context.Context, line string, payload []byte) (a client.Answer, err error) {
	dir, err := os.MkdirTemp("", "clawai-doctor-")
	if err != nil {
		return a, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(playedRules), 0o600); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	// The line is from the client's file, and the client runs it in the same way.
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line) //nolint:gosec
	cmd.Dir, cmd.WaitDelay, cmd.Stdin = dir, time.Second, bytes.NewReader(payload)
	cmd.Env = append(os.Environ(), "CLAWAI_CONFIG_DIR="+dir, "CLAWAI_STATE_DIR="+filepath.Join(dir, "state"), "CLAUDE_CODE_SESSION_ATTENDED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return client.Answer{Stdout: out.Bytes(), Stderr: errs.Bytes(), Code: cmd.ProcessState.ExitCode()}, err
}

// findUnreadable returns a finding if clawai could not read some requests of the last day.
func findUnreadable(p *machine, h wrap.Hooks) []finding {
	word := h.Row.HookWord()
	const day = 24 * time.Hour
	count, why := 0, ""
	for e, err := range audit.Read(filepath.Join(p.folders.State, "audit"), audit.Filter{Server: func(s string) bool { return s == word }, Since: time.Now().Add(-day)}) {
		if err == nil && e.Kind == event.Dropped && e.Method == client.UnreadMethod {
			count, why = count+1, e.Reason
		}
	}
	if count == 0 {
		return nil
	}
	return []finding{{Health: broken, Text: fmt.Sprintf("%s: %d requests of the last day could not be read, and were denied: %s", h.Row.Name, count, why),
		Fix: "see which version it is, and update clawai: clawai log --server " + word + " --kind dropped"}}
}
