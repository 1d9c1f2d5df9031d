// Package catalogue stores the lists of the hub's servers from one session to the next, in one
// file each that only its owner can open. A file is found by how its server was started. Its name
// does not reveal this: names are keyed digests, and the same key authenticates the files.
//
// A file that cannot be trusted, read or written counts as missing: then the server is asked.
package catalogue

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
)

// Limits of what is stored.
const (
	maxText  = 8 << 20
	maxFiles = 256
	unusedIn = 30 * 24 * time.Hour
)

// ListFile is the file for the lists of one server that is started in one way.
type ListFile struct {
	dir, name string
	key       []byte
}

// NewEntry returns the file for identity in state, clawai's own folder; nil when there can be
// none. The key is the digest under the record's key of a text with a zero byte. No text that the
// record digests has a zero byte, so the key cannot appear in the record.
func NewEntry(state string, identity []byte) *ListFile {
	key, err := config.ReadSecret(filepath.Join(state, "record.key"))
	if err != nil || len(key) < sha256.Size {
		return nil
	}
	e := &ListFile{dir: filepath.Join(state, "catalogue"), key: key}
	e.key = e.keyedDigest("", "catalogue")
	e.name = hex.EncodeToString(e.keyedDigest("name", string(identity)))[:32] + ".list"
	return e
}

func (e *ListFile) keyedDigest(of ...string) []byte {
	h := hmac.New(sha256.New, e.key)
	h.Write([]byte(strings.Join(of, "\x00")))
	return h.Sum(nil)
}

// Load returns the text that was stored last; nil when there is none, or when others have changed
// the file.
func (e *ListFile) Load() []byte {
	path := filepath.Join(e.dir, e.name)
	src, err := config.ReadSecret(path)
	if err != nil || len(src) <= sha256.Size {
		return nil
	}
	text := src[sha256.Size:]
	if !hmac.Equal(src[:sha256.Size], e.keyedDigest("text", e.name, string(text))) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // marks the file as used
	return text
}

// Keep replaces the stored text, and the file with its mode and owner. If text is empty, too long
// or cannot be written, no file remains.
func (e *ListFile) Keep(text []byte) {
	path := filepath.Join(e.dir, e.name)
	_ = os.Remove(path)
	if len(text) == 0 || len(text) > maxText || config.PrivateFolder(e.dir) != nil {
		return
	}
	whole := slices.Concat(e.keyedDigest("text", e.name, string(text)), text)
	if atomicfile.Write(path, whole, atomicfile.Options{Mode: 0o600}) != nil {
		_ = os.Remove(path)
	}
	sweepFiles(e.dir)
}

// sweepFiles removes files that were not used for a long time, and the oldest if there are too
// many. It removes only files that Keep has written, because the folder may be a link to another
// folder of the owner.
func sweepFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, one := range entries {
		if info, err := one.Info(); err == nil && info.Mode().IsRegular() && written().MatchString(one.Name()) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		if i >= maxFiles || time.Since(info.ModTime()) > unusedIn {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}

// written matches the names of files that Keep has written, or left when it was interrupted.
var written = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{32}\.list|\.[0-9a-f]{32}\.list\.[0-9]+\.tmp)$`)
})
