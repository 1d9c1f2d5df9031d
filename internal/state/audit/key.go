package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/internal/state/atomicfile"
)

// keyLen is the length of the key in bytes.
const keyLen = 32

// loadKey reads the key for keyed digests. If the file does not exist, loadKey creates a key. The
// caller holds the ledger's lock, so that two processes never create two keys.
func loadKey(path string) ([]byte, error) {
	k, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		k = make([]byte, keyLen)
		if _, err := rand.Read(k); err != nil {
			return nil, err
		}
		err = atomicfile.Write(path, k, atomicfile.Options{Mode: 0o600})
	}
	return k, err
}

func readKey(path string) ([]byte, error) {
	f, err := openPrivate(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := access.CheckOpen(path, fi); err != nil {
		return nil, err
	}
	k, err := io.ReadAll(io.LimitReader(f, keyLen+1))
	if err != nil {
		return nil, err
	}
	if len(k) != keyLen {
		return nil, fmt.Errorf("%q is not a key of %d bytes; move it away and a new one is made", path, keyLen)
	}
	return k, nil
}

// The characters of a session id, and the number of its characters.
const (
	sessionAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	sessionLength   = 10
)

// newSession returns a session id of ten random characters (50 bits).
func newSession() (string, error) {
	var b [sessionLength]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return sessionID(b), nil
}

func sessionID(b [sessionLength]byte) string {
	for i := range b {
		b[i] = sessionAlphabet[b[i]&31]
	}
	return string(b[:])
}
