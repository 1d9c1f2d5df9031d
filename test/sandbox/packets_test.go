//go:build linux

package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/proxy/stdio"
)

// insideVariable says that the tests run in a network in which nothing else runs.
const insideVariable = "CAGE_TEST_INSIDE"

// goInside runs the test again in a network of its own, in which all packets can be counted. It
// returns true inside.
func goInside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return true
	}
	id := os.Geteuid()
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN},
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("inside: %v", err)
	}
	return false
}

// openInside makes the network usable: also pings of users leave it.
func openInside(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
	group := strconv.Itoa(os.Getegid())
	if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte(group+" "+group), 0); err != nil {
		t.Fatal(err)
	}
}

// countPackets returns how many packets of each protocol this network has received.
func countPackets(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	text, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if names == nil {
			names = words
			continue
		}
		for i, name := range names {
			for _, counted := range []string{"InReceives", "InMsgs", "InSegs", "InDatagrams", "NoPorts"} {
				if name == counted && words[0] != "UdpLite:" {
					all[words[0]+name], _ = strconv.Atoi(words[i])
				}
			}
		}
		names = nil
	}
	if text, err = os.ReadFile("/proc/self/net/snmp6"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); words[0] == "Ip6InReceives" {
			all[words[0]], _ = strconv.Atoi(words[1])
		}
	}
	return all
}

// playPackets sends by every kind of socket that there is, to the listeners and to many addresses.
func playPackets(words []string) int {
	w := &world{}
	if err := json.Unmarshal([]byte(words[0]), w); err != nil {
		return 3
	}
	seed, _ := strconv.ParseUint(words[1], 10, 64)
	r := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // so that a finding can be had again
	var ports []int
	for _, address := range []string{w.TCP, w.UDP, w.Listed} {
		_, text, _ := net.SplitHostPort(address)
		port, _ := strconv.Atoi(text)
		ports = append(ports, port)
	}
	ports = append(ports, 53, 80, 443)
	targets := func() []unix.Sockaddr {
		port := ports[r.IntN(len(ports))]
		all := []unix.Sockaddr{&unix.SockaddrUnix{Name: "@" + w.Abstract}, &unix.SockaddrUnix{Name: w.Unix}}
		for _, ip := range [][4]byte{{127, 0, 0, 1}, {127, 0, 0, 53}, {10, 0, 0, 1}, {255, 255, 255, 255}, {224, 0, 0, 251}, {8, 8, 8, 8}, {}} {
			all = append(all, &unix.SockaddrInet4{Port: port, Addr: ip})
		}
		for _, text := range []string{"::1", "::ffff:127.0.0.1", "ff02::fb", "fe80::1", "::"} {
			in6 := &unix.SockaddrInet6{Port: port, ZoneId: 1}
			copy(in6.Addr[:], net.ParseIP(text).To16())
			all = append(all, in6)
		}
		return all
	}
	made := 0
	for range 3000 {
		family, kind, protocol := r.IntN(46), r.IntN(7), []int{0, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_UDPLITE, unix.IPPROTO_SCTP, unix.IPPROTO_RAW, 262, r.IntN(256)}[r.IntN(10)]
		if r.IntN(3) > 0 { // mostly what there is
			family, kind = []int{unix.AF_INET, unix.AF_INET6, unix.AF_UNIX, unix.AF_PACKET}[r.IntN(4)], 1+r.IntN(3)
		}
		fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK, protocol)
		if err != nil {
			continue
		}
		made++
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
		for _, to := range targets() {
			_ = unix.Sendto(fd, []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0, 'x'}, unix.MSG_FASTOPEN*r.IntN(2), to) // a ping, or anything
			_ = unix.Connect(fd, to)
			_, _ = unix.Write(fd, []byte("out"))
		}
		_ = unix.Close(fd)
	}
	askProxies(w, r)
	for _, name := range []string{"example.com", "localhost"} { // DNS as programs do it
		_, _ = net.LookupHost(name)
	}
	fmt.Println(made)
	return 0
}

// askProxies asks the proxy, if there is one, for hosts in many ways.
func askProxies(w *world, r *rand.Rand) {
	proxy, found := strings.CutPrefix(os.Getenv("HTTPS_PROXY"), "http://")
	if !found {
		return
	}
	hosts := []string{w.TCP, w.UDP, w.Listed}
	for _, address := range hosts[:3] {
		_, port, _ := net.SplitHostPort(address)
		for _, name := range []string{"localhost", "[::ffff:127.0.0.1]", "[::1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "0.0.0.0", "127.0.0.2", "a@127.0.0.1", "127.0.0.1%00", "127.0.0.1\x00.x"} {
			hosts = append(hosts, name+":"+port)
		}
	}
	forms := []string{"CONNECT %[1]s HTTP/1.1\r\n\r\n", "CONNECT %[1]s HTTP/1.1\r\nHost: %[2]s\r\n\r\n", "GET http://%[1]s/ HTTP/1.1\r\nHost: %[1]s\r\n\r\n", "GET http://%[1]s/ HTTP/1.1\r\nHost: %[2]s\r\n\r\n", "GET http://%[1]s@%[2]s/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: %[1]s\r\n\r\n"}
	var all sync.WaitGroup
	for range 200 {
		request := fmt.Sprintf(forms[r.IntN(len(forms))], hosts[r.IntN(len(hosts))], hosts[r.IntN(len(hosts))])
		if at := r.IntN(3 * len(request)); at < len(request) { // also what is half right
			request = request[:at] + string(rune(r.IntN(128))) + request[at:]
		}
		c, err := net.Dial("tcp", proxy)
		if err != nil {
			continue
		}
		all.Go(func() {
			defer c.Close()
			_, _ = c.Write([]byte(request))
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
		})
	}
	all.Wait()
	if c, err := net.Dial("tcp", proxy); err == nil { // and once rightly
		_, _ = askProxy(c, "CONNECT "+w.Listed+" HTTP/1.1\r\n\r\n")
		_ = c.Close()
	}
}

// Under net = [] no packet of any protocol leaves, whatever the server tries; with a list only
// connections to its hosts; under net = ["*"] the same server's packets arrive.
func TestPackets(t *testing.T) {
	if !goInside(t) {
		return
	}
	openInside(t)
	for _, c := range []struct {
		net, open string // what the table has, and the listeners that may be reached
	}{{`[]`, ""}, {`["LISTED"]`, "listed"}, {`["*"]`, "abstract tcp udp listed"}} {
		t.Run(c.net, func(t *testing.T) {
			s := newSite(t)
			as, err := json.Marshal(s.world)
			if err != nil {
				t.Fatal(err)
			}
			plan := s.plan("level = \"enforce\"\nwrite = [\"./\"]\nnet = " + strings.Replace(c.net, "LISTED", s.Listed, 1))
			var refused []hosts.Refusal
			var mu sync.Mutex
			before := countPackets(t)
			child, err := stdio.Start(stdio.Options{Args: []string{s.Own, "packets", string(as), "1"}, Env: os.Environ(), Dir: s.Box, Stderr: os.Stderr, Cage: plan, Refused: func(r hosts.Refusal) {
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, r)
			}})
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(child)
			for lines.Scan() {
				t.Logf("%s sockets were made", lines.Text())
			}
			_ = child.Close(context.Background())
			if child.ExitCode() != 0 {
				t.Fatalf("the server ended with %s", child.Status())
			}
			arrived := countPackets(t)
			for name := range arrived {
				arrived[name] -= before[name]
			}
			counts := map[string]int64{}
			for name, count := range s.counts {
				counts[name] = count.Load()
			}
			t.Logf("packets %v, connections %v, refused %d", arrived, counts, len(refused))
			for name, n := range counts {
				if open := slices.Contains(strings.Fields(c.open), name) && name != "abstract"; open != (n > 0) {
					t.Errorf("%d arrived at %s", n, name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(arrived)) {
				if n := arrived[name]; c.net == "[]" && n != 0 || c.net == `["*"]` && n == 0 || c.open == "listed" && n != 0 && !slices.Contains([]string{"Ip:InReceives", "Tcp:InSegs"}, name) {
					t.Errorf("%s: %d packets", name, n)
				}
			}
			if (c.open == "listed") != (len(refused) > 0) {
				t.Errorf("refused %v", refused)
			}
		})
	}
}
