package layer

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// newNetwork is a network without sockets: what it would answer goes nowhere.
func newNetwork() *network {
	return &network{names: -1, byName: map[string]netip.Addr{}, byAddr: map[netip.Addr]string{}, asked: map[string]bool{}, pending: map[netip.AddrPort]bool{}}
}

func question(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	text, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// packet is the first packet of a connection, from 127.0.0.1.
func packet(to netip.Addr, port uint16, flags byte) []byte {
	from := netip.MustParseAddr("127.0.0.1").As4()
	target := to.As4()
	p := slices.Concat([]byte{0x45, 0, 0, 40, 0, 0, 0, 0, 64, unix.IPPROTO_TCP, 0, 0}, from[:], target[:])
	return slices.Concat(p, []byte{0x9c, 0x40, byte(port >> 8), byte(port), 0, 0, 0, 0, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0})
}

// A host is known by the name that was asked for, with the port of the connection; a name that nobody
// connects to, alone. What is on the loopback counts if nothing of the command answers there.
func TestHosts(t *testing.T) {
	n := newNetwork()
	for _, name := range []string{"a.example.", "b.example."} {
		n.answerName(question(t, name, dnsmessage.TypeA), &unix.SockaddrInet4{})
		n.answerName(question(t, name, dnsmessage.TypeAAAA), &unix.SockaddrInet4{})
	}
	n.answerName(question(t, "c.example.", dnsmessage.TypeMX), &unix.SockaddrInet4{})
	loopback := netip.MustParseAddr("127.0.0.1")
	n.readPacket(packet(n.byName["a.example"], 443, 2), nil)
	n.readPacket(packet(netip.MustParseAddr("203.0.113.9"), 80, 2), nil)
	n.readPacket(packet(netip.MustParseAddr("203.0.113.8"), 80, 16), nil) // no first packet
	n.readPacket(packet(loopback, 5432, 2), nil)
	n.readPacket(packet(loopback, 8080, 2), nil)
	answer := packet(loopback, 40000, 2|16) // from the command's own server
	answer[20], answer[21] = 8080>>8, 8080&0xff
	n.readPacket(answer, nil)
	if got := strings.Join(n.finish(), " "); got != "203.0.113.9:80 a.example:443 b.example c.example localhost:5432" {
		t.Error(got)
	}
}

// However much a command asks for, what is kept of it is bounded.
func TestHostsAreBounded(t *testing.T) {
	n := newNetwork()
	at := netip.MustParseAddr("203.0.113.0")
	for range 4 * maxHosts {
		at = at.Next()
		n.readPacket(packet(at, 80, 2), nil)
		n.answerName(question(t, strings.ReplaceAll(at.String(), ".", "-")+".example.", dnsmessage.TypeA), &unix.SockaddrInet4{})
	}
	if got := len(n.finish()); got > maxHosts || len(n.byName) > maxHosts {
		t.Errorf("%d hosts, %d names", got, len(n.byName))
	}
}

// What a command sends is read whatever it is, and no address has two names.
func FuzzNetwork(f *testing.F) {
	f.Add(question(f, "a.example.", dnsmessage.TypeA), packet(firstAddress, 443, 2))
	f.Add([]byte{0}, []byte{0x60})
	f.Add([]byte("\xff\xff"), []byte(strings.Repeat("\x4f", 21)))
	f.Fuzz(func(t *testing.T, name, text []byte) {
		n := newNetwork()
		n.answerName(name, &unix.SockaddrInet4{})
		n.readPacket(text, nil)
		for name, at := range n.byName {
			if n.byAddr[at] != name {
				t.Errorf("%s is %s", name, n.byAddr[at])
			}
		}
		if hosts := n.finish(); len(hosts) > 3 {
			t.Errorf("%q", hosts)
		}
	})
}

// What nobody could have meant is refused, and nothing is run.
func TestWrongSpecs(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "cannot read what the preview runs",
		`{"format":1,"wall":true}`: `unknown field "wall"`,
		`{"format":2}`:             "the preview is of format 2",
		`{"format":1}`:             "not started in namespaces of its own",
	} {
		r := &runner{}
		if err := r.run([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (&runner{}).run(nil); err == nil {
		t.Error("it runs without words")
	}
}
