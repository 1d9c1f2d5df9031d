package queue

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// presence is a file that is locked while a process is present. The system releases the lock when
// the process ends, however it ends.
type presence struct {
	path string
	lock *flock.Flock
}

var errClaimed = errors.New("somebody is there already")

// claimFile creates and locks the file; errClaimed when another live process holds it.
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
		// Others lock our file only for a moment: to check whether we are present, or to remove a
		// dead file.
		if err := p.lock.Lock(); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if p.isHeld() {
			return p, nil
		}
		_ = p.lock.Close() // the file was removed before it was locked
	}
}

// isHeld reports whether the file at path is still the locked one.
func (p *presence) isHeld() bool {
	ours, err := p.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(p.path)
	return err == nil && os.SameFile(ours, there)
}

// releaseFile removes the file before it unlocks it, so that no other process sees an unlocked file
// or puts its own file at this path. A system that cannot remove open files (Windows) removes it
// after the unlock; if another process has opened the file by then, the removal only fails.
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

// isClaimed reports whether a process holds the file.
func isClaimed(path string) (bool, error) {
	probe := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	free, err := probe.TryRLock() // shared, so that two checks do not see each other
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !free {
		return !free, err
	}
	return false, probe.Close()
}

// removeStale removes the file when no process holds it. A check at this moment sees the file as
// held, so the caller must first finish everything that depends on the end of the process.
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

// namesIn lists the files in a folder that may be presence files.
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
