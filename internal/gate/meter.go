package gate

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/policy"
)

// Bounds of a Meter. What does not fit is over its limit.
const (
	maxCounters = 1 << 12
	maxCounted  = 1 << 20 // calls, of all counters together
	maxPart     = 128     // bytes of a tool's or a server's name that are kept as they are
)

// Meter counts calls against the limits of rules. One Meter belongs to one
// process, whose sessions share it; it outlives the policies that it counts for.
// Its zero value is ready, and its methods are safe for concurrent use.
//
// It keeps the time of each call, so that no stretch of the length that a rule
// names ever holds more calls than the rule says. A bucket of tokens would take
// less memory and let twice as many through at a boundary.
type Meter struct {
	mu       sync.Mutex
	counters map[counterKey]*counter
	counted  int
	last     uint64
}

// counterKey is a rule, by its text, and the tool or server that its limit is
// for.
type counterKey struct{ rule, part string }

type counter struct {
	every time.Duration
	calls []counted // in order of time
}

type counted struct {
	at     time.Time
	number uint64
}

// receipt is what a Meter has charged one exchange.
type receipt struct {
	meter *Meter
	items []charged
}

type charged struct {
	key counterKey
	counted
}

// keyOf is the counter of one charge.
func keyOf(c policy.Charge, cs []policy.Call) counterKey {
	k := counterKey{rule: c.Rule.Rate.Key}
	call := &cs[c.Call]
	switch c.Rule.Rate.Per {
	case policy.PerTool:
		k.part = call.Names[0]
	case policy.PerServer:
		k.part = call.Server
	case policy.PerRule:
	}
	if len(k.part) > maxPart {
		sum := sha256.Sum256([]byte(k.part))
		k.part = string(sum[:])
	}
	return k
}

// Charge is the port's. What is over is the limit that says deny before one that
// says prompt, and of these the one that takes longest.
func (m *Meter) Charge(now time.Time, before Receipt, charges []policy.Charge, cs []policy.Call) (Receipt, Excess) {
	m.mu.Lock()
	defer m.mu.Unlock()
	paid, _ := before.(receipt) // a session has one Limits: there is no other kind
	m.giveBack(paid)
	next := receipt{meter: m}
	var worst Excess
	for _, c := range charges {
		item := charged{key: keyOf(c, cs), counted: counted{at: now}}
		if i := slices.IndexFunc(paid.items, func(p charged) bool { return p.key == item.key }); i >= 0 {
			item.counted = paid.items[i].counted
			paid.items = slices.Delete(slices.Clone(paid.items), i, i+1)
		} else {
			m.last++
			item.number = m.last
		}
		if wait := m.enter(now, item, &c.Rule.Rate); wait <= 0 {
			next.items = append(next.items, item)
		} else if worst.Rule == nil || c.Rule.Rate.Over < worst.Rule.Rate.Over ||
			c.Rule.Rate.Over == worst.Rule.Rate.Over && wait > worst.Wait {
			worst = Excess{c.Rule, wait}
		}
	}
	if worst.Rule != nil {
		m.giveBack(next)
		return nil, worst
	}
	return next, worst
}

// enter counts one call, or says how long there is no room for it.
func (m *Meter) enter(now time.Time, item charged, rate *policy.Rate) (wait time.Duration) {
	c := m.counters[item.key]
	if c == nil {
		if len(m.counters) >= maxCounters {
			m.sweep(now)
		}
		if len(m.counters) >= maxCounters {
			return rate.Every
		}
		c = &counter{every: rate.Every}
		if m.counters == nil {
			m.counters = map[counterKey]*counter{}
		}
		m.counters[item.key] = c
	}
	m.expire(c, now)
	if now.Sub(item.at) >= c.every { // charged so long ago that it no longer counts
		return 0
	}
	if n := len(c.calls); n >= rate.Count {
		return c.calls[n-rate.Count].at.Add(c.every).Sub(now)
	}
	if m.counted >= maxCounted {
		return rate.Every
	}
	i, _ := slices.BinarySearchFunc(c.calls, item.counted, inTime)
	c.calls = slices.Insert(c.calls, i, item.counted)
	m.counted++
	return 0
}

func inTime(a, b counted) int {
	if order := a.at.Compare(b.at); order != 0 {
		return order
	}
	if a.number < b.number {
		return -1
	}
	return 1
}

// expire forgets calls that no longer count.
func (m *Meter) expire(c *counter, now time.Time) {
	n := 0
	for n < len(c.calls) && now.Sub(c.calls[n].at) >= c.every {
		n++
	}
	c.calls = c.calls[n:]
	m.counted -= n
	if len(c.calls) == 0 {
		c.calls = nil // with the room that it took
	}
}

// sweep forgets counters that count nothing.
func (m *Meter) sweep(now time.Time) {
	for k, c := range m.counters {
		if m.expire(c, now); len(c.calls) == 0 {
			delete(m.counters, k)
		}
	}
}

// giveBack takes back what was charged.
func (m *Meter) giveBack(r receipt) {
	for _, item := range r.items {
		c := m.counters[item.key]
		if c == nil {
			continue
		}
		if i := slices.Index(c.calls, item.counted); i >= 0 {
			c.calls = slices.Delete(c.calls, i, i+1)
			m.counted--
		}
	}
}

// GiveBack is the port's.
func (r receipt) GiveBack() {
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	r.meter.giveBack(r)
}

// refund gives back what x was charged: it is not forwarded.
func (x *Exchange) refund() {
	if x.paid != nil {
		x.paid.GiveBack()
	}
	x.paid = nil
}
