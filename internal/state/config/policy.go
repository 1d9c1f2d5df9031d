package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/policy"
)

// maxPolicy is the maximum size of a file in bytes; 100,000 rules take about a fifth of it.
const maxPolicy = 64 << 20

// Loaded is a policy together with its files and layers.
type Loaded struct {
	Policy *policy.Policy
	Path   string // path of the file, as the command line or the default gives it
	Source []byte // text of the file
	// Notes are messages for the owner about the layers, for example that a layer is ignored or has
	// changed.
	Notes []string
	// News are the notes that the previous policy did not have.
	News []string

	options policy.Options // the options with which the policy was parsed, including the layers
	layers  Layers
	packs   packTexts
	above   layerStack // the layers in force
}

// Options returns the options with which the policy was parsed, including its layers.
func (l *Loaded) Options() policy.Options { return l.options }

// Files returns the paths of the files of the policy: its own file, the files of the layers, and
// their packs. It leaves out a project's file, because only the text that the owner trusted is in
// force. A Lapse has no file.
func (l *Loaded) Files() []string {
	paths := append([]string{l.Path}, packPaths(l.Path, l.Source)...)
	for _, above := range l.above.sources {
		if above.name != project && !above.lapse {
			paths = append(append(paths, above.path), packPaths(above.path, above.src)...)
		}
	}
	return paths
}

func packPaths(path string, src []byte) (all []string) {
	for _, x := range policy.PackFiles(path, src) {
		if at, err := ReferencePath(path, x.File); err == nil {
			all = append(all, at)
		}
	}
	return all
}

// LoadPolicyFor reads the policy at path once. It returns an error if other users can write the
// file or make path lead to another file. o describes the machine and the program that the policy
// governs. The error tells the owner what to do. If the text has several mistakes, the error shows
// only the first.
func LoadPolicyFor(path string, o policy.Options) (*Loaded, error) {
	return Layers{}.Load(path, o)
}

// Load reads the policy at path and the layers above it.
func (l Layers) Load(path string, o policy.Options) (*Loaded, error) {
	var w walk
	src, _, err := w.readPolicyFile(path)
	if err != nil {
		return nil, err
	}
	above, err := l.readLayers(&w)
	if err != nil {
		return nil, err
	}
	return l.parsePolicy(path, o, src, above)
}

func (l Layers) parsePolicy(path string, o policy.Options, src []byte, above layerStack) (*Loaded, error) {
	o, err := above.compileOptions(o)
	if err != nil {
		return nil, err
	}
	packs, _ := readPacks(path, src) // read before the policy is parsed, so that a change in between is noticed
	p, err := policy.Parse(path, src, o)
	if err != nil {
		return nil, brokenError(path, err)
	}
	return &Loaded{
		Policy: p, Path: path, Source: src, Notes: above.notes,
		options: o, layers: l, packs: packs, above: above,
	}, nil
}

// readPolicy returns the content of a file. It returns an error if another user could have written
// the file.
func readPolicy(path string) ([]byte, resolvedPath, error) { return new(walk).readPolicyFile(path) }

func (w *walk) readPolicyFile(path string) ([]byte, resolvedPath, error) {
	t, err := w.walkPath(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, t, missing{path}
	}
	if err != nil {
		return nil, t, unreadableError(path, err)
	}
	src, err := readFile(t.file)
	if err != nil {
		return nil, t, unreadableError(path, err)
	}
	return src, t, nil
}

// missing is the error for a policy file that does not exist.
type missing struct{ path string }

func (m missing) Error() string {
	return fmt.Sprintf("there is no policy at %s; clawai init writes yours, --policy names another", m.path)
}

func (missing) Unwrap() error { return fs.ErrNotExist }

// unreadableError adds the path to an error. It removes the path from the system's error, so that
// the path does not appear twice.
func unreadableError(path string, err error) error {
	if again, ok := errors.AsType[*fs.PathError](err); ok && again.Path == path {
		err = again.Err
	}
	return fmt.Errorf("policy %s: %w", path, err)
}

// readFile opens a file, and then checks and reads the open file. So nobody can replace the file
// between the check and the reading.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := access.CheckChange(path, info); err != nil {
		return nil, err
	}
	if info.Size() > maxPolicy {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxPolicy>>20)
	}
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = text.ReadFrom(io.LimitReader(f, maxPolicy)) // the file may grow while it is read
	return text.Bytes(), err
}

// brokenError returns an error of one line. It contains the first mistake of a policy and the
// number of the other mistakes.
func brokenError(path string, err error) error {
	all, ok := errors.AsType[policy.Errors](err)
	if !ok || len(all) == 0 {
		return fmt.Errorf("policy %s: %w", path, err)
	}
	more := ""
	if len(all) > 1 {
		more = fmt.Sprintf(", and %d more", len(all)-1)
	}
	return fmt.Errorf("policy %w%s; see all with: clawai policy check %s", all[0], more, strconv.Quote(path))
}
