package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/redact"
)

// Options of Open. The zero value is the product's default.
type Options struct {
	Redact   redact.Mode
	MaxBytes int64 // a segment that has grown to this is closed and a new one begun; 0 means 32 MiB
	Retention
	Sync
	KeyFile string // key of the keyed digests; "" means record.key beside dir
	Now     func() time.Time
	// Brief is for a record of one call: room for more is not reserved, and the other
	// segments are left to those who have more time, Open and Close look at none of them.
	Brief bool
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

// Open begins the record of a new session in dir, which it makes when missing.
// It refuses a directory or file that other users can write, a symbolic link,
// and anything that is no regular file.
func Open(dir string, o Options) (*Log, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the record: %w", err)
	}
	l := &Log{dir: dir, o: o.withDefaults(dir), chain: newChain(), ending: make(chan struct{})}
	if err := l.open(); err != nil {
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
		if l.o.Redact != redact.Full {
			if key, err = loadKey(l.o.KeyFile); err != nil {
				return fmt.Errorf("the key: %w", err)
			}
		}
		l.enc = encoder{Redactor: redact.New(l.o.Redact, key), session: session}
		l.long.enc = encoder{Redactor: redact.New(l.o.Redact, key)}
		seg, err := newSegment(l.dir, &l.enc, &l.chain, l.o.Now(), l.o.Brief)
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
