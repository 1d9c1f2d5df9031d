package reverse

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// maxIdle is the maximum number of idle connections (without a request) from one address. If there
// is one more, the oldest of them is closed. The client of the closed connection can connect again.
const maxIdle = 128

// idleConns holds the idle connections, by the address of the peer.
type idleConns struct {
	mu       sync.Mutex
	peers    map[netip.Addr]*list.List  // a peer's connections, the oldest first
	elements map[net.Conn]*list.Element // element of each connection in the list of its peer
}

// ConnState is the ConnState callback of http.Server. It limits the idle connections of each peer.
func (s *Server) ConnState(c net.Conn, state http.ConnState) {
	var peer netip.Addr // stays the zero address if the peer has no IP address
	if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		peer = at.AddrPort().Addr()
	}
	switch i := &s.idle; state {
	case http.StateNew, http.StateIdle:
		if oldest := i.addConn(peer, c); oldest != nil {
			go func() { _ = oldest.Close() }() // in a goroutine, because closing TLS sends a message and may block
		}
	default:
		i.removeConn(peer, c)
	}
}

// addConn adds a connection. If the peer now has too many, it returns the oldest one, which must be
// closed. Otherwise it returns nil.
func (i *idleConns) addConn(peer netip.Addr, c net.Conn) (oldest net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.peers[peer]
	if all == nil {
		all = list.New()
		i.peers[peer] = all
	}
	i.elements[c] = all.PushBack(c)
	if all.Len() <= maxIdle {
		return nil
	}
	oldest, _ = all.Front().Value.(net.Conn)
	delete(i.elements, oldest)
	all.Remove(all.Front())
	return oldest
}

func (i *idleConns) removeConn(peer netip.Addr, c net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e, all := i.elements[c], i.peers[peer]
	if e == nil {
		return
	}
	delete(i.elements, c)
	if all.Remove(e); all.Len() == 0 {
		delete(i.peers, peer)
	}
}
