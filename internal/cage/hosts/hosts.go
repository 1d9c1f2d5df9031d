// Package hosts is the way out of a cage whose table lists hosts: an HTTP proxy outside, which
// accepts connections on a socket that lies in the server's own network. What it is asked is
// hostile. It connects only to addresses that it has looked at, and looks at the server's TLS
// greeting before it passes anything on.
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

// EventCode is the code of the records of refusals.
const EventCode = "host"

// NotListed is the reason for a host that no entry of the list opens.
const NotListed = "it is not in net of its table"

// Detail returns a refusal as the record has it.
func (r Refusal) Detail() string { return "refused " + r.Host + ": " + r.Reason }

// ParseDetail reads what Detail wrote.
func ParseDetail(text string) (r Refusal, ok bool) {
	text, ok = strings.CutPrefix(text, "refused ")
	r.Host, r.Reason, _ = strings.Cut(text, ": ")
	return r, ok
}

// Bounds of what a server may keep here.
const (
	maxConns   = 256
	maxRefused = 64 // hosts that are told within a minute
	maxDials   = 4  // addresses of a name that are tried
	headWait   = 30 * time.Second
	dialWait   = 15 * time.Second
	tellAgain  = time.Minute
	retryWait  = 100 * time.Millisecond
)

// Proxy is the way out of one cage.
type Proxy struct {
	List hostlist.List
	Not  hostlist.List // what is not reached, whatever List has
	// Refused is told of what was refused: once per host and minute. It may be nil.
	Refused func(Refusal)
	// Resolve asks for the addresses of a name. It is nil but in tests.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)

	mu    sync.Mutex
	told  map[string]time.Time // when a host was last told
	conns chan struct{}        // has an entry for each connection
}

// Refusal is a host that a server asked for and did not get.
type Refusal struct {
	Host   string // as far as it could be read: a host and a port
	Reason string
}

// Serve answers as a proxy until the listener is closed. It then ends all connections.
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
		if err != nil { // there are no descriptors, until a connection ends
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

// refusedError is why a host is not reached.
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

// tellRefusal reports a refusal, unless that host was told within the last minute.
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

// dialTarget connects to a target, if the list opens it: to an address that was looked at.
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

// localhost is this machine.
const localhost = "localhost"

// findAddrs returns the addresses of a target that may be connected to.
func (p *Proxy) findAddrs(ctx context.Context, t hostlist.Target) (open []netip.Addr, err error) {
	switch {
	case t.Addr.IsValid():
		return []netip.Addr{t.Addr}, nil // the list names it
	case t.Name == localhost:
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil // whatever a name server says (RFC 6761)
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

// isOwn reports whether an address is one of this machine. If that cannot be found out, it is.
func isOwn(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(all, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap() == addr
	})
}
