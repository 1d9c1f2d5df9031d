// Package record finds the folder of the record for the commands, and prints each entry as one line
// that is safe for a terminal.
package record

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/config"
)

// FindLogDir returns the folder in which this account's record is.
func FindLogDir() (string, error) {
	dirs, err := config.ReadFolders()
	return filepath.Join(dirs.State, "audit"), err
}

// ShowEach passes each record to the function in the parameter show. It writes a message about
// damage to warn, once for each file, and continues.
func ShowEach(records iter.Seq2[event.Entry, error], show func(*event.Entry) error, warn io.Writer) (n int, err error) {
	warned := map[string]bool{}
	for e, err := range records {
		if damage, ok := errors.AsType[*event.Damage](err); ok {
			if !warned[damage.File] {
				warned[damage.File] = true
				fmt.Fprintf(warn, "clawai: %v; see: clawai log verify\n", damage)
			}
			continue
		}
		if err != nil {
			return n, err
		}
		if err := show(&e); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
