package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/text/term"
)

// readyTime is the time limit for the centre's answer.
const readyTime = 5 * time.Second

// maxSaid is the maximum number of characters of an answer that are shown.
const maxSaid = 200

// runReady sends a request to the operator's address of a centre, to learn whether the
// centre's database answers.
func runReady(c *call) error {
	path := filepath.Join(c.dir, centre.SettingsFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is not there, so it is not known where the centre answers; name the centre's folder: clawai-gateway ready --dir DIR", path)
	}
	s, err := centre.ReadSettings(c.dir)
	if err != nil {
		return err
	}
	address := s.Listen.OperatorAddress()
	if address == "" {
		return usagef("listen.operator is \"off\", so the centre does not say whether it is ready; name an address there, such as 127.0.0.1:8471")
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		address = net.JoinHostPort("localhost", port) // the centre listens on all addresses
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	out := egress.Network{}.NewTransport(egress.Options{})
	defer out.CloseIdleConnections()
	// Another program may listen at this address. So the client follows no redirect, and only
	// the exact answer of a centre is accepted.
	client := http.Client{Transport: out, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("no centre answers at %s: %w", address, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<12))
	if err != nil {
		return fmt.Errorf("no centre answers at %s: %w", address, err)
	}
	said := string(bytes.TrimSpace(text))
	if answer.StatusCode == http.StatusOK && said == site.Ready {
		fmt.Fprintln(c.stdout, said)
		return nil
	}
	if answer.StatusCode == http.StatusServiceUnavailable {
		return fmt.Errorf("the centre is not ready: %s", term.CutText(said, maxSaid))
	}
	return fmt.Errorf("another program than the centre answers at %s: %d %s; name a free address in listen.operator, and restart the centre", address, answer.StatusCode, term.CutText(said, maxSaid))
}
