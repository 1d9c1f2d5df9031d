package oauth

import (
	"errors"

	"github.com/clawai/clawai/internal/state/keychain"
)

// Keychain keeps entries in the system's keychain, under their servers' addresses.
type Keychain struct{ keychain.Keychain }

var _ Store = Keychain{}

// Name is what people call it.
func (Keychain) Name() string { return "the system's keychain" }

// Load reads the entry of a server.
func (k Keychain) Load(server string) (StoredSignIn, error) {
	text, err := k.Get(server)
	if err != nil {
		return StoredSignIn{}, toStoreError(err)
	}
	return decodeEntry([]byte(text))
}

// Save puts the entry into the keychain.
func (k Keychain) Save(e StoredSignIn) error {
	data, err := encodeEntry(e)
	if err != nil {
		return err
	}
	return k.SetText(e.Server, string(data))
}

// Delete takes the entry out of the keychain.
func (k Keychain) Delete(server string) error { return toStoreError(k.Keychain.Delete(server)) }

// toStoreError says of a server what a keychain says of a name.
func toStoreError(err error) error {
	if errors.Is(err, keychain.ErrNone) {
		return ErrNone
	}
	return err
}

// List reads every entry whose address is known.
func (k Keychain) List() (all []StoredSignIn, err error) {
	servers, err := k.Names()
	for _, server := range servers {
		e, err := k.Load(server)
		if errors.Is(err, ErrNone) {
			continue // somebody took it out of the keychain by hand
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, err
}

// Either looks for an entry in several stores, in order, and keeps a new one in
// the first that takes it: a keychain may be missing where a proxy is started
// without a desktop.
type Either []Store

var _ Store = Either(nil)

// Name is that of the first.
func (s Either) Name() string { return s[0].Name() }

// Load gives the first entry that is there. A store that fails holds none up.
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

// Save keeps the entry where there is one already, otherwise in the first store
// that takes it.
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

// Delete removes the entry from all of them. A store that fails is an error only
// when no other had one.
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

// List gives what is in any of them; one that fails is left out when another
// does not.
func (s Either) List() (all []StoredSignIn, err error) {
	ok := false
	for _, store := range s {
		some, failed := store.List()
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		ok = true
		all = append(all, some...)
	}
	if ok {
		err = nil
	}
	return all, err
}
