// Package proxycmd implements "clawai proxy" in its three forms: for a program, for a remote
// server, and as a server (--listen).
package proxycmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/stdio"
)

// ExitProxy is the exit code of clawai's own failures; all other codes are the server's.
const ExitProxy = 125

// Command returns "clawai proxy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "proxy",
		Usage:     "run an MCP server and let through only what the policy allows",
		UsageText: "clawai proxy [options] -- COMMAND [ARGUMENTS...]\nclawai proxy [options] -- https://HOST/PATH\nclawai proxy [options] --listen ADDRESS:PORT --upstream NAME=URL\nclawai proxy [options] --listen ADDRESS:PORT --hub\nclawai proxy [options] --listen ADDRESS:PORT --hub --invocations",
		Flags:     proxyFlags(),
		Action:    runProxy,
	}
}

// proxyRun is one run of the command, with the values of its flags and files.
type proxyRun struct {
	command  []string
	remote   *remoteServer // nil for a command
	name     string
	folders  config.Folders
	policy   *config.Loaded
	settings config.Ask
	limits   frame.Limits
	asError  bool
	redact   redact.Mode
	sync     audit.Sync
	observe  bool // only the gate uses it
	secrets  secrets

	project string    // the folder in which the client works; "" for none
	disk    disk.Disk // disk of the servers that we start; nil: the paths of a remote server are unknown
	here    bool      // the servers run on this system
}

// fewestProcessors is the number of processors on which two loops in blocking system calls run
// together. With fewer,
// each call waits until the runtime's monitor has taken a processor back from the sleeping loop
// (bench/README.md).
const fewestProcessors = 4

// heapGrowth is how far the heap of a proxy grows before a collection, in per cent of the live
// heap. The live heap is less than a megabyte, so this means 8 MiB instead of the runtime's 4,
// and half as many collections under load. After a list of thousands, or a reply of megabytes,
// largeHeapGrowth applies.
const (
	heapGrowth      = 200
	largeHeapGrowth = 50
)

// watchAfter delays watching the policy file: if it started together with the server, the
// client would wait for both.
const watchAfter = 50 * time.Millisecond

func runProxy(c *cli.Context) error {
	given := c.LocalFlagNames() // IsSet matches every flag's names against a pattern at every call
	listens := slices.Contains(given, "listen")
	for _, name := range []string{"upstream", "hub", "only", "invocations", "host", "origin", "pass-header", "tls-cert", "tls-key"} {
		if slices.Contains(given, name) && !listens {
			return cmdline.Usagef("--%s belongs to --listen ADDRESS:PORT", name)
		}
	}
	moreProcessors()
	if listens {
		return runListen(c)
	}
	growHeap()
	p, err := newProxyRun(c)
	if err != nil {
		return err
	}
	log, err := base.OpenRecord(p.folders.State, p.redact, p.sync)
	if err != nil {
		return proxyError(err)
	}
	log.HideValues(p.secrets.known)
	memory.SettleSoon()
	code, err := p.carryMessages(c.Context, log)
	err = p.secrets.hideInError(err)
	if closing := log.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close the record: %w", closing)
	}
	if code != 0 || err != nil {
		return &cmdline.ExitError{Code: code, Err: err}
	}
	return nil
}

func moreProcessors() {
	if runtime.GOMAXPROCS(0) < fewestProcessors && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(fewestProcessors)
	}
}

func growHeap() {
	if os.Getenv("GOGC") == "" {
		memory.SetHeapPace(heapGrowth, largeHeapGrowth)
	}
}

// newProxyRun reads the command line and the policy, before anything is started. The exit code
// is 2 for mistakes on the command line, and 125 for all other errors.
func newProxyRun(c *cli.Context) (*proxyRun, error) {
	p := &proxyRun{
		command: c.Args().Slice(), name: c.String("server"), observe: c.Bool("observe"),
	}
	if err := p.checkCommand(); err != nil {
		return nil, err
	}
	if err := p.readRemote(c.StringSlice("header-file"), c.String("was")); err != nil {
		return nil, err
	}
	p.project, _ = os.Getwd() // folder of the client, which started us; without a folder there is no project
	if p.remote == nil {
		p.disk, p.here = disk.SystemDisk(), !stdio.RunsElsewhere(p.command)
	}
	if err := p.readOptions(c); err != nil {
		return nil, err
	}
	return p, p.readSecrets()
}

// readOptions reads the options that every form of the command has, and the policy.
func (p *proxyRun) readOptions(c *cli.Context) error {
	size, err := parseSize(c.String("max-frame"))
	if err != nil {
		return cmdline.Usagef("--max-frame: %w", err)
	}
	p.limits = frame.DefaultLimits()
	p.limits.MaxBytes = size
	switch c.String("deny-as") {
	case "result":
	case "error":
		p.asError = true
	default:
		return cmdline.UnknownWord("--deny-as", "form", c.String("deny-as"), []string{"result", "error"})
	}
	if p.redact, err = redact.ParseMode(c.String("redact")); err != nil {
		return cmdline.Usagef("--redact: %w", err)
	}
	if p.sync, err = audit.ParseSync(c.String("sync")); err != nil {
		return cmdline.Usagef("--sync: %w", err)
	}
	files := base.Files{
		Policy: c.String("policy"), State: c.String("state"), Layers: c.StringSlice("layer"), Project: p.project, Disk: p.disk,
		Packs: packs.Read,
	}
	if p.folders, err = files.FindFolders(); err != nil {
		return proxyError(err)
	}
	if err = p.readSettings(c); err != nil {
		return err
	}
	if files.Hide, err = config.LoadHideDenied(p.folders); err != nil {
		return proxyError(err)
	}
	if p.policy, err = files.Load(p.folders); err != nil {
		return proxyError(err)
	}
	return nil
}

// serverFolder returns the folder that relative paths of our server start from; "" when it is
// unknown.
func (p *proxyRun) serverFolder() string {
	if len(p.command) == 0 || p.remote != nil || stdio.MovesAway(p.command) {
		return ""
	}
	dir, _ := os.Getwd()
	return dir
}

// serverSystem returns the operating system of the server if it is known: ours, when the server
// is started here.
func (p *proxyRun) serverSystem() string {
	if runtime.GOOS != policy.Windows || !p.here {
		return ""
	}
	return policy.Windows
}

func proxyError(err error) error { return &cmdline.ExitError{Code: ExitProxy, Err: err} }

// checkCommand requires "--": without it, an option of ours after the command, or an option of
// the server before it, would go to the wrong program.
func (p *proxyRun) checkCommand() error {
	before := len(os.Args) - len(p.command) - 1
	switch {
	case strings.HasPrefix(p.name, "-") && !slices.Contains(os.Args[1:max(before, 1)], "--server="+p.name):
		return cmdline.Usagef("--server needs a name, not %q; a name that begins so is written --server=%s", p.name, p.name)
	case len(p.command) == 0:
		return cmdline.Usagef("which server? write: clawai proxy [options] -- COMMAND [ARGUMENTS...]")
	case before < 0 || os.Args[before] != "--":
		return cmdline.Usagef("-- is missing; write: clawai proxy [options] -- %s", cmdline.Quote(p.command))
	}
	return nil
}

// newSessions prepares the sessions, which carry messages under the policy. A server of ours
// writes to stderr; nil is for remote servers.
func (p *proxyRun) newSessions(record gate.Recorder, stderr *os.File) (*session.Sessions, error) {
	seen := cmdline.ViewOptions(p.folders)
	seen.Project, _ = os.Getwd()
	loaded := p.policy
	p.policy = nil // drop this reference, so that the policy can be freed after a reload has replaced it
	return session.New(session.Options{
		Program: "clawai " + cmdline.Version, Policy: loaded, Recorder: record, State: p.sharedState(), Ask: p.settings, Folders: p.folders,
		View: seen, By: cmdline.AccountName(), Stderr: stderr, Facts: policy.Facts{Cwd: p.serverFolder(), OS: p.serverSystem(), Elsewhere: stdio.NamesFolder(p.command)}, ObserveOnly: p.observe,
	})
}

// sessionKeys returns the keys of the agent's session. A process that listens has no project
// and serves many clients, which all share one session.
func (p *proxyRun) sessionKeys() []string {
	if p.project == "" {
		return flow.OwnKeys()
	}
	return flow.SessionKeys(os.Getenv, p.project)
}

// sharedState returns the state that this process shares with others of the agent's session. A
// process that listens shares it with no other.
func (p *proxyRun) sharedState() (s session.State) {
	f := flow.New(p.folders.State, p.sessionKeys())
	if p.project == "" {
		s = session.ListeningState(f)
	} else {
		s = session.SharedState(f)
		f.ListenKeys(flow.ClientKeys()...)
		f.FollowClient(os.Getenv)
	}
	s.Pins = pinning.NewStore(p.folders.State, p.project)
	return s
}

// carryMessages carries messages until one side ends and returns our exit code.
func (p *proxyRun) carryMessages(ctx context.Context, log *audit.Log) (int, error) {
	stderr := os.Stderr
	if p.remote != nil {
		stderr = nil
	}
	all, err := p.newSessions(log, stderr)
	if err != nil {
		return ExitProxy, err
	}
	defer all.Close()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	peer := session.Peer{Name: p.name, Guess: guessName(p.command, p.name), Is: p.describeServer(), Command: p.command}
	if p.remote != nil {
		peer.Command, peer.URL = nil, p.remote.url.String()
	}
	one, err := all.Open(peer)
	if err != nil {
		stop()
		return ExitProxy, fmt.Errorf("cannot keep a record: %w", err)
	}
	defer one.Close()
	defer stop() // runs first: a second signal then ends a Close that hangs
	server, code, err := p.startServer(all, one.Session)
	if err != nil {
		one.End(err.Error(), code)
		return code, err
	}
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select { // the server starts first; Watch then reads the present file
		case <-watching.Done():
		case <-time.After(watchAfter):
			all.Watch(watching)
		}
	}()
	code, err = p.pumpFrames(ctx, one.Session, server)
	server.told()
	unwatch()
	<-watched
	one.End(server.Status(), code)
	return code, err
}

// pumpFrames carries the frames. It returns the exit code of a server that ended by itself,
// also at the end of its input, and 0 for a server that had to be signalled after a requested
// stop.
func (p *proxyRun) pumpFrames(ctx context.Context, guard *gate.Session, child *server) (int, error) {
	err := proxy.Run(ctx, proxy.Options{
		ClientIn: stdio.Stdin(), ClientOut: stdio.Stdout(), ClientGone: stdio.StdoutGone(), Server: child.Upstream, Gate: guard,
		Name: p.name, Guess: guessName(p.command, p.name), Limits: p.limits, DenyAsError: p.asError,
		LongestLine: func(client string) int { return mcp.LongestLine(client, p.remote != nil) },
	})
	switch {
	case err == nil && child.forced():
		return cmdline.ExitOK, nil
	case err == nil, errors.Is(err, proxy.ErrServerEnded):
		return max(child.exitCode(), 0), nil // the server's stderr has the details
	}
	return ExitProxy, err
}

// readSettings reads how a person is asked. The order of precedence is option, environment,
// file, default.
func (p *proxyRun) readSettings(c *cli.Context) (err error) {
	if p.settings, err = config.LoadAsk(p.folders.SettingsFile(), os.Getenv); err != nil {
		return proxyError(err)
	}
	given := c.LocalFlagNames()
	for key, name := range map[string]string{"order": "ask", "timeout": "ask-timeout"} {
		if !slices.Contains(given, name) {
			continue
		}
		if err := p.settings.Set(key, c.String(name), "--"+name); err != nil {
			return cmdline.Usagef("--%s: %w", name, err)
		}
	}
	return nil
}
