//go:build !unix

package flow

import (
	"errors"
	"io"
	"os"
)

const noFollow = 0

// holdJournal does nothing, because these systems do not remove an open file.
func holdJournal(*os.File) (gone bool, err error) { return false, nil }

func lockIdle(*os.File) bool { return true }

func readOnce(f *os.File, buf []byte, from int64) (n int, err error) {
	if n, err = f.ReadAt(buf, from); errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}
