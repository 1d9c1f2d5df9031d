package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
)

// Counts holds the numbers of calls by result.
type Counts struct{ Allowed, Asked, Refused int }

// Total returns the number of calls.
func (c Counts) Total() int { return c.Allowed + c.Asked + c.Refused }

// Of returns the number of calls with a look.
func (c Counts) Of(look view.Look) int {
	switch look {
	case view.Allowed:
		return c.Allowed
	case view.Asked:
		return c.Asked
	case view.Refused:
		return c.Refused
	case view.Plain:
	}
	return 0
}

// Text returns the three numbers as a text.
func (c Counts) Text() string {
	return fmt.Sprintf("%d allowed, %d asked about, %d refused", c.Allowed, c.Asked, c.Refused)
}

// AddLooks adds n to the number of calls with a look.
func (c *Counts) AddLooks(look view.Look, n int) {
	switch look {
	case view.Allowed:
		c.Allowed += n
	case view.Asked:
		c.Asked += n
	case view.Refused:
		c.Refused += n
	case view.Plain:
	}
}

func (c *Counts) addCounts(more Counts) {
	c.Allowed += more.Allowed
	c.Asked += more.Asked
	c.Refused += more.Refused
}

// Tool is a tool of a server. If a call names no tool, Name is the method. Both texts are from
// strangers.
type Tool struct{ Server, Name string }

// Rule is a rule as the record describes it. The zero value means that no rule decided.
type Rule struct {
	File string
	Line int
	Text string // description of the rule
}

// NewRule returns a rule with shortened texts. The counts use such rules as keys.
func NewRule(file string, line int, text string) Rule { return Rule{clip(file), line, clip(text)} }

// These are the limits of a tally, because an agent can invent any number of names.
const (
	// maxNames is the maximum number of tools, and of rules. The others are counted together as the
	// zero value.
	maxNames = 4096
	maxCells = 1 << 16 // maximum number of counters; further calls are counted without tool and rule
	maxName  = 200     // maximum length of a stored name in bytes
)

// Tally counts the calls by hour, tool and rule.
type Tally struct {
	period  time.Duration  // how far back calls are counted; 0 means since midnight
	changed *atomic.Uint64 // increases with each call
	begin   sync.Once

	mu     sync.Mutex
	caught bool // true if all calls that were in the record at the start are counted
	read   time.Time
	cells  map[cell]*Counts
	tools  names[Tool]
	rules  names[Rule]
}

// cell is the key of one counter. The number 0 stands for all tools or rules beyond the limits.
type cell struct {
	hour       int64 // start of the hour, in seconds since 1970
	tool, rule uint32
}

// names gives each value a small number, and stores when each value was last used.
type names[T comparable] struct {
	at   map[T]uint32
	all  []T
	last []time.Time
}

func (n *names[T]) number(is T, used time.Time) uint32 {
	if n.at == nil {
		n.at, n.all, n.last = map[T]uint32{}, make([]T, 1), make([]time.Time, 1)
	}
	i, ok := n.at[is]
	if !ok && len(n.all) <= maxNames {
		i = uint32(len(n.all)) //nolint:gosec // the number is at most maxNames
		n.at[is], n.all, n.last = i, append(n.all, is), append(n.last, time.Time{})
	}
	n.last[i] = latest(n.last[i], used)
	return i
}

// startOf returns the start of the counted period.
func (t *Tally) startOf(now time.Time) time.Time {
	if t.period > 0 {
		return HourOf(now.Add(-t.period))
	}
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// HourOf returns the start of the hour of t in local time. In UTC the start may differ, because
// some zones differ from UTC by half an hour.
func HourOf(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, t.Location())
}

// StartCounting starts to count the calls of the record, and counts until ctx ends. Only the first
// call of StartCounting has an effect, and only that call returns true.
func (o *Overview) StartCounting(ctx context.Context) (first bool) {
	o.tally.begin.Do(func() {
		first = true
		go func() {
			f := audit.Filter{Kinds: callKinds, Since: o.tally.startOf(time.Now()), Caught: o.tally.catchUp}
			for ctx.Err() == nil {
				// After an error, the counts so far stay. FollowCalls reports the fault of the
				// record.
				if err := o.followRecord(ctx, f, o.tally.addEntry); errors.Is(err, audit.ErrReplaced) {
					f.Since = time.Now()
				} else {
					f.Since = latest(f.Since, o.tally.nextTime())
					waitFor(ctx, retryWait)
				}
			}
		}()
	})
	return first
}

// nextTime returns the earliest possible time of a call that is not counted yet.
func (t *Tally) nextTime() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read.Add(1)
}

func (t *Tally) catchUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.caught {
		t.caught = true
		t.changed.Add(1)
	}
}

func (t *Tally) addEntry(e *event.Entry) error {
	look := view.LookOf(e)
	if look == view.Plain || e.Code == gate.CodeUngoverned { // a list or a ping
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cells == nil {
		t.cells = map[cell]*Counts{}
	}
	hour := HourOf(e.Time)
	if t.read.Before(hour) { // this is the first call of its hour
		t.dropBefore(t.startOf(hour))
	}
	t.read = latest(t.read, e.Time)
	if hour.Before(t.startOf(t.read)) { // the record was written late, and this hour is not counted any more
		return nil
	}
	tool := Tool{clip(cmp.Or(e.Server, e.ServerGuess)), clip(toolName(e))}
	c := cell{hour.Unix(), t.tools.number(tool, e.Time), t.rules.number(NewRule(e.RuleFile, e.RuleLine, e.RuleText), e.Time)}
	if t.cells[c] == nil && len(t.cells) >= maxCells {
		c.tool, c.rule = 0, 0
	}
	if t.cells[c] == nil {
		t.cells[c] = &Counts{}
	}
	t.cells[c].AddLooks(look, 1)
	t.changed.Add(1)
	return nil
}

// dropBefore removes the counts of all hours before the time in the parameter start.
func (t *Tally) dropBefore(start time.Time) {
	for c := range t.cells {
		if c.hour < start.Unix() {
			delete(t.cells, c)
		}
	}
}

// Wanted selects calls. A zero field selects all calls.
type Wanted struct {
	Server, Tool, Rule string // Rule has the form of Rule.Place
	Since              time.Time
	Hour               time.Time
}

func (w *Wanted) takes(hour int64, tool Tool, rule Rule) bool {
	return hour >= w.Since.Unix() && (w.Hour.IsZero() || hour == w.Hour.Unix()) && (w.Server == "" || w.Server == tool.Server) &&
		(w.Tool == "" || w.Tool == tool.Name) && (w.Rule == "" || w.Rule == rule.Place())
}

// Place returns FILE:LINE of the rule, as clawai log shows it. If no rule decided, it returns
// "none".
func (r Rule) Place() string {
	if r.Line == 0 {
		return "none"
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// Used has numbers of calls, and the time of the last of these calls.
type Used struct {
	Counts
	Last time.Time
}

// Sums holds the numbers of the selected calls.
type Sums struct {
	Used
	Hours  map[int64]Counts // by the start of the hour, in seconds since 1970
	Tools  map[Tool]Used    // the zero Tool stands for the tools that are not counted separately
	Rules  map[Rule]Used
	Caught bool      // true if all calls are counted; otherwise the calls until Read are counted
	Read   time.Time // time of the last counted call
}

// Sum returns the numbers of the calls that w selects.
func (o *Overview) Sum(w Wanted) Sums {
	t := &o.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Sums{Hours: map[int64]Counts{}, Tools: map[Tool]Used{}, Rules: map[Rule]Used{}, Caught: t.caught, Read: t.read}
	for c, n := range t.cells {
		tool, rule := t.tools.all[c.tool], t.rules.all[c.rule]
		if !w.takes(c.hour, tool, rule) {
			continue
		}
		s.addCounts(*n)
		s.Last = latest(s.Last, t.tools.last[c.tool])
		addTo(s.Hours, c.hour, func(h Counts) Counts { h.addCounts(*n); return h })
		addTo(s.Tools, tool, func(u Used) Used { u.addCounts(*n); u.Last = t.tools.last[c.tool]; return u })
		addTo(s.Rules, rule, func(u Used) Used { u.addCounts(*n); u.Last = t.rules.last[c.rule]; return u })
	}
	return s
}

func addTo[K comparable, V any](m map[K]V, key K, change func(V) V) { m[key] = change(m[key]) }

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// toolName returns the tool of a call. If the call has no name, it returns the method.
func toolName(e *event.Entry) string {
	if len(e.Names) > 0 {
		return e.Names[0]
	}
	return e.Method
}

// clip returns a copy of the start of a text. Without a copy, the whole text would stay in memory.
func clip(s string) string { return clipTo(s, maxName) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return string([]byte(s))
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // if the cut is inside a character, move it to the start of that character
		cut--
	}
	return string([]byte(s[:cut])) + "…"
}
