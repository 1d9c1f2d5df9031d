package oauth

import (
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/state/keychain"
)

// Keychain keeps entries in the system's keychain, under the addresses of their servers.
type Keychain struct{ keychain.Keychain }

var _ Store = Keychain{}

// Name returns the name of the keychain for people.
func (Keychain) Name() string { return "the system's keychain" }

// Load reads the entry of a server.
func (k Keychain) Load(server string) (StoredSignIn, error) {
	text, err := k.Get(server)
	if err != nil {
		return StoredSignIn{}, toStoreError(err)
	}
	return decodeKept(server, text)
}

// decodeKept decodes the text that the keychain holds for a server.
func decodeKept(server, text string) (StoredSignIn, error) {
	e, err := decodeEntry([]byte(text))
	if err != nil {
		return StoredSignIn{}, fmt.Errorf("%s in the system's keychain: %w; run: clawai auth logout %s", server, err, quoteWord(server))
	}
	return e, nil
}

// Save puts the entry into the keychain.
func (k Keychain) Save(e StoredSignIn) error {
	data, err := encodeEntry(e)
	if err != nil {
		return err
	}
	return k.SetText(e.Server, string(data))
}

// Delete removes the entry from the keychain.
func (k Keychain) Delete(server string) error { return toStoreError(k.Keychain.Delete(server)) }

// toStoreError replaces the keychain's ErrNone by this package's ErrNone.
func toStoreError(err error) error {
	if errors.Is(err, keychain.ErrNone) {
		return ErrNone
	}
	return err
}

// List reads every entry whose address is in the index.
func (k Keychain) List() (all []StoredSignIn, err error) {
	servers, err := k.Names()
	if err != nil {
		return nil, err
	}
	var damaged []error
	for _, server := range servers {
		text, err := k.Get(server)
		if err = toStoreError(err); errors.Is(err, ErrNone) {
			continue // somebody has removed the entry by hand
		}
		if err != nil {
			return nil, err
		}
		if e, err := decodeKept(server, text); err != nil {
			damaged = append(damaged, err)
		} else {
			all = append(all, e)
		}
	}
	return all, damageOf(damaged)
}

// Either combines several stores. It loads an entry from the first store that has the entry. It
// saves a new entry in the first store that accepts the entry, because a proxy that is started
// without a desktop may have no keychain.
type Either []Store

var _ Store = Either(nil)

// Name returns the name of the first store.
func (s Either) Name() string { return s[0].Name() }

// Load returns the first entry found. A store that fails does not stop the search.
func (s Either) Load(server string) (StoredSignIn, error) {
	failed := ErrNone
	for _, store := range s {
		e, err := store.Load(server)
		if err == nil {
			return e, nil
		}
		if !errors.Is(err, ErrNone) {
			failed = err
		}
	}
	return StoredSignIn{}, failed
}

// Save saves the entry in the first store that already has an entry of the server, or else in the
// first store that accepts the entry.
func (s Either) Save(e StoredSignIn) error {
	for _, store := range s {
		if _, err := store.Load(e.Server); err == nil {
			return store.Save(e)
		}
	}
	var failed error
	for _, store := range s {
		err := store.Save(e)
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Delete removes the entry from all stores. It returns the error of a store only if no store had an
// entry that could be removed.
func (s Either) Delete(server string) error {
	failed, gone := ErrNone, false
	for _, store := range s {
		switch err := store.Delete(server); {
		case err == nil:
			gone = true
		case !errors.Is(err, ErrNone):
			failed = err
		}
	}
	if gone {
		return nil
	}
	return failed
}

// List returns the entries of all stores. It returns the error of a store only if all stores fail,
// because there may be no keychain here.
func (s Either) List() (all []StoredSignIn, err error) {
	var failed, damaged []error
	for _, store := range s {
		some, err := store.List()
		all = append(all, some...)
		if harm, ok := errors.AsType[*DamageError](err); ok {
			damaged = append(damaged, harm.entries...)
		} else if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == len(s) {
		return all, errors.Join(failed...)
	}
	return all, damageOf(damaged)
}
