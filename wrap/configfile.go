package wrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/clawai/clawai/wrap/client"
)

// maxFile is the maximum size in bytes of a file that is read. Files of Claude Code can have tens
// of megabytes.
const maxFile = 256 << 20

// ConfigFile is one file of a client and the servers in it.
type ConfigFile struct {
	Row     client.Row
	Path    string // path where the client looks for the file
	Real    string // path of the edited file: Path without symlinks; "" if Err is set
	Tracked bool   // the file belongs to a project and git tracks it, so other people get it
	Entries []client.Entry
	Err     error // why the file cannot be read and is not edited; nil if it can be read
	// Around lists the variables from the client's settings. The client sets them for each program
	// that it starts.
	Around []Setting

	src []byte
}

// HasMark reports whether the file starts with a byte order mark that its client may not accept.
func (p *ConfigFile) HasMark() bool { return HasMark(p.Row, p.src) }

// HasMark reports whether a file starts with a byte order mark that the client of a row may not
// accept.
func HasMark(row client.Row, src []byte) bool {
	return !row.BOMOK && bytes.HasPrefix(src, []byte("\ufeff"))
}

// SystemEnv returns this machine as a client.Env.
func SystemEnv() (client.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return client.Env{}, fmt.Errorf("the current folder is not known: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return client.Env{}, errors.New("no home folder is known; set HOME to an absolute path")
	}
	return client.Env{
		OS: goos, Getenv: os.Getenv, Home: home, Dir: dir,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
		Glob: func(pattern string) []string {
			found, err := filepath.Glob(pattern)
			if err != nil {
				return nil // cannot happen, because the patterns of the catalogue are valid
			}
			return found
		},
	}, nil
}

// FindConfigFiles reads all existing files of the rows. If two rows read a file at the same keys,
// only the first row lists it.
func FindConfigFiles(e client.Env, rows []client.Row) []ConfigFile {
	var places []ConfigFile
	files, around := map[string]file{}, settingsAround(e)
	for _, row := range rows {
		for _, path := range row.FindFiles(e) {
			same := func(p ConfigFile) bool { return p.Path == path && slices.Equal(p.Row.KeyPath, row.KeyPath) }
			if !slices.ContainsFunc(places, same) {
				p := readConfigFile(row, path, files)
				p.Around = around[row.Client]
				places = append(places, p)
			}
		}
	}
	return places
}

// ReadConfigFile reads one file, at any path, as a row describes it.
func ReadConfigFile(row client.Row, path string) ConfigFile {
	return readConfigFile(row, path, map[string]file{})
}

type file struct {
	src []byte
	err error
}

func readConfigFile(row client.Row, path string, files map[string]file) ConfigFile {
	p := ConfigFile{Row: row, Path: path}
	real, err := resolveLinks(path)
	if err != nil {
		p.Err = err
		return p
	}
	f, seen := files[real]
	if !seen {
		f.src, f.err = readRegularFile(real)
		files[real] = f
	}
	if p.Err = f.err; p.Err != nil {
		return p
	}
	if p.Entries, p.Err = client.Read(row, f.src); p.Err != nil {
		return p
	}
	p.Real, p.src = real, f.src
	p.Tracked = (row.Scope == client.Project || row.Scope == client.Workspace) && isTracked(path)
	return p
}

// resolveLinks resolves symlinks, because the rename at the end of a write would otherwise replace
// a link.
func resolveLinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it is a symlink to a file that does not exist; mend the link or remove it")
	}
	return real, withoutPath(err)
}

// withoutPath removes the path from an error, because the message of the caller has it already.
func withoutPath(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

func readRegularFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile))
	return src, withoutPath(err)
}
