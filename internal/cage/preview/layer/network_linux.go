package layer

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/clawai/clawai/internal/cage/confine"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// network is the command's network: every address belongs to the loopback device, and no service
// listens. A name server gives each name its own address, so that a connection to an address shows
// the name. network reads all packets of the loopback device, so that no request is missed.
type network struct {
	packets, names int // sockets
	over           atomic.Bool
	tasks          sync.WaitGroup

	mu      sync.Mutex
	byName  map[string]netip.Addr
	byAddr  map[netip.Addr]string
	asked   map[string]bool // names that the command has asked the name server for
	hosts   []string
	pending map[netip.AddrPort]bool // loopback addresses that the command has tried to reach; no server answered yet
}

// maxHosts is the largest number of hosts in the result.
const maxHosts = 200

// firstAddress is the address of the first name. Its network is reserved for tests (RFC 2544).
var firstAddress = netip.AddrFrom4([4]byte{198, 18, 0, 1})

func openNetwork() (*network, error) {
	n := &network{byName: map[string]netip.Addr{}, byAddr: map[netip.Addr]string{}, asked: map[string]bool{}, pending: map[netip.AddrPort]bool{}}
	if err := startLoopback(); err != nil {
		return nil, err
	}
	var err error
	if n.packets, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(toNetwork(unix.ETH_P_ALL))); err != nil {
		return nil, err
	}
	if n.names, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, err
	}
	if err := unix.Bind(n.names, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	n.tasks.Go(func() { n.readAll(n.packets, n.readPacket) })
	n.tasks.Go(func() { n.readAll(n.names, n.answerName) })
	return n, nil
}

func toNetwork(v uint16) uint16 { return v<<8 | v>>8 }

// startLoopback starts the loopback device, and makes every address local to it.
func startLoopback() error {
	if err := confine.StartLoopback(); err != nil {
		return err
	}
	if err := addLocalRoute(unix.AF_INET); err != nil {
		return err
	}
	_ = addLocalRoute(unix.AF_INET6) // an error means that the machine has no IPv6
	return nil
}

// addLocalRoute makes all addresses of a family local to the loopback device, whose number is 1.
func addLocalRoute(family uint8) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	type request struct {
		header unix.NlMsghdr
		route  unix.RtMsg
		attr   unix.RtAttr
		device uint32
	}
	r := request{
		route:  unix.RtMsg{Family: family, Table: unix.RT_TABLE_LOCAL, Protocol: unix.RTPROT_BOOT, Scope: unix.RT_SCOPE_HOST, Type: unix.RTN_LOCAL},
		attr:   unix.RtAttr{Len: unix.SizeofRtAttr + 4, Type: unix.RTA_OIF},
		device: 1,
	}
	r.header = unix.NlMsghdr{Len: uint32(unsafe.Sizeof(r)), Type: unix.RTM_NEWROUTE, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))
	if err := unix.Sendto(fd, text, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var answer [1024]byte
	count, _, err := unix.Recvfrom(fd, answer[:], 0)
	if err != nil || count < unix.SizeofNlMsghdr+4 {
		return errors.Join(err, unix.EIO)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 { //nolint:gosec // an error number of the system, as a negative value
		return unix.Errno(-code)
	}
	return nil
}

// readAll reads a socket until the command has ended and no message waits.
func (n *network) readAll(fd int, read func(message []byte, from unix.Sockaddr)) {
	buffer := make([]byte, 64<<10)
	for {
		waiting := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
		if ready, err := unix.Poll(waiting, 20); ready == 0 || err != nil {
			if n.over.Load() {
				return
			}
			continue
		}
		if count, from, err := unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT); err == nil {
			read(buffer[:count], from)
		}
	}
}

// answerName answers a DNS question. For a question of type A, the answer is an address of the test
// network. For any other type the answer is empty.
func (n *network) answerName(message []byte, from unix.Sockaddr) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil || header.Response {
		return
	}
	q, err := p.Question()
	if err != nil {
		return
	}
	answer := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	name := strings.TrimSuffix(q.Name.String(), ".")
	if q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeAAAA {
		if at, known := n.addressOf(name); known && q.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET},
				Body:   &dnsmessage.AResource{A: at.As4()},
			}}
		}
	} else {
		n.note(name)
	}
	if text, err := answer.Pack(); err == nil {
		_ = unix.Sendto(n.names, text, unix.MSG_DONTWAIT, from)
	}
}

func (n *network) addressOf(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at, known := n.byName[name]; known {
		return at, true
	}
	if len(n.byName) >= maxHosts {
		return netip.Addr{}, false
	}
	at := firstAddress
	for range n.byName {
		at = at.Next()
	}
	n.byName[name], n.byAddr[at], n.asked[name] = at, name, true
	return at, true
}

// note adds a host to the list, unless the list has it or is full.
func (n *network) note(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.hosts) < maxHosts && !slices.Contains(n.hosts, host) {
		n.hosts = append(n.hosts, host)
	}
}

// readPacket reads a packet of the loopback device, without its link header.
func (n *network) readPacket(packet []byte, _ unix.Sockaddr) {
	var from, to netip.Addr
	var protocol byte
	var rest []byte
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4 && len(packet) >= int(packet[0]&15)*4:
		from, to = netip.AddrFrom4([4]byte(packet[12:16])), netip.AddrFrom4([4]byte(packet[16:20]))
		protocol, rest = packet[9], packet[int(packet[0]&15)*4:]
	case len(packet) >= 40 && packet[0]>>4 == 6:
		from, to = netip.AddrFrom16([16]byte(packet[8:24])), netip.AddrFrom16([16]byte(packet[24:40]))
		protocol, rest = packet[6], packet[40:]
	}
	if len(rest) < 8 {
		return
	}
	source, target := netip.AddrPortFrom(from, binary.BigEndian.Uint16(rest)), netip.AddrPortFrom(to, binary.BigEndian.Uint16(rest[2:]))
	const synchronize, acknowledge = 2, 16
	switch {
	case protocol == unix.IPPROTO_TCP && len(rest) >= 14 && rest[13]&(synchronize|acknowledge) == synchronize:
		n.noteTarget(target, "")
	case protocol == unix.IPPROTO_TCP && len(rest) >= 14 && rest[13]&(synchronize|acknowledge) == synchronize|acknowledge:
		n.mu.Lock() // the command itself has a server at this address
		delete(n.pending, source)
		n.mu.Unlock()
	case protocol == unix.IPPROTO_UDP && !to.IsLoopback():
		n.noteTarget(target, "/udp")
	}
}

func (n *network) noteTarget(target netip.AddrPort, kind string) {
	port := ":" + strconv.Itoa(int(target.Port())) + kind
	n.mu.Lock()
	name, known := n.byAddr[target.Addr()]
	if target.Addr().IsLoopback() && kind == "" && len(n.pending) < maxHosts {
		n.pending[target] = true
	}
	if known {
		delete(n.asked, name)
	}
	n.mu.Unlock()
	switch {
	case known:
		n.note(name + port)
	case target.Addr().IsLoopback():
	case target.Addr().Is6():
		n.note("[" + target.Addr().String() + "]" + port)
	default:
		n.note(target.Addr().String() + port)
	}
}

// finish returns the hosts that the command has asked for. It is called when the command has ended.
func (n *network) finish() []string {
	n.over.Store(true)
	n.tasks.Wait()
	for name := range n.asked { // the name was resolved, but the command never connected to it
		n.note(name)
	}
	for target := range n.pending {
		n.note("localhost:" + strconv.Itoa(int(target.Port())))
	}
	slices.Sort(n.hosts)
	return n.hosts
}
