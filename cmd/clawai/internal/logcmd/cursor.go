package logcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/audit"
)

// cursor is the progress of an export: for each session, the number of the last delivered record.
// The zero value has no file and stores nothing.
type cursor struct {
	path  string
	taken cursorFile
	old   map[string]uint64 // the progress before this export, by session
}

// cursorFile is the JSON in the file of a cursor.
type cursorFile struct {
	Version  int               `json:"version"`
	Sessions map[string]uint64 `json:"sessions"` // for each session, the number of the last delivered record
}

// openFile locks the file of a cursor and reads it. The file may be missing. Sessions that are no
// longer in the record are dropped. dir is the folder of the record.
func (c *cursor) openFile(path, dir string) (release func(), err error) {
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		return nil, cmdline.Usagef("--cursor: %v; each export needs a file of its own", err)
	}
	if err := c.readFile(path, dir); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

func (c *cursor) readFile(path, dir string) error {
	c.path, c.taken, c.old = path, cursorFile{1, map[string]uint64{}}, map[string]uint64{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cmdline.Usagef("--cursor: %v", err)
	}
	var read cursorFile
	doc := json.NewDecoder(bytes.NewReader(text))
	doc.DisallowUnknownFields()
	if doc.Decode(&read) != nil || doc.More() || read.Version != 1 || read.Sessions == nil {
		return cmdline.Usagef("--cursor: %s is no cursor of log export; remove it to export everything again, or name another file", path)
	}
	present, err := audit.ListSegments(dir)
	if err != nil {
		return err
	}
	for _, s := range present {
		if n, ok := read.Sessions[s.Session]; ok {
			c.old[s.Session], c.taken.Sessions[s.Session] = n, n
		}
	}
	return nil
}

// isTaken reports whether an earlier export has delivered a record.
func (c *cursor) isTaken(e *event.Entry) bool { return e.Seq <= c.old[e.Session] }

// advance notes that the records of a batch were delivered, and writes the file.
func (c *cursor) advance(batch []*event.Entry) error {
	if c.path == "" {
		return nil
	}
	for _, e := range batch {
		c.taken.Sessions[e.Session] = max(c.taken.Sessions[e.Session], e.Seq)
	}
	text, err := json.Marshal(&c.taken)
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path, append(text, '\n'), atomicfile.Options{})
}
