package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// manyBytes is where a heap is large: to let it grow by twice what is alive costs more
// memory there than it saves time.
const manyBytes = 4 << 20

// SetHeapPace lets the heap grow by few per cent of what is alive once that is large, and by many
// while it is not.
func SetHeapPace(many, few int) {
	debug.SetGCPercent(many)
	awaitCycle(&pace{many: many, few: few, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}})
}

type pace struct {
	many, few int
	is        bool // few
	live      []metrics.Sample
}

// cycle is dropped at once, so that the next collection finds it.
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
