package audit

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
)

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("the record is closed")

// Log is the record of one session. It is safe for concurrent use.
type Log struct {
	dir string
	o   Options

	// long encodes long arguments without mu, so that other records need not wait.
	long struct {
		sync.Mutex
		enc encoder
	}

	mu        sync.Mutex // guards the fields below up to nextCheck, and closing
	enc       encoder
	chain     chain
	seg       *segment  // nil when closed
	rotateAt  int64     // size of seg at which a new segment begins
	buf       []byte    // the lines of the current write
	ids       []byte    // memory for the next record ids
	failed    failure   // failed writes; reset by the next successful write
	unsynced  bool      // a background sync failed; Record must sync first
	nextLook  time.Time // when to check again whether the file is still whole
	nextCheck time.Time // when to check again whether the path still leads to the file

	cleanups  sync.WaitGroup
	cleanupMu sync.Mutex    // held during a cleanup, so that only one cleanup runs
	closing   bool          // no new cleanup may begin
	ending    chan struct{} // closed when closing becomes true
}

// SessionID returns the session id with which every record id of this log begins.
func (l *Log) SessionID() string { return l.enc.session }

// HideValues hides these secret values in everything that is written from now on.
func (l *Log) HideValues(k *redact.Known) {
	l.long.Lock()
	defer l.long.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enc.HideKnown(k)
	l.long.enc.HideKnown(k)
	l.enc.caches = [2]lineCache{} // the cached texts may contain the secret values
}

// Record writes the events in order with one write and sets their ids. After an error the caller
// must not act on any of the events.
func (l *Log) Record(events ...*event.Event) error {
	if len(events) == 0 {
		return nil
	}
	long := l.encodeLongArgs(events)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg == nil {
		return ErrClosed
	}
	now := l.o.Now()
	if err := l.reopenIfMoved(now); err != nil {
		return fmt.Errorf("the record: %w", err)
	}
	if l.unsynced {
		if err := l.seg.file.Sync(); err != nil {
			return fmt.Errorf("the record: %w", err)
		}
		l.unsynced = false
	}
	if l.seg.size >= l.rotateAt {
		l.rotateSegment(now)
	}
	// Work on a copy, so that a panic below leaves the log unchanged.
	c := l.chain
	l.buf = l.buf[:0]
	if l.failed.refused > 0 {
		l.buf = l.enc.appendRecovery(l.failed.appendSeparator(l.buf), &c, now, &l.failed)
	}
	for _, ev := range events {
		if ev.Time.IsZero() {
			ev.Time = now
		}
		ev.Record = l.recordID(c.next)
		start := len(l.buf)
		l.enc.written = long[ev]
		l.buf = l.enc.appendEvent(l.buf, &c, ev)
		l.buf = c.sealLine(l.buf, start)
	}
	if err := l.writeBuffer(c, events); err != nil {
		return err
	}
	l.releaseBuffers()
	return nil
}

// longArgs is the number of bytes above which arguments are long.
const longArgs = 256 << 10

func hasLongArgs(ev *event.Event) bool { return len(ev.Args) > longArgs }

// encodeLongArgs encodes the arguments of the events whose arguments are long, before Record takes
// mu: redacting and hashing 64 MiB takes 50 ms.
func (l *Log) encodeLongArgs(events []*event.Event) (written map[*event.Event][]byte) {
	if !slices.ContainsFunc(events, hasLongArgs) {
		return nil
	}
	written = make(map[*event.Event][]byte)
	l.long.Lock()
	defer l.long.Unlock()
	for _, ev := range events {
		if hasLongArgs(ev) {
			written[ev] = l.long.enc.appendArgs(nil, ev.Args)
			l.long.enc.ReleaseScratch(longArgs)
		}
	}
	return written
}

// writeBuffer writes l.buf to the file and moves the chain to c.
func (l *Log) writeBuffer(c chain, events []*event.Event) error {
	n, err := l.seg.appendLines(l.buf)
	if err == nil && l.o.Sync == SyncEach {
		err = l.seg.file.Sync()
	}
	if err == nil {
		l.chain, l.failed = c, failure{}
		return nil
	}
	for _, ev := range events {
		ev.Record = ""
	}
	l.failed.noteTornWrite(&l.chain, l.buf, n, len(events))
	l.failed.reason = err.Error()
	return fmt.Errorf("the record: %w", err)
}

// The maximum length of a record id, and of a block of memory for 64 of them, in bytes.
const (
	longestID = 32
	idBlock   = 64 * longestID
)

// recordID returns the id of line seq. Many ids share one block of memory. Each byte of the block
// is written only once.
func (l *Log) recordID(seq uint64) string {
	if cap(l.ids)-len(l.ids) < longestID {
		l.ids = make([]byte, 0, idBlock)
	}
	start := len(l.ids)
	l.ids = l.enc.appendRecordID(l.ids, seq)
	return unsafe.String(&l.ids[start], len(l.ids)-start)
}

// usualBuffer is the number of bytes above which a buffer is not kept.
const usualBuffer = 1 << 20

// releaseBuffers frees the memory of an unusually large batch.
func (l *Log) releaseBuffers() {
	if cap(l.buf) > usualBuffer {
		l.buf = nil
	}
	if cap(l.enc.unquoted) > usualBuffer {
		l.enc.unquoted = nil
	}
	l.enc.ReleaseScratch(usualBuffer)
}

// Close ends the session's record. After an error the written records are still valid. If the last
// write failed and Close cannot report that in the file, the next session reports it.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closing {
		l.closing = true
		close(l.ending)
	}
	l.mu.Unlock()
	l.cleanups.Wait()
	if err := l.close(); err != nil {
		return fmt.Errorf("closing the record: %w", err)
	}
	return nil
}

func (l *Log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg == nil {
		return nil
	}
	seg := l.seg
	err := l.writeRecovery()
	if err == nil && l.o.Sync == SyncInterval {
		err = seg.file.Sync() // the periodic sync may not have synced the latest records
	}
	ended := false
	if (err == nil || seg.isLost()) && !seg.shared { // if the file is lost, the mark shows that records are missing
		bad := withLedger(l.dir, l.o.Now, func(led *ledger) error {
			return led.appendMark(seg.closingMark(&l.chain))
		})
		err = errors.Join(err, bad)
		ended = err == nil
	}
	l.seg = nil
	return errors.Join(err, seg.close(ended))
}

// writeRecovery writes the line that reports an earlier failure, if there was one.
func (l *Log) writeRecovery() error {
	if l.failed.refused == 0 {
		return nil
	}
	c := l.chain
	l.buf = l.enc.appendRecovery(l.failed.appendSeparator(l.buf[:0]), &c, l.o.Now(), &l.failed)
	return l.writeBuffer(c, nil)
}
