package program

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/state/config"
)

// lookEvery is the shortest time between two checks for new files of the certificate. A renewal replaces
// the files while the centre runs.
const lookEvery = 10 * time.Second

// certificate is the centre's certificate, read again when its files change. It is safe for concurrent
// use.
type certificate struct {
	chain, key string
	report     func(error)
	now        func() time.Time

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  string    // result of readStamp when pair was read
	looked time.Time // time of the last check for new files
}

// readCertificate reads a certificate and its key for the first time.
func readCertificate(chain, key string, report func(error), now func() time.Time) (*certificate, error) {
	c := &certificate{chain: chain, key: key, report: report, now: now, looked: now()}
	c.stamp = c.readStamp()
	pair, err := c.read()
	c.pair = pair
	return c, err
}

func (c *certificate) read() (*tls.Certificate, error) {
	chain, err := config.ReadFile(c.chain)
	if err != nil {
		return nil, fmt.Errorf("listen.certificate: %w", err)
	}
	key, err := centre.ReadSecret(c.key)
	if err != nil {
		return nil, fmt.Errorf("listen.key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("listen: %s and %s are not a certificate and its key as PEM (%w)", c.chain, c.key, err)
	}
	return &pair, nil
}

// readStamp returns a text that changes when one of the files does.
func (c *certificate) readStamp() (stamp string) {
	for _, path := range []string{c.chain, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			stamp += err.Error() + "\n"
			continue
		}
		stamp += fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
	}
	return stamp
}

// get returns the certificate for a connection. If new files cannot be used, it returns the earlier
// certificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked).Abs() < lookEvery {
		return c.pair, nil
	}
	c.looked = now
	stamp := c.readStamp()
	if stamp == c.stamp {
		return c.pair, nil
	}
	pair, err := c.read()
	if err != nil {
		// A renewal writes two files, one after the other. Perhaps only one is new, so the next check tries
		// again.
		c.report(fmt.Errorf("the renewed certificate cannot be used, and the one before stays: %w", err))
		return c.pair, nil
	}
	c.pair, c.stamp = pair, stamp
	return pair, nil
}

// settings returns the TLS settings of a server with this certificate.
func (c *certificate) settings() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}}
}

// readSecret returns a secret that gateway.toml names, or "" if gateway.toml does not name it. The first
// parameter is the secret's key in gateway.toml without _file or _env.
func readSecret(of, file, variable string, getenv func(string) string) (string, error) {
	switch {
	case file != "":
		src, err := centre.ReadSecret(file)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s_file: %s is not there", of, file)
		}
		if err != nil {
			return "", fmt.Errorf("%s_file: %w", of, err)
		}
		if secret := strings.TrimRight(string(src), "\r\n"); secret != "" {
			return secret, nil
		}
		return "", fmt.Errorf("%s_file: %s is empty", of, file)
	case variable != "":
		if secret := getenv(variable); secret != "" {
			return secret, nil
		}
		return "", fmt.Errorf("%s_env: the variable %s is not set", of, variable)
	}
	return "", nil
}
