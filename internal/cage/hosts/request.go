package hosts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/policy/where/authority"
)

// maxHead is the length of the longest request line with its fields.
const maxHead = 64 << 10

// head is the beginning of a request as it was sent.
type head struct {
	target hostlist.Target
	tunnel bool // the method is CONNECT
}

// serveConn answers one request. A second request needs another connection.
func (p *Proxy) serveConn(ctx context.Context, c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetReadDeadline(time.Now().Add(headWait))
	from := bufio.NewReaderSize(c, maxHead)
	text, err := peekHead(from)
	if err != nil && len(text) == 0 {
		return // the client has sent no request
	}
	var h head
	if err == nil {
		h, err = readHead(text)
	}
	var request *http.Request
	if err == nil {
		request, err = http.ReadRequest(from)
	}
	switch {
	case err != nil:
		p.refuseRequest(c, http.StatusBadRequest, &refusedError{"", err.Error()})
	case h.tunnel:
		p.serveTunnel(ctx, c, from, h.target)
	default:
		p.servePlain(ctx, c, request, h.target)
	}
}

// refuseRequest tells the server why its request is refused, and reports the refusal to the owner.
func (p *Proxy) refuseRequest(c net.Conn, code int, err error) {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		host := refused.host
		if host == "" {
			host = "a request that is not carried out"
		}
		p.tellRefusal(Refusal{Host: host, Reason: refused.reason})
	}
	body := "clawai: " + err.Error() + "\n"
	_ = c.SetWriteDeadline(time.Now().Add(headWait))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", code, http.StatusText(code), len(body), body)
	if tcp, ok := c.(*net.TCPConn); ok { // closing at once could discard our answer while bytes of the server are unread
		_ = tcp.CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, maxHead)
	}
}

// refuseDial refuses a request because the connection to its target failed.
func (p *Proxy) refuseDial(c net.Conn, err error) {
	code := http.StatusBadGateway
	if _, ok := errors.AsType[*refusedError](err); ok {
		code = http.StatusForbidden
	}
	p.refuseRequest(c, code, err)
}

var endOfHead = []byte("\r\n\r\n")

// peekHead returns a request up to its empty line, without consuming bytes of the reader.
func peekHead(r *bufio.Reader) ([]byte, error) {
	for {
		text, _ := r.Peek(r.Buffered())
		if at := bytes.Index(text, endOfHead); at >= 0 {
			return text[:at+len(endOfHead)], nil
		}
		if len(text) == maxHead {
			return text, errors.New("its fields are too long")
		}
		if _, err := r.Peek(len(text) + 1); err != nil {
			return text, errors.New("it is not complete")
		}
	}
}

// readHead parses a request before net/http does, and is stricter. It refuses everything that could
// be understood in two ways.
func readHead(text []byte) (h head, err error) {
	lines := strings.Split(strings.TrimSuffix(string(text), string(endOfHead)), "\r\n")
	words := strings.Split(lines[0], " ")
	h.tunnel = words[0] == http.MethodConnect
	if len(words) != 3 || words[2] != "HTTP/1.1" && !(h.tunnel && words[2] == "HTTP/1.0") {
		return h, errors.New("it is not of HTTP/1.1")
	}
	var host string
	if h.tunnel {
		host = words[1]
	} else {
		after, found := strings.CutPrefix(words[1], "http://")
		if !found {
			return h, errors.New("this is a proxy: it takes CONNECT, and addresses that begin with http://")
		}
		host, _ = authority.CutAuthority(after)
	}
	if h.target, err = hostlist.ParseTarget(host); err != nil {
		return h, fmt.Errorf("%.100q is not a host: %w", host, err)
	}
	switch {
	case h.tunnel && h.target.Port == 0:
		return h, errors.New("CONNECT needs a port")
	case h.target.Port == 0:
		h.target.Port = 80
	}
	return h, checkFields(lines[1:], h)
}

// checkFields refuses header fields that could make another program see two requests or another host.
func checkFields(lines []string, h head) error {
	count := map[string]int{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isToken(r) }) {
			return errors.New("a field has no proper name")
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return errors.New("a field holds a control character")
		}
		name, value = strings.ToLower(name), strings.Trim(value, " \t")
		count[name]++
		switch name {
		case "host":
			other, err := hostlist.ParseTarget(value)
			if other.Port == 0 {
				other.Port = h.target.Port
			}
			if err != nil || other != h.target {
				return fmt.Errorf("its field Host is %.100q, and it asks for %s", value, h.target)
			}
		case "transfer-encoding":
			if !strings.EqualFold(value, "chunked") {
				return errors.New("its transfer encoding is not chunked")
			}
		case "content-length":
			if strings.Trim(value, "0123456789") != "" || value == "" {
				return errors.New("its length is not a number")
			}
		}
	}
	bodies := count["content-length"] + count["transfer-encoding"]
	if count["host"] > 1 || bodies > 1 || h.tunnel && bodies > 0 {
		return errors.New("it has a field twice, or two lengths")
	}
	return nil
}

// isToken reports whether a character is allowed in the name of a field (RFC 9110, section 5.6.2).
func isToken(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// hops are header fields for one connection only. The proxy does not forward them.
var hops = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Upgrade", "Expect"}

func dropHops(fields http.Header) {
	for _, list := range fields["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			fields.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hops {
		fields.Del(name)
	}
}

// servePlain forwards a request without TLS. It sends the parsed request, not the received bytes.
// So the received bytes cannot hide anything from the checks.
func (p *Proxy) servePlain(ctx context.Context, c net.Conn, r *http.Request, t hostlist.Target) {
	conn, err := p.dialTarget(ctx, t)
	if err != nil {
		p.refuseDial(c, err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = c.SetReadDeadline(time.Time{})
	if r.Header.Get("Expect") != "" {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	dropHops(r.Header)
	r.Close = true
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = []string{""} // without this, Go adds its own User-Agent
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	sent := make(chan struct{})
	go func() { // in its own goroutine, because some servers answer before they have read the whole request
		defer close(sent)
		_ = r.Write(conn)
	}()
	defer func() { _ = c.SetReadDeadline(time.Now()); _ = conn.Close(); <-sent }()
	answer, err := readAnswer(bufio.NewReader(conn), r)
	if err != nil {
		p.refuseDial(c, fmt.Errorf("%s did not answer: %w", t, err))
		return
	}
	defer func() { _ = answer.Body.Close() }()
	dropHops(answer.Header)
	answer.Close = true
	_ = answer.Write(c)
}

// readAnswer reads the final answer to a request. It skips interim answers (status 1xx).
func readAnswer(from *bufio.Reader, r *http.Request) (*http.Response, error) {
	const most = 5
	for range most {
		answer, err := http.ReadResponse(from, r)
		if err != nil || answer.StatusCode >= http.StatusOK {
			return answer, err
		}
	}
	return nil, errors.New("it says nothing but to wait")
}
