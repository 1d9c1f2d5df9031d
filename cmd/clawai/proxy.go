package main

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

	"github.com/clawai/clawai/internal/approve"
	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/memory"
	"github.com/clawai/clawai/internal/redact"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/stdio"
	"github.com/urfave/cli/v2"
)

// exitProxy is clawai's own failure: the server's codes are the others.
const exitProxy = 125

func proxyCommand() *cli.Command {
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
	place    policy.Options
	policy   *config.Loaded
	edits    *config.Edits // of the policy, by answers of a person
	meter    *gate.Meter   // of all sessions
	aside    *approve.Aside
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
			return usagef("--%s belongs to --listen ADDRESS:PORT", name)
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
	log, err := p.openRecord()
	if err != nil {
		return proxyError(err)
	}
	code, err := p.session(c.Context, log)
	if closing := log.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close the record: %w", closing)
	}
	if code != 0 || err != nil {
		return &exitError{code: code, err: err}
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
	p.edits = &config.Edits{}
	size, err := parseSize(c.String("max-frame"))
	if err != nil {
		return usagef("--max-frame: %w", err)
	}
	p.limits = frame.DefaultLimits()
	p.limits.MaxBytes = size
	switch c.String("deny-as") {
	case "result":
	case "error":
		p.asError = true
	default:
		return usagef("--deny-as is result or error, not %q", c.String("deny-as"))
	}
	if p.redact, err = redact.ParseMode(c.String("redact")); err != nil {
		return usagef("--redact: %w", err)
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
	p.meter, p.place = &gate.Meter{}, p.governed()
	layers := config.Layers{Org: config.OrgPolicy(), State: p.folders.State, More: c.StringSlice("layer")}
	if len(p.command) > 0 { // whose client started us in its project; --listen was started by hand
		layers.Dir, _ = os.Getwd() // without one there is no project
	}
	if p.policy, err = layers.Load(path, p.place); err != nil {
		return proxyError(err)
	}
	p.place = p.policy.Options()
	return nil
}

// governed is the place that the policy governs. The disk is that of a server we
// start, in our own directory; where a remote server's paths lead we cannot know.
func (p *proxyRun) governed() policy.Options {
	o := readFor(p.folders.Home)
	if len(p.command) > 0 && p.remote == nil {
		dir, _ := os.Getwd() // without one, relative paths are undecided
		o.Disk = disk.OS(dir)
	}
	return o
}

func proxyError(err error) error { return &exitError{code: exitProxy, err: err} }

// checkCommand demands "--": without it an option of ours behind the command,
// or one of the server's before it, would be read as the other's.
func (p *proxyRun) checkCommand() error {
	before := len(os.Args) - len(p.command) - 1
	switch {
	case strings.HasPrefix(p.name, "-") && !slices.Contains(os.Args[1:max(before, 1)], "--server="+p.name):
		return usagef("--server needs a name, not %q; a name that begins so is written --server=%s", p.name, p.name)
	case len(p.command) == 0:
		return usagef("which server? write: clawai proxy [options] -- COMMAND [ARGUMENTS...]")
	case before < 0 || os.Args[before] != "--":
		return usagef("-- is missing; write: clawai proxy [options] -- %s", quoteWords(p.command))
	}
	return nil
}

// openRecord begins the record; without one nothing is started.
func (p *proxyRun) openRecord() (*audit.Log, error) {
	if err := config.PrivateFolder(p.folders.State); err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	log, err := audit.Open(p.recordDir(), audit.Options{Redact: p.redact})
	if err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	return log, nil
}

func (p *proxyRun) recordDir() string { return filepath.Join(p.folders.State, "audit") }

// session runs the server until one side ends and returns our exit code.
func (p *proxyRun) session(ctx context.Context, log *audit.Log) (int, error) {
	var err error
	if p.aside, err = p.newAside(); err != nil {
		return exitProxy, err
	}
	defer p.aside.Close() // when nobody asks any more
	guard, end, err := p.newGate(log, p.name)
	if err != nil {
		return exitProxy, err
	}
	defer end()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := guard.Note(append([]*event.Event{p.started()}, over(p.policy)...)...); err != nil {
		return exitProxy, fmt.Errorf("cannot keep a record: %w", err)
	}
	child, code, err := p.start(guard)
	if err != nil {
		p.ended(guard, code, err.Error())
		return code, err
	}
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select { // the server begins first; Watch looks at the file as it is then
		case <-watching.Done():
		case <-time.After(watchAfter):
			config.Watch(watching, p.policy, p.edits, p.reload(guard))
		}
	}()
	code, err = p.pump(ctx, guard, child)
	unwatch()
	<-watched
	p.ended(guard, code, child.Status())
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
		return exitOK, nil
	case err == nil, errors.Is(err, proxy.ErrServerEnded):
		return max(child.exitCode(), 0), nil // its stderr has said the rest
	}
	return exitProxy, err
}

// reload gives the gate a changed policy; a broken one changes nothing but the
// record.
func (p *proxyRun) reload(guard *gate.Session) func(*config.Loaded, error) {
	return func(next *config.Loaded, err error) {
		ev := &event.Event{Kind: event.Policy}
		events := []*event.Event{ev}
		if err != nil {
			ev.Code, ev.Reason = "policy_kept", "the policy file cannot be used; the last good one stays in force: "+err.Error()
		} else {
			guard.SetPolicy(next.Policy)
			ev.Code, ev.Detail = "policy_loaded", "revision "+next.Policy.Revision()
			events = append(events, noted(next.News)...)
			memory.ReleaseSoon() // what was in force may be large
		}
		_ = guard.Note(events...) // a record that fails refuses the next call
	}
}

func (p *proxyRun) started() *event.Event {
	return &event.Event{
		Kind: event.Start, ServerGuess: guessName(p.command, p.name),
		Detail: fmt.Sprintf("clawai %s; %s; policy %s, revision %s",
			version, p.describe(), p.policy.Path, p.policy.Policy.Revision()),
	}
}

// over tells of what stands over the policy, and of what does not.
func over(l *config.Loaded) (events []*event.Event) {
	for _, layer := range l.Policy.Layers() {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer",
			Detail: fmt.Sprintf("under the %s's %s, revision %s", layer.Layer(), layer.File(), layer.Revision())})
	}
	return append(events, noted(l.Notes)...)
}

// noted are notes about layers as the record has them.
func noted(notes []string) (events []*event.Event) {
	for _, note := range notes {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer_kept", Reason: note})
	}
	return events
}

func (p *proxyRun) ended(guard *gate.Session, code int, how string) {
	_ = guard.Note(&event.Event{Kind: event.End, Detail: fmt.Sprintf("server: %s; clawai's exit code %d", how, code)})
}
