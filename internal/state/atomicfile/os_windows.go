package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// keepOwner does nothing: a new file inherits its folder's access list.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncDir does nothing: Windows cannot open a directory for a sync.
func syncDir(string) error { return nil }

// How long replaceFile tries, and the pause between its attempts: the indexer or a virus scanner
// often opens a new file for a moment.
const (
	patience = time.Second
	pause    = 20 * time.Millisecond
)

// replaceFile renames the file tmp to the name in the parameter target. Windows refuses the rename
// while another program has the old file of this name open, so replaceFile tries again for a while.
func replaceFile(tmp, target string) error {
	for late := time.Now().Add(patience); ; time.Sleep(pause) {
		err := os.Rename(tmp, target)
		if err == nil || !openElsewhere(target) {
			return err
		}
		if time.Now().After(late) {
			return fmt.Errorf("%w: it is open in another program; close it there and try again", errors.Unwrap(err))
		}
	}
}

// openElsewhere reports whether another program has the file open in a mode that prevents its
// deletion.
func openElsewhere(path string) bool {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false
	}
	const others = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.DELETE, others, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return errors.Is(err, windows.ERROR_SHARING_VIOLATION)
	}
	_ = windows.CloseHandle(h)
	return false
}
