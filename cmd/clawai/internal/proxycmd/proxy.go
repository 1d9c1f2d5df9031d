// Package proxycmd implements "clawai proxy" in three forms: for a program, for a remote server,
// and as an HTTP server (--listen). It also implements "clawai hub" and "clawai serve".
package proxycmd

import (
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/stdio"
)

// ExitProxy is the exit code for failures of clawai itself, except for errors in the command line.
// It differs from the usual exit codes of servers.
const ExitProxy = 125

// Command returns "clawai proxy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "proxy",
		Usage:     "run an MCP server and let through only what the policy allows",
		UsageText: "clawai proxy [options] -- COMMAND [ARGUMENTS...]\nclawai proxy [options] -- https://HOST/PATH\nclawai proxy [options] --listen ADDRESS:PORT --upstream NAME=URL\nclawai proxy [options] --listen ADDRESS:PORT --hub\nclawai proxy [options] --listen ADDRESS:PORT --hub --invocations",
		Flags:     Flags(),
		Action:    runProxy,
	}
}

// proxyRun is one run of clawai proxy, with the values from flags and files.
type proxyRun struct {
	spec    session.Spec
	command []string
	remote  *remoteServer // nil if the server is a program
	limits  frame.Limits
	asError bool // a denial is a JSON-RPC error instead of a result (--deny-as error)
	secrets secrets
	here    bool // the servers run on this machine

	watchdog *stdio.Watchdog // of the server; nil before the policy is read, and for a remote server
	// clientSandbox has the rules of the client's own sandbox for this server. wrap has copied them
	// from the client's file.
	clientSandbox []string
}

// fewestProcessors is the minimum of GOMAXPROCS for a proxy. A proxy has two loops that wait in
// blocking system calls. With fewer processors, each call waits until the monitor of the Go runtime
// takes a processor away from such a loop (bench/README.md).
const fewestProcessors = 4

// heapGrowth is GOGC for a proxy: the growth of the heap between two garbage collections, in per
// cent of the live heap. The live heap is less than 1 MiB. So the limit is 8 MiB instead of 4 MiB,
// and there are half as many collections under load. largeHeapGrowth applies after a large list or
// reply.
const (
	heapGrowth      = 200
	largeHeapGrowth = 50
)

func runProxy(c *cli.Context) error {
	// LocalFlagNames is called once, because each call of IsSet matches the names of all flags with
	// a pattern.
	given := c.LocalFlagNames()
	listens := slices.Contains(given, "listen")
	for _, name := range []string{"upstream", "hub", "only", "invocations", "host", "metrics", "origin", "pass-header", "tls-cert", "tls-key"} {
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
	if p.remote == nil {
		go stdio.AskSystem() // runs while the policy is read, so that the server's start need not wait for the answer
	}
	defer func() { p.watchdog.Stop() }()
	one, err := session.Open(c.Context, p.spec)
	if err != nil {
		return openError(p.secrets.hideInError(err))
	}
	code, err := p.carryMessages(one)
	err = p.secrets.hideInError(err)
	if closing := one.Close(); err == nil {
		err = closing
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

// newProxyRun reads the command line and the policy. It starts nothing. The exit code is 2 for
// errors in the command line, and 125 for all other errors.
func newProxyRun(c *cli.Context) (*proxyRun, error) {
	p := &proxyRun{command: c.Args().Slice(), spec: session.Spec{Peer: session.Peer{Name: c.String("server")}, Stderr: os.Stderr}}
	if err := p.checkCommand(); err != nil {
		return nil, err
	}
	if err := p.readRemote(c.StringSlice("header-file"), c.String("was")); err != nil {
		return nil, err
	}
	if err := p.readClientSandbox(c.StringSlice("client-sandbox")); err != nil {
		return nil, err
	}
	p.spec.Peer.Guess, p.spec.Peer.Is = guessName(p.command, p.spec.Peer.Name), p.describeServer()
	// The client has started us in its folder. After an error there is no project.
	p.spec.Files.Project, _ = os.Getwd()
	if p.remote == nil {
		p.spec.Peer.Command, p.spec.Files.Disk, p.here = p.command, disk.SystemDisk(), !stdio.RunsElsewhere(p.command)
	} else {
		p.spec.Peer.URL, p.spec.Stderr = p.remote.url.String(), nil
	}
	p.spec.Prepare = func() (*redact.Known, error) {
		err := p.readSecrets()
		if err == nil && p.remote == nil {
			p.watchdog = stdio.StartWatchdog() // while the record is opened
		}
		return p.secrets.known, err
	}
	return p, p.readOptions(c)
}

// readOptions reads the options that all forms of the command have.
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
	o := &p.spec
	if o.Redact, err = redact.ParseMode(c.String("redact")); err != nil {
		return cmdline.Usagef("--redact: %w", err)
	}
	if o.Sync, err = audit.ParseSync(c.String("sync")); err != nil {
		return cmdline.Usagef("--sync: %w", err)
	}
	o.Files.Policy, o.Files.State, o.Files.Layers = c.String("policy"), c.String("state"), c.StringSlice("layer")
	if o.Folders, err = o.Files.FindFolders(); err != nil {
		return proxyError(err)
	}
	given := c.LocalFlagNames()
	o.Ask = func(option string) (string, bool) { return c.String(option), slices.Contains(given, option) }
	o.Program, o.View, o.By, o.ObserveOnly = "clawai "+cmdline.Version, cmdline.ViewOptions(o.Folders), cmdline.AccountName(), c.Bool("observe")
	o.View.Project, _ = os.Getwd()
	o.Facts = policy.Facts{Cwd: p.serverFolder(), OS: p.serverSystem(), Elsewhere: stdio.NamesFolder(p.command)}
	return nil
}

// openError gives an error of session.Open the right exit code.
func openError(err error) error {
	if _, ok := errors.AsType[*session.OptionError](err); ok {
		return cmdline.Usagef("%w", err)
	}
	if _, ok := errors.AsType[*cmdline.ExitError](err); ok {
		return err
	}
	return proxyError(err)
}

// closeRun closes everything that a run has opened. It returns the first error, with the exit code
// 125.
func closeRun(open io.Closer, err error) error {
	if closing := open.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return proxyError(err)
	}
	return nil
}

// serverFolder returns the folder from which the server resolves relative paths, or "" if this is
// unknown.
func (p *proxyRun) serverFolder() string {
	if len(p.command) == 0 || p.remote != nil || stdio.MovesAway(p.command) {
		return ""
	}
	dir, _ := os.Getwd()
	return dir
}

// serverSystem returns policy.Windows if the server runs here on Windows. Otherwise it returns "".
func (p *proxyRun) serverSystem() string {
	if runtime.GOOS != policy.Windows || !p.here {
		return ""
	}
	return policy.Windows
}

func proxyError(err error) error { return &cmdline.ExitError{Code: ExitProxy, Err: err} }

// checkCommand returns an error if there is no "--" before the command. Without "--", our options
// and the server's options could be mixed up.
func (p *proxyRun) checkCommand() error {
	before, name := len(os.Args)-len(p.command)-1, p.spec.Peer.Name
	switch {
	case strings.HasPrefix(name, "-") && !slices.Contains(os.Args[1:max(before, 1)], "--server="+name):
		return cmdline.Usagef("--server needs a name, not %q; a name that begins so is written --server=%s", name, name)
	case len(p.command) == 0:
		return cmdline.Usagef("which server? write: clawai proxy [options] -- COMMAND [ARGUMENTS...]")
	case before < 0 || os.Args[before] != "--":
		return cmdline.Usagef("-- is missing; write: clawai proxy [options] -- %s", cmdline.Quote(p.command))
	}
	return nil
}

// carryMessages carries messages until the client or the server ends. It returns our exit code.
func (p *proxyRun) carryMessages(one *session.Session) (int, error) {
	server, code, err := p.startServer(one)
	if err != nil {
		one.End(err.Error(), code)
		return code, err
	}
	code, err = p.pumpFrames(one, server)
	server.told()
	one.End(server.Status(), code)
	return code, err
}

// pumpFrames carries the frames. If the server ended by itself, it returns the server's exit code.
// If a stop was requested and the server needed a signal, it returns 0.
func (p *proxyRun) pumpFrames(one *session.Session, child *server) (int, error) {
	err := proxy.Run(one.All.Context(), proxy.Options{
		ClientIn: stdio.Stdin(), ClientOut: stdio.Stdout(), ClientGone: stdio.StdoutGone(), Server: child.Upstream, Gate: one.Session,
		Name: p.spec.Peer.Name, Guess: p.spec.Peer.Guess, Limits: p.limits, DenyAsError: p.asError,
		LongestLine: func(client string) int { return mcp.LongestLine(client, p.remote != nil) },
	})
	switch {
	case err == nil && child.forced():
		return cmdline.ExitOK, nil
	case err == nil, errors.Is(err, proxy.ErrServerEnded):
		return max(child.exitCode(), 0), nil // the server has written the details to its stderr
	}
	return ExitProxy, err
}
