// Package base holds the parts that every session needs: the policy in force with its layers, and
// the record. The program for agents' hooks asks no person and uses only this package.
// internal/session adds the ways to ask a person.
package base

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"time"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// Files holds the paths and options from a command line. The zero value means the default paths.
type Files struct {
	Policy  string        // the owner's file
	State   string        // the folder for the record
	Layers  []string      // further policy files, which cannot allow more than the policy
	Project string        // the client's working folder; "" for none
	Disk    disk.Disk     // the disk on which the judged program works; nil if it is not known
	Calls   []policy.Call // the only calls that the policy will judge; nil means any call
	Hide    bool          // leave out of servers' lists the entries that the policy always denies
	// Packs reads the packs that policies name. If Packs is nil, a policy with packs is an error.
	Packs func(policy.PackFile) (policy.Pack, error)
}

// FindFolders returns clawai's folders.
func (f Files) FindFolders() (config.Folders, error) {
	folders, err := config.ReadFolders()
	if err == nil && f.State != "" {
		folders.State, err = filepath.Abs(f.State)
	}
	return folders, err
}

// Load reads the policy and the layers above it.
func (f Files) Load(folders config.Folders) (*config.Loaded, error) {
	path := f.Policy
	if path == "" {
		path = folders.PolicyFile()
	}
	layers := LayersOf(folders)
	layers.Dir, layers.More = f.Project, f.Layers
	o := PolicyOptions(folders.Home)
	o.Disk, o.HideDenied, o.Pack, o.Calls = f.Disk, f.Hide, f.Packs, f.Calls
	return layers.Load(path, o)
}

// LayersOf returns the layers above every policy on this machine: the organisation's file, the
// bundle of the centre at which the laptop is enrolled, and the centre's offline rule.
func LayersOf(folders config.Folders) config.Layers {
	return config.Layers{
		Org:   []string{config.OrgPolicy(), enrolment.PolicyFile(folders.State)},
		Lapse: func() (config.Lapse, error) { return enrolment.FindLapse(folders.State, time.Now()) },
		State: folders.State,
	}
}

// PolicyOptions returns the options that depend on the home folder and the system.
func PolicyOptions(home string) policy.Options {
	return policy.Options{Home: home, OS: runtime.GOOS, Extend: ReadExtension}
}

// ReadExtension returns the text of an entry in a policy's extends: a starter policy, or a file
// whose text matches the pinned digest.
func ReadExtension(x policy.Extension) (name string, src []byte, err error) {
	switch {
	case x.Profile != "" && x.InPlace:
		src, err = readProfile(x)
		return x.String(), src, err
	case x.Profile != "":
		src, err = fixtures.ComposePolicy(x.Profile)
		if err != nil {
			err = unknownProfile(x.Profile)
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
	if now := DigestOf(src); now != x.SHA256 {
		return "", nil, fmt.Errorf("%s is not the text that was pinned; read it, and if it is what you want write sha256 = %q", path, now)
	}
	return path, src, nil
}

func unknownProfile(name string) error {
	return fmt.Errorf("there is no profile %q; see: clawai policy init --list", name)
}

// UpdateAdvice tells the owner what to do when the pinned text of a profile is not on this machine.
const UpdateAdvice = "to see this clawai's text and pin it: clawai policy update"

// readProfile returns the text of a starter policy that is built into this clawai. If the entry
// pins another text, readProfile reads that text from the file beside the policy (KeptProfile).
func readProfile(x policy.Extension) ([]byte, error) {
	src, err := fixtures.ReadProfile(x.Profile)
	switch {
	case x.SHA256 == "" && err != nil:
		return nil, unknownProfile(x.Profile)
	case err == nil && (x.SHA256 == "" || DigestOf(src) == x.SHA256):
		return src, nil
	}
	path, err := config.ReferencePath(x.Pos.File, KeptProfile(x.Profile, x.SHA256))
	if err == nil {
		src, err = config.ReadPinned(path)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("this clawai has another text of the profile %s, and the pinned one cannot be read (%w); %s --policy %q", x.Profile, err, UpdateAdvice, x.Pos.File)
	case DigestOf(src) != x.SHA256:
		return nil, fmt.Errorf("%s is not the text that was pinned: somebody has changed it; %s --policy %q", path, UpdateAdvice, x.Pos.File)
	}
	return src, nil
}

// KeptProfile returns the name of the file with a pinned text of a profile, relative to the folder
// of the policy.
func KeptProfile(profile, digest string) string {
	return filepath.Join("profiles", profile+"-"+digest[:12]+".toml")
}

// DigestOf returns the SHA-256 of a text in the form that extends uses.
func DigestOf(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// PackText returns the text of a pack that a policy names. It returns an error if another user
// could have written the file.
func PackText(x policy.PackFile) (path string, src []byte, err error) {
	if path, err = config.ReferencePath(x.Pos.File, x.File); err != nil {
		return "", nil, err
	}
	src, err = config.ReadFile(path)
	return path, src, err
}

// OpenRecord begins the record in the state folder. After an error the caller must start nothing.
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

// callsPerCleanup limits how often old segments are removed. A process that records a single call
// removes them with a probability of 1 in callsPerCleanup. A removal reads every segment, and there
// are many segments, so a removal for each call would be too slow.
const callsPerCleanup = 64

// OpenCallRecord begins the record of a single call. keep and sync are the values of the options
// --redact and --sync; "" means the default. Calls with the same session share a segment of the
// record; with "", the call has its own segment.
func OpenCallRecord(state, keep, sync, session string) (*audit.Log, error) {
	k, err := redact.ParseMode(cmp.Or(keep, "redacted"))
	if err != nil {
		return nil, fmt.Errorf("--redact: %w", err)
	}
	s, err := audit.ParseSync(cmp.Or(sync, "none"))
	if err != nil {
		return nil, fmt.Errorf("--sync: %w", err)
	}
	turn := rand.IntN(callsPerCleanup) //nolint:gosec // which call removes segments is no secret
	return openRecord(state, audit.Options{Redact: k, Sync: s, Brief: turn > 0, Shared: session})
}

// RecordDir returns the folder of the record in the state folder.
func RecordDir(state string) string { return filepath.Join(state, "audit") }
