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

// A running proxy keeps the last good text of a layer that is missing or has lost rules, until the
// owner confirms the change. The confirmation is stored in the state folder. It holds the path of
// the policy and the digest of the text that the owner has seen.

// confirmations maps paths to confirmed texts: a SHA-256 in hexadecimal, or "gone".
type confirmations map[string]string

// confirmedGone is the confirmation that a file no longer exists.
const confirmedGone = "gone"

func (c confirmations) isConfirmed(path string, src []byte) bool {
	sum := sha256.Sum256(src)
	return c[path] == hex.EncodeToString(sum[:])
}

func confirmPath(state string) string { return filepath.Join(state, "confirmed.json") }

// readConfirmations reads the confirmations. It returns no confirmations if the file cannot be read
// or if another user could have written it. Then the policy in force stays.
func readConfirmations(state string) (confirmations, resolvedPath) {
	src, t, err := readPolicy(confirmPath(state))
	var c confirmations
	if err != nil || json.Unmarshal(src, &c) != nil {
		return nil, t
	}
	return c, t
}

// loadConfirmations reads the confirmations into s.confirmed.
func (s *layerStack) loadConfirmations(state string) {
	if state == "" {
		return
	}
	var t resolvedPath
	s.confirmed, t = readConfirmations(state)
	s.paths = append(s.paths, t)
}

// ConfirmPolicy confirms the present state of a policy file. text is the content of the file, or
// nil if the file was removed. A running proxy then puts the change into force.
func ConfirmPolicy(state, path string, text []byte) error {
	if err := PrivateFolder(state); err != nil {
		return err
	}
	unlock, err := atomicfile.Lock(confirmPath(state))
	if err != nil {
		return fmt.Errorf("keep the confirmation: %w", err)
	}
	defer unlock()
	old, _ := readConfirmations(state)
	c := confirmations{}
	for at, sum := range maps.All(old) {
		if _, err := os.Lstat(at); err == nil || sum == confirmedGone {
			c[at] = sum
		}
	}
	if c[path] = confirmedGone; text != nil {
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
