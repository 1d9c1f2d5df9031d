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
)

// knownFront is the owner's proxy as far as there is one already.
func knownFront(state string) (f wrap.Front, err error) {
	if f.Upstreams, err = wrap.ReadUpstreams(state); err != nil {
		return f, err
	}
	if f.Doors, err = wrap.ReadDoors(state); err != nil {
		return f, err
	}
	f.Secret, err = readListenSecret(state)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return f, err
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

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
