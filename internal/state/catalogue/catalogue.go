// Package catalogue stores the lists of the hub's servers from one session to the next. Each server
// has one file, which only its owner can open. The file's name is a keyed digest of the way in
// which the server is started, so the name does not reveal the command. The same key authenticates
// the content.
//
// A file that cannot be trusted, read or written counts as missing. Then the hub asks the server.
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

// Limits of the stored lists.
const (
	maxText   = 8 << 20 // size of one file, in bytes
	maxFiles  = 256
	maxUnused = 30 * 24 * time.Hour // files that were not used for this time are removed
)

// ListFile is the file for the lists of one server. A server that is started in two ways has two
// files.
type ListFile struct {
	dir, name string
	key       []byte
}

// NewEntry returns the file for a server. state is clawai's state folder. identity describes how
// the server is started. NewEntry returns nil if the record's key cannot be read. The key of the
// files is made from the record's key: it is a keyed digest of a text with a zero byte. The record
// never digests a text with a zero byte, so the key of the files cannot appear in the record.
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

func (e *ListFile) keyedDigest(parts ...string) []byte {
	h := hmac.New(sha256.New, e.key)
	h.Write([]byte(strings.Join(parts, "\x00")))
	return h.Sum(nil)
}

// Load returns the text that Keep has stored last. It returns nil if there is no such text, or if
// somebody else has changed the file.
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

// Keep replaces the stored text. It creates a new file, so that the mode and owner are ours. If the
// text is empty or too long, or if writing fails, no file remains.
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

// sweepFiles removes files that were not used for maxUnused. If more than maxFiles remain, it also
// removes the least recently used ones. It removes only files with names that Keep uses, because
// the folder may be a link to another folder of the owner.
func sweepFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, one := range entries {
		if info, err := one.Info(); err == nil && info.Mode().IsRegular() && fileNames().MatchString(one.Name()) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		if i >= maxFiles || time.Since(info.ModTime()) > maxUnused {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}

// fileNames matches the names of files that Keep writes, and of temporary files that remain if Keep
// is interrupted.
var fileNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{32}\.list|\.[0-9a-f]{32}\.list\.[0-9]+\.tmp)$`)
})
