package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
	"github.com/urfave/cli/v2"
)

// knownFront is the owner's proxy as far as there is one already.
func knownFront(state string) (f wrap.Front, err error) {
	if f.Upstreams, err = wrap.ReadUpstreams(state); err != nil {
		return f, err
	}
	if f.Listeners, err = wrap.ReadListeners(state); err != nil {
		return f, err
	}
	f.Secret, err = readListenSecret(state)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return f, err
}

// chooseForm reads what remote servers are to become.
func (r *wrapRun) chooseForm(c *cli.Context) error {
	switch form := c.String("remote"); form {
	case "", "bridge":
		return nil
	case "proxy":
	default:
		return usagef("--remote is bridge or proxy, not %q", form)
	}
	if r.judge.Observe {
		return usagef("--observe is for clawai proxy --listen, which serves all its servers alike; leave it out here")
	}
	host, _, err := net.SplitHostPort(c.String("listen"))
	if err != nil || !loopback(host) {
		return usagef("--listen is ADDRESS:PORT of your proxy on this machine, as in 127.0.0.1:8808")
	}
	if r.judge.Front.Secret == "" {
		r.judge.Front.Secret = rand.Text() // kept when something is written
	}
	r.judge.Front.Listen(c.String("listen"))
	return nil
}

// led notes, before any file is written, where the proxy has to lead.
func (r *wrapRun) led(changes []wrap.Change) error {
	if r.judge.Front.Base == "" || !anyLed(changes) {
		return nil
	}
	_, err := readListenSecret(r.folders.State)
	if errors.Is(err, os.ErrNotExist) {
		err = keepListenSecret(r.folders.State, r.judge.Front.Secret)
	}
	if err == nil {
		err = r.judge.Front.Save(r.folders.State)
	}
	if err != nil {
		return fmt.Errorf("nothing was written, as the proxy would not know where to lead: %w", err)
	}
	return nil
}

// start tells of the proxy that the clients' urls lead to by now.
func (r *wrapRun) start(changes []wrap.Change) {
	if r.judge.Front.Base != "" && anyLed(changes) {
		fmt.Fprintf(r.out, "The urls work while this runs; start it anew after each wrap: clawai proxy --listen %s --wrapped\n", r.c.String("listen"))
	}
}

// anyLed says that an edit is of a remote server.
func anyLed(changes []wrap.Change) bool {
	return slices.ContainsFunc(changes, func(c wrap.Change) bool {
		return slices.ContainsFunc(c.Edits, func(e wrap.Edit) bool { return e.Entry.Kind == client.Remote })
	})
}

// ledHere are the servers that clients were led away from, as NAME=URL.
func ledHere(state string) ([]string, error) {
	known, err := wrap.ReadUpstreams(state)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, usagef("--wrapped: no client was led here yet; do it with: clawai wrap --all --remote=proxy")
	}
	var all []string
	for name, address := range known {
		all = append(all, name+"="+address)
	}
	slices.Sort(all)
	return all, nil
}

// listenSecret is the part of the path that nobody can guess. It stays the same,
// so that clients' configurations go on working.
func listenSecret(state string) (string, error) {
	secret, err := readListenSecret(state)
	if !errors.Is(err, os.ErrNotExist) {
		return secret, err
	}
	secret = rand.Text()
	return secret, keepListenSecret(state, secret)
}

func keepListenSecret(state, secret string) error {
	return atomicfile.Write(listenSecretPath(state), []byte(secret+"\n"), atomicfile.Options{Mode: 0o600})
}

func listenSecretPath(state string) string { return filepath.Join(state, "listen.secret") }

// readListenSecret is os.ErrNotExist where none was made yet.
func readListenSecret(state string) (string, error) {
	src, err := config.ReadSecret(listenSecretPath(state))
	if err != nil {
		return "", err
	}
	if s := strings.TrimSpace(string(src)); len(s) >= 16 && len(s) <= 128 {
		return s, nil
	}
	return "", fmt.Errorf("%s holds no secret of clawai's; remove it to make a new one", listenSecretPath(state))
}
