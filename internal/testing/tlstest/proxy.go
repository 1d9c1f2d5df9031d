package tlstest

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// Proxy is a proxy that connects to this machine for every host name.
type Proxy struct {
	Address string // HOST:PORT
	Refuses int    // status with which an HTTP proxy refuses all hosts; 0 if it refuses none
	TLS     *tls.ConnectionState

	name, password string // "" if the proxy requires no password
	mu             sync.Mutex
	asked          []string
}

// Asked returns the HOST:PORT of all requested connections.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

func (p *Proxy) note(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, host)
}

// NewHTTPProxy starts an HTTP proxy. If set is not nil, clients must connect to it with TLS. The
// proxy ends with the test.
func NewHTTPProxy(t testing.TB, name, password string, set *tls.Config) *Proxy {
	p := &Proxy{name: name, password: password}
	s := httptest.NewUnstartedServer(p)
	if s.TLS = set; set == nil {
		s.Start()
	} else {
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	p.Address = s.Listener.Addr().String()
	return p
}

// ServeHTTP opens a tunnel for CONNECT. It forwards other requests.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil {
		p.mu.Lock()
		p.TLS = r.TLS
		p.mu.Unlock()
	}
	if p.name != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.name+":"+p.password)) {
		w.Header().Set("Proxy-Authenticate", "Basic realm=company")
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.note(r.Host)
	if p.Refuses != 0 {
		w.WriteHeader(p.Refuses)
		return
	}
	if r.Method != http.MethodConnect {
		p.forward(w, r)
		return
	}
	there, err := dialHere(r.Context(), r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	copyBoth(here, buffered, there)
}

func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	carry := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return dialHere(ctx, address) }, DisableKeepAlives: true}
	out := r.Clone(r.Context())
	out.RequestURI = ""
	resp, err := carry.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func dialHere(ctx context.Context, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
}

// copyBoth copies bytes in both directions until one side ends.
func copyBoth(here net.Conn, from io.Reader, there net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(there, from)
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
	_ = here.Close()
	<-done
}

// NewSOCKSProxy starts a SOCKS5 proxy (RFC 1928, RFC 1929). The proxy ends with the test.
func NewSOCKSProxy(t testing.TB, name, password string) *Proxy {
	p := &Proxy{name: name, password: password}
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Address = in.Addr().String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				_ = p.serveSOCKS(c)
			})
		}
	})
	t.Cleanup(func() { _ = in.Close() })
	return p
}

func (p *Proxy) serveSOCKS(c net.Conn) error {
	r := bufio.NewReader(c)
	methods, err := readSized(r, 1)
	if err != nil {
		return err
	}
	method := byte(0)
	if p.name != "" {
		method = 2
	}
	if !contains(methods, method) {
		_, err = c.Write([]byte{5, 0xff})
		return err
	}
	if _, err := c.Write([]byte{5, method}); err != nil {
		return err
	}
	if method == 2 {
		name, err := readSized(r, 1)
		if err != nil {
			return err
		}
		password, err := readSized(r, 0)
		if err != nil {
			return err
		}
		if string(name) != p.name || string(password) != p.password {
			_, err = c.Write([]byte{1, 1})
			return err
		}
		if _, err := c.Write([]byte{1, 0}); err != nil {
			return err
		}
	}
	host, err := readHost(r)
	if err != nil {
		return err
	}
	p.note(host)
	there, err := dialHere(context.Background(), host)
	if err != nil {
		_, err = c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	if _, err := c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		_ = there.Close()
		return err
	}
	copyBoth(c, r, there)
	return nil
}

// readSized skips some bytes, reads one byte as a length, and returns the next bytes of this
// length.
func readSized(r *bufio.Reader, skipped int) ([]byte, error) {
	if _, err := r.Discard(skipped); err != nil {
		return nil, err
	}
	n, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

func readHost(r *bufio.Reader) (string, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", err
	}
	var host string
	switch head[3] {
	case 3:
		name, err := readSized(r, 0)
		if err != nil {
			return "", err
		}
		host = string(name)
	case 1, 4:
		ip := make([]byte, map[byte]int{1: 4, 4: 16}[head[3]])
		if _, err := io.ReadFull(r, ip); err != nil {
			return "", err
		}
		host = net.IP(ip).String()
	default:
		return "", fmt.Errorf("address type %d", head[3])
	}
	port := make([]byte, 2)
	if _, err := io.ReadFull(r, port); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port)))), nil
}

func contains(all []byte, one byte) bool {
	for _, b := range all {
		if b == one {
			return true
		}
	}
	return false
}
