// Package vaultplace gives commands access to the vault: it finds the vault's place, and the
// command or address that an entry is bound to.
package vaultplace

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
)

// LocateVault returns the place of the vault of the user that runs the command. Another state
// folder (--state) does not mean another vault.
func LocateVault() (vault.Place, error) {
	f, err := config.ReadFolders()
	return vault.Place{
		Dir: f.VaultFolder(), Key: os.Getenv("CLAWAI_VAULT_KEY"), NoKeychain: os.Getenv("CLAWAI_KEYCHAIN") == "off",
		Private: func(dir string) error {
			if err := config.PrivateFolder(f.State); err != nil {
				return err
			}
			return config.PrivateFolder(dir)
		},
	}, err
}

// Open opens the vault's store.
func Open() (vault.Store, error) {
	place, err := LocateVault()
	if err != nil {
		return nil, err
	}
	return place.Open()
}

// NewResolver returns a resolver that replaces references for one server, which is started in a
// folder; "" means ours.
func NewResolver(server string, command []string, dir string) *vault.Resolver {
	if dir == "" {
		dir, _ = os.Getwd() // on an error dir is "", which matches no binding to a folder
	}
	return &vault.Resolver{Open: Open, Server: vault.Requester{Name: server, Command: BoundCommand(command), Dir: dir}, Now: time.Now()}
}

// BoundCommand returns the words that an entry is bound to: the command that starts a server,
// or its address without the query, which may be a secret itself.
func BoundCommand(words []string) []string {
	if len(words) != 1 || !strings.Contains(words[0], "://") {
		return words
	}
	u, err := url.Parse(words[0])
	if err != nil {
		return words
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.User = "", false, "", nil
	return []string{u.String()}
}

// AdviseBinding adds to a refusal the command with which the owner allows the server to have
// the entry. The server's command is a placeholder when it is unknown or holds a secret.
func AdviseBinding(err error, s vault.Requester) error {
	refused, ok := errors.AsType[*vault.Refusal](err)
	if !ok || !refused.Bind {
		return err
	}
	words := cmdline.Quote(s.Command)
	switch _, secret := redact.FindSecret(words, 0); {
	case secret:
		words = "COMMAND, as the client's file has it"
	case words == "":
		words = "COMMAND"
	}
	folder := ""
	if s.Dir != "" && (len(s.Command) == 0 || s.ReadsFolder()) {
		folder = " --folder=" + cmdline.Quote([]string{s.Dir})
	}
	return &adviceError{err, "; to give it that: clawai vault bind " + refused.Entry + " --server=" + cmdline.Quote([]string{s.Name}) + folder + " -- " + words}
}

type adviceError struct {
	error
	next string
}

func (a *adviceError) Error() string { return a.error.Error() + a.next }

func (a *adviceError) Unwrap() error { return a.error }
