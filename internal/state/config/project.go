package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
)

// A project's policy is in force only after the owner has trusted it. The text that the owner saw
// is then in force. If somebody, for example an agent, changes or removes the file later, nothing
// changes until the owner looks at the file again.

// Project is the policy of the project that a folder belongs to.
type Project struct {
	Path    string    // path of the file; "" when there is neither a file nor a trusted text
	Text    []byte    // current text of the file; nil if the file is missing
	Trusted []byte    // the text in force; nil if the owner has never trusted a text
	Since   time.Time // time at which the owner trusted the text
	bad     error     // why the file cannot be read; nil if it can be read or does not exist
}

// projectFile is the path of a project's policy, relative to the project's folder.
var projectFile = filepath.Join(".clawai", "policy.toml")

// noteText returns a note for the owner about a project's policy; "" if there is nothing to note.
func (p *Project) noteText() string {
	again := "; look at it with: clawai policy trust " + strconv.Quote(filepath.Dir(filepath.Dir(p.Path)))
	switch {
	case p.Path == "" || p.Trusted != nil && bytes.Equal(p.Text, p.Trusted):
		return ""
	case p.bad != nil && p.Trusted == nil:
		return p.Path + " is ignored: " + p.bad.Error()
	case p.Trusted == nil:
		return p.Path + " is not trusted and ignored" + again
	case p.Text == nil:
		return p.Path + " is gone, and what you trusted stays in force" + again
	}
	return p.Path + " has changed since you trusted it; the text from then stays in force" + again
}

// FindProject finds the policy of the project to which dir belongs. It searches dir and the folders
// above it, and takes the first that has a policy file or a trusted text. The search ends below the
// home folder.
func FindProject(state, dir string) (Project, error) {
	trust, _, err := readTrust(state)
	if err != nil {
		return Project{}, err
	}
	all := projectsOf(trust, dir)
	if len(all) == 0 {
		return Project{}, nil
	}
	if p := all[0]; p.bad != nil && p.Trusted == nil {
		return p, fmt.Errorf("policy %s: %w", p.Path, p.bad)
	}
	return all[0], nil
}

// projectsOf lists the policies in dir and the folders above it, up to the first trusted one. It
// does not stop at an untrusted policy in a nearer folder. Otherwise an agent could remove the
// rules by putting an empty file into a subfolder. A folder may have several paths, so the search
// follows dir as given and also with its links resolved.
func projectsOf(trust trusts, dir string) (all []Project) {
	home, _ := os.UserHomeDir()
	ends := []string{home, withoutLinks(home)}
	ways := []string{filepath.Clean(dir), withoutLinks(dir)}
	for _, at := range slices.Compact(ways) {
		for !slices.Contains(ends, at) {
			p := trust.findProject(at)
			if p.Path != "" && !slices.ContainsFunc(all, func(q Project) bool { return q.Path == p.Path }) {
				all = append(all, p)
			}
			up := filepath.Dir(at)
			if p.Trusted != nil || up == at {
				break
			}
			at = up
		}
	}
	return all
}

func withoutLinks(dir string) string {
	if plain, err := filepath.EvalSymlinks(dir); err == nil {
		return plain
	}
	return filepath.Clean(dir)
}

// findProject returns the policy of one folder.
func (known trusts) findProject(dir string) (p Project) {
	path := filepath.Join(dir, projectFile)
	src, bad := projectText(path)
	entry, trusted := known[path]
	if !trusted {
		path, entry, trusted = known.findSameFolder(dir, path)
	}
	if src == nil && bad == nil && !trusted {
		return Project{}
	}
	p = Project{Path: path, Text: src, bad: bad}
	if trusted {
		p.Trusted, p.Since = []byte(entry.Text), entry.Since
	}
	return p
}

// findSameFolder finds the entry of a folder that was trusted under another name.
func (known trusts) findSameFolder(dir, path string) (string, trustEntry, bool) {
	if len(known) == 0 {
		return path, trustEntry{}, false
	}
	here, err := os.Stat(dir)
	if err != nil {
		return path, trustEntry{}, false
	}
	for _, other := range slices.Sorted(maps.Keys(known)) {
		if there, err := os.Stat(filepath.Dir(filepath.Dir(other))); err == nil && os.SameFile(here, there) {
			return other, known[other], true
		}
	}
	return path, trustEntry{}, false
}

// projectText reads a project's file. It returns nil if there is no file. It does not check who may
// write the file, because the text is in force only after the owner has trusted it.
func projectText(path string) ([]byte, error) {
	f, err := os.OpenFile(path, lookFlags, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, plainPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plainPath(err)
	case info.IsDir():
		return nil, nil
	case !info.Mode().IsRegular() || info.Size() > maxPolicy:
		return nil, errors.New("it is not an ordinary file of a policy's size")
	}
	src, err := io.ReadAll(io.LimitReader(f, maxPolicy))
	return src, plainPath(err)
}

func plainPath(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// trusts holds the projects' policies that the owner trusts, by the path of the file.
type trusts map[string]trustEntry

type trustEntry struct {
	Since  time.Time `json:"since"`
	SHA256 string    `json:"sha256"`
	Text   string    `json:"text"`
}

func trustPath(state string) string { return filepath.Join(state, "trust.json") }

// readTrust reads trust.json. It returns an error if another user could have written the file or if
// it is damaged, because then the layers above the owner's policy are not known.
func readTrust(state string) (trusts, resolvedPath, error) { return new(walk).readTrust(state) }

func (w *walk) readTrust(state string) (trusts, resolvedPath, error) {
	path := trustPath(state)
	src, t, err := w.readPolicyFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return trusts{}, t, nil
	}
	if _, shut := os.Stat(path); errors.Is(shut, fs.ErrPermission) {
		return nil, t, fmt.Errorf("the state folder %s cannot be searched: permission denied; run: chmod u+rwx %s", state, strconv.Quote(state))
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

// TrustProject puts the text of a project's policy into force, as a text that the owner trusts.
func TrustProject(state, path string, text []byte, now time.Time) error {
	return changeTrust(state, func(known trusts) {
		sum := sha256.Sum256(text)
		known[path] = trustEntry{Since: now.UTC(), SHA256: hex.EncodeToString(sum[:]), Text: string(text)}
	})
}

// TrustedText returns the text in force for a file; nil if the owner has never trusted a text of
// it.
func TrustedText(state, path string) ([]byte, error) {
	known, _, err := readTrust(state)
	if e, there := known[path]; err == nil && there {
		return []byte(e.Text), nil
	}
	return nil, err
}

// DistrustProject ends the trust in a project's policy, also for running proxies. ended is true if
// the policy was trusted before.
func DistrustProject(state, path string) (ended bool, err error) {
	ended, err = DistrustText(state, path)
	if err == nil && ended {
		err = ConfirmPolicy(state, path, nil)
	}
	return ended, err
}

// DistrustText ends the trust in the text of a file that is not a policy, for example of a lock.
// ended is true if the text was trusted before.
func DistrustText(state, path string) (ended bool, err error) {
	err = changeTrust(state, func(known trusts) {
		_, ended = known[path]
		delete(known, path)
	})
	return ended, err
}

// ListProjects returns the paths of the trusted policies, each with the time at which the owner
// trusted it.
func ListProjects(state string) (map[string]time.Time, error) {
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
	unlock, err := atomicfile.Lock(trustPath(state))
	if err != nil {
		return err
	}
	defer unlock()
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
