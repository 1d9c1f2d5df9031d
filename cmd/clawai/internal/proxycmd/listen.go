package proxycmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/metrics"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// listenRun is one run of clawai proxy --listen, for clients that use HTTP. It runs the reverse
// proxy or the hub.
type listenRun struct {
	run       *proxyRun
	out       io.Writer
	address   string
	operator  string           // address for /healthz and /metrics; "" if there is none
	metrics   *metrics.Metrics // nil if operator is ""
	upstreams map[string]remote.Options
	hosts     []string // further host names under which clients reach us (--host)
	origins   []string // origins of the web pages that may call us (--origin)
	pass      []string // headers of clients that are passed to the servers (--pass-header)
	cert      *tls.Certificate
	sessions  *session.Sessions
	owned     bool    // true if every session belongs to an invocation
	hub       *hubRun // if not nil, it is used instead of upstreams
}

// runListen runs clawai proxy --listen until an interrupt.
func runListen(c *cli.Context) error {
	if c.NArg() > 0 {
		return cmdline.Usagef("--listen takes its servers from --upstream or --hub; nothing follows --")
	}
	l := &listenRun{
		run: &proxyRun{}, out: c.App.Writer, address: c.String("listen"),
		operator: c.String("metrics"), hosts: c.StringSlice("host"), origins: c.StringSlice("origin"), pass: c.StringSlice("pass-header"), owned: c.Bool("invocations"),
	}
	if err := checkServed(c); err != nil {
		return err
	}
	if err := l.checkAddresses(c.String("tls-cert") != ""); err != nil {
		return err
	}
	for _, origin := range l.origins {
		if err := reverse.CheckOrigin(origin); err != nil {
			return cmdline.Usagef("--origin: %w", err)
		}
	}
	for _, name := range l.pass {
		if err := reverse.CheckPassed(name); err != nil {
			return cmdline.Usagef("--pass-header: %w", err)
		}
	}
	err := l.readSetup(c)
	if err != nil {
		return err
	}
	if l.operator != "" {
		l.metrics = metrics.New(l.run.spec.Program)
		l.run.spec.Through = l.metrics.CountRecords
	}
	if l.sessions, err = session.Listen(c.Context, l.run.spec); err != nil {
		return openError(l.run.secrets.hideInError(err))
	}
	if l.metrics != nil {
		l.metrics.Sessions = l.sessions.CountOpen
	}
	if l.hub != nil {
		l.hub.all = l.sessions
		l.sessions.Go(l.hub.followConfig)
	}
	err = l.run.secrets.hideInError(l.serveListener(l.sessions.Context()))
	l.sessions.CloseServerEnd()
	return closeRun(l.sessions, err)
}

// checkServed returns an error if the command line names no servers, or names servers in two ways.
func checkServed(c *cli.Context) error {
	if c.Bool("invocations") && c.Bool("wrapped") {
		return cmdline.Usagef("--wrapped does not go with --invocations: the clients that were led here name none")
	}
	if !c.Bool("hub") {
		if c.IsSet("only") {
			return cmdline.Usagef("--only belongs to --hub")
		}
		if len(c.StringSlice("upstream")) == 0 && !c.Bool("wrapped") {
			return cmdline.Usagef("which servers? write: clawai proxy --listen 127.0.0.1:8808 --upstream NAME=https://HOST/PATH, or --hub for those of config.toml")
		}
		return nil
	}
	for _, name := range []string{"upstream", "wrapped", "header-file", "pass-header"} {
		if c.IsSet(name) {
			return cmdline.Usagef("--%s does not go with --hub, whose servers stand in config.toml with their headers", name)
		}
	}
	return nil
}

// readSetup reads the options that all forms of the command have. spec.Prepare reads the servers
// and the certificate later, after the policy is loaded.
func (l *listenRun) readSetup(c *cli.Context) (err error) {
	if c.Bool("hub") {
		l.hub = &hubRun{run: l.run}
		err = l.hub.readSetup(c)
	} else {
		err = l.run.readOptions(c)
	}
	l.run.spec.Prepare = func() (*redact.Known, error) {
		if l.hub != nil {
			tellUnusable(l.hub.hub.Servers)
		} else if err := l.readUpstreams(c); err != nil {
			return nil, err
		}
		return l.run.secrets.known, l.readCertificate(c.String("tls-cert"), c.String("tls-key"))
	}
	return err
}

func (l *listenRun) readCertificate(cert, key string) error {
	if cert == "" && key == "" {
		return nil
	}
	if cert == "" || key == "" {
		return cmdline.Usagef("--tls-cert and --tls-key belong together")
	}
	certificate, err := os.ReadFile(cert)
	if err != nil {
		return cmdline.Usagef("--tls-cert: %w", err)
	}
	secret, err := config.ReadSecret(key)
	if err != nil {
		return cmdline.Usagef("--tls-key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, secret)
	if err != nil {
		return cmdline.Usagef("--tls-cert and --tls-key: %w", err)
	}
	l.cert = &pair
	return nil
}

func (l *listenRun) serveListener(ctx context.Context) error {
	in, err := l.openListener(ctx, l.address)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	handler, err := l.newServer(in.Addr())
	if err != nil {
		return err
	}
	defer handler.Close()
	server := newHTTPServer(handler)
	server.ConnState = handler.ConnState
	done := make(chan error, 2)
	go func() { done <- server.Serve(in) }()
	if l.metrics != nil {
		operator, err := l.serveOperator(ctx, done)
		if err != nil {
			return err
		}
		defer func() { _ = operator.Close() }()
	}
	if err := l.announceServers(handler, in.Addr()); err != nil {
		return err
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		handler.Close() // first, because Shutdown waits for open streams
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			_ = server.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// openListener listens at an address, with TLS if there is a certificate.
func (l *listenRun) openListener(ctx context.Context, address string) (net.Listener, error) {
	in, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if l.cert != nil {
		in = tls.NewListener(in, &tls.Config{Certificates: []tls.Certificate{*l.cert}, MinVersion: tls.VersionTLS12})
	}
	return in, nil
}

func newHTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // the server's errors are only about clients that disconnect
	}
}

// serveOperator serves /healthz and /metrics on the operator's address. It sends an error of the
// server to the channel done.
func (l *listenRun) serveOperator(ctx context.Context, done chan<- error) (*http.Server, error) {
	in, err := l.openListener(ctx, l.operator)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	hosts, port, err := l.listHosts(l.operator, in.Addr())
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	server := newHTTPServer(&reverse.Operator{Hosts: hosts, Port: port, Failure: l.metrics.Failure, Write: func(w io.Writer) error {
		_, err := l.metrics.WriteTo(w)
		return err
	}})
	server.ReadTimeout, server.WriteTimeout = time.Minute, time.Minute
	go func() { done <- server.Serve(in) }()
	l.operator = in.Addr().String()
	return server, nil
}

// checkAddresses returns an error if other machines can reach an address without TLS.
func (l *listenRun) checkAddresses(secured bool) error {
	for _, of := range []struct{ option, address, example string }{{"listen", l.address, "127.0.0.1:8808"}, {"metrics", l.operator, "127.0.0.1:9808"}} {
		if of.address == "" && of.option == "metrics" {
			continue
		}
		host, _, err := net.SplitHostPort(of.address)
		if err != nil {
			return cmdline.Usagef("--%s is ADDRESS:PORT, as in %s", of.option, of.example)
		}
		if !secured && !httpproxy.IsLoopback(host) {
			return cmdline.Usagef("--%s %s can be reached by other machines; that needs --tls-cert and --tls-key", of.option, of.address)
		}
	}
	return nil
}

// listHosts returns the host names for an address, and the port. Clients may use these names.
func (l *listenRun) listHosts(address string, at net.Addr) (hosts []string, port string, err error) {
	if _, port, err = net.SplitHostPort(at.String()); err != nil {
		return nil, "", err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", err
	}
	hosts = append([]string{strings.ToLower(host)}, l.hosts...)
	if httpproxy.IsLoopback(host) {
		hosts = append(hosts, "localhost", "127.0.0.1", "::1")
	}
	return hosts, port, nil
}

// newServer returns the HTTP handler. The handler has one gate for each session of an agent.
func (l *listenRun) newServer(at net.Addr) (*reverse.Server, error) {
	secret, err := httpproxy.EnsureSecret(l.run.spec.Folders.State)
	if err != nil {
		return nil, err
	}
	hosts, port, err := l.listHosts(l.address, at)
	if err != nil {
		return nil, err
	}
	o := reverse.Options{
		Upstreams: l.upstreams, Secret: secret, Port: port, Hosts: hosts, Origins: l.origins, Pass: l.pass,
		Limits: l.run.limits, DenyAsError: l.run.asError,
	}
	if l.owned {
		token, err := httpproxy.EnsureToken(l.run.spec.Folders.State)
		if err != nil {
			return nil, err
		}
		o.Invocations = &reverse.Invocations{Token: token, Begin: l.newInvocation}
	} else {
		o.Gate = func(name string) (reverse.Gate, error) { return l.openGate(name, "", l.sessions.Open) }
	}
	if l.hub != nil {
		o.Local, o.Sessions, o.Idle = map[string]reverse.Local{hubName: l.carrySession}, maxHubs, l.hub.hub.SessionIdle
	}
	return reverse.New(o)
}

// hubName is the name of the hub in the path of its address.
const hubName = "hub"

// maxHubs is the maximum number of hub sessions, because each session starts separate servers.
const maxHubs = 100

// carrySession runs one session of the hub.
func (l *listenRun) carrySession(ctx context.Context, g *gate.Session, in io.ReadCloser, out io.Writer) {
	_ = l.hub.carrySession(ctx, hub.Options{ClientIn: in, ClientOut: out, Gate: g})
}

// newInvocation returns one invocation, with a function that opens its gates. The gates of one
// invocation share their state.
func (l *listenRun) newInvocation(name string) (reverse.Invocation, error) {
	its := l.sessions.NewInvocation(name)
	return reverse.Invocation{
		Gate: func(server string) (reverse.Gate, error) {
			return l.openGate(server, "; invocation "+name, its.Open)
		},
		End: func() {
			if err := its.End(); err != nil {
				fmt.Fprintf(os.Stderr, "clawai: what the invocation %s has seen is still there: %v\n", name, err)
			}
		},
	}, nil
}

// openGate opens the gate for one session. It is a session of an agent with one server, or a
// session of the hub.
func (l *listenRun) openGate(name, whose string, open func(session.Peer) (*session.Session, error)) (reverse.Gate, error) {
	var peer session.Peer
	if l.hub != nil {
		peer = l.hub.hubPeer()
		peer.Is = "listening for " + peer.Is
	} else {
		at := &remoteServer{url: l.upstreams[name].URL}
		peer = session.Peer{Name: name, Is: "listening for " + at.renderAddress(), URL: at.url.String()}
	}
	peer.Is += whose
	one, err := open(peer)
	if err != nil {
		return reverse.Gate{}, err
	}
	return reverse.Gate{Session: one.Session, End: func() {
		one.End("no longer used", cmdline.ExitOK)
		_ = one.Close() // the record stays open, because all sessions of the listener share it
	}}, nil
}

// announceServers prints the address of each server.
func (l *listenRun) announceServers(handler *reverse.Server, at net.Addr) error {
	scheme := "http"
	if l.cert != nil {
		scheme = "https"
	}
	names := slices.Sorted(maps.Keys(l.upstreams))
	if l.hub != nil {
		names = []string{hubName}
	}
	// An older clawai wrote the addresses with the secret into listen.json. No command reads this
	// file, so it is removed.
	if err := os.Remove(filepath.Join(l.run.spec.Folders.State, "listen.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	base := url.URL{Scheme: scheme, Host: at.String()}
	for _, name := range names {
		fmt.Fprintf(l.out, "%s  %s\n", name, base.JoinPath(handler.ServerPath(name)))
	}
	if l.metrics != nil {
		fmt.Fprintf(l.out, "metrics  %s\n", (&url.URL{Scheme: scheme, Host: l.operator}).JoinPath("metrics"))
	}
	return nil
}
