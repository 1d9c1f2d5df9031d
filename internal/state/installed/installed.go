package installed

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/servers"
)

// Manifest describes the installation of a server.
type Manifest struct {
	Format    int      `json:"format"`
	Server    string   `json:"server"`             // the server's name in rules
	Launcher  string   `json:"launcher"`           // the Launcher of a servers.Download
	Package   string   `json:"package"`            // the package's name in the registry
	Asked     string   `json:"asked,omitempty"`    // the version in the client's entry
	Named     string   `json:"named,omitempty"`    // the program in the client's entry
	Version   string   `json:"version"`            // the version that is installed
	Integrity string   `json:"integrity"`          // the registry's digest of the package; npm has checked it
	Folder    string   `json:"folder"`             // the folder with the files, relative to the server's folder
	Before    string   `json:"before,omitempty"`   // the folder that was in use before; running servers may still use it
	Runner    string   `json:"runner"`             // the program that runs the script
	Options   []string `json:"options,omitempty"`  // options of the runner, from the first line of the script
	Script    string   `json:"script"`             // path of the script, relative to Folder
	Stamp     string   `json:"stamp"`              // digest of the names, sizes, times and inode numbers of all files
	Content   string   `json:"content"`            // digest of the names and contents of all files
	Files     int      `json:"files"`              // number of files
	Lists     string   `json:"lists"`              // the server's lists at the installation, in the form of a lock (docs/pins.md)
	Installed string   `json:"installed,omitzero"` // time of the installation, for people
}

// format is the version of the manifest's format.
const format = 1

// Store holds the installations of all servers.
type Store struct{ dir string }

// NewStore returns the store of a state folder.
func NewStore(state string) *Store { return &Store{filepath.Join(state, "servers")} }

// folder returns the folder of a server's installations. The name of the folder contains the
// server's name for people, and no two servers share a folder.
func (s *Store) folder(server string) string {
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(server))
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.dir, fmt.Sprintf("%.40s-%x", plain, sum[:6]))
}

func (s *Store) manifestFile(server string) string { return s.folder(server) + ".json" }

// ErrDamaged means that somebody has changed a manifest or its files after the installation.
var ErrDamaged = errors.New("it is not as clawai installed it")

// Load returns the manifest of a server's installation; nil if the server is not installed.
func (s *Store) Load(server string) (*Manifest, error) {
	path := s.manifestFile(server)
	src, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is installed
	}
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	from := json.NewDecoder(bytes.NewReader(src))
	from.DisallowUnknownFields()
	if err := from.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %s cannot be read: %w", ErrDamaged, path, err)
	}
	if err := m.check(server); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return m, nil
}

// folderName matches the names of folders that Begin makes.
var folderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^new-[0-9]{1,20}$`) })

// check returns an error for a manifest in a form that this package never writes.
func (m *Manifest) check(server string) error {
	switch {
	case m.Format != format:
		return fmt.Errorf("its format is %d, and this version of clawai knows %d", m.Format, format)
	case m.Server != server:
		return fmt.Errorf("it is that of another server, %q", m.Server)
	case !folderName().MatchString(m.Folder) || m.Before != "" && !folderName().MatchString(m.Before):
		return errors.New("its folder is not one that clawai makes")
	case !filepath.IsLocal(m.Script) || !filepath.IsAbs(m.Runner) || filepath.Base(m.Runner) != "node":
		return errors.New("its program is not one for node in its folder")
	case !servers.IsExactVersion(m.Version):
		return errors.New("its version is none")
	}
	return CheckOptions(m.Options)
}

// Options of node with which node still runs only the script. They are written here with dashes;
// node also accepts underscores. The list plain holds the options without a value. The list valued
// holds the options with a value after "=". The list begun holds the beginnings of further options
// without a value.
var (
	plain = strings.Fields("enable-source-maps expose-gc preserve-symlinks preserve-symlinks-main throw-deprecation trace-deprecation " +
		"trace-exit trace-uncaught trace-warnings use-bundled-ca use-env-proxy use-openssl-ca use-system-ca")
	valued = strings.Fields("disable-warning dns-result-order max-http-header-size max-old-space-size max-semi-space-size network-family-autoselection-attempt-timeout " +
		"stack-size stack-trace-limit unhandled-rejections v8-pool-size")
	begun = strings.Fields("no- harmony experimental-vm experimental-wasm experimental-fetch experimental-json experimental-strip experimental-sqlite experimental-websocket experimental-worker experimental-specifier")
)

// CheckOptions returns an error for options with which node might run more than the script. It also
// returns an error for an unknown option, because node could take the script for the value of such
// an option.
func CheckOptions(options []string) error {
	for _, option := range options {
		name, value, has := strings.Cut(option, "=")
		name, found := strings.CutPrefix(strings.ReplaceAll(name, "_", "-"), "--")
		ok := slices.Contains(valued, name) && value != ""
		if !has {
			ok = slices.Contains(plain, name) || slices.ContainsFunc(begun, func(begin string) bool { return strings.HasPrefix(name, begin) })
		}
		if !found || !ok {
			return fmt.Errorf("its option %q may let node run other code than the program", option)
		}
	}
	return nil
}

// Folder returns the folder of the installation.
func (s *Store) Folder(m *Manifest) string { return filepath.Join(s.folder(m.Server), m.Folder) }

// Command returns the command that is started instead of the launcher. args are the arguments of
// the server.
func (s *Store) Command(m *Manifest, args []string) []string {
	runner := m.Runner
	if _, err := os.Stat(runner); err != nil {
		runner = filepath.Base(runner) // the runner is gone, but PATH may have another version of it
	}
	return slices.Concat([]string{runner}, m.Options, []string{filepath.Join(s.Folder(m), m.Script)}, args)
}

// Matches reports whether a client's command asks for the installed package.
func (m *Manifest) Matches(d servers.Download) bool {
	return m.Launcher == d.Launcher && m.Package == d.Package
}

// CheckEntry returns an error if a client's command asks for another version of the package, or for
// another program, than the installed one.
func (m *Manifest) CheckEntry(d servers.Download) error {
	switch {
	case d.Version != m.Asked && d.Version != m.Version:
		return fmt.Errorf("its entry asks for %s, and %s is installed", describeVersion(d), m.Version)
	case d.Program != m.Named:
		return fmt.Errorf("its entry asks for the program %q of %s, and %q is installed", d.Program, m.Package, m.Named)
	}
	return nil
}

func describeVersion(d servers.Download) string {
	if d.Version == "" {
		return "any version"
	}
	return d.Version
}

// ListedBefore returns the lists that the server had at the installation.
func (m *Manifest) ListedBefore() (pin.SelfDescription, error) {
	lock, err := pin.ReadLock([]byte(m.Lists))
	if err != nil {
		return pin.SelfDescription{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	is, known := lock[m.Server]
	if !known {
		return is, fmt.Errorf("%w: its lists are of another server", ErrDamaged)
	}
	return is, nil
}

// ErrBusy means that another process installs the same server.
var ErrBusy = errors.New("another clawai installs it just now")

// Change is an installation in progress. It has no effect before Commit.
type Change struct {
	store  *Store
	server string
	lock   *flock.Flock
	Old    *Manifest // the installation in use; nil if nothing is installed
	Dir    string    // the new folder, empty at first
}

// Begin starts a change of a server's installation. It removes the folders that interrupted changes
// have left. The caller must call End.
func (s *Store) Begin(server string) (c *Change, err error) {
	if err := config.PrivateFolder(s.dir); err != nil {
		return nil, err
	}
	if err := config.PrivateFolder(s.folder(server)); err != nil {
		return nil, err
	}
	c = &Change{store: s, server: server, lock: flock.New(s.folder(server)+".lock", flock.SetPermissions(0o600))}
	ours, err := c.lock.TryLock()
	if err == nil && !ours {
		err = ErrBusy
	}
	if err != nil {
		_ = c.lock.Close()
		return nil, err
	}
	if c.Old, err = s.Load(server); err != nil && !errors.Is(err, ErrDamaged) {
		c.End()
		return nil, err
	}
	if err := c.sweep(); err != nil {
		c.End()
		return nil, err
	}
	if c.Dir, err = os.MkdirTemp(s.folder(server), "new-"); err != nil {
		c.End()
		return nil, err
	}
	return c, nil
}

// sweep removes all folders of the server except two: the folder in use, and the folder that was in
// use before.
func (c *Change) sweep() error {
	entries, err := os.ReadDir(c.store.folder(c.server))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if c.Old != nil && (e.Name() == c.Old.Folder || e.Name() == c.Old.Before) {
			continue
		}
		if err := removeTree(filepath.Join(c.store.folder(c.server), e.Name())); err != nil {
			return fmt.Errorf("what an earlier try has left cannot be removed: %w", err)
		}
	}
	return nil
}

// removeTree removes a folder, even if a package has left read-only folders in it.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(at, 0o700) //nolint:gosec // the folder is ours and is about to be removed
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// End ends the change. Without an earlier Commit, it undoes the change.
func (c *Change) End() {
	if c.Dir != "" {
		_ = removeTree(c.Dir)
	}
	_ = c.lock.Close()
}

// Commit puts the new folder into use. m holds the facts about the package; Commit fills in the
// other fields. files is the result of Measure for Dir. Commit returns an error if the files have
// changed since then.
func (c *Change) Commit(m Manifest, files Measured) error {
	now, err := Measure(c.Dir)
	if err != nil {
		return err
	}
	if now != files {
		return fmt.Errorf("%w: it has changed since it was installed", ErrDamaged)
	}
	m.Format, m.Server, m.Folder = format, c.server, filepath.Base(c.Dir)
	m.Stamp, m.Content, m.Files = files.Stamp, files.Content, files.Files
	if c.Old != nil {
		m.Before = c.Old.Folder
	}
	if err := m.check(c.server); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := syncTree(c.Dir); err != nil {
		return err
	}
	if err := atomicfile.Write(c.store.manifestFile(c.server), append(text, '\n'), atomicfile.Options{Mode: 0o600}); err != nil {
		return err
	}
	c.Dir = ""    // End must not remove the new folder
	c.Old = &m    // sweep keeps the new folder, and the one that was in use before
	_ = c.sweep() // an error is ignored: the next change removes the rest
	return nil
}

// Remove removes an installation. The result had is false if nothing was installed.
func (c *Change) Remove() (had bool, err error) {
	err = os.Remove(c.store.manifestFile(c.server))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.Old = nil
	return true, c.sweep()
}
