// Package centre is a team's centre without its pages: it enrols laptops, keeps and hands out
// bundles that somebody else has signed, and verifies the records that laptops ship. It knows
// nothing of HTTP.
//
// Of every code, token, link and session it keeps a keyed hash alone. The key lies beside the
// database, not in it. It never has the key that signs bundles.
package centre

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/store/sqlstore"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Names of the files in the centre's folder.
const (
	SettingsFile = "gateway.toml"
	DatabaseFile = "gateway.db"
	keyFile      = "gateway.key" // 32 bytes in hexadecimal: the key of all hashes
)

// organisation is the only one that a centre has now.
const organisation = "main"

// Settings are what gateway.toml says.
type Settings struct {
	URL        string                    `toml:"url"` // the one public address, without a path; "" for --dev alone
	Env        string                    `toml:"env"` // what the rules of laptops are told of where they belong, such as "prod"
	Listen     Listen                    `toml:"listen"`
	OIDC       signin.Settings           `toml:"oidc"`
	Roles      []principal.Role          `toml:"role"`
	Slack      message.SlackSettings     `toml:"slack"`
	Webhooks   []message.WebhookSettings `toml:"webhook"`
	Mail       message.MailSettings      `toml:"mail"`
	BundleKeys []string                  `toml:"bundle_keys"` // verifier keys, as clawai policy bundle key prints them
	Offline    struct {
		Days int    `toml:"days"`
		Then string `toml:"then"`
	} `toml:"offline"`
	SilentMinutes int         `toml:"silent_minutes"` // after so long without a word a laptop counts as silent
	LaptopBytes   int64       `toml:"laptop_bytes"`   // of one laptop's record at most so much is kept
	Database      string      `toml:"database"`       // postgres://...; "" is a file of SQLite in the folder
	Checkpoints   Checkpoints `toml:"checkpoints"`
}

// defaultSettings are what holds where gateway.toml says nothing.
func defaultSettings() (s Settings) {
	s.Offline.Days, s.Offline.Then = 14, enrolment.Keep
	s.SilentMinutes = 15
	s.LaptopBytes = 4 << 30
	s.OIDC = signin.DefaultSettings()
	s.Checkpoints = Checkpoints{Key: CheckpointKeyFile, File: CheckpointsFile, Seconds: 60}
	s.Slack, s.Mail = message.DefaultSlack(), message.DefaultMail()
	return s
}

// OfflineRule returns the offline rule as laptops take it.
func (s *Settings) OfflineRule() enrolment.Offline {
	return enrolment.Offline{Days: s.Offline.Days, Then: s.Offline.Then}
}

// RolesOf returns the roles that a person has; none if the centre does not vouch for them now.
func (c *Centre) RolesOf(p principal.Principal) []string {
	switch {
	case !c.knows(p):
		return nil
	case !c.Dev:
		return principal.FindRoles(c.Settings.Roles, p)
	}
	all := []string{principal.Admin, principal.Enroll, principal.Auditor, principal.Payload}
	for _, r := range c.Settings.Roles {
		if !slices.Contains(all, r.Name) {
			all = append(all, r.Name)
		}
	}
	return all
}

// check returns an error for settings that could not be used.
func (s *Settings) check() error {
	if len(s.BundleKeys) > 0 {
		if _, err := bundle.ParseKeys(s.BundleKeys); err != nil {
			return fmt.Errorf("bundle_keys: %w", err)
		}
	}
	if err := s.OfflineRule().Check(); err != nil {
		return fmt.Errorf("offline: %w", err)
	}
	if s.SilentMinutes < 1 {
		return fmt.Errorf("silent_minutes: %d; it is 1 or more", s.SilentMinutes)
	}
	if s.Database != "" && !strings.HasPrefix(s.Database, "postgres://") {
		return errors.New("database: it is an address like postgres://USER@HOST/NAME, or left out for a file of SQLite")
	}
	if s.LaptopBytes < 1<<20 {
		return fmt.Errorf("laptop_bytes: %d; it is %d or more", s.LaptopBytes, 1<<20)
	}
	if err := s.checkListen(); err != nil {
		return err
	}
	if err := s.OIDC.Check(); err != nil {
		return fmt.Errorf("oidc: %w", err)
	}
	if err := s.Checkpoints.check(); err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	for name, err := range map[string]error{"slack": s.Slack.Check(), "webhook": message.CheckWebhooks(s.Webhooks), "mail": s.Mail.Check()} {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(s.Env) > maxTextLen || strings.ContainsFunc(s.Env, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("env: it has at most %d bytes, of signs that can be seen", maxTextLen)
	}
	return principal.CheckRoles(s.Roles)
}

// ReadSettings reads gateway.toml in a folder; without the file the defaults hold. The address of a
// database may have a password, so nobody else may be able to read the file then.
func ReadSettings(folder string) (Settings, error) {
	s := defaultSettings()
	path := filepath.Join(folder, SettingsFile)
	src, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		d := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
		if err = d.Decode(&s); err == nil {
			err = s.check()
		}
		if err == nil && s.Database != "" {
			_, err = config.ReadSecret(path)
		}
		if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			err = fmt.Errorf("unknown keys:\n%s", unknown.String())
		}
	}
	if err != nil {
		return s, &SettingsError{fmt.Errorf("%s cannot be used: %w", path, err)}
	}
	return s, nil
}

// SettingsError says why gateway.toml cannot be used. Only a person can mend that, so systemd must not try again.
type SettingsError struct{ error }

// Unwrap returns the reason.
func (e *SettingsError) Unwrap() error { return e.error }

// Centre is one team's centre. It is safe for concurrent use.
type Centre struct {
	Store    store.Store
	Settings Settings
	Figures  *figures.Figures // of what it does; nil: none are kept
	Dev      bool             // the local administrator has all roles; set it before the centre is used

	folder    string
	key       []byte
	now       func() time.Time
	begun     limit // enrolments that were begun, by address
	guesses   limit // codes that were typed wrong, by person
	wrongKeys limit // of machines, by network
	answers   limit // of the identity provider, by the browser's address: each makes the centre ask the provider
	changed   news  // of questions

	signing   sync.Mutex // while a checkpoint is made
	signed    signedFile
	witnessed int64 // heads that the witness has seen
}

// Open opens the centre in a folder, which it makes if it is missing. It refuses a folder or a file
// that other users can change.
func Open(ctx context.Context, folder string) (*Centre, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if err := config.PrivateFolder(folder); err != nil {
		return nil, err
	}
	s, err := ReadSettings(folder)
	if err != nil {
		return nil, err
	}
	key, err := readKey(filepath.Join(folder, keyFile))
	if err != nil {
		return nil, err
	}
	db, err := openStore(ctx, filepath.Join(folder, DatabaseFile), s.Database)
	if err != nil {
		return nil, err
	}
	c := newCentre(db, s, key, time.Now)
	c.folder = folder
	return c, nil
}

// openStore opens the database at an address; that in a file if there is no address.
func openStore(ctx context.Context, path, address string) (store.Store, error) {
	if address != "" {
		return sqlstore.OpenPostgres(ctx, address, organisation)
	}
	if err := checkDatabase(path); err != nil {
		return nil, err
	}
	return sqlstore.OpenSQLite(ctx, path, organisation)
}

// IsThere reports whether a folder has a centre.
func IsThere(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, keyFile))
	return err == nil
}

func newCentre(db store.Store, s Settings, key []byte, now func() time.Time) *Centre {
	return &Centre{
		Store: db, Settings: s, key: key, now: now,
		begun: limit{most: 20, each: 10 * time.Minute}, guesses: limit{most: 10, each: 10 * time.Minute},
		answers: limit{most: 300, each: 10 * time.Minute}, wrongKeys: limit{most: 20, each: 10 * time.Minute},
	}
}

// Close closes the database.
func (c *Centre) Close() error { return c.Store.Close() }

// Now returns the time by the centre's clock.
func (c *Centre) Now() time.Time { return c.now() }

// checkDatabase makes the file of the database if it is missing, so that only the owner can read it,
// and refuses one that is no plain file.
func checkDatabase(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file; move it away", path)
	}
	return err
}

// readKey reads the key of all hashes, and makes it at the first time.
func readKey(path string) ([]byte, error) {
	src, err := config.ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		return key, atomicfile.Write(path, []byte(hex.EncodeToString(key)+"\n"), atomicfile.Options{Mode: 0o600})
	}
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(src)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%s is not a key; put the file back from a backup, or remove it: then every laptop must be enrolled again", path)
	}
	return key, nil
}

// hashSecret returns the keyed hash of a secret. kind keeps secrets of different use apart.
func (c *Centre) hashSecret(kind, secret string) string {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte(kind + "\x00" + secret))
	return hex.EncodeToString(h.Sum(nil))
}

// isSecret reports whether a secret has a keyed hash.
func (c *Centre) isSecret(kind, secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(c.hashSecret(kind, secret)), []byte(hash)) == 1
}
