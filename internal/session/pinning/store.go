package pinning

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
)

// Store keeps the state of each server on this machine: what the server listed, and what a person
// approved. It is safe for concurrent use, also by several processes.
type Store struct {
	dir  string // folder of the states
	lock string // path of the project's lock file; "" for none

	// Known returns the values that must not be stored in a state; nil for none.
	Known func() *redact.Known

	mu     sync.Mutex         // guards the fields below
	states map[string]*cached // the cached states, by the server's name
	locked struct {
		at   stamp    // stamp of the file trust.json when lock was read
		lock pin.Lock // nil if the project's lock is not trusted
	}
}

// cached is a parsed state with the stamp of its file.
type cached struct {
	at    stamp
	state *pin.State
}

// stamp identifies a version of a file: another stamp means that the content may have changed. Each
// of our writes replaces the file by a new file, and so changes the stamp.
type stamp struct {
	info fs.FileInfo // nil: there is no file
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	return stamp{info}, err
}

func (s stamp) isSame(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == o.info
	}
	return os.SameFile(s.info, o.info) && s.info.ModTime().Equal(o.info.ModTime()) && s.info.Size() == o.info.Size()
}

// NewStore returns a store. It opens no file. state is clawai's own folder. project is the folder
// of the project whose lock is used; "" for none.
func NewStore(state, project string) *Store {
	s := &Store{dir: PinsDir(state), states: map[string]*cached{}}
	if project != "" {
		s.lock = LockFile(project)
	}
	return s
}

// knownValues returns the values that must not be stored in a state; nil for none.
func (s *Store) knownValues() *redact.Known {
	if s.Known == nil {
		return nil
	}
	return s.Known()
}

// PinsDir returns the folder of the states and of the trusted locks.
func PinsDir(state string) string { return filepath.Join(state, "pins") }

// LockFile returns the path of the lock file for the project that a folder belongs to. The project
// is the nearest folder upwards that has a .clawai, but not the home folder or a folder above it.
// If there is no such folder, the lock file is in the given folder.
func LockFile(folder string) string {
	home, _ := os.UserHomeDir()
	for dir := folder; dir != home; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".clawai")); err == nil && info.IsDir() {
			return filepath.Join(dir, ".clawai", "tools.lock")
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return filepath.Join(folder, ".clawai", "tools.lock")
}

// stateFile returns the path of a server's state. The name of the file contains the server's name
// for people, and no two servers share a file.
func (s *Store) stateFile(server string) string {
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(server))
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.dir, fmt.Sprintf("%.40s-%x.json", plain, sum[:6]))
}

// LoadState returns the state of a server. The caller must not change the state.
func (s *Store) LoadState(server string) (*pin.State, error) {
	path := s.stateFile(server)
	now, err := stampOf(path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known := s.states[server]
	s.mu.Unlock()
	if known != nil && known.at.isSame(now) {
		return known.state, nil
	}
	state, err := readState(path, server)
	if err != nil {
		return nil, err
	}
	s.cacheState(server, &cached{now, state})
	return state, nil
}

func (s *Store) cacheState(server string, c *cached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[server] = c
}

func readState(path, server string) (*pin.State, error) {
	src, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &pin.State{Server: server}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what was approved of %q cannot be read: %w", server, err)
	}
	state, err := pin.ReadState(src, server)
	if err != nil {
		return nil, fmt.Errorf("what was approved of %q cannot be read, in %s: %w; remove the file, and what the server lists is new again", server, path, err)
	}
	return state, nil
}

// ListServers returns the names of the servers that have a state.
func (s *Store) ListServers() (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "*-*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		var state struct{ Server string }
		src, err := config.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(src, &state)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", path, err)
		}
		names = append(names, state.Server)
	}
	slices.Sort(names)
	return names, nil
}

// ChangeState changes the state of a server under a lock that excludes other processes. The given
// function edits the state and reports whether the state must be written.
func (s *Store) ChangeState(server string, change func(*pin.State) (bool, error)) error {
	if err := config.PrivateFolder(s.dir); err != nil {
		return err
	}
	path := s.stateFile(server)
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		return fmt.Errorf("what is known of %q: %w", server, err)
	}
	defer unlock()
	was, err := s.LoadState(server)
	if err != nil {
		return err
	}
	state := was.Clone() // other goroutines read the cached state
	if changed, err := change(state); err != nil || !changed {
		return err
	}
	if err := atomicfile.WriteFrom(path, state.Write, atomicfile.Options{Mode: 0o600}); err != nil {
		return err
	}
	if now, err := stampOf(path); err == nil { // the lock excludes other writers, so this is the stamp of our own file
		s.cacheState(server, &cached{now, state})
	}
	return nil
}

// claimQuestion lets only one process at a time ask about a server. The result ours is false if
// another process asks now; otherwise the caller must call done after the question.
func (s *Store) claimQuestion(server string) (done func(), ours bool) {
	lock := flock.New(s.stateFile(server)+".ask", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		_ = lock.Close()
		return nil, false
	}
	return func() { _ = lock.Close() }, true
}

// LoadLock returns a server's block in the project's lock; known is false if the lock is not
// trusted or has no such block.
func (s *Store) LoadLock(server string) (block pin.SelfDescription, known bool, err error) {
	if s.lock == "" {
		return block, false, nil
	}
	now, err := stampOf(filepath.Join(s.dir, "trust.json"))
	if err != nil {
		return block, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.locked.at.isSame(now) {
		text, err := config.TrustedText(s.dir, s.lock)
		if err != nil {
			return block, false, err
		}
		var lock pin.Lock
		if text != nil {
			if lock, err = pin.ReadLock(text); err != nil {
				return block, false, fmt.Errorf("the lock that you trusted cannot be read: %w; look at it again with: clawai lock trust", err)
			}
		}
		s.locked.at, s.locked.lock = now, lock
	}
	block, known = s.locked.lock[server]
	return block, known, nil
}
