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

// journalEntry is the edit of one server in the journal. It is written before the client's file. An
// entry with Failed cancels the entry before it for the same server.
type journalEntry struct {
	Time   time.Time `json:"time"`
	Clawai string    `json:"clawai"` // version of clawai
	Op     Op        `json:"op"`
	File   string    `json:"file"`          // path without symlinks
	Key    []string  `json:"key"`           // key path of the server's entry
	Old    []string  `json:"old,omitempty"` // the words that the edit replaced, in the notation of the file
	New    []string  `json:"new,omitempty"` // the words after the edit, in the notation of the file
	// Withheld means that the words are not stored, because the command may contain a secret.
	Withheld bool `json:"withheld,omitempty"`
	// Sandbox means that the new wrapper carries the rules of the client's sandbox.
	Sandbox bool `json:"sandbox,omitempty"`
	// Made lists the folders that wrap created for the file.
	Made   []string `json:"made,omitempty"`
	Before string   `json:"before"`           // SHA-256 of the complete file before the edit
	After  string   `json:"after"`            // SHA-256 of the complete file after the edit
	Failed string   `json:"failed,omitempty"` // why the file was not written; "" if it was
}

func journalPath(state string) string { return filepath.Join(state, "wrap-journal.ndjson") }

// appendJournal appends the changes (parts) of a file to the journal, and flushes the journal to
// the disk. If failed is not nil, it is the reason why the file was not written.
func appendJournal(parts []Change, o Options, failed error) error {
	var text []byte
	for _, c := range parts {
		for _, e := range c.Edits {
			if len(e.Entry.KeyPath) == 0 {
				continue // an edit of the hub's configuration has no key path and is left out
			}
			l := journalEntry{
				Time: o.currentTime().UTC(), Clawai: o.Version, Op: c.Op, File: c.Real, Key: e.Entry.KeyPath,
				Old: e.Old, New: e.New, Made: c.missingFolders(), Before: hexDigest(c.Before), After: hexDigest(c.After),
			}
			l.Sandbox = client.CarriesSandbox(l.New)
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

// mayHoldSecret reports whether a command may contain a secret: it is a whole command line, or it
// sets a variable.
func mayHoldSecret(command string) bool { return strings.ContainsAny(command, " \t\r\n=@") }

func hexDigest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// appendLines appends complete lines with one write. If the last line of the file is incomplete
// after a crash, the new text begins on a new line.
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

// Journal tells for each server (by journalKey) whether the last operation on it was a wrap. So a
// server that lost its wrapper in another way can be distinguished from a server that was never
// wrapped. It also has the files that wrap created, with their digests (hasMadeFile).
type Journal map[string]bool

// ReadJournal reads the journal in a state folder. It skips lines that are incomplete after a
// crash. If there is no journal, it returns an empty Journal.
func ReadJournal(state string) (Journal, error) {
	text, err := os.ReadFile(journalPath(state)) // a bufio.Scanner would refuse a long line, and a line contains all words of a server
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
			j.restoreCarried(l, earlier)
			continue
		}
		earlier[key], j[key] = j[key], l.Op == Wrap
		j.keepCarried(l, earlier)
		if l.Op == Wrap && l.Before == hexDigest(nil) {
			j[journalKey(l.File, []string{l.After})] = true
		}
	}
	return j, nil
}

// hasMadeFile reports whether wrap created the file with exactly these bytes.
func (j Journal) hasMadeFile(file string, src []byte) bool {
	return j[journalKey(file, []string{hexDigest(src)})]
}

// madeFolders returns the folders that wrap created for files, as a set.
func madeFolders(state string) map[string]bool {
	text, err := os.ReadFile(journalPath(state))
	if err != nil {
		return nil // without the journal, empty folders stay, which is harmless
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

// hasCarried reports whether the last wrapper of a server had the rules of the client's sandbox.
func (j Journal) hasCarried(file string, e client.Entry) bool { return j[carriedKey(file, e.KeyPath)] }

func (j Journal) keepCarried(l journalEntry, earlier map[string]bool) {
	key := carriedKey(l.File, l.Key)
	earlier[key] = j[key]
	if delete(j, key); l.Op == Wrap && l.Sandbox {
		j[key] = true
	}
}

func (j Journal) restoreCarried(l journalEntry, earlier map[string]bool) {
	key := carriedKey(l.File, l.Key)
	if delete(j, key); earlier[key] {
		j[key] = true
	}
}

// carriedKey is the key for hasCarried. The key contains the byte 0xff, which is not UTF-8. No key
// path has this byte, so the key differs from all keys of journalKey.
func carriedKey(file string, path []string) string {
	return journalKey(file, append([]string{"\xff"}, path...))
}

func journalKey(file string, path []string) string { return fmt.Sprintf("%q %q", file, path) }
