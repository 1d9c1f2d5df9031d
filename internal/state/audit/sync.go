package audit

import (
	"fmt"
	"time"
)

// Sync is when a log waits for the disk. Without it a power failure may lose what the
// system has not written out yet; that a process ends, or is killed, loses nothing.
type Sync uint8

// The modes.
const (
	SyncNone     Sync = iota // leave it to the system
	SyncInterval             // once a second, beside the calls, when something was recorded
	SyncEach                 // in every Record: no call goes on before its record is on the disk
)

// ParseSync reads none, interval or each.
func ParseSync(word string) (Sync, error) {
	for s, name := range []string{"none", "interval", "each"} {
		if word == name {
			return Sync(s), nil
		}
	}
	return 0, fmt.Errorf("%q is none of none, interval, each", word)
}

// syncEvery bounds what SyncInterval may lose.
const syncEvery = time.Second

// syncOften is the work of SyncInterval, until the log is closed. A disk that fails is an
// error of the next Record, as it would be of SyncEach.
func (l *Log) syncOften() {
	l.cleanups.Go(func() {
		tick := time.NewTicker(syncEvery)
		defer tick.Stop()
		var synced uint64
		for {
			select {
			case <-l.ending:
				return
			case <-tick.C:
				synced = l.syncOnce(synced)
			}
		}
	})
}

// syncOnce brings to the disk what was recorded since the line synced, and says up to
// which it did. Records go on meanwhile.
func (l *Log) syncOnce(synced uint64) uint64 {
	l.mu.Lock()
	seg, next := l.seg, l.chain.next
	l.mu.Unlock()
	if seg == nil || next == synced {
		return synced
	}
	err := seg.file.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsynced = l.unsynced || err != nil && l.seg == seg // one that was rotated away is closed
	return next
}
