package proxy

import (
	"runtime/debug"
	"sync"
	"time"
)

// hugeFrame is the size from which a frame's memory is given back to the
// system by hand: the runtime would keep it for minutes.
const hugeFrame = 4 << 20

// idler gives memory back once no huge frame has passed for a second.
type idler struct {
	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

func (i *idler) touch() {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.over:
	case i.timer == nil:
		i.timer = time.AfterFunc(time.Second, debug.FreeOSMemory)
	default:
		i.timer.Reset(time.Second)
	}
}

func (i *idler) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	if i.timer != nil {
		i.timer.Stop()
	}
}
