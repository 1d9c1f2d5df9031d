// Package keychain keeps texts in the system's keychain: the Secret Service on Linux, Keychain on
// macOS, Credential Manager on Windows. A keychain cannot list the entries of one program. So the
// names of the entries are stored in a file, because the names are not secret.
package keychain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"
)

// Keychain gives access to the entries of one part of clawai.
type Keychain struct {
	Service string             // service name in the keychain
	Index   string             // path of the file with the names; the folder of the file exists
	Private func(string) error // creates Dir; returns an error if other users can change the folder
	Dir     string             // folder of Index
}

// ErrNone means that the keychain has no entry with a name.
var ErrNone = errors.New("nothing is kept under this name")

// ErrTooLarge means that a text is too long for the system's keychain. The limit is about 3,000
// bytes on macOS and 2,560 on Windows.
var ErrTooLarge = errors.New("it is too large for this system's keychain")

// timeout limits the wait for a keychain, because a person may have to unlock it.
const timeout = 20 * time.Second

// Get returns the text under a name. It asks the keychain only if the index has the name, because
// the keychain may be locked, slow or missing.
func (k Keychain) Get(name string) (string, error) {
	known, err := k.Names()
	if err != nil {
		return "", err
	}
	if !slices.Contains(known, name) {
		return "", ErrNone
	}
	text, err := callWithTimeout(func() (string, error) { return keyring.Get(k.Service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNone
	}
	if err != nil {
		return "", fmt.Errorf("the keychain cannot be read: %w", err)
	}
	return text, nil
}

// SetText puts the text into the keychain. It first adds the name to the index, because an entry
// whose name is not in the index could never be found again.
func (k Keychain) SetText(name, text string) error {
	fresh := false
	err := k.changeIndex(func(names []string) []string {
		if fresh = !slices.Contains(names, name); fresh {
			names = append(names, name)
		}
		return names
	})
	if err != nil {
		return err
	}
	_, err = callWithTimeout(func() (string, error) { return "", keyring.Set(k.Service, name, text) })
	if err == nil {
		return nil
	}
	if errors.Is(err, keyring.ErrSetDataTooBig) {
		err = ErrTooLarge
	}
	if fresh {
		err = errors.Join(err, k.forgetName(name))
	}
	return fmt.Errorf("the keychain cannot be written: %w", err)
}

// Delete removes the text from the keychain.
func (k Keychain) Delete(name string) error {
	_, err := callWithTimeout(func() (string, error) { return "", keyring.Delete(k.Service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return errors.Join(ErrNone, k.forgetName(name)) // somebody has removed the entry by hand
	}
	if err != nil {
		// On a system without a keychain, no entry was ever stored, so the index is empty.
		if known, unread := k.Names(); unread == nil && !slices.Contains(known, name) {
			return ErrNone
		}
		return fmt.Errorf("the keychain cannot be written: %w", err)
	}
	return k.forgetName(name)
}

// Names returns the names in the index, in the order in which they were added.
func (k Keychain) Names() (names []string, err error) {
	data, err := os.ReadFile(k.Index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		if err = json.Unmarshal(data, &names); err != nil {
			err = fmt.Errorf("%s is damaged: %w", k.Index, err)
		}
	}
	return names, err
}

func (k Keychain) forgetName(name string) error {
	if known, err := k.Names(); err == nil && !slices.Contains(known, name) {
		return nil
	}
	return k.changeIndex(func(names []string) []string {
		return slices.DeleteFunc(names, func(n string) bool { return n == name })
	})
}

// changeIndex changes the index; only one process at a time can do this.
func (k Keychain) changeIndex(change func([]string) []string) error {
	if err := k.Private(k.Dir); err != nil {
		return err
	}
	lock := flock.New(k.Index + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := k.Names()
	if err != nil {
		return err
	}
	after := change(slices.Clone(before))
	if slices.Equal(before, after) {
		return nil
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return atomicfile.Write(k.Index, data, atomicfile.Options{Mode: 0o600})
}

// callWithTimeout gives up on a keychain that does not answer. The call cannot be cancelled and
// continues in the background.
func callWithTimeout(call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := call()
		got <- answer{text, err}
	}()
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case a := <-got:
		return a.text, a.err
	case <-t.C:
		return "", errors.New("it does not answer; is it locked?")
	}
}
