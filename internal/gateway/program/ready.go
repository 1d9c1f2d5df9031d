package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/state/egress"
)

// readyTime is how long a centre has to say whether it is ready.
const readyTime = 5 * time.Second

// runReady asks the operator's address of the centre in a folder whether its database answers.
func runReady(c *call) error {
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
		address = net.JoinHostPort("localhost", port) // it listens on all addresses
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	out := egress.Network{}.NewTransport(egress.Options{})
	defer out.CloseIdleConnections()
	client := http.Client{Transport: out}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("no centre answers at %s: %w", address, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<12))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the centre is not ready: %s", bytes.TrimSpace(text))
	}
	if err == nil {
		_, err = c.stdout.Write(text)
	}
	return err
}
