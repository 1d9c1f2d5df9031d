package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

// A running proxy keeps the last good text of a layer that is gone or has lost
// rules, until its owner says that this is meant. What he says is kept in the state
// folder: for the path of a policy the text that he has seen.

// confirmations are the texts that were confirmed, by path: a SHA-256 in
// hexadecimal, or gone.
type confirmations map[string]string

// removed is what is confirmed of a file that is not there any more.
const removed = "gone"

func (c confirmations) isConfirmed(path string, src []byte) bool {
	sum := sha256.Sum256(src)
	return c[path] == hex.EncodeToString(sum[:])
}

func confirmPath(state string) string { return filepath.Join(state, "confirmed.json") }

// readConfirmations holds nothing confirmed that it cannot read, or that somebody
// else could have written: then what was in force stays.
func readConfirmations(state string) (confirmations, resolvedPath) {
	src, t, err := readPolicy(confirmPath(state))
	var c confirmations
	if err != nil || json.Unmarshal(src, &c) != nil {
		return nil, t
	}
	return c, t
}

// loadConfirmations reads what may take the place of what is in force.
func (s *layerStack) loadConfirmations(state string) {
	if state == "" {
		return
	}
	var t resolvedPath
	s.confirmed, t = readConfirmations(state)
	s.paths = append(s.paths, t)
}

// ConfirmPolicy says that a policy is meant to be as it is now: with this text, or nil
// for a file that is gone. A running proxy then takes it up.
func ConfirmPolicy(state, path string, text []byte) error {
	if err := PrivateFolder(state); err != nil {
		return err
	}
	old, _ := readConfirmations(state)
	c := confirmations{}
	for at, sum := range maps.All(old) {
		if _, err := os.Lstat(at); err == nil || sum == removed {
			c[at] = sum
		}
	}
	if c[path] = removed; text != nil {
		sum := sha256.Sum256(text)
		c[path] = hex.EncodeToString(sum[:])
	}
	src, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(confirmPath(state), append(src, '\n'), atomicfile.Options{Mode: 0o600}); err != nil {
		return fmt.Errorf("keep the confirmation: %w", err)
	}
	return nil
}
