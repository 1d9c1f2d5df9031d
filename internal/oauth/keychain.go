package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"
)

// Keychain keeps entries in the system's keychain: the Secret Service on Linux,
// Keychain on macOS, Credential Manager on Windows. None of them can list what
// it holds for a program, so the addresses, which are no secret, stand in a file.
type Keychain struct {
	Index   string             // path of that file; its folder exists
	Private func(string) error // makes its folder and refuses one that others can change
	Dir     string             // that folder
}

var _ Store = Keychain{}

const service = "clawai"

// keychainTimeout bounds a keychain that waits for somebody to unlock it.
const keychainTimeout = 20 * time.Second

// Name is what people call it.
func (Keychain) Name() string { return "the system's keychain" }

// Load asks the keychain, if it was ever given something for this server: one
// that is locked, or slow, or missing, is not asked for nothing.
func (k Keychain) Load(server string) (e Entry, err error) {
	known, err := k.servers()
	if err != nil {
		return Entry{}, err
	}
	if !slices.Contains(known, server) {
		return Entry{}, ErrNone
	}
	data, err := bounded(func() (string, error) { return keyring.Get(service, server) })
	if errors.Is(err, keyring.ErrNotFound) {
		return Entry{}, ErrNone
	}
	if err != nil {
		return Entry{}, fmt.Errorf("the keychain cannot be read: %w", err)
	}
	return decode([]byte(data))
}

// Save puts the entry into the keychain.
func (k Keychain) Save(e Entry) error {
	data, err := encode(e)
	if err != nil {
		return err
	}
	if _, err := bounded(func() (string, error) { return "", keyring.Set(service, e.Server, string(data)) }); err != nil {
		return fmt.Errorf("the keychain cannot be written: %w", err)
	}
	return k.note(func(servers []string) []string {
		if slices.Contains(servers, e.Server) {
			return servers
		}
		return append(servers, e.Server)
	})
}

// Delete takes the entry out of the keychain.
func (k Keychain) Delete(server string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Delete(service, server) })
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNone
	}
	if err != nil {
		// Without a keychain nothing was put into it: the index then lacks the server.
		if known, unread := k.servers(); unread == nil && !slices.Contains(known, server) {
			return ErrNone
		}
		return fmt.Errorf("the keychain cannot be written: %w", err)
	}
	return k.note(func(servers []string) []string {
		return slices.DeleteFunc(servers, func(s string) bool { return s == server })
	})
}

// List reads every entry whose address is known.
func (k Keychain) List() (all []Entry, err error) {
	servers, err := k.servers()
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

func (k Keychain) servers() (servers []string, err error) {
	data, err := os.ReadFile(k.Index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &servers)
	}
	return servers, err
}

// note changes the index, one process at a time: each server has a lock of its own.
func (k Keychain) note(change func([]string) []string) error {
	if err := k.Private(k.Dir); err != nil {
		return err
	}
	lock := flock.New(k.Index + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	servers, err := k.servers()
	if err != nil {
		return err
	}
	data, err := json.Marshal(change(servers))
	if err != nil {
		return err
	}
	return atomicfile.Write(k.Index, data, atomicfile.Options{Mode: 0o600})
}

// bounded gives up on a keychain that does not answer. Its call cannot be ended
// and is left to itself.
func bounded(call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := call()
		got <- answer{text, err}
	}()
	t := time.NewTimer(keychainTimeout)
	defer t.Stop()
	select {
	case a := <-got:
		return a.text, a.err
	case <-t.C:
		return "", errors.New("it does not answer; is it locked?")
	}
}

// Either looks for an entry in several stores, in order, and keeps a new one in
// the first that takes it: a keychain may be missing where a proxy is started
// without a desktop.
type Either []Store

var _ Store = Either(nil)

// Name is that of the first.
func (s Either) Name() string { return s[0].Name() }

// Load gives the first entry that is there. A store that fails holds none up.
func (s Either) Load(server string) (Entry, error) {
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
	return Entry{}, failed
}

// Save keeps the entry where there is one already, otherwise in the first store
// that takes it.
func (s Either) Save(e Entry) error {
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
func (s Either) List() (all []Entry, err error) {
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
