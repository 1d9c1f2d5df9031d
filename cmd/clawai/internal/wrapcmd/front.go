package wrapcmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// chooseForm reads --remote. Its value says how remote servers are wrapped.
func (r *wrapRun) chooseForm(c *cli.Context) error {
	switch form := c.String("remote"); form {
	case "", "bridge":
		return nil
	case "proxy":
	default:
		return cmdline.UnknownWord("--remote", "form", form, []string{"bridge", "proxy"})
	}
	if r.Judge.Observe {
		return cmdline.Usagef("--observe is for clawai proxy --listen, which serves all its servers alike; leave it out here")
	}
	host, _, err := net.SplitHostPort(c.String("listen"))
	if err != nil || !httpproxy.IsLoopback(host) {
		return cmdline.Usagef("--listen is ADDRESS:PORT of your proxy on this machine, as in 127.0.0.1:8808")
	}
	if r.Judge.HTTPProxy.Secret == "" {
		r.Judge.HTTPProxy.Secret = rand.Text() // the secret is stored later, together with the other files
	}
	r.Judge.HTTPProxy.SetAddress(c.String("listen"))
	return nil
}

// saveProxyState stores the addresses of the remote servers for the proxy. It does this before any
// client's file is changed.
func (r *wrapRun) saveProxyState(changes []wrap.Change) error {
	if r.Judge.HTTPProxy.Base == "" || !editsRemote(changes) {
		return nil
	}
	_, err := httpproxy.ReadSecret(r.folders.State)
	if errors.Is(err, os.ErrNotExist) {
		err = httpproxy.KeepSecret(r.folders.State, r.Judge.HTTPProxy.Secret)
	}
	if err == nil {
		err = r.Judge.HTTPProxy.SaveState(r.folders.State)
	}
	if err != nil {
		return fmt.Errorf("nothing was written, as the proxy would not know where to lead: %w", err)
	}
	return nil
}

// tellProxy prints how to start the proxy, because the clients' URLs now lead to it.
func (r *wrapRun) tellProxy(changes []wrap.Change) {
	if r.Judge.HTTPProxy.Base != "" && editsRemote(changes) {
		fmt.Fprintf(r.prose, "The urls work while this runs; restart it after each wrap: clawai proxy --listen %s --wrapped\n", r.c.String("listen"))
	}
}

// editsRemote reports whether one of the edits is about a remote server.
func editsRemote(changes []wrap.Change) bool {
	return slices.ContainsFunc(changes, func(c wrap.Change) bool {
		return slices.ContainsFunc(c.Edits, func(e wrap.Edit) bool { return e.Entry.Kind == client.Remote })
	})
}
