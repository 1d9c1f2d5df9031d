// Package vaultplace gives the commands access to the vault. It knows where the vault is, and to
// which command or address an entry is bound.
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

// LocateVault returns the place of this user's vault. The place does not depend on --state.
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

// Open opens this user's vault.
func Open() (vault.Store, error) {
	place, err := LocateVault()
	if err != nil {
		return nil, err
	}
	return place.Open()
}

// NewResolver returns a resolver. It replaces the references of one server by values from the
// vault. dir is the folder in which the server starts; "" means the current folder.
func NewResolver(server string, command []string, dir string) *vault.Resolver {
	if dir == "" {
		dir, _ = os.Getwd() // after an error, dir stays "" and matches no binding to a folder
	}
	return &vault.Resolver{Open: Open, Server: vault.Requester{Name: server, Command: BoundCommand(command), Dir: dir}, Now: time.Now()}
}

// BoundCommand returns the words to which an entry of the vault is bound: the command of a server,
// or the address of a remote server. It removes the query of the address, because the query may
// contain a secret.
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

// AdviseBinding adds advice to a refusal: a command with which the owner lets the server use the
// entry. If the server's command is unknown or contains a secret, the advice has COMMAND in its
// place.
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
