package program

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/receiver"
	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/gateway/telemetry"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
)

// addressFile is a file in the centre's folder. A running centre of --dev writes its address into this file.
const addressFile = "gateway.address"

// lockFile is the file in the centre's folder that a running centre keeps locked.
const lockFile = "gateway.lock"

func runServe(c *call) error {
	if c.port < 0 || c.port > 65535 {
		return usagef("%d is not a port", c.port)
	}
	s, err := centre.ReadSettings(c.dir)
	if err != nil {
		return err
	}
	if !c.dev {
		if c.portIsSet {
			return usagef("--port is for --dev; write address into [listen] of gateway.toml")
		}
		if err := s.CheckPublic(); err != nil {
			return usagef("%s: %v\nTo try a centre on this machine alone: clawai-gateway serve --dev --dir %s", filepath.Join(c.dir, centre.SettingsFile), err, c.dir)
		}
	}
	if c.dev && s.Bundles.People > 1 {
		return usagef("%s: bundles.people is %d, and with --dev there is one administrator; set it to 1", filepath.Join(c.dir, centre.SettingsFile), s.Bundles.People)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Two centres in one folder would overwrite each other's address, and each would count its own limits.
	// The lock comes before the database, because a newer program must not change the database of a centre
	// that runs.
	if err := config.PrivateFolder(c.dir); err != nil {
		return err
	}
	only := flock.New(filepath.Join(c.dir, lockFile), flock.SetPermissions(0o600))
	if free, err := only.TryLock(); err != nil || !free {
		return cmp.Or(err, fmt.Errorf("a centre runs in %s already; end it first, or make another link to it: clawai-gateway link --dir %s", c.dir, c.dir))
	}
	defer func() { _ = only.Close() }()
	is, err := centre.Open(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	if err := is.Store.CheckReady(ctx, is.Now); err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	is.Store.SetReport(newReporter(c.stderr, is.Now))
	endFigures, err := c.keepFigures(ctx, is)
	if err != nil {
		return err
	}
	defer endFigures()
	endTelemetry, err := c.startTelemetry(ctx, is)
	if err != nil {
		return err
	}
	defer endTelemetry()
	signs, end := context.WithCancel(ctx)
	var signing sync.WaitGroup
	signing.Go(func() { is.KeepSigning(signs, newReporter(c.stderr, is.Now)) })
	signing.Go(func() { is.KeepChecking(signs, newReporter(c.stderr, is.Now)) })
	defer signing.Wait()
	defer end()
	if c.dev {
		return c.serveDev(ctx, is)
	}
	return c.servePublic(ctx, is)
}

// lastSend is the maximum time for sending the last logs and spans when the centre ends, and then again for the last
// figures.
const lastSend = 3 * time.Second

// startTelemetry starts to send the records that laptops ship, if environment variables name a receiver.
func (c *call) startTelemetry(ctx context.Context, is *centre.Centre) (end func(), err error) {
	s, err := telemetry.New(ctx, telemetry.Options{
		Version: c.version, Payload: is.Settings.Telemetry.Payload, Find: is.FindEntry, Count: is.Figures.CountTelemetry, Report: newReporter(c.stderr, is.Now), Getenv: os.Getenv,
	})
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	is.Telemetry = s
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSend)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			fmt.Fprintf(c.stderr, "clawai-gateway: telemetry: %s\n", receiver.Describe(err))
		}
	}, nil
}

// keepFigures starts to count the work of the centre.
func (c *call) keepFigures(ctx context.Context, is *centre.Centre) (end func(), err error) {
	f, err := figures.New(ctx, figures.Options{Version: c.version, Read: is.ReadFigures, Report: newReporter(c.stderr, is.Now), Getenv: os.Getenv})
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	is.Figures = f
	is.Store.SetTimer(f.TimeStore)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSend)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			fmt.Fprintf(c.stderr, "clawai-gateway: the last figures were not sent: %s\n", receiver.Describe(err))
		}
	}, nil
}

// serveDev serves a centre on a loopback address, for an administrator who signs in by a link.
func (c *call) serveDev(ctx context.Context, is *centre.Centre) error {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)))
	if err != nil {
		return fmt.Errorf("%w; another port: clawai-gateway serve --dev --dir %s --port PORT", err, c.dir)
	}
	s, err := site.New(is, l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.Report, s.Health = newReporter(c.stderr, is.Now), newHealth(is, c.dir)
	end, err := startDelivery(ctx, is, s)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer end()
	token, err := is.NewLink(ctx, administrator)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	// Write the address only now, after the first link: with the address clawai-gateway link can make another link,
	// which ends the first.
	path := filepath.Join(c.dir, addressFile)
	if err := atomicfile.Write(path, []byte(s.Address()+"\n"), atomicfile.Options{Mode: 0o600}); err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { _ = os.Remove(path) }()
	fmt.Fprintf(c.stdout, "Open %s\nThis link works once, for 15 minutes; another: clawai-gateway link --dir %s\n", s.SignInLink(token), c.dir)
	c.sayNext(is, s)
	return s.Serve(ctx)
}

// sayNext writes the next step: the command for laptops, or the setting that is missing.
func (c *call) sayNext(is *centre.Centre, s *site.Site) {
	if len(is.Settings.BundleKeys) == 0 {
		fmt.Fprintf(c.stdout, "No laptop can be enrolled yet: put bundle_keys into %s and start the centre again (docs/gateway.md)\n", filepath.Join(c.dir, centre.SettingsFile))
		return
	}
	fmt.Fprintf(c.stdout, "On each laptop run: clawai enroll %s\n", s.Address())
}

// newProvider returns the identity provider that gateway.toml names.
func newProvider(s *centre.Settings, now func() time.Time) (*signin.Provider, error) {
	o := s.OIDC
	secret, err := readSecret("oidc.client_secret", o.SecretFile, o.SecretEnv, os.Getenv)
	if err != nil {
		return nil, err
	}
	return signin.NewProvider(o, secret, s.URL+site.CallbackPath, now), nil
}

// servePublic serves a centre at its public address, for people of its identity provider.
func (c *call) servePublic(ctx context.Context, is *centre.Centre) error {
	report := newReporter(c.stderr, is.Now)
	provider, err := newProvider(&is.Settings, is.Now)
	if err != nil {
		return err
	}
	at := is.Settings.Listen
	var ends *tls.Config // TLS settings; nil if a proxy ends TLS
	if !at.BehindProxy {
		own, err := readCertificate(at.Certificate, at.Key, report, is.Now)
		if err != nil {
			return err
		}
		ends = own.settings()
	}
	l, err := net.Listen("tcp", at.PublicAddress())
	if err != nil {
		return fmt.Errorf("listen.address: %w", err)
	}
	s, err := site.NewPublic(is, l, ends, provider)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.Report, s.Health = report, newHealth(is, c.dir)
	end, err := startDelivery(ctx, is, s)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer end()
	operator := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if address := at.OperatorAddress(); address == "" {
		operator <- nil
	} else {
		o, err := net.Listen("tcp", address)
		if err != nil {
			return errors.Join(fmt.Errorf("listen.operator: %w; name another address there, or \"off\"", err), l.Close())
		}
		go func() {
			defer stop() // end both servers together: if only one ran, the centre would seem to be in order
			operator <- site.ServeOperator(ctx, is, o)
		}()
	}
	fmt.Fprintf(c.stdout, "Serving %s on %s\n", s.Address(), l.Addr())
	if !slices.ContainsFunc(is.Settings.Roles, func(r principal.Role) bool { return r.Name == principal.Admin }) {
		fmt.Fprintf(c.stdout, "Nobody has the role %s yet: write a [[role]] of this name into %s\n", principal.Admin, filepath.Join(c.dir, centre.SettingsFile))
	}
	c.sayNext(is, s)
	if err := tellSystemd(os.Getenv("NOTIFY_SOCKET")); err != nil {
		fmt.Fprintf(c.stderr, "clawai-gateway: systemd was not told that the centre serves: %v\n", err)
	}
	err = s.Serve(ctx)
	stop()
	return errors.Join(err, <-operator)
}

// tellSystemd tells systemd that the centre serves, so that systemctl start waits for it. socket is the
// address that systemd has named; "" without systemd.
func tellSystemd(socket string) error {
	if socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("READY=1"))
	return errors.Join(err, c.Close())
}
