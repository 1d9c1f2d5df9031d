package queue

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// presence is a file that is locked while a process runs. The system releases the lock when the
// process ends, even after a crash.
type presence struct {
	path string
	lock *flock.Flock
}

var errClaimed = errors.New("somebody is there already")

// claimFile creates the file and locks it. It returns errClaimed if another live process holds the
// lock.
func claimFile(path string) (*presence, error) {
	for {
		claimed, err := isClaimed(path)
		if err != nil {
			return nil, err
		}
		if claimed {
			return nil, errClaimed
		}
		if err := removeStale(path); err != nil {
			return nil, err
		}
		p := &presence{path: path, lock: flock.New(path,
			flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR|noFollow), flock.SetPermissions(0o600))}
		// Another process locks our file only for a moment: to check whether we run, or to remove
		// the file of a dead process.
		if err := p.lock.Lock(); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if p.isHeld() {
			return p, nil
		}
		_ = p.lock.Close() // another process removed the file before we had the lock: try again
	}
}

// isHeld reports whether the path still leads to the file that we have locked.
func (p *presence) isHeld() bool {
	ours, err := p.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(p.path)
	return err == nil && os.SameFile(ours, there)
}

// releaseFile removes the file first and then releases the lock. In the other order, another
// process could see an unlocked file, or create its own file at this path. On Windows, releaseFile
// first releases the lock and then removes the file, because Windows cannot remove an open file.
// The removal fails if another process has opened the file by then, but the failure does no harm.
func (p *presence) releaseFile() error {
	var left error
	if p.isHeld() {
		left = os.Remove(p.path)
	}
	err := p.lock.Close()
	if left != nil && !errors.Is(left, fs.ErrNotExist) {
		left = os.Remove(p.path)
	}
	if errors.Is(left, fs.ErrNotExist) {
		left = nil
	}
	return errors.Join(left, err)
}

// isClaimed reports whether a live process holds the lock of the file.
func isClaimed(path string) (bool, error) {
	probe := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	free, err := probe.TryRLock() // a shared lock, so that two processes that check at the same time do not disturb each other
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !free {
		return !free, err
	}
	return false, probe.Close()
}

// removeStale removes the file if no process holds its lock. During removal other processes see the
// file as locked. So the caller must first finish everything that depends on the end of the
// process.
func removeStale(path string) error {
	found := &presence{path: path, lock: flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))}
	free, err := found.lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !free {
		return err
	}
	return found.releaseFile()
}

// namesIn lists the names in a folder that may be presence files.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
