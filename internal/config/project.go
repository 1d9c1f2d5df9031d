package config

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
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/atomicfile"
)

// A project's policy counts once its owner has trusted it, and then with the text
// that he saw: what is changed or taken away afterwards, by an agent say, neither
// loosens nor tightens anything before he looks again.

// Project is the policy of the project that a folder belongs to.
type Project struct {
	Path    string    // of the file; "" when there is neither a file nor a trusted one
	Text    []byte    // of the file as it is; nil when it is missing
	Trusted []byte    // the text in force; nil when it was never trusted
	Since   time.Time // when it was trusted
}

// projectFile is where a project keeps its policy.
var projectFile = filepath.Join(".clawai", "policy.toml")

// note is what an owner should know of a project's policy.
func (p *Project) note() string {
	again := "; look at it with: clawai policy trust " + strconv.Quote(filepath.Dir(filepath.Dir(p.Path)))
	switch {
	case p.Path == "" || p.Trusted != nil && bytes.Equal(p.Text, p.Trusted):
		return ""
	case p.Trusted == nil:
		return p.Path + " is not trusted and ignored" + again
	case p.Text == nil:
		return p.Path + " is gone, and what you trusted stays in force" + again
	}
	return p.Path + " has changed since you trusted it; the text from then stays in force" + again
}

// FindProject finds the policy of the project that dir lies in: the nearest folder
// upwards that has one, or had one that was trusted. The home folder is none.
func FindProject(state, dir string) (Project, error) {
	p, _, err := projectOf(state, dir)
	return p, err
}

// projectOf gives the trail of what puts a project's policy in force, too: the
// project's own file is not on it.
func projectOf(state, dir string) (p Project, t trail, err error) {
	trust, t, err := readTrust(state)
	if err != nil {
		return p, t, err
	}
	home, _ := os.UserHomeDir()
	for at := filepath.Clean(dir); at != home; at = filepath.Dir(at) {
		path := filepath.Join(at, projectFile)
		entry, known := trust[path]
		src, err := projectText(path)
		if err != nil {
			return p, t, fmt.Errorf("policy %s: %w", path, err)
		}
		if src != nil || known {
			p = Project{Path: path, Text: src}
			if known {
				p.Trusted, p.Since = []byte(entry.Text), entry.Since
			}
			return p, t, nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return p, t, nil
}

// projectText reads a project's file; nil when there is none. Whoever may write it
// does not matter: it counts for nothing before somebody has looked at it.
func projectText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), err == nil && info.IsDir():
		return nil, nil
	case err != nil:
		return nil, plainPath(err)
	case !info.Mode().IsRegular() || info.Size() > maxPolicy:
		return nil, errors.New("it is no ordinary file of a policy's size")
	}
	src, err := os.ReadFile(path)
	if src == nil && err == nil {
		src = []byte{}
	}
	return src, plainPath(err)
}

func plainPath(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// trusts are the projects' policies that the owner trusts, by the path of the file.
type trusts map[string]trustEntry

type trustEntry struct {
	Since  time.Time `json:"since"`
	SHA256 string    `json:"sha256"`
	Text   string    `json:"text"`
}

func trustPath(state string) string { return filepath.Join(state, "trust.json") }

// readTrust refuses a store that others could have written, or that does not hold
// together: without it, what stands over the owner's policy is not known.
func readTrust(state string) (trusts, trail, error) {
	path := trustPath(state)
	src, t, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return trusts{}, t, nil
	}
	known := trusts{}
	if err == nil {
		err = json.Unmarshal(src, &known)
	}
	for at, e := range known {
		if sum := sha256.Sum256([]byte(e.Text)); err == nil && hex.EncodeToString(sum[:]) != e.SHA256 {
			err = fmt.Errorf("the text of %s is damaged", at)
		}
	}
	if err != nil {
		return nil, t, fmt.Errorf("the projects you trust, in %s, cannot be read: %w; remove the file and trust them again with: clawai policy trust", path, err)
	}
	return known, t, nil
}

// Trust puts the text of a project's policy in force.
func Trust(state, path string, text []byte, now time.Time) error {
	return changeTrust(state, func(known trusts) {
		sum := sha256.Sum256(text)
		known[path] = trustEntry{Since: now.UTC(), SHA256: hex.EncodeToString(sum[:]), Text: string(text)}
	})
}

// Distrust ends that. It says whether there was anything to end.
func Distrust(state, path string) (ended bool, err error) {
	err = changeTrust(state, func(known trusts) {
		_, ended = known[path]
		delete(known, path)
	})
	return ended, err
}

// Trusted lists the trusted projects by the path of their policy.
func Trusted(state string) (map[string]time.Time, error) {
	known, _, err := readTrust(state)
	since := map[string]time.Time{}
	for path, e := range known {
		since[path] = e.Since
	}
	return since, err
}

func changeTrust(state string, change func(trusts)) error {
	if err := PrivateFolder(state); err != nil {
		return err
	}
	known, _, err := readTrust(state)
	if err != nil {
		return err
	}
	change(known)
	src, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(trustPath(state), append(src, '\n'), atomicfile.Options{Mode: 0o600})
}
