// Package memory returns memory to the system. The runtime keeps unused memory until the heap has
// grown by the same amount again, which never happens in a proxy that has become idle.
package memory

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// The runtime collects when nothing large has been dropped for quietDelay, and at the latest
// maxDelay after the first drop.
const (
	quietDelay = time.Second
	maxDelay   = 3 * time.Second
)

var pending struct {
	sync.Mutex
	timer *time.Timer
	since time.Time // time of the first waiting drop; zero: none
}

// ReleaseSoon must be called when something large has been dropped. It neither blocks nor, after
// the first call, allocates.
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
	runtime.GC() // objects in a sync.Pool survive one collection
	debug.FreeOSMemory()
}
