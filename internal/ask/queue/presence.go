package queue

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// presence is a file that is locked for as long as somebody is there. The
// system gives the lock back when the process ends, however it ends.
type presence struct {
	path string
	lock *flock.Flock
}

var errClaimed = errors.New("somebody is there already")

// claimFile makes the file and locks it; errClaimed when another one is alive.
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
		// Nobody else locks a file that is ours but those who look whether
		// somebody is there, and who remove what they find dead; both only for a
		// moment.
		if err := p.lock.Lock(); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if p.isHeld() {
			return p, nil
		}
		_ = p.lock.Close() // it was removed before it was locked
	}
}

// isHeld reports whether the file at path is still the one that is locked.
func (p *presence) isHeld() bool {
	ours, err := p.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(p.path)
	return err == nil && os.SameFile(ours, there)
}

// releaseFile removes the file while it is locked: nobody finds it dead, and no other
// one can have taken its place. Where a system does not remove what is open, it
// does not remove another one's either, so that it can be done after.
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

// isClaimed reports whether somebody holds the file.
func isClaimed(path string) (bool, error) {
	probe := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	free, err := probe.TryRLock() // shared, so that two who look do not see each other
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !free {
		return !free, err
	}
	return false, probe.Close()
}

// removeStale removes the file when nobody holds it. Who looks at this moment takes
// it for held, so whatever follows from the death is to be done before.
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

// namesIn lists the files in a folder that may be presences.
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
