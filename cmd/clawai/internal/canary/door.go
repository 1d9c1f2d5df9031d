package canary

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/scripted"
)

// door is the only server that a client can reach. It serves the model. It is also the client's
// HTTP proxy. As a proxy, it refuses all other hosts.
type door struct {
	address string // http://127.0.0.1:PORT
	server  http.Server
	model   *scripted.Model

	one       sync.Mutex
	elsewhere []string
}

// openDoor starts the door on a loopback port.
func openDoor(model *scripted.Model) (*door, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{address: "http://" + l.Addr().String(), model: model}
	d.server.Handler, d.server.ReadHeaderTimeout = d, 10*time.Second
	go func() { _ = d.server.Serve(l) }() // ends when d is closed
	return d, nil
}

// Close closes the server at once, without waiting for open requests.
func (d *door) Close() { _ = d.server.Close() }

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if "http://"+r.Host == d.address && r.Method != http.MethodConnect {
		d.model.ServeHTTP(w, r)
		return
	}
	d.one.Lock()
	defer d.one.Unlock()
	if host, _, err := net.SplitHostPort(r.Host); err == nil && !slices.Contains(d.elsewhere, host) && len(d.elsewhere) < 20 {
		d.elsewhere = append(d.elsewhere, strings.ToLower(host))
	}
	http.Error(w, "clawai's canary reaches no other host", http.StatusForbidden)
}

func (d *door) refusedHosts() []string {
	d.one.Lock()
	defer d.one.Unlock()
	return slices.Sorted(slices.Values(d.elsewhere))
}
