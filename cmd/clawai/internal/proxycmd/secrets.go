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

// secrets are what the vault gave to the server of this run. Our own environment keeps
// the references.
type secrets struct {
	env   []string      // of the server that is started; nil: ours
	known *redact.Known // the values; nil: none
}

// readSecrets fills in the references that the server is given, or says why it is not
// started.
func (p *proxyRun) readSecrets() error {
	if slices.ContainsFunc(p.command, vault.Mentions) {
		return cmdline.Usagef("%s stands in an argument, which every process can read; put it into the environment: NAME=%[1]sENTRY", vault.Prefix)
	}
	if p.remote != nil {
		resolver := vaultplace.Resolver(p.name, []string{p.remote.url.String()})
		err := fillHeaders(resolver, p.remote.header)
		p.secrets.known = redact.NewKnown(resolver.Used())
		return err
	}
	resolver := vaultplace.Resolver(p.name, p.command)
	env, err := resolver.Env(os.Environ())
	if err != nil {
		return notStarted(err, resolver)
	}
	if used := resolver.Used(); len(used) > 0 {
		p.secrets = secrets{env, redact.NewKnown(used)}
	}
	return nil
}

func fillHeaders(r *vault.Resolver, h http.Header) error {
	if err := r.Header(h); err != nil {
		return notStarted(err, r)
	}
	return nil
}

func notStarted(err error, r *vault.Resolver) error {
	return proxyError(fmt.Errorf("the server %q is not started: %w", r.Server.Name, vaultplace.Advised(err, r.Server)))
}

// hide takes the values out of an error.
func (s secrets) hide(err error) error {
	if err == nil || !s.known.Contains([]byte(err.Error())) {
		return err
	}
	return errors.New(s.known.Text(err.Error()))
}

// toldWait is how long what a server said last may take to be passed on, once it has
// ended: something that it left behind may hold its stderr open.
const toldWait = time.Second

// screened gives what the server writes its stderr to. With values to keep out of it,
// that is a pipe of ours. Started says that the server has it, or will not.
func (s secrets) screened(all *session.Sessions) (stderr *os.File, started, told func(), err error) {
	if s.known == nil || all.Stderr() == nil {
		return all.Stderr(), all.Started, func() {}, nil
	}
	w, done, err := s.pipe(all.Stderr())
	if err != nil {
		return nil, nil, nil, err
	}
	go func() { <-done; all.Started() }()
	wait := func() {
		select {
		case <-done:
		case <-time.After(toldWait):
		}
	}
	return w, func() { _ = w.Close() }, wait, nil
}

// copied is screened for one of many servers, which share what all of them write to.
func (s secrets) copied(to *os.File) (stderr *os.File, started func(), err error) {
	if s.known == nil || to == nil {
		return to, func() {}, nil
	}
	w, _, err := s.pipe(to)
	return w, func() { _ = w.Close() }, err
}

// pipe passes on what is written to w, without the values, until all that have w have
// closed it.
func (s secrets) pipe(to *os.File) (w *os.File, done chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	done = make(chan struct{})
	go func() {
		defer close(done)
		_ = s.known.Copy(to, r) // a stderr that is gone hears nothing
		_ = r.Close()
	}()
	return w, done, nil
}
