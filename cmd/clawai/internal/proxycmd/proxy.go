// Package proxycmd is "clawai proxy" in its three forms: before a program, before a
// remote server, and as a server (--listen).
package proxycmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/redact"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/stdio"
)

// ExitProxy is clawai's own failure: the server's codes are the others.
const ExitProxy = 125

// Command is "clawai proxy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "proxy",
		Usage:     "run an MCP server and let through only what the policy allows",
		UsageText: "clawai proxy [options] -- COMMAND [ARGUMENTS...]\nclawai proxy [options] -- https://HOST/PATH\nclawai proxy [options] --listen ADDRESS:PORT --upstream NAME=URL",
		Flags:     proxyFlags(),
		Action:    runProxy,
	}
}

// proxyRun is one run of the command: what its flags and files came to.
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
	observe  bool // for the gate, which alone acts on it
}

// fewestProcessors is what two loops in blocking system calls need beside each
// other: with fewer, each call waits until the runtime's monitor has taken a
// processor back from the loop that sleeps (docs/benchmarks.md).
const fewestProcessors = 4

// heapGrowth is how far the heap of a proxy grows before it is collected, in
// per cent of what is alive. That is less than a megabyte, so that this means 8 MiB
// in place of the runtime's 4, and half as many collections under load.
const heapGrowth = 200

// watchAfter is when the policy file is watched from: starting that beside the
// server would make the client wait for both.
const watchAfter = 50 * time.Millisecond

func runProxy(c *cli.Context) error {
	for _, name := range []string{"upstream", "host", "origin", "pass-header", "tls-cert", "tls-key"} {
		if c.IsSet(name) && !c.IsSet("listen") {
			return cmdline.Usagef("--%s belongs to --listen ADDRESS:PORT", name)
		}
	}
	if runtime.GOMAXPROCS(0) < fewestProcessors && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(fewestProcessors)
	}
	if c.IsSet("listen") {
		return runListen(c)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	p, err := newProxyRun(c)
	if err != nil {
		return err
	}
	log, err := session.OpenRecord(p.folders.State, p.redact)
	if err != nil {
		return proxyError(err)
	}
	code, err := p.run(c.Context, log)
	if closing := log.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close the record: %w", closing)
	}
	if code != 0 || err != nil {
		return &cmdline.ExitError{Code: code, Err: err}
	}
	return nil
}

// newProxyRun reads the command line and the policy, before anything is
// started. Mistakes on the command line are exit 2, everything else 125.
func newProxyRun(c *cli.Context) (*proxyRun, error) {
	p := &proxyRun{
		command: c.Args().Slice(), name: c.String("server"), observe: c.Bool("observe"),
	}
	if err := p.checkCommand(); err != nil {
		return nil, err
	}
	if err := p.readRemote(c.StringSlice("header-file")); err != nil {
		return nil, err
	}
	return p, p.readOptions(c)
}

// readOptions reads what every form of the command has, and the policy.
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
		return cmdline.Usagef("--deny-as is result or error, not %q", c.String("deny-as"))
	}
	if p.redact, err = redact.ParseMode(c.String("redact")); err != nil {
		return cmdline.Usagef("--redact: %w", err)
	}
	if p.folders, err = config.Dirs(); err != nil {
		return proxyError(err)
	}
	if dir := c.String("state"); dir != "" {
		if p.folders.State, err = filepath.Abs(dir); err != nil {
			return proxyError(err)
		}
	}
	if err = p.readSettings(c); err != nil {
		return err
	}
	path := c.String("policy")
	if path == "" {
		path = p.folders.PolicyFile()
	}
	layers := config.Layers{Org: config.OrgPolicy(), State: p.folders.State, More: c.StringSlice("layer")}
	if len(p.command) > 0 { // whose client started us in its project; --listen was started by hand
		layers.Dir, _ = os.Getwd() // without one there is no project
	}
	if p.policy, err = layers.Load(path, p.policyOptions()); err != nil {
		return proxyError(err)
	}
	return nil
}

// policyOptions is the place that the policy governs. The disk is that of a server we
// start, in our own directory; where a remote server's paths lead we cannot know.
func (p *proxyRun) policyOptions() policy.Options {
	o := policyfile.Options(p.folders.Home)
	if len(p.command) > 0 && p.remote == nil {
		dir, _ := os.Getwd() // without one, relative paths are undecided
		o.Disk = disk.OS(dir)
	}
	return o
}

func proxyError(err error) error { return &cmdline.ExitError{Code: ExitProxy, Err: err} }

// checkCommand demands "--": without it an option of ours behind the command,
// or one of the server's before it, would be read as the other's.
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

// sessions prepares what carries messages under the policy. A server of ours
// writes to stderr; nil is for those that are elsewhere.
func (p *proxyRun) sessions(record gate.Recorder, stderr *os.File) (*session.Sessions, error) {
	seen := cmdline.View(p.folders)
	seen.Project, _ = os.Getwd()
	policy := p.policy
	p.policy = nil // the sessions let go of it when another takes its place
	return session.New(session.Options{
		Program: "clawai " + cmdline.Version, Policy: policy, Recorder: record, State: session.InMemory(), Ask: p.settings, Folders: p.folders,
		View: seen, By: cmdline.Account(), Stderr: stderr, ObserveOnly: p.observe,
	})
}

// run carries messages until one side ends and returns our exit code.
func (p *proxyRun) run(ctx context.Context, log *audit.Log) (int, error) {
	stderr := os.Stderr
	if p.remote != nil {
		stderr = nil
	}
	all, err := p.sessions(log, stderr)
	if err != nil {
		return ExitProxy, err
	}
	defer all.Close()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	one, err := all.Open(session.Peer{Name: p.name, Guess: guessName(p.command, p.name), Is: p.describe()})
	if err != nil {
		stop()
		return ExitProxy, fmt.Errorf("cannot keep a record: %w", err)
	}
	defer one.Close()
	defer stop() // first: a second signal ends what does not close
	server, code, err := p.start(all, one.Session)
	if err != nil {
		one.End(err.Error(), code)
		return code, err
	}
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select { // the server begins first; Watch looks at the file as it is then
		case <-watching.Done():
		case <-time.After(watchAfter):
			all.Watch(watching)
		}
	}()
	code, err = p.pump(ctx, one.Session, server)
	unwatch()
	<-watched
	one.End(server.Status(), code)
	return code, err
}

// pump carries the frames. A server that ended by itself, also at the end of its
// input, gives its exit code; one that had to be signalled for a stop that was
// asked for gives 0.
func (p *proxyRun) pump(ctx context.Context, guard *gate.Session, child *server) (int, error) {
	err := proxy.Run(ctx, proxy.Options{
		ClientIn: stdio.Stdin(), ClientOut: stdio.Stdout(), ClientGone: stdio.StdoutGone(), Server: child.Upstream, Gate: guard,
		Name: p.name, Guess: guessName(p.command, p.name), Limits: p.limits, DenyAsError: p.asError,
	})
	switch {
	case err == nil && child.forced():
		return cmdline.ExitOK, nil
	case err == nil, errors.Is(err, proxy.ErrServerEnded):
		return max(child.exitCode(), 0), nil // its stderr has said the rest
	}
	return ExitProxy, err
}

// readSettings reads how a person is asked: option before environment before file
// before default.
func (p *proxyRun) readSettings(c *cli.Context) (err error) {
	if p.settings, err = config.LoadAsk(p.folders.SettingsFile(), os.Getenv); err != nil {
		return proxyError(err)
	}
	for key, name := range map[string]string{"order": "ask", "timeout": "ask-timeout"} {
		if !c.IsSet(name) {
			continue
		}
		if err := p.settings.Set(key, c.String(name), "--"+name); err != nil {
			return cmdline.Usagef("--%s: %w", name, err)
		}
	}
	return nil
}
