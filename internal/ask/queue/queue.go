package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// Options configure Open. The zero value is the default.
type Options struct {
	Clock    func() time.Time // gives the times that people see; it has no influence on expiry; nil means time.Now
	Check    time.Duration    // time between two checks if no notification comes; 0 means 5 s
	Keep     int              // number of resolved requests to keep; 0 means 10,000
	KeepFor  time.Duration    // maximum age of resolved requests; 0 means 30 days
	Patience time.Duration    // maximum wait for another program's write lock; 0 means 3 s

	migrations []migration
	step       func(string) // for tests: called between the steps of a transaction
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Check = cmp.Or(o.Check, 5*time.Second)
	o.Keep = cmp.Or(o.Keep, 10_000)
	o.KeepFor = cmp.Or(o.KeepFor, 30*24*time.Hour)
	o.Patience = cmp.Or(o.Patience, 3*time.Second)
	if o.migrations == nil {
		o.migrations = migrations
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	return o
}

// Queue is the queue in one folder. It is safe for concurrent use.
type Queue struct {
	dir     string
	o       Options
	store   store
	watcher watcher

	closing chan struct{}
	once    sync.Once
	tasks   sync.WaitGroup // goroutines that run until Close
	tidy    tidying
}

// Open creates the folder if it is missing. It refuses a folder that other users can change. The
// caller must check the parent folder. The database is opened later, by the first call that needs
// it.
func Open(dir string, o Options) (*Queue, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the queue: %w", err)
	}
	q := &Queue{dir: dir, o: o.withDefaults(), closing: make(chan struct{})}
	q.store = store{q: q, turn: make(chan struct{}, 1)}
	q.watcher = watcher{check: q.o.Check}
	if err := q.makeFolders(); err != nil {
		return nil, fmt.Errorf("the queue in %q cannot be used: %w", dir, err)
	}
	return q, nil
}

// makeFolders creates the missing folders. It refuses folders that other users can change.
func (q *Queue) makeFolders() error {
	for _, dir := range []string{q.dir, q.filePath(proxies), q.filePath(attending)} {
		if err := privateFolder(dir); err != nil {
			return err
		}
	}
	return privateFile(q.filePath(bell), true)
}

// Names in the folder.
const (
	database  = "queue.db"
	opening   = "opening"   // the process that opens the database holds the lock of this file
	bell      = "bell"      // touched after every change, so that all watchers wake up
	proxies   = "proxies"   // folder with a file for each session; its proxy holds the lock, and a touch wakes the proxy
	attending = "attending" // folder with a file for each answerer, who holds its lock
)

func (q *Queue) filePath(name ...string) string {
	return filepath.Join(append([]string{q.dir}, name...)...)
}

// Close closes the database and the channels of Watch. Callers must close their Proxy and Answerer
// values first.
func (q *Queue) Close() (err error) {
	q.once.Do(func() {
		q.stopTidying()
		close(q.closing)
		q.tasks.Wait()
		err = q.store.close()
	})
	return err
}

// notifyAll wakes all watchers of the queue.
func (q *Queue) notifyAll() {
	if errors.Is(touchFile(q.filePath(bell)), fs.ErrNotExist) {
		_ = privateFile(q.filePath(bell), true) // an error is ignored, because watchers also check from time to time
	}
}

// Watch returns a channel that ticks once at the start and after each possible change. Ticks that
// are not received merge into one. The channel closes when ctx or the queue ends.
func (q *Queue) Watch(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	heard, stop := q.watcher.listenPath(q.filePath(bell))
	out <- struct{}{}
	q.tasks.Go(func() {
		defer close(out)
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-q.closing:
				return
			case <-heard:
				tickChannel(out)
			}
		}
	})
	return out
}

func tickChannel(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
