// Package memory gives memory back to the system. The runtime lets what is no longer
// used stand until the heap has grown by as much again, which for a proxy that has
// become idle is never.
package memory

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// The runtime collects once nothing large has been dropped for a while, and at the
// latest some time after the first that was.
const (
	quietDelay = time.Second
	maxDelay   = 3 * time.Second
)

var pending struct {
	sync.Mutex
	timer *time.Timer
	since time.Time // of the first that waits; zero: none does
}

// ReleaseSoon is to be called when something large has been dropped. It neither
// waits nor allocates.
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
	runtime.GC() // what pools hold outlives one collection
	debug.FreeOSMemory()
}
