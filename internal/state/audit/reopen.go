package audit

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// lookEvery is how often Record checks whether a mapped file was removed or cut short. A check for
// each record would double the cost of a record.
const lookEvery = time.Millisecond

// reopenIfMoved begins a new segment if the file was removed, cut short or moved, because readers
// would not find the old file. Before each record it checks whether the file was removed or cut
// short; for a mapped file it checks only every lookEvery. Once a second it also checks whether the
// file or a folder above it was moved. This check is rare, because the system must walk the path.
func (l *Log) reopenIfMoved(now time.Time) error {
	mem := l.seg.mem
	if mem != nil && !mem.lost && now.Before(l.nextLook) {
		return nil
	}
	size, lost := l.seg.size, false
	if mem != nil {
		size, lost = mem.reservedSize(), mem.lost
	}
	gone := lost || isSpoiled(l.seg.file, size)
	if !gone && now.Before(l.nextCheck) {
		l.nextLook = now.Add(lookEvery)
		return nil
	}
	if !gone && l.seg.atPath() {
		l.nextLook, l.nextCheck = now.Add(lookEvery), now.Add(time.Second)
		return nil
	}
	if err := l.reopenSegment(now); err != nil {
		return fmt.Errorf("%q was removed, moved or cut short while it was in use, and no other can be begun: %w; see to the folder, or start the client again", l.seg.path, err)
	}
	return nil
}

// atPath reports whether the path still leads to the open file. It returns true if it cannot find
// out.
func (s *segment) atPath() bool {
	at, err := os.Lstat(s.path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	open, err := s.file.Stat()
	return err != nil || os.SameFile(at, open)
}

// reopenSegment continues in a new segment, in the folder as it is now. The chain continues too,
// so that Verify reports the missing lines. The first record of the new segment explains what
// happened.
func (l *Log) reopenSegment(now time.Time) error {
	if err := makeDir(l.dir); err != nil {
		return err
	}
	lost, c := l.seg, l.chain
	var next *segment
	err := withLedger(l.dir, l.o.Now, func(led *ledger) (err error) {
		if next, err = newSegment(l.dir, segmentName(now, l.enc.session), &l.enc, &c, now, &l.o); err != nil {
			return err
		}
		if err := led.appendMark(next.openingMark()); err != nil {
			return errors.Join(err, next.discard())
		}
		return nil
	})
	if err != nil {
		return err
	}
	_ = lost.close(false)
	l.seg, l.chain, l.rotateAt = next, c, l.o.MaxBytes
	l.failed.fragment, l.failed.unended = nil, false // the fragment of a failed write is lost with the file
	l.buf, c = l.buf[:0], l.chain
	if l.failed.refused > 0 {
		l.buf = l.enc.appendRecovery(l.buf, &c, now, &l.failed)
	}
	start := len(l.buf)
	ev := &event.Event{Time: now, Kind: event.Upkeep, Detail: fmt.Sprintf(
		"the file of this session, %q, was removed, moved or cut short while it was in use; its records before number %d are not here", lost.path, next.begin)}
	l.buf = c.sealLine(l.enc.appendEvent(l.buf, &c, ev), start)
	return l.writeBuffer(c, nil)
}
