package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/internal/state/atomicfile"
)

// Files keeps entries in one folder: one file per server, which only the owner can read.
type Files struct {
	Dir string
	// Private creates the folder. It returns an error if other users can change the folder.
	Private func(dir string) error
}

var _ Store = Files{}

const suffix = ".json"

// Name returns the folder.
func (f Files) Name() string { return f.Dir }

func (f Files) entryPath(server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(f.Dir, hex.EncodeToString(sum[:16])+suffix)
}

// Load reads the entry of a server.
func (f Files) Load(server string) (StoredSignIn, error) {
	e, err := f.readEntry(f.entryPath(server))
	if err == nil && e.Server != server {
		return StoredSignIn{}, fmt.Errorf("%s holds the sign-in of another server; remove it", f.entryPath(server))
	}
	return e, err
}

func (f Files) readEntry(path string) (StoredSignIn, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return StoredSignIn{}, ErrNone
	}
	if err != nil {
		return StoredSignIn{}, err
	}
	if !info.Mode().IsRegular() {
		return StoredSignIn{}, fmt.Errorf("%s is not a regular file; remove it and sign in again", path)
	}
	if err := access.CheckOpen(path, info); err != nil {
		return StoredSignIn{}, fmt.Errorf("%w, or remove it and sign in again", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return StoredSignIn{}, err
	}
	e, err := decodeEntry(data)
	if err != nil {
		return StoredSignIn{}, fmt.Errorf("%s: %w; remove it and sign in again", path, err)
	}
	return e, nil
}

// Save writes the entry.
func (f Files) Save(e StoredSignIn) error {
	if err := f.Private(f.Dir); err != nil {
		return err
	}
	data, err := encodeEntry(e)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.entryPath(e.Server), data, atomicfile.Options{Mode: 0o600})
}

// Delete removes the entry of a server.
func (f Files) Delete(server string) error {
	err := os.Remove(f.entryPath(server))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	return err
}

// List reads all entries.
func (f Files) List() (all []StoredSignIn, err error) {
	names, err := os.ReadDir(f.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var damaged []error
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), suffix) {
			continue
		}
		e, err := f.readEntry(filepath.Join(f.Dir, n.Name()))
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		all = append(all, e)
	}
	return all, damageOf(damaged)
}
