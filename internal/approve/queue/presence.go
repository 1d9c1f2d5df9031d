package queue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// presence is a file that is locked for as long as somebody is there. The
// system gives the lock back when the process ends, however it ends.
type presence struct {
	path string
	lock *flock.Flock
}

var errPresent = errors.New("somebody is there already")

// appear makes the file and locks it; errPresent when another one is alive.
func appear(path string) (*presence, error) {
	for {
		there, err := present(path)
		if err != nil {
			return nil, err
		}
		if there {
			return nil, errPresent
		}
		p := &presence{path: path, lock: flock.New(path,
			flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR|noFollow), flock.SetPermissions(0o600))}
		// Nobody else locks a file that is ours but those who look whether
		// somebody is there, and they only for a moment.
		if err := p.lock.Lock(); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if p.holds() {
			return p, nil
		}
		_ = p.lock.Close() // one who looked took it for a dead one's
	}
}

// holds says whether the file at path is still the one that is locked.
func (p *presence) holds() bool {
	ours, err := p.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(p.path)
	return err == nil && os.SameFile(ours, there)
}

// leave removes the file before the lock goes, so that nobody finds it dead;
// where a system does not remove what is open, after.
func (p *presence) leave() error {
	var left error
	if p.holds() {
		left = os.Remove(p.path)
	}
	err := p.lock.Close()
	if left != nil {
		left = os.Remove(p.path)
	}
	if errors.Is(left, fs.ErrNotExist) {
		left = nil
	}
	return errors.Join(left, err)
}

// present says whether somebody holds the file, and removes it when nobody does.
func present(path string) (bool, error) {
	probe := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	free, err := probe.TryRLock() // shared, so that two who look do not see each other
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !free {
		return !free, err
	}
	found := &presence{path: path, lock: probe}
	return false, found.leave()
}

// namesIn lists the files in a folder that may hold presences.
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

// sweep removes what dead processes left in a folder.
func sweep(dir string) error {
	names, err := namesIn(dir)
	for _, name := range names {
		if _, e := present(filepath.Join(dir, name)); e != nil {
			err = errors.Join(err, e)
		}
	}
	return err
}
