package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/gofrs/flock"
)

// file is the store in one file, encrypted with age (age-encryption.org/v1). The key is in the same
// folder, or in a place that the owner has chosen. The file is always written as a whole, by one
// process at a time.
type file struct {
	path    string             // path of the encrypted file
	key     string             // path of the file with the key
	private func(string) error // the function Place.Private
}

func (file) Kind() StoreKind { return InFile }

func (f file) Names() ([]string, error) {
	all, err := f.readEntries()
	return slices.Sorted(maps.Keys(all)), err
}

func (f file) Get(name string) (Entry, error) {
	all, err := f.readEntries()
	if err != nil {
		return Entry{}, err
	}
	data, ok := all[name]
	if !ok {
		return Entry{}, ErrNone
	}
	return decodeEntry(name, data)
}

func (f file) Change(name string, change func(*Entry) error) error {
	return f.editEntries(func(all map[string]json.RawMessage) error {
		e := Entry{Name: name}
		if data, ok := all[name]; ok {
			var err error
			if e, err = decodeEntry(name, data); err != nil {
				return err
			}
		}
		if err := change(&e); err != nil {
			return err
		}
		data, err := json.Marshal(e)
		all[name] = data
		return err
	})
}

func (f file) Delete(name string) error {
	return f.editEntries(func(all map[string]json.RawMessage) error {
		if _, ok := all[name]; !ok {
			return ErrNone
		}
		delete(all, name)
		return nil
	})
}

func (f file) editEntries(change func(map[string]json.RawMessage) error) error {
	if err := f.private(filepath.Dir(f.path)); err != nil {
		return err
	}
	lock := flock.New(f.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	all, err := f.readEntries()
	if err != nil {
		return err
	}
	if err := change(all); err != nil {
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return f.writeEntries(text)
}

func (f file) readEntries() (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	sealed, err := readOwn(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := f.readIdentity()
	if err != nil {
		return nil, err
	}
	var text []byte
	plain, err := age.Decrypt(bytes.NewReader(sealed), key)
	if err == nil {
		text, err = io.ReadAll(plain)
	}
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("%w: %s was encrypted to another key than that in %s", ErrLocked, f.path, f.key)
	}
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil, fmt.Errorf("%s is damaged; put back a copy of it, or remove it and set its entries again", f.path)
	}
	return all, nil
}

func (f file) writeEntries(text []byte) error {
	key, err := f.readIdentity()
	if errors.Is(err, fs.ErrNotExist) {
		key, err = f.makeIdentity()
	}
	if err != nil {
		return err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, key.Recipient())
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return atomicfile.Write(f.path, sealed.Bytes(), atomicfile.Options{Mode: 0o600})
}

// readIdentity reads the key: the first line of the key file that is not empty and is no comment.
func (f file) readIdentity() (*age.X25519Identity, error) {
	text, err := readOwn(f.key)
	if err != nil {
		return nil, fmt.Errorf("%w: its key: %w", ErrLocked, err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, err := age.ParseX25519Identity(line)
		if err != nil {
			break // err is not returned, because its text would contain the key
		}
		return key, nil
	}
	return nil, fmt.Errorf("%w: %s holds no key; put back the one that was there", ErrLocked, f.key)
}

// makeIdentity creates a key. It returns an error if the encrypted file already exists, because a
// new key could not decrypt that file.
func (f file) makeIdentity() (*age.X25519Identity, error) {
	if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no key at %s; put back the one that was there", ErrLocked, f.key)
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	text := "# The key of clawai's vault. Keep it where the vault's file does not go.\n" + key.String() + "\n"
	return key, atomicfile.Write(f.key, []byte(text), atomicfile.Options{Mode: 0o600})
}

// readOwn reads a file that only its owner may open. It returns an error for any other file.
func readOwn(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; move it away", path)
	}
	if err := access.CheckOpen(path, info); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
