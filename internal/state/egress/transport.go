package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/state/config"
)

// Network holds the settings for connections to other machines. The zero value uses only the
// settings in the environment.
type Network struct {
	Folders config.Folders // clawai's folders, one of which contains config.toml
}

// Options are the parameters of NewTransport.
type Options struct {
	// Check is called with each address before we connect to it. It is not called if a proxy makes
	// the connection.
	Check func(ctx context.Context, network, address string, c syscall.RawConn) error
	// Tune changes the limits of a transport.
	Tune func(*http.Transport)
}

// dialTimeout is the time limit for making a connection. The TLS handshake that follows has its own
// limit of the same length.
const dialTimeout = 10 * time.Second

// Transport carries requests. It is safe for concurrent use.
type Transport struct {
	network Network
	o       Options

	mu      sync.Mutex // guards the fields below
	proxies *proxies
	trust   *settings // nil before the settings were read without an error
	routes  map[routeKey]*route
}

// routeKey is the key of a route. Requests with different keys need different transports.
type routeKey struct {
	secure, proxied bool
	entry           string // name of the settings for the host
}

// route is a transport. The other fields are for the texts of errors.
type route struct {
	http    *http.Transport
	trust   *trust        // nil for a route without TLS
	through *proxyAddress // the proxy; nil: a direct connection
	asked   atomic.Bool   // a server on this route has asked for a certificate
	heard   atomic.Bool   // a server on this route has answered
}

// NewTransport returns a transport. It reads no file yet.
func (n Network) NewTransport(o Options) *Transport {
	return &Transport{network: n, o: o, routes: make(map[routeKey]*route)}
}

// RoundTrip sends a request. Errors with a text of our own are *Error values.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	by, err := t.findRoute(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	resp, err := by.http.RoundTrip(r)
	if err != nil {
		return nil, by.explainError(err, r.URL)
	}
	by.heard.Store(true)
	if err := by.checkAnswer(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// CloseIdleConnections closes the idle connections of all routes.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, by := range t.routes {
		by.http.CloseIdleConnections()
	}
}

// findRoute returns the route of a request, and makes it if there is none yet.
func (t *Transport) findRoute(r *http.Request) (*route, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.proxies == nil {
		t.proxies = readProxies(os.Getenv)
	}
	through, err := t.proxies.findProxy(r.URL)
	if err != nil {
		return nil, err
	}
	key := routeKey{secure: r.URL.Scheme == "https", proxied: through != nil}
	var forHost *trust
	if key.secure {
		if forHost, err = t.readTrust(r.URL.Host); err != nil {
			return nil, err
		}
		key.entry = forHost.entry
	}
	if by := t.routes[key]; by != nil {
		return by, nil
	}
	by, err := t.makeRoute(forHost, through)
	if err == nil {
		t.routes[key] = by
	}
	return by, err
}

// readTrust returns the settings for a host. If the settings cannot be read, the next call tries
// again.
func (t *Transport) readTrust(host string) (*trust, error) {
	if t.trust == nil {
		read, err := t.network.readSettings(os.Getenv)
		if err != nil {
			return nil, err
		}
		t.trust = read
	}
	return t.trust.forHost(host)
}

func (t *Transport) makeRoute(forHost *trust, through *proxyAddress) (*route, error) {
	by := &route{trust: forHost, through: through}
	carry := http.DefaultTransport.(*http.Transport).Clone()
	carry.Proxy = nil
	carry.TLSHandshakeTimeout = dialTimeout
	if forHost != nil {
		carry.TLSClientConfig = forHost.clientConfig(&by.asked)
	}
	dial := (&net.Dialer{Timeout: dialTimeout, ControlContext: t.o.Check}).DialContext
	carry.DialContext = dial
	if through != nil {
		carry.Proxy = func(*http.Request) (*url.URL, error) { return through.url, nil }
		carry.OnProxyConnectResponse = through.checkConnect
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
		carry.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return conn, through.explainDial(err)
		}
		if through.url.Scheme == "https" {
			secured, err := t.readTrust(through.url.Host)
			if err != nil {
				return nil, err
			}
			carry.DialTLSContext = through.dialTLS(dial, secured.forProxy())
		}
	}
	if t.o.Tune != nil {
		t.o.Tune(carry)
	}
	by.http = carry
	return by, nil
}

// dialTLS returns a function that connects to the proxy by TLS.
func (p *proxyAddress) dialTLS(dial func(context.Context, string, string) (net.Conn, error), secured *trust) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, p.explainDial(err)
		}
		asked := &atomic.Bool{}
		set := secured.clientConfig(asked)
		set.ServerName, set.NextProtos = p.url.Hostname(), []string{"http/1.1"}
		over := tls.Client(conn, set)
		if err := over.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, p.explainTLS(err, secured, asked.Load())
		}
		return over, nil
	}
}

// DialTLS connects to a host and port by TLS, without a proxy. It uses the same authorities and
// certificates as a request to that host. An error with a text of our own is an *Error.
func (t *Transport) DialTLS(ctx context.Context, address string) (*tls.Conn, error) {
	t.mu.Lock()
	forHost, err := t.readTrust(address)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	by := &route{trust: forHost}
	set := forHost.clientConfig(&by.asked)
	set.ServerName = host
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	conn, err := (&tls.Dialer{Config: set}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, by.explainError(err, &url.URL{Host: address})
	}
	return conn.(*tls.Conn), nil
}
