//go:build !unix

package flow

import (
	"errors"
	"io"
	"os"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

const noFollow = 0

// holdJournal does nothing, because on these systems an open file cannot be removed.
func holdJournal(*os.File) (gone bool, err error) { return false, nil }

// lockIdle closes f. These systems do not replace or remove a file while another process has the
// file open, so no lock is needed.
func lockIdle(f *os.File) bool { return f.Close() == nil }

// lockList keeps other writers away from the list of written files until unlock is called. Without
// the lock, a line of another process could be lost while the list is written anew.
func lockList(path string) (unlock func(), err error) { return atomicfile.Lock(path) }

func readOnce(f *os.File, buf []byte, from int64) (n int, err error) {
	if n, err = f.ReadAt(buf, from); errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}
