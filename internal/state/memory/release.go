// Package memory returns memory to the system. The runtime keeps unused memory until it collects
// garbage again. An idle proxy allocates so little memory that this can take minutes.
package memory

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Memory is released if ReleaseSoon was not called for quietDelay, and at the latest maxDelay after
// the first call.
const (
	quietDelay = time.Second
	maxDelay   = 3 * time.Second
)

var pending struct {
	sync.Mutex
	timer *time.Timer
	since time.Time // time of the first call of ReleaseSoon since the last release; zero: no call
}

// ReleaseSoon must be called when a large object has become garbage. It does not block, and only
// its first call allocates memory.
func ReleaseSoon() {
	pending.Lock()
	defer pending.Unlock()
	now := time.Now()
	switch {
	case pending.timer == nil:
		pending.timer = time.AfterFunc(quietDelay, releaseMemory)
		pending.since = now
	case pending.since.IsZero():
		pending.since = now
		pending.timer.Reset(quietDelay)
	default:
		pending.timer.Reset(min(quietDelay, max(0, maxDelay-now.Sub(pending.since))))
	}
}

func releaseMemory() {
	pending.Lock()
	pending.since = time.Time{}
	pending.Unlock()
	runtime.GC() // FreeOSMemory collects a second time, because objects in a sync.Pool survive one collection
	debug.FreeOSMemory()
}
