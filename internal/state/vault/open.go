package vault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/state/keychain"
)

// Place is the location of one owner's vault.
type Place struct {
	Dir     string             // folder of the file and of the index of the keychain
	Key     string             // file with the key; "" means vault.key in Dir
	Private func(string) error // creates Dir; returns an error if other users can change the folder
	// NoKeychain means that the owner does not want clawai to use the keychain.
	NoKeychain bool
}

func (p Place) fileStore() file {
	key := p.Key
	if key == "" {
		key = filepath.Join(p.Dir, "vault.key")
	}
	return file{path: filepath.Join(p.Dir, "vault.age"), key: key, private: p.Private}
}

func (p Place) keychainStore() chain {
	return chain{p.NoKeychain, keychain.Keychain{Service: "clawai-vault", Index: filepath.Join(p.Dir, "keychain.json"), Dir: p.Dir, Private: p.Private}}
}

func (p Place) newStore(kind StoreKind) Store {
	if kind == InFile {
		return p.fileStore()
	}
	return p.keychainStore()
}

// Open returns the store in use: the file if it exists, otherwise the keychain.
func (p Place) Open() (Store, error) {
	if _, err := os.Lstat(p.fileStore().path); err == nil {
		return p.fileStore(), nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return p.keychainStore(), nil
}

// ChooseStore returns the store of a kind. If the vault already uses the other store, it returns an
// error, because a name could then have two values.
func (p Place) ChooseStore(kind StoreKind) (Store, error) {
	now, err := p.Open()
	if err != nil || now.Kind() == kind {
		return now, err
	}
	names, err := now.Names()
	if err != nil {
		return nil, err
	}
	if len(names) > 0 || now.Kind() == InFile {
		return nil, fmt.Errorf("the vault is in %s already; to keep it in %s: clawai vault move %s", now.Kind(), kind, string(kind))
	}
	return p.newStore(kind), nil
}

// MoveEntries copies every entry to the store of a kind and reads each copy back. After that it
// deletes the entries from the old store. It returns the number of entries.
func (p Place) MoveEntries(kind StoreKind) (moved int, err error) {
	from, err := p.Open()
	if err != nil {
		return 0, err
	}
	if from.Kind() == kind {
		return 0, fmt.Errorf("the vault is in %s already", kind)
	}
	all, err := ListEntries(from)
	if err != nil {
		return 0, err
	}
	to := p.newStore(kind)
	for i, e := range all {
		if err := copyTo(to, e); err != nil {
			for _, copied := range all[:i+1] {
				_ = to.Delete(copied.Name)
			}
			return 0, errors.Join(err, p.dropEmptyFile(to))
		}
	}
	if kind == InKeychain {
		return len(all), os.Remove(p.fileStore().path)
	}
	for _, e := range all {
		if err := from.Delete(e.Name); err != nil {
			return len(all), fmt.Errorf("%q is in both stores now: %w", e.Name, err)
		}
	}
	return len(all), nil
}

func copyTo(to Store, e Entry) error {
	if err := to.Change(e.Name, func(into *Entry) error { *into = e; return nil }); err != nil {
		return fmt.Errorf("%q: %w", e.Name, err)
	}
	back, err := to.Get(e.Name)
	if err != nil || string(back.Value) != string(e.Value) {
		return fmt.Errorf("%q did not come back from %s as it was put there; nothing was moved", e.Name, to.Kind())
	}
	return nil
}

// dropEmptyFile removes the file after a failed move, because Open would use it as the vault.
func (p Place) dropEmptyFile(s Store) error {
	if names, err := s.Names(); s.Kind() != InFile || err != nil || len(names) > 0 {
		return err
	}
	if err := os.Remove(p.fileStore().path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
