package audit

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("the record is closed")

// Log is the record of one session. It is safe for concurrent use.
type Log struct {
	dir string
	o   Options

	mu        sync.Mutex
	enc       encoder
	chain     chain
	seg       *segment // nil when closed
	rotateAt  int64
	buf       []byte
	ids       []byte
	failed    failure   // reset by the next write that succeeds
	nextCheck time.Time // when to see again whether the file is still in its place

	cleanups  sync.WaitGroup
	cleanupMu sync.Mutex    // one at a time
	closing   bool          // no further tidying begins
	ending    chan struct{} // closed with closing
}

// Session is the id that every record of this log begins with.
func (l *Log) Session() string { return l.enc.session }

// Record writes events in order with one write and fills in their ids. On an
// error none of them may be acted on; their ids are empty.
func (l *Log) Record(events ...*event.Event) error {
	if len(events) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg == nil {
		return ErrClosed
	}
	now := l.o.Now()
	if err := l.reopenIfMoved(now); err != nil {
		return fmt.Errorf("the record: %w", err)
	}
	if l.seg.size >= l.rotateAt {
		l.rotate(now)
	}
	// Worked on a copy, so that a panic below leaves the log as it was.
	c := l.chain
	first := c.next
	l.buf = l.buf[:0]
	if l.failed.refused > 0 {
		l.buf = l.enc.recovery(l.failed.separator(l.buf), &c, now, &l.failed)
		first = c.next
	}
	for _, ev := range events {
		if ev.Time.IsZero() {
			ev.Time = now
		}
		start := len(l.buf)
		l.buf = l.enc.event(l.buf, &c, ev)
		l.buf = c.seal(l.buf, start)
	}
	if err := l.write(c, events); err != nil {
		return err
	}
	l.name(events, first)
	l.spare()
	return nil
}

// write puts l.buf into the file and moves the chain to c.
func (l *Log) write(c chain, events []*event.Event) error {
	n, err := l.seg.file.Write(l.buf)
	if err == nil && l.o.Sync {
		err = l.seg.file.Sync()
	}
	l.seg.size += int64(n)
	if err == nil {
		l.chain, l.failed = c, failure{}
		return nil
	}
	for _, ev := range events {
		ev.Record = ""
	}
	l.failed.torn(&l.chain, l.buf, n, len(events))
	l.failed.reason = err.Error()
	return fmt.Errorf("the record: %w", err)
}

// name fills in the ids of events whose first is the line first; they share one
// string.
func (l *Log) name(events []*event.Event, first uint64) {
	l.ids = l.ids[:0]
	for i := range events {
		l.ids = l.enc.record(l.ids, first+uint64(i))
	}
	all := string(l.ids)
	for i, ev := range events {
		n := len(l.enc.record(l.ids[:0], first+uint64(i)))
		ev.Record, all = all[:n], all[n:]
	}
}

// spare gives the memory of an unusually large batch back.
func (l *Log) spare() {
	const usual = 1 << 20
	if cap(l.buf) > usual {
		l.buf = nil
	}
	if cap(l.enc.unquoted) > usual {
		l.enc.unquoted = nil
	}
	l.enc.Spare(usual)
}

// Close ends the session's record. What it returns does not undo any record. A
// record whose last write failed, and fails again, is left to the next session
// to account for.
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
	err := l.heal()
	if err == nil {
		err = withLedger(l.dir, l.o.Now, func(led *ledger) error {
			return led.append(seg.closing(&l.chain))
		})
	}
	if err == nil {
		err = seg.retire()
	}
	l.seg = nil
	return errors.Join(err, seg.file.Close())
}

// heal writes the account of an earlier failure alone.
func (l *Log) heal() error {
	if l.failed.refused == 0 {
		return nil
	}
	c := l.chain
	l.buf = l.enc.recovery(l.failed.separator(l.buf[:0]), &c, l.o.Now(), &l.failed)
	return l.write(c, nil)
}
