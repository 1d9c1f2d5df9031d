// Package base is what every session rests on, however a person is asked in it: the
// policy in force with the layers over it, and the record. internal/session adds the
// ways to ask; the program that answers agents' hooks does without them.
package base

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// Files is what a command line says of where things lie. The zero value is where they
// lie by default.
type Files struct {
	Policy  string        // the owner's file
	State   string        // the folder for the record
	Layers  []string      // further files, which can only tighten
	Project string        // the folder that the client works in; "" for none
	Disk    disk.Disk     // of the program that is judged; nil where it is not known
	Calls   []policy.Call // those that the policy is read for; nil for any
	Hide    bool          // what no rule could let be used is left out of lists
	// Packs reads the packs that policies name; nil where nothing is looked for.
	Packs func(policy.PackFile) (policy.Pack, error)
}

// FindFolders finds the folders.
func (f Files) FindFolders() (config.Folders, error) {
	folders, err := config.ReadFolders()
	if err == nil && f.State != "" {
		folders.State, err = filepath.Abs(f.State)
	}
	return folders, err
}

// Load reads the policy and the layers over it.
func (f Files) Load(folders config.Folders) (*config.Loaded, error) {
	path := f.Policy
	if path == "" {
		path = folders.PolicyFile()
	}
	layers := config.Layers{Org: config.OrgPolicy(), State: folders.State, Dir: f.Project, More: f.Layers}
	o := PolicyOptions(folders.Home)
	o.Disk, o.HideDenied, o.Pack, o.Calls = f.Disk, f.Hide, f.Packs, f.Calls
	return layers.Load(path, o)
}

// PolicyOptions says where a policy is read for, as far as its home does.
func PolicyOptions(home string) policy.Options {
	return policy.Options{Home: home, OS: runtime.GOOS, Extend: ReadExtension}
}

// ReadExtension gives the text behind an entry of a policy's extends: a starter policy, or
// a file beside the one that names it, if its text is the one that was pinned.
func ReadExtension(x policy.Extension) (name string, src []byte, err error) {
	if x.Profile != "" {
		src, err = fixtures.ComposePolicy(x.Profile)
		if err != nil {
			err = fmt.Errorf("there is no profile %q; see: clawai policy init --list", x.Profile)
		}
		return x.String(), src, err
	}
	path, err := config.ReferencePath(x.Pos.File, x.File)
	if err != nil {
		return "", nil, err
	}
	if src, err = config.ReadPinned(path); err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(src)
	if now := hex.EncodeToString(sum[:]); now != x.SHA256 {
		return "", nil, fmt.Errorf("%s is not the text that was pinned; read it, and if it is what you want write sha256 = %q", path, now)
	}
	return path, src, nil
}

// PackText gives the text of a pack that a policy names, which nobody else could have written.
func PackText(x policy.PackFile) (path string, src []byte, err error) {
	if path, err = config.ReferencePath(x.Pos.File, x.File); err != nil {
		return "", nil, err
	}
	src, err = config.ReadFile(path)
	return path, src, err
}

// OpenRecord begins the record in the state folder; without one nothing is
// started.
func OpenRecord(state string, keep redact.Mode, sync audit.Sync) (*audit.Log, error) {
	return openRecord(state, audit.Options{Redact: keep, Sync: sync})
}

func openRecord(state string, o audit.Options) (*audit.Log, error) {
	if err := config.PrivateFolder(state); err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	log, err := audit.Open(RecordDir(state), o)
	if err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	return log, nil
}

// sweeps is how many records of single calls are begun for each that looks after the old
// segments: there are many, and each call would pay for all.
const sweeps = 64

// OpenCallRecord begins the record of a single call, by the words of a command line; ""
// is the default. The calls of an agent's session share a segment; "" is none.
func OpenCallRecord(state, keep, sync, session string) (*audit.Log, error) {
	k, err := redact.ParseMode(cmp.Or(keep, "redacted"))
	if err != nil {
		return nil, fmt.Errorf("--redact: %w", err)
	}
	s, err := audit.ParseSync(cmp.Or(sync, "none"))
	if err != nil {
		return nil, fmt.Errorf("--sync: %w", err)
	}
	turn := rand.IntN(sweeps) //nolint:gosec // who tidies up is no secret
	return openRecord(state, audit.Options{Redact: k, Sync: s, Brief: turn > 0, Shared: session})
}

// RecordDir gives where the record lies in the state folder.
func RecordDir(state string) string { return filepath.Join(state, "audit") }
