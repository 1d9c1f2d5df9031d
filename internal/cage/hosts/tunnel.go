package hosts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/clawai/clawai/policy/hostlist"
)

// serveTunnel passes bytes in both directions, after the answer to CONNECT.
func (p *Proxy) serveTunnel(ctx context.Context, c net.Conn, from *bufio.Reader, t hostlist.Target) {
	conn, err := p.dialTarget(ctx, t)
	if err != nil {
		p.refuseDial(c, err)
		return
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	p.passBytes(ctx, c, conn, from, t)
}

// serveDoor connects a client of a door with the door's target, without CONNECT. A refused client
// gets no answer, because clawai does not know the protocol of the connection.
func (p *Proxy) serveDoor(ctx context.Context, c net.Conn, t hostlist.Target) {
	defer func() { _ = c.Close() }()
	conn, err := p.dialTarget(ctx, t)
	if refused, ok := errors.AsType[*refusedError](err); ok {
		p.tellRefusal(Refusal{Host: refused.host, Reason: refused.reason})
	}
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	p.passBytes(ctx, c, conn, bufio.NewReader(c), t)
}

func (p *Proxy) passBytes(ctx context.Context, c, conn net.Conn, from *bufio.Reader, t hostlist.Target) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	back := make(chan struct{})
	go func() { // in both directions at once, because in some protocols the target speaks first
		defer close(back)
		_, _ = io.Copy(c, conn)
		closeWrite(c)
	}()
	if err := p.sendAll(c, conn, from, t); err != nil {
		p.tellRefusal(Refusal{Host: err.host, Reason: err.reason})
		_ = conn.Close()
		_ = c.Close()
	}
	closeWrite(conn)
	<-back
}

// sendAll passes the server's bytes to the target. If the bytes begin with a TLS greeting, the name
// in the greeting must be the target's name.
func (p *Proxy) sendAll(c, conn net.Conn, from *bufio.Reader, t hostlist.Target) *refusedError {
	first, err := from.Peek(1)
	if err != nil {
		return nil
	}
	if first[0] == recordOfHandshake {
		_ = c.SetReadDeadline(time.Now().Add(headWait))
		greeting, name, err := readGreeting(from)
		switch {
		case err != nil:
			return &refusedError{t.String(), "its TLS greeting cannot be read"}
		case !p.isGreetingFor(name, t):
			return &refusedError{t.String(), fmt.Sprintf("its TLS greeting is for %.100q", name)}
		}
		_ = c.SetReadDeadline(time.Time{})
		if _, err := conn.Write(greeting); err != nil {
			return nil
		}
	}
	_, _ = io.Copy(conn, from)
	return nil
}

// isGreetingFor reports whether the name in a TLS greeting is the target's name. If the target is
// an address, the greeting may have no name, or any name that the list opens.
func (p *Proxy) isGreetingFor(name string, t hostlist.Target) bool {
	if t.Addr.IsValid() {
		named, err := hostlist.ParseTarget(name)
		named.Port = t.Port
		return name == "" || err == nil && p.opens(named)
	}
	return strings.EqualFold(name, t.Name)
}

// recordOfHandshake is the first byte of a TLS connection (RFC 8446, section 5.1).
const recordOfHandshake = 22

// readGreeting reads a TLS greeting. It returns the bytes that it has read, and the server name in them.
func readGreeting(from io.Reader) (greeting []byte, name string, err error) {
	read, done := &bytes.Buffer{}, errors.New("read")
	reader := tls.Server(greetingConn{Reader: io.TeeReader(io.LimitReader(from, maxHead), read)}, &tls.Config{ //nolint:gosec // no connection is made
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name = hello.ServerName
			return nil, done
		},
	})
	if err := reader.Handshake(); !errors.Is(err, done) {
		return nil, "", err
	}
	return read.Bytes(), name, nil
}

// greetingConn is a read-only connection, for the TLS parser.
type greetingConn struct {
	io.Reader
	net.Conn
}

func (c greetingConn) Read(p []byte) (int, error)     { return c.Reader.Read(p) }
func (greetingConn) Write(p []byte) (int, error)      { return len(p), nil }
func (greetingConn) Close() error                     { return nil }
func (greetingConn) SetDeadline(time.Time) error      { return nil }
func (greetingConn) SetReadDeadline(time.Time) error  { return nil }
func (greetingConn) SetWriteDeadline(time.Time) error { return nil }

func closeWrite(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}
