package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("the record is closed")

// Options of Open. The zero value is the product's default.
type Options struct {
	Redact   Redaction
	MaxBytes int64         // a segment that has grown to this is closed and a new one begun; 0 means 32 MiB
	Keep     int64         // bytes of closed segments to keep; 0 means 1 GiB, negative all
	KeepFor  time.Duration // age of closed segments to keep; 0 means 90 days, negative for ever
	Sync     bool          // wait for the disk on every Record
	KeyFile  string        // key of the keyed digests; "" means record.key beside dir
	Now      func() time.Time
}

func (o Options) withDefaults(dir string) Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = 32 << 20
	}
	if o.Keep == 0 {
		o.Keep = 1 << 30
	}
	if o.KeepFor == 0 {
		o.KeepFor = 90 * 24 * time.Hour
	}
	if o.KeyFile == "" {
		o.KeyFile = filepath.Join(filepath.Dir(dir), "record.key")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Log is the record of one session. It is safe for concurrent use.
type Log struct {
	dir string
	o   Options

	mu       sync.Mutex
	enc      encoder
	chain    chain
	seg      *segment // nil when closed
	rotateAt int64
	buf      []byte
	ids      []byte
	failed   failure // reset by the next write that succeeds

	tidy    sync.WaitGroup
	tidyMu  sync.Mutex // one at a time
	tidyErr error
}

// Open begins the record of a new session in dir, which it makes when missing.
// It refuses a directory or file that other users can write, a symbolic link,
// and anything that is no regular file.
func Open(dir string, o Options) (*Log, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the record: %w", err)
	}
	l := &Log{dir: dir, o: o.withDefaults(dir), chain: newChain()}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("the record in %q cannot be written: %w", dir, err)
	}
	l.keepTidy()
	return l, nil
}

func (l *Log) open() error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	if err := checkDir(l.dir); err != nil {
		return err
	}
	session, err := newSession()
	if err != nil {
		return err
	}
	return withLedger(l.dir, l.o.Now, func(led *ledger) error {
		var key []byte
		if l.o.Redact != Full {
			if key, err = loadKey(l.o.KeyFile); err != nil {
				return fmt.Errorf("the key: %w", err)
			}
		}
		l.enc = encoder{redactor: newRedactor(l.o.Redact, key), session: session}
		seg, err := newSegment(l.dir, &l.enc, &l.chain, l.o.Now())
		if err != nil {
			return err
		}
		if err := led.append(seg.opening()); err != nil {
			return errors.Join(err, seg.discard())
		}
		l.seg, l.rotateAt = seg, l.o.MaxBytes
		return nil
	})
}

// checkDir refuses a directory that others could change under us.
func checkDir(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%q is no directory", dir)
	}
	if err := checkPrivate(dir, fi); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if fi, err = os.Lstat(parent); err != nil {
		return err
	}
	if fi.Mode()&(fs.ModeSticky|fs.ModeSymlink) != 0 {
		return nil // others cannot rename what is ours; a link is the owner's choice
	}
	return checkPrivate(parent, fi)
}

// Session is the id that every record of this log begins with.
func (l *Log) Session() string { return l.enc.session }

// Record writes events in order with one write and fills in their ids. On an
// error none of them may be acted on; their ids are empty.
func (l *Log) Record(events ...*Event) error {
	if len(events) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seg == nil {
		return ErrClosed
	}
	now := l.o.Now()
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
func (l *Log) write(c chain, events []*Event) error {
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
func (l *Log) name(events []*Event, first uint64) {
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
	if cap(l.enc.scratch) > usual {
		l.enc.scratch = nil
	}
}

// Close ends the session's record. What it returns does not undo any record. A
// record whose last write failed, and fails again, is left to the next session
// to account for.
func (l *Log) Close() error {
	err := l.close()
	l.tidy.Wait()
	if err = errors.Join(err, l.tidyErr); err != nil {
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
