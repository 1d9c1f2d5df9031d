// Package canary tests the hook of the user's own client. The client runs with our scripted model,
// which asks for two shell commands. A policy allows one command and denies the other. Then the
// package checks whether the client called the hook, and whether it obeyed the denial. The folders
// are temporary, and nothing leaves the machine.
package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/scripted"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/proxy/stdio"
	"github.com/clawai/clawai/wrap"
)

// Within is the time limit for a client. The slowest client so far took 20 s.
const Within = 3 * time.Minute

// Verdict is the answer to the question whether a client obeys its hook.
type Verdict string

// These are the verdicts. The zero value is not a verdict.
const (
	Enforced Verdict = "enforced"    // the allowed command ran, and the denied command did not
	Unheeded Verdict = "unheeded"    // the client called the hook, but the denied command ran
	Silent   Verdict = "never-fired" // a command ran, but the client did not call the hook
	NotRun   Verdict = "not-run"     // no result, because the client could not run or did not run the commands
)

// Result is the outcome of a canary.
type Result struct {
	Client  string  `json:"client"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
	Allowed Call    `json:"allowed"`
	Denied  Call    `json:"denied"`
	// Elsewhere lists the hosts that the client tried to reach. Every attempt was refused.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// Call is the outcome of one command.
type Call struct {
	// Recorded is the decision in the hook's record, or "" if the hook was not called.
	Recorded string `json:"recorded,omitempty"`
	Ran      bool   `json:"ran"` // true if the file that the command creates exists
}

const (
	allowedCommand = "echo canary > allowed"
	deniedCommand  = "echo canary > denied"
)

// rules is the whole policy of the canary. The owner's policy is not used, because we do not know
// which commands it denies.
const rules = `[[rule]]
action = "deny"
tool = "shell"
args.command = "` + deniedCommand + `"
description = "The canary is denied this"

[[rule]]
action = "allow"
tool = "shell"
args.command = "` + allowedCommand + `"
`

// site is one canary with its folders. All folders are in one temporary folder.
type site struct {
	root    string
	address string   // address of the scripted model, http://127.0.0.1:PORT
	before  []string // words before the client's command, such as clawai llm-proxy

	one  sync.Mutex // guards the field told, because several requests can arrive at the same time
	told string     // the latest final text of the client
}

func (s *site) keepReport(_ int, answer string) {
	s.one.Lock()
	defer s.one.Unlock()
	s.told = answer
}

func (s *site) lastReport() string {
	s.one.Lock()
	defer s.one.Unlock()
	return s.told
}

func (s *site) sitePath(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// writePrivateFile writes a file that only the owner can read, because the file may be a copy of
// settings.
func (s *site) writePrivateFile(name string, text []byte) error {
	path := s.sitePath(name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600))
}

// Run starts the client of these hooks once. The client must be one of ClientIDs. If the client
// cannot run, the verdict is NotRun.
func Run(ctx context.Context, h wrap.Hooks, within time.Duration) Result {
	r := Result{Client: h.Row.Client, Verdict: NotRun}
	if err := r.runClient(ctx, h, nil, within); err != nil {
		r.Verdict, r.Why = NotRun, err.Error()
	}
	return r
}

// LiveIDs are the clients of ClientIDs that can also run behind clawai llm-proxy.
var LiveIDs = []string{"claude-code", "codex", "gemini", "copilot-cli"}

// RunLive starts the client of these hooks once, without hooks but behind clawai llm-proxy. The
// client must be one of LiveIDs. program is the path of clawai. The result is about the calls that
// llm-proxy judged.
func RunLive(ctx context.Context, h wrap.Hooks, program string, within time.Duration) Result {
	r := Result{Client: h.Row.Client, Verdict: NotRun}
	before := []string{program, "llm-proxy", "--client", h.Row.HookWord(), "--judge", "all", "--ask", "never", "--"}
	if err := r.runClient(ctx, h, before, within); err != nil {
		r.Verdict, r.Why = NotRun, err.Error()
	}
	return r
}

// runClient runs the client once. The parameter before is nil if the client runs with its hooks.
// Otherwise it has the words of the command clawai llm-proxy, which then starts the client.
func (r *Result) runClient(ctx context.Context, h wrap.Hooks, before []string, within time.Duration) (err error) {
	all := clientTable()
	c := &all[slices.Index(ClientIDs(), h.Row.Client)]
	if c.refuse != nil {
		if err := c.refuse(h); err != nil {
			return err
		}
	}
	s := &site{before: before}
	if s.root, err = os.MkdirTemp("", "clawai-canary-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.root)) }()
	// The client will see this path without links, so links are resolved here.
	if s.root, err = filepath.EvalSymlinks(s.root); err != nil {
		return err
	}
	model := &scripted.Model{After: s.keepReport}
	for _, command := range []string{allowedCommand, deniedCommand} {
		model.Turns = append(model.Turns, scripted.Turn{Tool: c.shell, Args: c.shellArguments(command)})
	}
	d, err := openDoor(model)
	if err != nil {
		return err
	}
	defer d.Close()
	s.address = d.address
	if before != nil {
		if h, err = s.withoutHooks(h); err != nil {
			return err
		}
	}
	if err := s.makeFolders(c, h); err != nil {
		return err
	}
	ended := s.playClient(ctx, c, within)
	r.Elsewhere = d.refusedHosts()
	if err := r.readOutcome(s, h.Row.HookWord()); err != nil {
		return err
	}
	asked := "clawai-hook"
	if before != nil {
		asked = "clawai llm-proxy"
	}
	r.judgeOutcome(s, asked, ended)
	return nil
}

// withoutHooks returns a copy of h with an empty settings file, so that the client runs without
// hooks.
func (s *site) withoutHooks(h wrap.Hooks) (wrap.Hooks, error) {
	err := s.writePrivateFile("none/settings.json", []byte("{}"))
	h.Files = []wrap.HookFile{{Row: h.Row, Path: s.sitePath("none/settings.json"), Real: s.sitePath("none/settings.json")}}
	return h, err
}

// makeFolders makes an empty work folder, the client's own folder with the hooks, and clawai's
// folders.
func (s *site) makeFolders(c *client, h wrap.Hooks) error {
	for _, dir := range []string{"work", "tmp", "state", "cache"} {
		if err := os.Mkdir(s.sitePath(dir), 0o700); err != nil {
			return err
		}
	}
	if err := s.writePrivateFile("config/policy.toml", []byte(rules)); err != nil {
		return err
	}
	return c.furnish(s, h)
}

// playClient runs the client once in the folders of the canary. It returns an error if the client
// cannot start, fails or takes too long.
func (s *site) playClient(ctx context.Context, c *client, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	output, err := os.Create(s.sitePath("stderr"))
	if err != nil {
		return err
	}
	defer output.Close()
	if c.before != nil {
		if err := s.runToEnd(ctx, c, c.before, within, output); err != nil {
			return err
		}
	}
	return s.runToEnd(ctx, c, append(slices.Clip(s.before), c.command...), within, output)
}

func (s *site) runToEnd(ctx context.Context, c *client, command []string, within time.Duration, output *os.File) error {
	child, err := stdio.Start(stdio.Options{Args: s.putAll(command), Env: s.clientEnv(c), Dir: s.sitePath("work"), Stderr: output})
	if err != nil {
		return err
	}
	child.CloseWrite() // some clients wait for more input until the input ends
	go drainOutput(child)
	select {
	case <-child.Done():
	case <-ctx.Done():
	}
	late := ctx.Err()
	done, end := context.WithCancel(context.Background())
	end() // the context has ended, so Close ends the remaining processes at once
	_ = child.Close(done)
	switch {
	case errors.Is(late, context.DeadlineExceeded) && child.WasForced():
		return fmt.Errorf("it did not end within %s", within)
	case late != nil && child.WasForced():
		return errors.New("interrupted")
	case child.ExitCode() != 0:
		return fmt.Errorf("it ended with %s%s", child.Status(), lastWords(output.Name()))
	}
	return nil
}

func drainOutput(child *stdio.Child) {
	var words [4096]byte
	for err := error(nil); err == nil; _, err = child.Read(words[:]) {
	}
}

// lastWords returns the end of the client's error output. name is the file with this output.
func lastWords(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 300
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, 2)
	}
	text := make([]byte, most)
	n, _ := f.Read(text)
	if words := strings.Join(strings.Fields(strings.ToValidUTF8(string(text[:n]), "")), " "); words != "" {
		return ": " + words
	}
	return ""
}

// readOutcome reads the decisions about the two commands from the record. It looks into the work
// folder to see which commands ran.
func (r *Result) readOutcome(s *site, server string) error {
	for e, err := range audit.Read(filepath.Join(s.sitePath("state"), "audit"), audit.Filter{}) {
		if err != nil {
			return err
		}
		var args struct {
			Command  string
			Commands []string // Cline has a list of commands
			Cmd      string   // the name of the argument in Codex
		}
		if e.Kind != event.Decision || e.Server != server || json.Unmarshal(e.Args, &args) != nil {
			continue
		}
		switch commands := append(args.Commands, args.Command, args.Cmd); {
		case slices.Contains(commands, allowedCommand):
			r.Allowed.Recorded = e.Decision
		case slices.Contains(commands, deniedCommand):
			r.Denied.Recorded = e.Decision
		}
	}
	ran := func(name string) bool {
		_, err := os.Lstat(s.sitePath("work/" + name))
		return err == nil
	}
	r.Allowed.Ran, r.Denied.Ran = ran("allowed"), ran("denied")
	return nil
}

// judgeOutcome sets the verdict. The verdict is Enforced only if the client ran the allowed command
// but not the denied one, and the denial is in the record. The parameter asked is the name of the
// program that the client should have called: the hook, or llm-proxy.
func (r *Result) judgeOutcome(s *site, asked string, ended error) {
	switch {
	case r.Allowed.Ran && r.Allowed.Recorded == "", r.Denied.Ran && r.Denied.Recorded == "":
		r.Verdict, r.Why = Silent, "it ran its shell, and "+asked+" was not asked"
	case r.Denied.Ran && r.Denied.Recorded == "deny":
		r.Verdict, r.Why = Unheeded, asked+" said no, and the command ran"
	case r.Denied.Ran:
		r.Verdict, r.Why = Unheeded, asked+" was asked and let it pass, as it only observes"
	case r.Allowed.Ran && r.Denied.Recorded == "deny":
		r.Verdict = Enforced
	case ended != nil:
		r.Why = ended.Error()
	case s.lastReport() == "":
		r.Why = "it never asked the model that it was given"
	case !r.Allowed.Ran:
		r.Why = "it ran nothing, also not what was allowed: " + shortenReport(s.lastReport())
	default:
		r.Why = "the denied command did not run, but " + asked + " was not what stopped it: " + shortenReport(s.lastReport())
	}
}

// shortenReport cuts a client's report to 300 characters, so that it fits on a line.
func shortenReport(answer string) string {
	const most = 300
	if runes := []rune(answer); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return answer
}
