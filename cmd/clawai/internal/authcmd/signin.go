package authcmd

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/keychain"
	"github.com/clawai/clawai/internal/state/oauth"
)

// SignInOptions returns the options for a sign-in at a server. clawai auth and the proxy use them.
// The given function shows the sign-in page to the person.
func SignInOptions(f config.Folders, server *url.URL, open func(context.Context, string) error) oauth.Options {
	dir := f.SignIns()
	private := func(dir string) error {
		if err := config.PrivateFolder(f.State); err != nil {
			return err
		}
		return config.PrivateFolder(dir)
	}
	return oauth.Options{
		Server: server, Lock: dir + ".lock", Store: signIns(dir, private), Browse: open, ReadFile: config.ReadSecret,
		Network: egress.Network{Folders: f},
	}
}

// signIns returns the store of the sign-in tokens. It prefers the system's keychain to files. If
// CLAWAI_KEYCHAIN is off, it uses only files.
func signIns(dir string, private func(string) error) oauth.Store {
	files := oauth.Files{Dir: dir, Private: private}
	if os.Getenv("CLAWAI_KEYCHAIN") == "off" {
		return files
	}
	return oauth.Either{oauth.Keychain{Keychain: keychain.Keychain{
		Service: "clawai", Index: filepath.Join(dir, "keychain"), Dir: dir, Private: private}}, files}
}

var errNoBrowser = errors.New("no browser could be opened")

// OpenPage opens the page in the browser. Its error has no details, because the agent can read the
// error, but only the owner may see the page's address.
func OpenPage(ctx context.Context, page string) error {
	if err := oauth.OpenBrowser(ctx, os.Getenv("BROWSER"), page); err != nil {
		return errNoBrowser
	}
	return nil
}

// PageHost returns the host of the page. This host is often not the server's host.
func PageHost(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return "an unreadable address"
	}
	return u.Host
}
