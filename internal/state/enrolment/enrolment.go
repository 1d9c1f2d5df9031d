// Package enrolment stores the enrolment of this laptop at a team's centre in the state folder: the
// centre's address, the token that proves the laptop's identity, and the keys that sign bundles. It
// also defines the messages between laptop and centre, for both sides.
//
// On a laptop that is not enrolled, this package has no folder and starts no process.
package enrolment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
)

// ErrNone means that this laptop is not enrolled.
var ErrNone = errors.New("this laptop is not enrolled at a centre; run: clawai enroll URL")

// Enrolment is the stored enrolment of this laptop. The token is secret.
type Enrolment struct {
	URL        string    `json:"url"`    // address of the centre, without a path
	Laptop     string    `json:"laptop"` // the laptop's name at the centre
	Token      string    `json:"token"`
	BundleKeys []string  `json:"bundle_keys"` // verifier keys of golang.org/x/mod/sumdb/note; a bundle must have a signature by one of these keys
	Offline    Offline   `json:"offline"`
	Since      time.Time `json:"since"`

	CheckpointKey string `json:"checkpoint_key,omitempty"` // verifier key of the centre's checkpoints; "" if the centre named none
}

// Offline is the rule for a laptop that has not reached the centre for a number of days.
type Offline struct {
	Days int    `json:"days"` // number of days, at least 1
	Then string `json:"then"` // Keep or Deny: what happens after Days
}

// The values of Offline.Then.
const (
	Keep = "keep" // the last bundle stays in force
	Deny = "deny" // every call is denied until the centre is reached again
)

// Progress is the stored state of this laptop's exchange with the centre.
type Progress struct {
	Counter   uint64    `json:"counter"`              // counter of the newest bundle that was ever in force; it never decreases
	Revision  string    `json:"revision,omitempty"`   // revision of the policy in that bundle
	ETag      string    `json:"etag,omitempty"`       // ETag of the last bundle from the centre that this laptop has checked
	Activated time.Time `json:"activated,omitzero"`   // time at which the bundle in force was activated
	Tried     time.Time `json:"tried,omitzero"`       // time of the last request to the centre
	Reached   time.Time `json:"reached,omitzero"`     // time of the centre's last answer for this laptop; at first, the time of the enrolment
	Error     string    `json:"error,omitempty"`      // why the last poll failed; "" if the poll succeeded
	Refused   string    `json:"refused,omitempty"`    // why the newest bundle is not in force; "" if the bundle is in force
	Shipped   time.Time `json:"shipped,omitzero"`     // time at which the centre last accepted records
	Backlog   int64     `json:"backlog,omitempty"`    // bytes of the record that the centre does not have yet
	ShipError string    `json:"ship_error,omitempty"` // why the last shipping of records failed; "" if it succeeded
}

// Folder returns the folder of the enrolment in the state folder. The folder need not exist.
func Folder(state string) string { return filepath.Join(state, "enrolment") }

// PolicyFile returns the path of the activated bundle's policy. The file need not exist.
func PolicyFile(state string) string { return filepath.Join(Folder(state), "rules", "policy.toml") }

// BundleFile returns the path of the activated bundle in its signed form. The file need not exist.
func BundleFile(state string) string { return filepath.Join(Folder(state), "active.bundle") }

func enrolmentFile(state string) string { return filepath.Join(Folder(state), "enrolment.json") }

func progressFile(state string) string { return filepath.Join(Folder(state), "progress.json") }

// IsEnrolled reports whether this laptop is enrolled. It only checks whether a file exists.
func IsEnrolled(state string) bool {
	_, err := os.Lstat(enrolmentFile(state))
	return err == nil
}

// ReadEnrolment returns the enrolment, or ErrNone if the laptop is not enrolled. It returns an
// error if a user other than the owner could have read or written the file.
func ReadEnrolment(state string) (e Enrolment, err error) {
	src, err := config.ReadSecret(enrolmentFile(state))
	if errors.Is(err, fs.ErrNotExist) {
		return e, ErrNone
	}
	if err == nil {
		err = json.Unmarshal(src, &e)
	}
	if err == nil {
		err = e.Check()
	}
	if err != nil {
		return Enrolment{}, fmt.Errorf("the enrolment in %s cannot be used: %w; run: clawai unenroll", enrolmentFile(state), err)
	}
	return e, nil
}

// WriteEnrolment stores a new enrolment, with a new Progress. It replaces any earlier enrolment.
func WriteEnrolment(state string, e Enrolment) error {
	if err := e.Check(); err != nil {
		return err
	}
	for _, dir := range []string{state, Folder(state), filepath.Dir(PolicyFile(state))} {
		if err := config.PrivateFolder(dir); err != nil {
			return err
		}
	}
	if err := writeJSON(progressFile(state), Progress{Reached: e.Since}); err != nil {
		return err
	}
	return writeJSON(enrolmentFile(state), e)
}

// RemoveEnrolment removes everything that this laptop keeps of its enrolment. It removes the token
// first, so that no process polls any more. It removes the rest when the process that speaks with
// the centre has ended. It returns ErrNone if there is nothing to remove.
func RemoveEnrolment(ctx context.Context, state string) error {
	if _, err := os.Lstat(Folder(state)); errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	if err := os.Remove(enrolmentFile(state)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removePatience)
	defer cancel()
	for _, lock := range []func(context.Context, string) (func(), error){LockStay, LockRound} {
		unlock, err := lock(ctx, state)
		if err != nil {
			return fmt.Errorf("the process that speaks with the centre does not end: %w; run the command again", err)
		}
		unlock() // no process takes the lock after this, because each process checks first whether the laptop is enrolled
	}
	return os.RemoveAll(Folder(state))
}

// removePatience limits the wait for the process that speaks with the centre. That process checks
// every half second whether the laptop is still enrolled.
const removePatience = 20 * time.Second

// ErrDamaged means that the file with the progress cannot be parsed.
var ErrDamaged = errors.New("it is damaged")

// ReadProgress returns the progress; the zero value if no progress is stored. After ErrDamaged,
// ReplaceProgress can store a new progress.
func ReadProgress(state string) (p Progress, err error) {
	src, err := config.ReadFile(progressFile(state))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil && json.Unmarshal(src, &p) != nil {
		err = ErrDamaged
	}
	if err != nil {
		return Progress{}, fmt.Errorf("%s cannot be read: %w", progressFile(state), err)
	}
	return p, nil
}

// ChangeProgress changes the progress; only one process at a time can do this. The counter never
// decreases. If the laptop is not enrolled any more, ChangeProgress writes nothing and returns
// ErrNone.
func ChangeProgress(state string, change func(*Progress)) error {
	if !IsEnrolled(state) {
		return ErrNone
	}
	unlock, err := atomicfile.Lock(progressFile(state))
	if err != nil {
		return err
	}
	defer unlock()
	p, err := ReadProgress(state)
	if err != nil {
		return err
	}
	counter := p.Counter
	change(&p)
	p.Counter = max(p.Counter, counter)
	return writeJSON(progressFile(state), p)
}

// ReplaceProgress stores a new progress if the stored one is damaged. Otherwise it changes nothing.
func ReplaceProgress(state string, p Progress) error {
	if !IsEnrolled(state) {
		return ErrNone
	}
	unlock, err := atomicfile.Lock(progressFile(state))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := ReadProgress(state); !errors.Is(err, ErrDamaged) {
		return err
	}
	return writeJSON(progressFile(state), p)
}

func writeJSON(path string, v any) error {
	src, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// Check returns an error for an enrolment that could not be used. It does not check the keys.
// Package internal/state/bundle checks them, but the hook's program does not link that package.
func (e Enrolment) Check() error {
	if _, err := ParseURL(e.URL); err != nil {
		return err
	}
	switch {
	case !IsName(e.Laptop):
		return fmt.Errorf("%q is not a laptop's name at a centre", e.Laptop)
	case e.Token == "" || strings.ContainsFunc(e.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the centre's token is empty or has other characters than visible ASCII")
	case len(e.BundleKeys) == 0:
		return errors.New("the centre named no key of its bundles")
	}
	return e.Offline.Check()
}

// Check returns an error for an offline rule that is not valid.
func (o Offline) Check() error {
	if o.Days < 1 || o.Days > 3650 || o.Then != Keep && o.Then != Deny {
		return fmt.Errorf("%d days, then %q is not an offline rule: it is 1 to 3650 days, then %q or %q", o.Days, o.Then, Keep, Deny)
	}
	return nil
}

// String returns the offline rule as a sentence without a full stop.
func (o Offline) String() string {
	days := strconv.Itoa(o.Days) + " days"
	if o.Days == 1 {
		days = "1 day"
	}
	if o.Then == Deny {
		return "without the centre the last bundle holds for " + days + ", then every call is denied"
	}
	return "without the centre the last bundle stays in force, and after " + days + " clawai status says so"
}

// Ends returns the time at which the offline rule takes effect. reached is the time of the centre's
// last answer.
func (o Offline) Ends(reached time.Time) time.Time {
	return reached.Add(time.Duration(o.Days) * 24 * time.Hour)
}

// IsName reports whether a text can be the name of a laptop or a segment: 1 to 128 letters, digits,
// ".", "_" and "-". The first character is not ".".
func IsName(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// ParseURL reads the address of a centre. The scheme is https, or http for this machine only,
// because over another http connection the token would cross a network unencrypted. The address has
// no path, query or user.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	shown := redact.MaskAddress(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q is not the address of a centre; it is https://HOST", shown)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return nil, fmt.Errorf("%q has more than a host; the address of a centre is https://HOST", shown)
	case u.Scheme == "http" && !isThisMachine(u.Hostname()):
		return nil, fmt.Errorf("%q would send this laptop's token in clear; use https", shown)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
