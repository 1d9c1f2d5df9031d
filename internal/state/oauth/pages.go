package oauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// pages bounds how often a server has a page opened: once in a while to sign in, and
// once for a wider scope. Every process of the owner's heeds it: the time is that of a
// file.
type pages struct {
	file  string
	every time.Duration // 0: no bound
}

// admitPage notes that a page is opened, or says why it is not.
func (p pages) admitPage(server string) error {
	if p.every <= 0 {
		return nil
	}
	now := time.Now()
	info, err := os.Stat(p.file)
	if err == nil {
		if since := now.Sub(info.ModTime()); since >= 0 && since < p.every {
			return fmt.Errorf("a page to sign in at %s was opened %d s ago, and there is one a minute; call again later, or sign in with: clawai auth login %s",
				server, int(since.Seconds()), server)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(p.file, nil, 0o600); err != nil {
		return fmt.Errorf("note that a page was opened: %w", err)
	}
	return os.Chtimes(p.file, now, now)
}
