package centre

import (
	"net/netip"
	"sync"
	"time"
)

// limit allows a number of events (most) in a span of time (each), counted by address or by person.
type limit struct {
	most int
	each time.Duration

	mu   sync.Mutex
	done map[string][]time.Time
}

// maxKnown bounds the memory of a limit. If there are so many counts, all further addresses or people share
// one count until some spans have ended.
const maxKnown = 10_000

// networkOf returns the address for which a limit counts the events. For IPv6 it is the /64 network, because
// one machine can use all addresses of such a network.
func networkOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	network, _ := ip.WithZone("").Prefix(64)
	return network.String()
}

// take counts one more event of an address or a person, and reports whether the number is within
// the limit.
func (l *limit) take(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = map[string][]time.Time{}
	}
	if len(l.done) >= maxKnown {
		for other, times := range l.done {
			if !times[len(times)-1].After(now.Add(-l.each)) {
				delete(l.done, other)
			}
		}
		if _, known := l.done[who]; !known && len(l.done) >= maxKnown {
			who = ""
		}
	}
	times := l.done[who]
	for len(times) > 0 && !times[0].After(now.Add(-l.each)) {
		times = times[1:]
	}
	if len(times) >= l.most {
		l.done[who] = times
		return false
	}
	l.done[who] = append(times, now)
	return true
}
