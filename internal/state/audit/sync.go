package audit

import (
	"fmt"
	"time"
)

// Sync says when a log waits for the disk. Without waiting, a power failure may lose data that
// the system has not written yet. If only the process ends or is killed, nothing is lost.
type Sync uint8

// The values of Sync.
const (
	SyncNone     Sync = iota // the system decides when to write to the disk
	SyncInterval             // wait for the disk once a second, in the background, if there are new records
	SyncEach                 // wait for the disk in every Record: a call continues only after its record is on the disk
)

// ParseSync parses the word "none", "interval" or "each".
func ParseSync(word string) (Sync, error) {
	for s, name := range []string{"none", "interval", "each"} {
		if word == name {
			return Sync(s), nil
		}
	}
	return 0, fmt.Errorf("%q is none of none, interval, each", word)
}

// syncEvery is the interval between syncs with SyncInterval. A power failure can lose the records
// of at most this time.
const syncEvery = time.Second

// syncOften syncs in the background, as SyncInterval says, until the log is closed. If the disk
// fails, the next Record syncs again and returns the error.
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

// syncOnce syncs the file if it has records that may not be on the disk yet. The parameter synced
// is the number of the first such record. syncOnce returns this number for the next sync: records
// that are written during the sync may not be on the disk yet.
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
	l.unsynced = l.unsynced || err != nil && l.seg == seg // if the log has begun a new segment meanwhile, Sync failed only because the old file is closed
	return next
}
