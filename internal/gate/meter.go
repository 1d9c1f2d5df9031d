package gate

import (
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/policy"
)

// Bounds of a Meter. A call beyond these bounds counts as over its limit.
const (
	maxCounters = 1 << 12
	maxCounted  = 1 << 20 // calls in all counters together
	maxSummed   = 10_000  // calls in the sum of one counter
)

// Meter counts calls against the limits of rules. All sessions of a process share one Meter, and it
// continues when the policy changes. Its zero value is ready, and its methods are safe for
// concurrent use.
//
// A Meter keeps the time of each call. So no period of the rule's length ever holds more calls than
// the rule allows. A token bucket would take less memory but would allow twice as many calls around
// a boundary.
type Meter struct {
	// Ledger is shared with other processes. It must be set before the first use. With nil the
	// Meter counts the calls of this process only. A call is first appended to the ledger and then
	// counted at its place there. When two processes see room for only one call, the call that is
	// first in the ledger gets it.
	Ledger Ledger

	mu       sync.Mutex
	counters map[counterKey]*counter
	counted  int
	err      error // set when the entries of other processes are more than a counter can hold
}

// counterKey is the digest of a rule's text and of the tool or server that its limit counts.
type counterKey [16]byte

type counter struct {
	every time.Duration
	calls []countedCall // in order of time
	total int64         // sum of the amounts of calls
}

type countedCall struct {
	at     time.Time
	number uint64
	amount int64 // see policy.Charge
}

// receipt holds the calls that a Meter has charged for one exchange.
type receipt struct {
	meter *Meter
	items []chargedCall
}

type chargedCall struct {
	key  counterKey
	rule *policy.Rule
	countedCall
}

func (c *chargedCall) ledgerEntry() Entry {
	return Entry{Key: c.key, ID: c.number, At: c.at, Every: c.rule.Rate.Every, Amount: c.amount}
}

// keyOf returns the key of the counter for one charge. A zero byte separates the parts, because no
// text of a rule contains a zero byte.
func keyOf(c policy.Charge, cs []policy.Call) counterKey {
	text := append([]byte(c.Rule.Rate.Key), 0)
	switch call := &cs[c.Call]; c.Rule.Rate.Per {
	case policy.PerTool:
		text = append(text, call.Names[0]...)
	case policy.PerServer:
		text = append(text, call.Server...)
	case policy.PerRule:
	}
	sum := sha256.Sum256(text)
	return counterKey(sum[:len(counterKey{})])
}

// Charge implements Limits. If several limits are exceeded, a limit that denies wins over a limit
// that prompts. Among limits with the same action, the limit with the longest wait wins.
func (m *Meter) Charge(now time.Time, before Receipt, charges []policy.Charge, cs []policy.Call) (Receipt, Excess) {
	m.mu.Lock()
	defer m.mu.Unlock()
	paid, _ := before.(receipt) // the Receipt is always ours, because a session has only one Limits
	left, next := slices.Clone(paid.items), receipt{meter: m}
	var fresh []chargedCall
	var uncounted *policy.Rule
	for _, c := range charges {
		if c.Rule.Rate.Sum == "" {
			c.Amount = 1
		}
		item := chargedCall{key: keyOf(c, cs), rule: c.Rule, countedCall: countedCall{at: now, amount: c.Amount}}
		if i := slices.IndexFunc(left, func(p chargedCall) bool { return p.key == item.key && p.amount == item.amount }); i >= 0 {
			next.items = append(next.items, left[i]) // the charge is the same as before, so its entry stays
			left = slices.Delete(left, i, i+1)
			continue
		}
		if c.Amount < 0 {
			uncounted = c.Rule
		}
		item.number = entryID()
		fresh = append(fresh, item)
	}
	m.giveBack(now, left)
	if uncounted != nil {
		m.giveBack(now, next.items)
		return nil, Excess{Rule: uncounted, Uncounted: true}
	}
	worst := m.chargeItems(now, fresh)
	if worst.Rule != nil || worst.Err != nil {
		m.giveBack(now, append(next.items, fresh...))
		return nil, worst
	}
	next.items = append(next.items, fresh...)
	return next, worst
}

// chargeItems counts items. It returns the worst exceeded limit, or a zero Excess.
func (m *Meter) chargeItems(now time.Time, fresh []chargedCall) (worst Excess) {
	entries := make([]Entry, 0, len(fresh))
	for i := range fresh {
		if rule := fresh[i].rule; fresh[i].amount > rateMaximum(&rule.Rate) { // this amount is more than the limit, so the ledger gets no entry
			worst.keepWorse(rule, 0)
			continue
		}
		entries = append(entries, fresh[i].ledgerEntry())
	}
	since, missed := entries, len(entries)
	if m.Ledger != nil && missed > 0 {
		var err error
		if since, err = m.Ledger.Append(entries...); err != nil {
			return Excess{Err: err}
		}
	}
	for i := range since {
		e := &since[i]
		own := slices.IndexFunc(fresh, func(f chargedCall) bool { return !e.Back && f.number == e.ID && f.key == e.Key })
		if own < 0 {
			m.applyEntry(now, e)
			continue
		}
		missed--
		if wait, room := m.enterCall(now, &fresh[own]); !room {
			worst.keepWorse(fresh[own].rule, wait)
		}
	}
	switch {
	case m.err != nil:
		return Excess{Err: m.err}
	case missed > 0:
		return Excess{Err: errMissed}
	}
	return worst
}

// keepWorse stores the given limit in x if it is worse than the present one.
func (x *Excess) keepWorse(rule *policy.Rule, wait time.Duration) {
	if x.Rule == nil || rule.Rate.Over < x.Rule.Rate.Over || rule.Rate.Over == x.Rule.Rate.Over && isLonger(wait, x.Wait) {
		x.Rule, x.Wait = rule, wait
	}
}

var (
	errMissed = errors.New("the count that was just written cannot be read again")
	errBeyond = errors.New("the counters hold more calls than are possible")
)

// applyEntry applies the entry of another process: it counts the call or takes it back.
func (m *Meter) applyEntry(now time.Time, e *Entry) {
	switch c := m.counters[e.Key]; {
	case e.Back:
		m.removeCall(e.Key, e.ID)
	case now.Sub(e.At) >= e.Every:
	case c != nil && e.Amount > math.MaxInt64-c.total:
		m.err = errBeyond
	default:
		m.insertCall(m.getCounter(e.Key, e.Every), countedCall{e.At, e.ID, e.Amount})
	}
}

func (m *Meter) getCounter(key counterKey, every time.Duration) *counter {
	c := m.counters[key]
	if c == nil {
		c = &counter{}
		if m.counters == nil {
			m.counters = map[counterKey]*counter{}
		}
		m.counters[key] = c
	}
	c.every = every
	return c
}

func (m *Meter) insertCall(c *counter, one countedCall) {
	i, _ := slices.BinarySearchFunc(c.calls, one, inTime)
	c.calls = slices.Insert(c.calls, i, one)
	c.total += one.amount
	m.counted++
}

// isLonger reports whether the first wait is longer than the second. A wait of 0 means that the
// call never fits.
func isLonger(a, b time.Duration) bool { return b != 0 && (a == 0 || a > b) }

// enterCall counts one call if the limit has room. Otherwise it returns the time until there is
// room.
func (m *Meter) enterCall(now time.Time, item *chargedCall) (wait time.Duration, room bool) {
	rate := &item.rule.Rate
	if m.counters[item.key] == nil && len(m.counters) >= maxCounters {
		m.sweepCounters(now)
		if len(m.counters) >= maxCounters {
			return rate.Every, false
		}
	}
	c := m.getCounter(item.key, rate.Every)
	m.expireCalls(c, now)
	if until, room := c.findRoom(item.amount, rate); !room {
		return until.Add(c.every).Sub(now), false
	}
	if m.counted >= maxCounted {
		return rate.Every, false
	}
	m.insertCall(c, item.countedCall)
	return 0, true
}

// rateMaximum returns the maximum that a limit allows: a number of calls or a sum of amounts.
func rateMaximum(rate *policy.Rate) int64 {
	if rate.Sum == "" {
		return int64(rate.Count)
	}
	return rate.Max
}

// findRoom reports whether the counter has room for amount. If there is no room, the result first
// is the time of the counted call that must expire before there is room.
func (c *counter) findRoom(amount int64, rate *policy.Rate) (first time.Time, room bool) {
	most, calls := rateMaximum(rate), maxSummed
	if rate.Sum == "" {
		calls = rate.Count
	}
	rest := c.total
	for i := 0; ; i++ {
		if rest <= most-amount && len(c.calls)-i < calls {
			return first, i == 0
		}
		first = c.calls[i].at
		rest -= c.calls[i].amount
	}
}

func inTime(a, b countedCall) int {
	if order := a.at.Compare(b.at); order != 0 {
		return order
	}
	if a.number < b.number {
		return -1
	}
	return 1
}

// expireCalls removes the calls that are older than the limit's period.
func (m *Meter) expireCalls(c *counter, now time.Time) {
	n := 0
	for n < len(c.calls) && now.Sub(c.calls[n].at) >= c.every {
		c.total -= c.calls[n].amount
		n++
	}
	c.calls = c.calls[n:]
	m.counted -= n
	if len(c.calls) == 0 {
		c.calls = nil // frees the memory
	}
}

// sweepCounters removes empty counters.
func (m *Meter) sweepCounters(now time.Time) {
	for k, c := range m.counters {
		if m.expireCalls(c, now); len(c.calls) == 0 {
			delete(m.counters, k)
		}
	}
}

// giveBack takes charges back. If the ledger cannot be written, other processes still count them.
func (m *Meter) giveBack(now time.Time, items []chargedCall) {
	var backs []Entry
	for i := range items {
		m.removeCall(items[i].key, items[i].number)
		back := items[i].ledgerEntry()
		back.Back = true
		backs = append(backs, back)
	}
	if m.Ledger == nil || len(backs) == 0 {
		return
	}
	since, _ := m.Ledger.Append(backs...)
	for i := range since {
		m.applyEntry(now, &since[i])
	}
}

func (m *Meter) removeCall(key counterKey, number uint64) {
	c := m.counters[key]
	if c == nil {
		return
	}
	if i := slices.IndexFunc(c.calls, func(one countedCall) bool { return one.number == number }); i >= 0 {
		m.counted--
		c.total -= c.calls[i].amount
		c.calls = slices.Delete(c.calls, i, i+1)
	}
}

// GiveBack implements Receipt.
func (r receipt) GiveBack() {
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	r.meter.giveBack(time.Now(), r.items)
}

// refundCharge gives back the charges of x, because x is not forwarded.
func (x *Exchange) refundCharge() {
	if x.paid != nil {
		x.paid.GiveBack()
		x.paid = nil
	}
}
