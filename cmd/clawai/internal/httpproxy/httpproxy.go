// Package httpproxy is what "clawai wrap --remote=proxy" and "clawai proxy --listen" agree
// on: the servers that clients were led away from, and the secret of their urls.
package httpproxy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/wrap"
)

// Read is the owner's proxy as far as there is one already.
func Read(state string) (f wrap.HTTPProxy, err error) {
	if f.Upstreams, err = wrap.ReadUpstreams(state); err != nil {
		return f, err
	}
	if f.Listeners, err = wrap.ReadListeners(state); err != nil {
		return f, err
	}
	f.Secret, err = ReadSecret(state)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return f, err
}

// ListUpstreams gives the servers that clients were led away from, as NAME=URL.
func ListUpstreams(state string) ([]string, error) {
	known, err := wrap.ReadUpstreams(state)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, cmdline.Usagef("--wrapped: no client was led here yet; do it with: clawai wrap --all --remote=proxy")
	}
	var all []string
	for name, address := range known {
		all = append(all, name+"="+address)
	}
	slices.Sort(all)
	return all, nil
}

// EnsureSecret gives the secret part of the proxy's path, and makes it at the first call. It
// never changes, because the files of clients hold it.
func EnsureSecret(state string) (string, error) { return loadOrMakeSecret(secretPath(state)) }

// EnsureToken gives what the owner of a listening proxy begins and ends invocations with.
func EnsureToken(state string) (string, error) {
	return loadOrMakeSecret(filepath.Join(state, "listen.token"))
}

// loadOrMakeSecret gives a secret that is made once.
func loadOrMakeSecret(path string) (string, error) {
	secret, err := readSecretFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		return secret, err
	}
	secret = rand.Text()
	return secret, saveSecret(path, secret)
}

// KeepSecret stores the secret for the owner alone.
func KeepSecret(state, secret string) error { return saveSecret(secretPath(state), secret) }

func saveSecret(path, secret string) error {
	return atomicfile.Write(path, []byte(secret+"\n"), atomicfile.Options{Mode: 0o600})
}

func secretPath(state string) string { return filepath.Join(state, "listen.secret") }

// ReadSecret gives os.ErrNotExist where none was made yet.
func ReadSecret(state string) (string, error) { return readSecretFile(secretPath(state)) }

func readSecretFile(path string) (string, error) {
	src, err := config.ReadSecret(path)
	if err != nil {
		return "", err
	}
	if s := strings.TrimSpace(string(src)); len(s) >= 16 && len(s) <= 128 {
		return s, nil
	}
	return "", fmt.Errorf("%s holds no secret of clawai's; remove it to make a new one", path)
}

// IsLoopback reports whether only this machine can reach an address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
