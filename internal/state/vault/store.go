package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/clawai/clawai/internal/state/keychain"
	"github.com/gofrs/flock"
)

// Store keeps entries. Get and Delete return ErrNone for a missing name. If the store cannot be
// read, the error tells the owner what to do.
type Store interface {
	Kind() StoreKind
	Get(name string) (Entry, error)
	// Change calls change to edit an entry, and stores the result. If there is no entry with the
	// name, change gets a new entry without a value. If change returns an error, nothing is stored.
	Change(name string, change func(*Entry) error) error
	Delete(name string) error
	Names() ([]string, error)
}

// StoreKind is the kind of place where a store keeps values.
type StoreKind string

// The kinds of stores.
const (
	InKeychain StoreKind = "keychain"
	InFile     StoreKind = "file"
)

// String returns the kind in words for people.
func (k StoreKind) String() string {
	if k == InFile {
		return "an encrypted file"
	}
	return "the system's keychain"
}

// ParseKind parses the word keychain or file.
func ParseKind(s string) (StoreKind, error) {
	switch k := StoreKind(s); k {
	case InKeychain, InFile:
		return k, nil
	}
	return "", fmt.Errorf("unknown store %q (one of keychain, file)", s)
}

// ListEntries reads every entry, in the order of the store.
func ListEntries(s Store) (all []Entry, err error) {
	names, err := s.Names()
	for _, name := range names {
		e, err := s.Get(name)
		if errors.Is(err, ErrNone) {
			continue // somebody has removed the entry from the keychain by hand
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, err
}

// chain is the store in the system's keychain.
type chain struct {
	off bool // the owner does not want the keychain to be used
	keychain.Keychain
}

var errOff = fmt.Errorf("%w: the system's keychain is off (CLAWAI_KEYCHAIN); keep the vault in a file: clawai vault set --store file NAME", ErrLocked)

func (chain) Kind() StoreKind { return InKeychain }

func (c chain) Get(name string) (Entry, error) {
	if c.off {
		return Entry{}, errOff
	}
	text, err := c.Keychain.Get(name)
	if err != nil {
		return Entry{}, adviseError(err)
	}
	return decodeEntry(name, []byte(text))
}

func (c chain) Change(name string, change func(*Entry) error) error {
	unlock, err := c.lockChanges()
	if err != nil {
		return err
	}
	defer unlock()
	e, err := c.Get(name)
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	e.Name = name
	if err := change(&e); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return adviseError(c.SetText(name, string(data)))
}

func (c chain) Delete(name string) error {
	unlock, err := c.lockChanges()
	if err != nil {
		return err
	}
	defer unlock()
	return adviseError(c.Keychain.Delete(name))
}

// changing is held while a goroutine changes an entry. A file lock keeps other processes out.
var changing sync.Mutex

// lockChanges prevents concurrent changes. Without it, one process could overwrite a change of
// another process.
func (c chain) lockChanges() (unlock func(), err error) {
	if c.off {
		return nil, errOff
	}
	if err := c.Private(c.Dir); err != nil {
		return nil, err
	}
	changing.Lock()
	lock := flock.New(c.Index + ".change.lock")
	if err := lock.Lock(); err != nil {
		changing.Unlock()
		return nil, err
	}
	return func() { _ = lock.Unlock(); changing.Unlock() }, nil
}

// adviseError returns an error of package keychain as an error of this package, with advice.
func adviseError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keychain.ErrNone):
		return ErrNone
	case errors.Is(err, keychain.ErrTooLarge):
		return fmt.Errorf("%w; keep the vault in a file instead: clawai vault move file", err)
	}
	return fmt.Errorf("%w: %w; unlock the keychain, or where there is none keep the vault in a file: clawai vault set --store file NAME", ErrLocked, err)
}
