package wrap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clawai/clawai/wrap/client"
)

// journalEntry is one server's edit in the journal. It is written before the file is. An entry
// with Failed cancels the entry before it.
type journalEntry struct {
	Time   time.Time `json:"time"`
	Clawai string    `json:"clawai"` // version of clawai
	Op     Op        `json:"op"`
	File   string    `json:"file"` // path with symlinks resolved
	Key    []string  `json:"key"`
	Old    []string  `json:"old,omitempty"` // words as the file wrote them
	New    []string  `json:"new,omitempty"`
	// Withheld means that the command may hold a secret, so the words are not stored.
	Withheld bool `json:"withheld,omitempty"`
	// Made lists the folders that were made for the file.
	Made   []string `json:"made,omitempty"`
	Before string   `json:"before"` // SHA-256 of the whole file
	After  string   `json:"after"`
	Failed string   `json:"failed,omitempty"`
}

func journalPath(state string) string { return filepath.Join(state, "wrap-journal.ndjson") }

// appendJournal appends the changes of a file to the journal and flushes them to the disk.
func appendJournal(whole []Change, o Options, failed error) error {
	var text []byte
	for _, c := range whole {
		for _, e := range c.Edits {
			if len(e.Entry.KeyPath) == 0 {
				continue // the hub's configuration, which no client reads
			}
			l := journalEntry{
				Time: o.currentTime().UTC(), Clawai: o.Version, Op: c.Op, File: c.Real, Key: e.Entry.KeyPath,
				Old: e.Old, New: e.New, Made: c.missingFolders(), Before: hexDigest(c.Before), After: hexDigest(c.After),
			}
			if mayHoldSecret(e.Entry.Command) {
				l.Old, l.New, l.Withheld = nil, nil, true
			}
			if failed != nil {
				l.Failed = failed.Error()
			}
			b, err := json.Marshal(l)
			if err != nil {
				return err
			}
			text = append(append(text, b...), '\n')
		}
	}
	if len(text) == 0 {
		return nil
	}
	return appendLines(journalPath(o.State), text)
}

// mayHoldSecret reports whether a command is a whole line, or sets a variable, and so may hold
// a key.
func mayHoldSecret(command string) bool { return strings.ContainsAny(command, " \t\r\n=@") }

func hexDigest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// appendLines appends whole lines in one write. After a line that a crash has cut it starts a
// new line.
func appendLines(path string, text []byte) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	last := []byte{'\n'}
	if info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		text = append([]byte{'\n'}, text...)
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// Journal holds the last operation on each server. It distinguishes a server that was never
// wrapped from one whose wrapper something else removed.
type Journal map[string]bool

// ReadJournal reads the journal of a state folder, and skips lines that a crash has cut. A
// missing journal is empty.
func ReadJournal(state string) (Journal, error) {
	text, err := os.ReadFile(journalPath(state)) // a line may be long: it holds the words of a project's server
	if errors.Is(err, fs.ErrNotExist) {
		return Journal{}, nil
	}
	if err != nil {
		return nil, err
	}
	j, earlier := Journal{}, map[string]bool{}
	for line := range bytes.Lines(text) {
		var l journalEntry
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		key := journalKey(l.File, l.Key)
		if l.Failed != "" {
			j[key] = earlier[key]
			continue
		}
		earlier[key], j[key] = j[key], l.Op == Wrap
		if l.Op == Wrap && l.Before == hexDigest(nil) {
			j[journalKey(l.File, []string{l.After})] = true
		}
	}
	return j, nil
}

// hasMadeFile reports whether some clawai created the file with these bytes.
func (j Journal) hasMadeFile(file string, src []byte) bool {
	return j[journalKey(file, []string{hexDigest(src)})]
}

// madeFolders returns the folders that were made for files.
func madeFolders(state string) map[string]bool {
	text, err := os.ReadFile(journalPath(state))
	if err != nil {
		return nil // an empty folder does no harm
	}
	made := map[string]bool{}
	for line := range bytes.Lines(text) {
		var l journalEntry
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		for _, dir := range l.Made {
			made[dir] = true
		}
	}
	return made
}

func (j Journal) hasWrapped(file string, e client.Entry) bool { return j[journalKey(file, e.KeyPath)] }

func journalKey(file string, path []string) string { return fmt.Sprintf("%q %q", file, path) }
