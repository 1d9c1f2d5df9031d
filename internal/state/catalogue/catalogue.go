// Package catalogue keeps what servers of the hub have listed from one session to the next, a
// file each, that only its owner can open. A file is found by what its server was started with,
// and says by its name nothing of that: names are digests under a key, and files are sealed by it.
//
// What cannot be trusted, read or written is as if it was not there: its server is asked.
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

// Bounds of what is kept.
const (
	maxText  = 8 << 20
	maxFiles = 256
	unusedIn = 30 * 24 * time.Hour
)

// ListFile is the place of what one server lists when it is started in one way.
type ListFile struct {
	dir, name string
	key       []byte
}

// NewEntry gives the place for all that identity says, in state, the folder of clawai's own; nil when
// there can be none. The key comes from that of the record: no text that the record digests
// has a zero byte.
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

// Load is what was kept last; nil when there is nothing, or something other than we have kept.
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
	_ = os.Chtimes(path, now, now) // it is in use
	return text
}

// Keep puts text in the place of what was kept before, whose mode and owner go with it; none,
// one that is too long and one that cannot be written leave nothing there.
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

// sweepFiles removes what nobody has used for long, and of the rest what is too many: of what Keep has
// written alone, for the folder may be a link to one of the owner's.
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

// written matches what a file is called that Keep has written, or left when it was cut off.
var written = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{32}\.list|\.[0-9a-f]{32}\.list\.[0-9]+\.tmp)$`)
})
