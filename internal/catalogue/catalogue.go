// Package catalogue keeps what servers of the hub have listed from one session to the next, a
// file each, that only its owner can open. A file is found by what its server was started with,
// and says by its name nothing of that: names are digests under a key that lies beside them.
//
// What cannot be trusted, read or written is as if it was not there: its server is asked.
package catalogue

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/internal/config"
)

// Bounds of what is kept.
const (
	maxText  = 8 << 20
	maxFiles = 256
	unusedIn = 30 * 24 * time.Hour
)

// Store is the folder. It is safe for concurrent use, also by several processes.
type Store struct {
	dir string

	mu  sync.Mutex // guards what follows, and the folder against our own sweeps
	key []byte
}

// New opens nothing. state is the folder of clawai's own.
func New(state string) *Store { return &Store{dir: filepath.Join(state, "catalogue")} }

// Entry is the place of what one server lists when it is started in one way.
type Entry struct {
	store *Store
	name  string
}

// Of is the place for all that identity says; nil when there can be none.
func (s *Store) Of(identity []byte) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil && s.readKey() != nil {
		return nil
	}
	return &Entry{s, hex.EncodeToString(s.digest("name", string(identity)))[:32] + ".list"}
}

// readKey reads the key, or makes one in the place of what is none, or was open to others. Of
// two processes that make one at the same time, what the first keeps is found by nobody.
func (s *Store) readKey() error {
	for _, dir := range []string{filepath.Dir(s.dir), s.dir} {
		if err := config.PrivateFolder(dir); err != nil {
			return err
		}
	}
	path := filepath.Join(s.dir, "key")
	key, err := config.ReadSecret(path)
	if err != nil || len(key) != sha256.Size {
		key = make([]byte, sha256.Size)
		_, _ = rand.Read(key) // which never fails
		if err := anew(path, key); err != nil {
			return err
		}
	}
	s.key = key
	return nil
}

// anew writes a file that has nothing of one that was there, neither its mode nor its owner.
func anew(path string, data []byte) error {
	_ = os.Remove(path)
	return atomicfile.Write(path, data, atomicfile.Options{Mode: 0o600})
}

func (s *Store) digest(of ...string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(strings.Join(of, "\x00")))
	return h.Sum(nil)
}

// Load is what was kept last; nil when there is nothing, or something other than we have kept.
func (e *Entry) Load() []byte {
	path := filepath.Join(e.store.dir, e.name)
	src, err := config.ReadSecret(path)
	if err != nil || len(src) <= sha256.Size {
		return nil
	}
	text := src[sha256.Size:]
	if !hmac.Equal(src[:sha256.Size], e.store.digest("text", e.name, string(text))) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // it is in use
	return text
}

// Keep puts text in the place of what was kept before; none, one that is too long and
// one that cannot be written leave nothing there.
func (e *Entry) Keep(text []byte) {
	s := e.store
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, e.name)
	whole := slices.Concat(s.digest("text", e.name, string(text)), text)
	if len(text) == 0 || len(text) > maxText || config.PrivateFolder(s.dir) != nil || anew(path, whole) != nil {
		_ = os.Remove(path)
	}
	s.sweep()
}

// sweep removes what nobody has used for long, and of the rest what is too many.
func (s *Store) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, one := range entries {
		if info, err := one.Info(); err == nil && one.Name() != "key" {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		if i >= maxFiles || time.Since(info.ModTime()) > unusedIn {
			_ = os.Remove(filepath.Join(s.dir, info.Name()))
		}
	}
}
