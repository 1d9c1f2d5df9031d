// Package hostlist reads the lists of hosts that a sandbox opens (docs/sandbox.md), and compares
// them with the hosts that a server wants to reach. It refuses a text that two programs could read
// differently. The package is pure.
package hostlist

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where/authority"
)

// Target is the host and the port that a server wants to reach.
type Target struct {
	Name string     // the host's name in lower case, without a final dot; "" if the host is an address
	Addr netip.Addr // the zero Addr, which is not valid, if the host is a name
	Port uint16     // 0 if the text has no port
}

// Entry is one entry of a list.
type Entry struct {
	Target      // if Port is 0, the entry means the ports in the variable usual
	Below  bool // the entry means all names below Name, but not Name itself
}

// List is a list of hosts.
type List []Entry

// usual holds the ports that an entry without a port opens: HTTPS and HTTP.
var usual = []uint16{443, 80}

// ParseEntry reads an entry of a list: a host, an address, or "*." and a domain, each with an
// optional port.
func ParseEntry(text string) (e Entry, err error) {
	host, below := strings.CutPrefix(text, "*.")
	if e.Target, err = ParseTarget(host); err != nil {
		return Entry{}, err
	}
	if e.Below = below; below && e.Name == "" {
		return Entry{}, errors.New("nothing is below an address")
	}
	return e, nil
}

// ParseList reads the entries of a list.
func ParseList(texts []string) (l List, err error) {
	for _, text := range texts {
		e, err := ParseEntry(text)
		if err != nil {
			return nil, err
		}
		l = append(l, e)
	}
	return l, nil
}

// ParseTarget reads a host with an optional port. It accepts only texts that all programs
// understand in the same way.
func ParseTarget(text string) (Target, error) {
	host, port := text, ""
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') {
		host, port = text[:at], text[at+1:]
	}
	h, doubt := authority.Parse(text)
	switch {
	case !textclass.IsASCII(text):
		return Target{}, errors.New("the name is not in plain letters; write its xn-- form")
	case doubt != authority.Sure:
		return Target{}, errors.New(string(doubt))
	case strings.HasSuffix(host, "."):
		return Target{}, errors.New("the name ends in a dot")
	case h.Addr.Is4In6():
		return Target{}, errors.New("the address is one of IPv4 in the form of IPv6")
	}
	t := Target{Name: h.Name, Addr: h.Addr}
	if h.Addr.IsValid() {
		t.Name = ""
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return Target{}, err
		}
		t.Port = uint16(n)
	}
	return t, nil
}

// Host returns the host's name or address as text.
func (t Target) Host() string {
	if t.Addr.IsValid() {
		return t.Addr.String()
	}
	return t.Name
}

func (t Target) String() string {
	host := t.Host()
	if t.Addr.Is6() {
		host = "[" + host + "]"
	}
	if t.Port == 0 {
		return host
	}
	return fmt.Sprintf("%s:%d", host, t.Port)
}

// String returns the entry in the syntax of policies.
func (e Entry) String() string {
	if e.Below {
		return "*." + e.Target.String()
	}
	return e.Target.String()
}

// Opens reports whether the list opens the host and port of t.
func (l List) Opens(t Target) bool {
	return slices.ContainsFunc(l, func(e Entry) bool { return e.opens(t) })
}

// Covers reports whether the list has the host and port of t. For Covers, unlike for Opens, an
// entry without a port covers every port.
func (l List) Covers(t Target) bool {
	return slices.ContainsFunc(l, func(e Entry) bool { return (e.Port == 0 || e.Port == t.Port) && e.covers(Entry{Target: t}) })
}

// opens reports whether the entry opens the host and port of t.
func (e Entry) opens(t Target) bool {
	return slices.Contains(e.Ports(), t.Port) && e.covers(Entry{Target: t})
}

// Ports returns the ports that the entry opens.
func (e Entry) Ports() []uint16 {
	if e.Port == 0 {
		return usual
	}
	return []uint16{e.Port}
}

// covers reports whether all hosts of o are hosts of e. It ignores ports.
func (e Entry) covers(o Entry) bool {
	switch {
	case e.Addr.IsValid() || o.Addr.IsValid():
		return e.Addr == o.Addr
	case e.Below:
		return strings.HasSuffix(o.Name, "."+e.Name) || o.Below && o.Name == e.Name
	}
	return !o.Below && e.Name == o.Name
}

// Narrow returns the entries for the hosts and ports that both lists open.
func (l List) Narrow(by List) (both List) {
	for _, a := range l {
		for _, b := range by {
			one := a
			switch {
			case a.covers(b):
				one = b
			case !b.covers(a):
				continue
			}
			switch {
			case a.Port == 0 && (b.Port == 0 || slices.Contains(usual, b.Port)):
				one.Port = b.Port
			case a.Port == b.Port, b.Port == 0 && slices.Contains(usual, a.Port):
				one.Port = a.Port
			default:
				continue
			}
			if !slices.Contains(both, one) {
				both = append(both, one)
			}
		}
	}
	return both
}
