// Package release stores the releases of withheld answers. A release is a person's permission to
// let the next answer to a call pass. There is one file for each such call. The system removes a
// file in one step, so only one of several proxies gets a release. The package stores no part of a
// call or of an answer.
package release

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
)

// Holds is how long a release stays valid while it waits for its answer.
const Holds = 10 * time.Minute

// Store holds the releases in a state folder. It implements gate.Releases.
type Store struct {
	State string           // the state folder
	Now   func() time.Time // the clock; nil means time.Now
}

// kept is the content of a release's file.
type kept struct {
	Record string    `json:"record"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// nameLen is the length of a release's name in characters: half of an HMAC-SHA-256 in hexadecimal
// digits.
const nameLen = sha256.Size

// Name returns the name of a release for a digest. The name is a digest under a secret key. Without
// a key, the name would confirm a guess at a short secret in a call. Name returns "" if the key of
// the record cannot be read.
func (s Store) Name(value [32]byte) string {
	key, err := config.ReadSecret(filepath.Join(s.State, "record.key"))
	if err != nil {
		return ""
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("release\x00"))
	h.Write(value[:])
	return hex.EncodeToString(h.Sum(nil))[:nameLen]
}

func (s Store) folder() string { return filepath.Join(s.State, "releases") }

// file returns the path of a release. It returns an error for a name that Name never returns.
func (s Store) file(name string) (string, error) {
	if b, err := hex.DecodeString(name); err != nil || len(b) != nameLen/2 {
		return "", fmt.Errorf("%q is not a name of a release", name)
	}
	return filepath.Join(s.folder(), name+".json"), nil
}

// Grant releases the next answer under a name, and returns the time at which this release ends. It
// also removes old releases that are no longer valid.
func (s Store) Grant(name string, r gate.Release) (until time.Time, err error) {
	file, err := s.file(name)
	if err != nil {
		return until, err
	}
	if err := config.PrivateFolder(s.State); err != nil {
		return until, err
	}
	if err := config.PrivateFolder(s.folder()); err != nil {
		return until, err
	}
	old, err := filepath.Glob(filepath.Join(s.folder(), "*.json"))
	if err != nil {
		return until, err
	}
	for _, path := range old {
		if _, ok := s.read(path); !ok {
			_ = os.Remove(path)
		}
	}
	k := kept{Record: r.Record, By: r.By, At: s.now().UTC()}
	src, err := json.Marshal(k)
	if err != nil {
		return until, err
	}
	return k.At.Add(Holds), atomicfile.Write(file, append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// Waits implements gate.Releases.
func (s Store) Waits(name string) bool {
	file, err := s.file(name)
	if err != nil {
		return false
	}
	_, ok := s.read(file)
	return ok
}

// Take implements gate.Releases.
func (s Store) Take(name string) (r gate.Release, ok bool) {
	file, err := s.file(name)
	if err != nil {
		return r, false
	}
	k, ok := s.read(file)
	if !ok || os.Remove(file) != nil {
		return r, false
	}
	return gate.Release{Record: k.Record, By: k.By}, true
}

// read returns a release. ok is false if the release is no longer valid. A release with a time in
// the future is not valid either, because the clock was then set back.
func (s Store) read(file string) (k kept, ok bool) {
	src, err := config.ReadFile(file)
	if err != nil || json.Unmarshal(src, &k) != nil {
		return k, false
	}
	age := s.now().Sub(k.At)
	return k, age >= 0 && age < Holds
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}
