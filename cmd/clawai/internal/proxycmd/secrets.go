package proxycmd

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
)

// secrets has the values that the server gets from the vault. Our own environment has only the
// references.
type secrets struct {
	env   []string      // environment of the server; nil if it is our environment
	known *redact.Known // the values; nil if there are none
}

// readSecrets replaces the references in the server's environment or headers by values from the
// vault. Its error says why the server is not started.
func (p *proxyRun) readSecrets() error {
	if slices.ContainsFunc(p.command, vault.HasReference) {
		return cmdline.Usagef("%s is in an argument, which every process can read; put it into the environment: NAME=%[1]sENTRY", vault.Prefix)
	}
	if p.remote != nil {
		resolver := vaultplace.NewResolver(p.spec.Peer.Name, []string{p.remote.url.String()}, "")
		err := fillHeaders(resolver, p.remote.header)
		p.secrets.known = redact.NewKnown(resolver.UsedValues())
		return err
	}
	resolver := vaultplace.NewResolver(p.spec.Peer.Name, p.command, "")
	env, err := resolver.FillEnv(os.Environ())
	if err != nil {
		return notStarted(err, resolver)
	}
	if used := resolver.UsedValues(); len(used) > 0 {
		p.secrets = secrets{env, redact.NewKnown(used)}
	}
	return nil
}

func fillHeaders(r *vault.Resolver, h http.Header) error {
	if err := r.FillHeader(h); err != nil {
		return notStarted(err, r)
	}
	return nil
}

func notStarted(err error, r *vault.Resolver) error {
	return proxyError(fmt.Errorf("the server %q is not started: %w", r.Server.Name, vaultplace.AdviseBinding(err, r.Server)))
}

// hideInError replaces the values from the vault in the text of an error.
func (s secrets) hideInError(err error) error {
	if err == nil || !s.known.ContainsKnown([]byte(err.Error())) {
		return err
	}
	return errors.New(s.known.MaskText(err.Error()))
}

// toldWait is the maximum wait for the last output of a server that has ended. It is limited,
// because the server may have left another process running, which keeps stderr open.
const toldWait = time.Second

// screenStderr returns the file for the server's stderr. If there are values to hide, the file is a
// pipe, and the values are removed from its output. When the server was started or has failed to
// start, the caller must call the returned function started. After the server has ended, the caller
// can call the returned function told: it waits until all output of the server is passed on, but
// not longer than toldWait.
func (s secrets) screenStderr(all *session.Sessions) (stderr *os.File, started, told func(), err error) {
	if s.known == nil || all.Stderr() == nil {
		return all.Stderr(), all.CloseServerEnd, func() {}, nil
	}
	w, done, err := s.pipeFiltered(all.Stderr())
	if err != nil {
		return nil, nil, nil, err
	}
	go func() { <-done; all.CloseServerEnd() }()
	wait := func() {
		select {
		case <-done:
		case <-time.After(toldWait):
		}
	}
	return w, func() { _ = w.Close() }, wait, nil
}

// shareStderr is like screenStderr, but for one of several servers. The parameter to is the stderr
// that these servers share.
func (s secrets) shareStderr(to *os.File) (stderr *os.File, started func(), err error) {
	if s.known == nil || to == nil {
		return to, func() {}, nil
	}
	w, _, err := s.pipeFiltered(to)
	return w, func() { _ = w.Close() }, err
}

// pipeFiltered returns a pipe w. It copies everything that is written to w into the file in the
// parameter to, with markers in place of the values from the vault. When all processes have closed
// w, it closes the channel done.
func (s secrets) pipeFiltered(to *os.File) (w *os.File, done chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	done = make(chan struct{})
	go func() {
		defer close(done)
		_ = s.known.CopyMasked(to, r) // without stderr, the error cannot be shown
		_ = r.Close()
	}()
	return w, done, nil
}
