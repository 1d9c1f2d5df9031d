package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// manyBytes is the size from which a heap is large: then frequent collections save more memory
// than they cost in time.
const manyBytes = 4 << 20

// SetHeapPace lets a large heap grow by few per cent of its live data between collections, and a
// small heap by many per cent.
func SetHeapPace(many, few int) {
	debug.SetGCPercent(many)
	awaitCycle(&pace{many: many, few: few, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}})
}

type pace struct {
	many, few int
	is        bool // few is set now
	live      []metrics.Sample
}

// cycle becomes garbage at once, so that the next collection runs its finalizer.
type cycle struct{ *pace }

func awaitCycle(p *pace) { runtime.SetFinalizer(&cycle{p}, (*cycle).endCycle) }

func (c *cycle) endCycle() {
	metrics.Read(c.live)
	if large := c.live[0].Value.Uint64() >= manyBytes; large != c.is {
		c.is = large
		debug.SetGCPercent(map[bool]int{true: c.few, false: c.many}[large])
	}
	awaitCycle(c.pace)
}
