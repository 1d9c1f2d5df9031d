// Package hosts is the way out of a cage whose table lists hosts. It runs an HTTP proxy outside the
// cage, which accepts connections on a socket in the server's own network. The proxy treats every
// request as hostile. It connects only to addresses that it has checked, and checks the server's
// TLS greeting before it passes on any byte.
package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/policy/where/web"
)

// EventCode is the code of a refusal in the record.
const EventCode = "host"

// NotListed is the reason for a host that no entry of the list opens.
const NotListed = "it is not in net of its table"

// Detail returns the text of a refusal for the record.
func (r Refusal) Detail() string { return "refused " + r.Host + ": " + r.Reason }

// ParseDetail parses a text that Detail returned.
func ParseDetail(text string) (r Refusal, ok bool) {
	text, ok = strings.CutPrefix(text, "refused ")
	r.Host, r.Reason, _ = strings.Cut(text, ": ")
	return r, ok
}

// Limits on the connections and the memory that one server may use here, and the waiting times.
const (
	maxConns   = 256
	maxRefused = 64 // refused hosts that are reported within a minute
	maxDials   = 4  // largest number of addresses of a name that are tried
	headWait   = 30 * time.Second
	dialWait   = 15 * time.Second
	tellAgain  = time.Minute
	retryWait  = 100 * time.Millisecond
)

// Proxy is the way out of one cage.
type Proxy struct {
	List hostlist.List
	Not  hostlist.List // hosts that are refused even if List contains them
	// Refused is called for each refused host, at most once a minute for one host. It may be nil.
	Refused func(Refusal)
	// Resolve returns the addresses of a name. It is nil except in tests; nil: the system's resolver.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)

	mu    sync.Mutex
	told  map[string]time.Time // time of the last report of a refusal, by host
	conns chan struct{}        // has an entry for each connection
}

// Refusal is a host that a server asked for and did not get.
type Refusal struct {
	Host   string // host and port, as far as they could be parsed
	Reason string
}

// Serve answers as a proxy until the listener is closed. Then Serve ends all connections.
func (p *Proxy) Serve(l net.Listener) { p.serveAll(l, p.serveConn) }

// ServeDoor passes each connection on to one target, until the listener is closed.
func (p *Proxy) ServeDoor(l net.Listener, t hostlist.Target) {
	p.serveAll(l, func(ctx context.Context, c net.Conn) { p.serveDoor(ctx, c, t) })
}

func (p *Proxy) serveAll(l net.Listener, serve func(context.Context, net.Conn)) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	conns := p.countConns()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // probably this process has too many open files; when a connection ends, a file can be opened again
			time.Sleep(retryWait)
			continue
		}
		conns <- struct{}{}
		all.Go(func() {
			defer func() { <-conns }()
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer stop()
			serve(ctx, c)
		})
	}
}

// countConns returns the channel that counts the connections of all listeners.
func (p *Proxy) countConns() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = make(chan struct{}, maxConns)
	}
	return p.conns
}

// refusedError is the reason why a host or a request is refused.
type refusedError struct {
	host   string
	reason string
}

func (e *refusedError) Error() string {
	if e.host == "" {
		return "the sandbox of this server refuses the request: " + e.reason
	}
	return fmt.Sprintf("the sandbox of this server does not let it reach %s: %s", e.host, e.reason)
}

// tellRefusal reports a refusal, unless a refusal of the same host was reported within the last minute.
func (p *Proxy) tellRefusal(r Refusal) {
	if p.Refused == nil {
		return
	}
	now := time.Now()
	p.mu.Lock()
	if p.told == nil {
		p.told = map[string]time.Time{}
	}
	for host, at := range p.told {
		if now.Sub(at) >= tellAgain {
			delete(p.told, host)
		}
	}
	switch _, known := p.told[r.Host]; {
	case known, len(p.told) > maxRefused:
		p.mu.Unlock()
		return
	case len(p.told) == maxRefused:
		p.told[r.Host] = now
		r = Refusal{Host: "further hosts", Reason: "too many to name within a minute"}
	default:
		p.told[r.Host] = now
	}
	p.mu.Unlock()
	p.Refused(r)
}

// opens reports whether a target may be reached.
func (p *Proxy) opens(t hostlist.Target) bool { return p.List.Opens(t) && !p.Not.Covers(t) }

// dialTarget connects to a target if the list opens it. It uses only addresses that it has checked.
func (p *Proxy) dialTarget(ctx context.Context, t hostlist.Target) (net.Conn, error) {
	if p.Not.Covers(t) {
		return nil, &refusedError{t.String(), "its client's file shuts it (deniedDomains)"}
	}
	if !p.List.Opens(t) {
		return nil, &refusedError{t.String(), NotListed}
	}
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	addrs, err := p.findAddrs(ctx, t)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	var errs []error
	for _, addr := range addrs[:min(len(addrs), maxDials)] {
		c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, t.Port).String())
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("cannot reach %s: %w", t, errors.Join(errs...))
}

// localhost is the name of this machine.
const localhost = "localhost"

// findAddrs returns the addresses of a target to which a connection is allowed.
func (p *Proxy) findAddrs(ctx context.Context, t hostlist.Target) (open []netip.Addr, err error) {
	switch {
	case t.Addr.IsValid():
		return []netip.Addr{t.Addr}, nil // the list of hosts contains this address
	case t.Name == localhost:
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil // localhost never comes from a name server (RFC 6761)
	}
	resolve := p.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	all, err := resolve(ctx, t.Name)
	if err != nil {
		return nil, fmt.Errorf("cannot find %s: %w", t.Name, err)
	}
	for _, addr := range all {
		addr = addr.Unmap()
		switch {
		case p.Not.Covers(hostlist.Target{Addr: addr, Port: t.Port}):
		case p.List.Opens(hostlist.Target{Addr: addr, Port: t.Port}), web.IsPublicAddr(addr) && !isOwn(addr):
			open = append(open, addr)
		}
	}
	if len(open) == 0 && len(all) > 0 {
		return nil, &refusedError{t.String(), fmt.Sprintf("it leads to %s, which is not an address of the internet; net has to name that, too", all[0].Unmap())}
	}
	return open, nil
}

// isOwn reports whether an address belongs to this machine. It returns true if it cannot find out.
func isOwn(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(all, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap() == addr
	})
}
