package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/text/redact"
)

// Options are the options of Open. The zero value is the product's default.
type Options struct {
	Redact   redact.Mode
	MaxBytes int64 // when a segment reaches this size, it is closed and a new one begins; 0 means 32 MiB
	Retention
	Sync
	KeyFile string           // path of the key for keyed digests; "" means record.key next to dir
	Now     func() time.Time // nil means time.Now
	// Brief is for a record of one call. With Brief, Open does not clean up other segments, because
	// that takes time; longer sessions do it.
	Brief bool
	// Shared names the agent's session, if this record is for one call of that session. All calls
	// of the session on one day share a segment (shared.go). Shared is "" for a record of many
	// calls, and for a call that belongs to no session.
	Shared string
}

func (o Options) withDefaults(dir string) Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = 32 << 20
	}
	o.Retention = o.Retention.withDefaults()
	if o.KeyFile == "" {
		o.KeyFile = filepath.Join(filepath.Dir(dir), "record.key")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Open begins the record of a new session in dir, and creates dir if it is missing. It returns an
// error for a directory or file that other users can write, for a symbolic link, and for a file
// that is not regular.
func Open(dir string, o Options) (*Log, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the record: %w", err)
	}
	l := &Log{dir: dir, o: o.withDefaults(dir), ending: make(chan struct{})}
	if err := l.openRecord(); err != nil {
		return nil, fmt.Errorf("the record in %q cannot be written: %w", dir, err)
	}
	if !l.o.Brief {
		l.cleanUp()
	}
	if l.o.Sync == SyncInterval {
		l.syncOften()
	}
	return l, nil
}

func (l *Log) openRecord() error {
	if err := makeDir(l.dir); err != nil {
		return err
	}
	if l.o.Shared != "" && l.shareSegment(l.o.Shared) == nil {
		return nil
	}
	session, err := newSession()
	if err != nil {
		return err
	}
	return l.beginSession(session, segmentName(l.o.Now(), session))
}

// beginSession creates the first segment of a session.
func (l *Log) beginSession(session, file string) error {
	return withLedger(l.dir, l.o.Now, func(led *ledger) error {
		if err := l.useKey(session, loadKey); err != nil {
			return err
		}
		c := newChain() // l.chain must change only if all steps succeed, because after an error openRecord begins another session with this log
		seg, err := newSegment(l.dir, file, &l.enc, &c, l.o.Now(), l.isBrief())
		if err != nil {
			return err
		}
		if err := led.appendMark(seg.openingMark()); err != nil {
			return errors.Join(err, seg.discard())
		}
		l.seg, l.chain, l.rotateAt = seg, c, l.o.MaxBytes
		return nil
	})
}

// isBrief reports whether this log will write only few records.
func (l *Log) isBrief() bool { return l.o.Brief || l.o.Shared != "" }

// useKey creates the encoders with the key. The function read reads the key from its file.
func (l *Log) useKey(session string, read func(path string) ([]byte, error)) (err error) {
	var key []byte
	if l.o.Redact != redact.Full {
		if key, err = read(l.o.KeyFile); err != nil {
			return fmt.Errorf("the key: %w", err)
		}
	}
	l.enc = encoder{Redactor: redact.New(l.o.Redact, key), session: session}
	l.long.enc = encoder{Redactor: redact.New(l.o.Redact, key)}
	return nil
}

// makeDir creates the directory if it is missing, and checks it.
func makeDir(dir string) error {
	err := checkDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = checkDir(dir)
		}
	}
	return err
}

// checkDir returns an error for a directory that other users could change.
func checkDir(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%q is not a directory", dir)
	}
	if err := checkPrivate(dir, fi); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if fi, err = os.Lstat(parent); err != nil {
		return err
	}
	if fi.Mode()&(fs.ModeSticky|fs.ModeSymlink) != 0 {
		return nil // in a sticky folder other users cannot rename our folder; a symbolic link is the owner's choice
	}
	return checkPrivate(parent, fi)
}
