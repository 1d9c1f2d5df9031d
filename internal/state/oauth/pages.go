package oauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// pages limits how often a server may open a page, for a sign-in or for a wider scope. The
// modification time of a file is the time of the last page. So the limit counts the pages of all
// processes of the owner.
type pages struct {
	file  string        // path of the file
	every time.Duration // minimum time between two pages; 0 or negative: no limit
}

// admitPage notes that a page is opened now. It returns an error if no page may be opened yet.
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
