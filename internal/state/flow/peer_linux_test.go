package flow

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// The process behind a connection on this machine is found.
func TestPeer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	peer, own := netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(l.Addr().String())
	inode := findSocket(peer.Port(), own.Port())
	if inode == "" || findOwner("socket:["+inode+"]") != os.Getpid() {
		t.Errorf("socket %q is of process %d", inode, findOwner("socket:["+inode+"]"))
	}
	if got := findSocket(own.Port(), 1); got != "" {
		t.Errorf("a connection that is not there has the socket %q", got)
	}
}

// A process is known with those that have started it.
func TestAncestry(t *testing.T) {
	keys := Ancestry(os.Getpid())
	if len(keys) < 2 || keys[0] != ProcessKey(os.Getpid()) || keys[1] != ProcessKey(os.Getppid()) {
		t.Errorf("%q", keys)
	}
	if keys := Ancestry(1 << 30); keys != nil {
		t.Errorf("of no process %q", keys)
	}
}
