package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// manyBytes is the size in bytes from which a heap counts as large. For a large heap, frequent
// collections save so much memory that they are worth their time.
const manyBytes = 4 << 20

// SetHeapPace sets how much the heap may grow between collections, in per cent of its live data.
// The parameter many applies to a small heap, and few applies to a large heap.
func SetHeapPace(many, few int) {
	debug.SetGCPercent(many)
	awaitCycle(&pace{many: many, few: few, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}})
}

type pace struct {
	many, few int  // per cent, as for debug.SetGCPercent
	large     bool // the value of few is in force, because the heap was large at the last collection
	live      []metrics.Sample
}

// cycle is an object that becomes garbage at once, so that each collection runs its finalizer.
type cycle struct{ *pace }

func awaitCycle(p *pace) { runtime.SetFinalizer(&cycle{p}, (*cycle).endCycle) }

func (c *cycle) endCycle() {
	metrics.Read(c.live)
	if large := c.live[0].Value.Uint64() >= manyBytes; large != c.large {
		c.large = large
		debug.SetGCPercent(map[bool]int{true: c.few, false: c.many}[large])
	}
	awaitCycle(c.pace)
}
