package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// WatchHub calls onChange with the hub's part of config.toml, at the start and whenever the file
// changes, until ctx ends. When WatchHub returns, no call of onChange runs any more. An error means
// that the file is broken, and that the caller should keep the last good settings.
func WatchHub(ctx context.Context, f Folders, lookup func(string) (string, bool), onChange func(Hub, error)) {
	w := &watcher{pollWatched: pollWatched, pollUnwatched: pollUnwatched}
	told := ""
	w.look = func() time.Duration {
		src, t, err := readPolicy(f.SettingsFile())
		if errors.Is(err, fs.ErrNotExist) {
			src, err = nil, nil
		}
		now := fmt.Sprintf("%x %v", sha256.Sum256(src), err)
		if fresh := w.watchFolders(t); fresh || now != w.last {
			w.last = now
			return quietDelay
		}
		if now != told {
			told = now
			var h Hub
			if err == nil {
				h, err = ParseHub(f, src, lookup)
			}
			onChange(h, err)
		}
		if w.watchesAll(t) {
			return w.pollWatched
		}
		return w.pollUnwatched
	}
	w.watchPolicy(ctx)
}
