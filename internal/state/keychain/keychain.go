// Package keychain keeps texts in the system's keychain: the Secret Service on Linux,
// Keychain on macOS, Credential Manager on Windows. None of them can list what it holds
// for a program, so the names of what is kept, which are no secret, stand in a file.
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

// Keychain is what one part of clawai keeps there.
type Keychain struct {
	Service string             // what the keychain knows it by
	Index   string             // path of the file of names; its folder exists
	Private func(string) error // makes its folder and refuses one that others can change
	Dir     string             // that folder
}

// ErrNone is said of a name that nothing is kept under.
var ErrNone = errors.New("nothing is kept under this name")

// ErrTooLarge is said of a text that the system's keychain has no room for: about
// 3,000 bytes on macOS, 2,560 on Windows.
var ErrTooLarge = errors.New("it is too large for this system's keychain")

// timeout bounds a keychain that waits for somebody to unlock it.
const timeout = 20 * time.Second

// Get asks the keychain, if it was ever given something of this name: one that is
// locked, or slow, or missing, is not asked for nothing.
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

// SetText puts the text into the keychain. The name is noted first: what is kept under a
// name that is not known would never be found again.
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

// Delete takes the text out of the keychain.
func (k Keychain) Delete(name string) error {
	_, err := callWithTimeout(func() (string, error) { return "", keyring.Delete(k.Service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return errors.Join(ErrNone, k.forgetName(name)) // somebody took it out by hand
	}
	if err != nil {
		// Without a keychain nothing was put into it: the index then lacks the name.
		if known, unread := k.Names(); unread == nil && !slices.Contains(known, name) {
			return ErrNone
		}
		return fmt.Errorf("the keychain cannot be written: %w", err)
	}
	return k.forgetName(name)
}

// Names are those that something was kept under, in the order in which it was.
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

// changeIndex changes the index, one process at a time.
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

// callWithTimeout gives up on a keychain that does not answer. Its call cannot be ended
// and is left to itself.
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
