// Package httpproxy has the code that "clawai wrap --remote=proxy" and "clawai proxy --listen"
// share. It stores the original servers of redirected entries, and the secret in the URLs.
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

// Read reads the files of the owner's HTTP proxy. The field of a missing file stays empty.
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

// ListUpstreams returns the original servers of redirected entries, each as NAME=URL.
func ListUpstreams(state string) ([]string, error) {
	known, err := wrap.ReadUpstreams(state)
	if err != nil {
		return nil, &cmdline.ExitError{Code: cmdline.ExitFailed, Err: err}
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

// EnsureSecret returns the secret part of the proxy's path. The first call creates it. It never
// changes, because clients' files contain it.
func EnsureSecret(state string) (string, error) { return loadOrMakeSecret(secretPath(state)) }

// EnsureToken returns the token of a listening proxy. The owner needs the token to start and end
// invocations.
func EnsureToken(state string) (string, error) {
	return loadOrMakeSecret(filepath.Join(state, "listen.token"))
}

// loadOrMakeSecret returns the secret in a file. If the file is missing, it creates the file with a
// random secret.
func loadOrMakeSecret(path string) (string, error) {
	secret, err := readSecretFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		return secret, err
	}
	secret = rand.Text()
	return secret, saveSecret(path, secret)
}

// KeepSecret stores the secret in a file that only the owner can read.
func KeepSecret(state, secret string) error { return saveSecret(secretPath(state), secret) }

func saveSecret(path, secret string) error {
	return atomicfile.Write(path, []byte(secret+"\n"), atomicfile.Options{Mode: 0o600})
}

func secretPath(state string) string { return filepath.Join(state, "listen.secret") }

// ReadSecret returns the secret. The error is os.ErrNotExist if the secret does not exist yet.
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

// IsLoopback reports whether only this machine can reach host.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
