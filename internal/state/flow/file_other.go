//go:build !unix

package flow

import (
	"errors"
	"io"
	"os"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

const noFollow = 0

// holdJournal does nothing, because these systems do not remove an open file.
func holdJournal(*os.File) (gone bool, err error) { return false, nil }

// lockIdle closes f, because these systems do not replace or remove an open file. They refuse to do
// so while another process has the file open.
func lockIdle(f *os.File) bool { return f.Close() == nil }

// lockList keeps other writers away from the list of written files until unlock is called. Without
// the lock, a line that another process adds while the list is written anew could be lost.
func lockList(path string) (unlock func(), err error) { return atomicfile.Lock(path) }

func readOnce(f *os.File, buf []byte, from int64) (n int, err error) {
	if n, err = f.ReadAt(buf, from); errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}
