// Package centre is a team's centre without HTTP (see package site): it enrols laptops, keeps signed
// bundles and gives them to laptops, and verifies the records that laptops ship.
//
// It stores only keyed hashes of codes, tokens, links and sessions. The key of the hashes is in a file
// beside the database, not in it. The centre never has the key that signs bundles.
package centre

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
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
	"github.com/clawai/clawai/internal/gateway/telemetry"
	"github.com/clawai/clawai/internal/gateway/workload"
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

// organisation is the name of the one organisation that a centre serves (store.Store).
const organisation = "main"

// Settings are the settings in gateway.toml.
type Settings struct {
	URL        string                    `toml:"url"` // the public address, without a path; only --dev may leave it ""
	Env        string                    `toml:"env"` // the environment that rules on laptops see, such as "prod"
	Listen     Listen                    `toml:"listen"`
	OIDC       signin.Settings           `toml:"oidc"`
	Roles      []principal.Role          `toml:"role"`
	Workloads  []workload.Settings       `toml:"workload"`
	Slack      message.SlackSettings     `toml:"slack"`
	Webhooks   []message.WebhookSettings `toml:"webhook"`
	Mail       message.MailSettings      `toml:"mail"`
	BundleKeys []string                  `toml:"bundle_keys"` // verifier keys, as clawai policy bundle key prints them
	Bundles    struct {
		People int `toml:"people"` // number of people who must agree before a published bundle is in force
	} `toml:"bundles"`
	Offline struct {
		Days int    `toml:"days"`
		Then string `toml:"then"`
	} `toml:"offline"`
	SilentMinutes int         `toml:"silent_minutes"` // minutes without a message after which a laptop counts as silent
	LaptopBytes   int64       `toml:"laptop_bytes"`   // maximum bytes that the centre keeps of one laptop's record
	Database      string      `toml:"database"`       // postgres://...; "": a SQLite file in the centre's folder
	Checkpoints   Checkpoints `toml:"checkpoints"`
	Telemetry     Telemetry   `toml:"telemetry"`
}

// defaultSettings returns the settings for keys that gateway.toml does not have.
func defaultSettings() (s Settings) {
	s.Offline.Days, s.Offline.Then = 14, enrolment.Keep
	s.SilentMinutes = 15
	s.LaptopBytes = 4 << 30
	s.OIDC = signin.DefaultSettings()
	s.Checkpoints = Checkpoints{Key: CheckpointKeyFile, File: CheckpointsFile, Seconds: 60}
	s.Slack, s.Mail = message.DefaultSlack(), message.DefaultMail()
	return s
}

// OfflineRule returns the offline rule in the form that laptops get.
func (s *Settings) OfflineRule() enrolment.Offline {
	return enrolment.Offline{Days: s.Offline.Days, Then: s.Offline.Then}
}

// RolesOf returns the roles that a person has now; none if the person is not from the present identity
// provider (see knows).
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

// check returns an error for settings that cannot be used.
func (s *Settings) check() error {
	if len(s.BundleKeys) > 0 {
		if _, err := bundle.ParseKeys(s.BundleKeys); err != nil {
			return fmt.Errorf("bundle_keys: %w", err)
		}
	}
	if s.Bundles.People < 0 || s.Bundles.People > maxPeople {
		return fmt.Errorf("bundles.people: %d; it is 0, 1 or %d", s.Bundles.People, maxPeople)
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
	for name, err := range map[string]error{"slack": s.Slack.Check(), "webhook": message.CheckWebhooks(s.Webhooks), "workload": workload.CheckSettings(s.Workloads, s.OIDC.ClientID), "mail": s.Mail.Check()} {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(s.Env) > maxTextLen || strings.ContainsFunc(s.Env, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("env: it has at most %d bytes, of signs that can be seen", maxTextLen)
	}
	return principal.CheckRoles(s.Roles)
}

// ReadSettings reads gateway.toml in a folder; without the file it returns the defaults. If the file has
// the address of a database, which may contain a password, other users must not be able to read the file.
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
			var keys []string // without their lines, because a line may contain a password
			for i := range unknown.Errors {
				line, _ := unknown.Errors[i].Position()
				keys = append(keys, fmt.Sprintf("%q in line %d", strings.Join(unknown.Errors[i].Key(), "."), line))
			}
			err = fmt.Errorf("unknown: %s; docs/gateway.md has each key with its form", strings.Join(keys, ", "))
		} else if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := wrong.Position() // the error does not show the line, because the line may contain a password
			err = fmt.Errorf("line %d, sign %d: %w; a text stands in quotes, and docs/gateway.md has each key with its form", line, column, err)
		}
	}
	if err != nil {
		return s, &SettingsError{fmt.Errorf("%s cannot be used: %w", path, err)}
	}
	return s, nil
}

// SettingsError says why gateway.toml cannot be used. Only a person can mend the file, so systemd must not start
// the centre again.
type SettingsError struct{ error }

// Unwrap returns the reason.
func (e *SettingsError) Unwrap() error { return e.error }

// Centre is one team's centre. It is safe for concurrent use.
type Centre struct {
	Store     store.Store
	Settings  Settings
	Figures   *figures.Figures  // counts what the centre does, for /metrics; nil: nothing is counted
	Telemetry *telemetry.Sender // sends what laptops ship to a receiver of OpenTelemetry; nil: nothing is sent
	Dev       bool              // the local administrator has all roles; set it before the centre is used

	folder    string
	key       []byte
	now       func() time.Time
	begun     limit // begun enrolments, by network
	guesses   limit // wrong codes, by the person who typed them
	wrongKeys limit // wrong keys and tokens of machines, by network
	answers   limit // sign-ins that come back from the identity provider, by the browser's network: each causes a request to the provider
	workloads *workload.Verifier

	signing   sync.Mutex // held while a checkpoint is made; guards the fields below
	signed    signedFile
	witnessed int64 // number of heads that the witness has seen
}

// Open opens the centre in a folder. It makes the folder if it is missing. It returns an error if other
// users can change the folder or one of its files.
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
	path := filepath.Join(folder, keyFile)
	key, err := readKey(path)
	if err != nil {
		return nil, err
	}
	db, err := openStore(ctx, filepath.Join(folder, DatabaseFile), s.Database)
	if err != nil {
		return nil, err
	}
	if key, err = keepKey(ctx, db, &s, path, key); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	c := newCentre(db, s, key, time.Now)
	c.folder = folder
	return c, nil
}

// openStore opens the PostgreSQL database at an address, or the SQLite file at path if address is "".
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
		Store: db, Settings: s, key: key, now: now, workloads: workload.NewVerifier(s.Workloads, now),
		begun: limit{most: 20, each: 10 * time.Minute}, guesses: limit{most: 10, each: 10 * time.Minute},
		answers: limit{most: 300, each: 10 * time.Minute}, wrongKeys: limit{most: 20, each: 10 * time.Minute},
	}
}

// Close closes the database.
func (c *Centre) Close() error { return c.Store.Close() }

// Now returns the time by the centre's clock.
func (c *Centre) Now() time.Time { return c.now() }

// checkAgain is the time between two checks of KeepChecking.
const checkAgain = 30 * time.Second

// KeepChecking checks again and again, until ctx ends, whether this centre may serve (store.Store.CheckReady).
// If it may not, KeepChecking passes the reason to report.
func (c *Centre) KeepChecking(ctx context.Context, report func(error)) {
	every := time.NewTicker(checkAgain)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := c.Store.CheckReady(ctx, c.now); err != nil && ctx.Err() == nil {
			report(fmt.Errorf("not ready: the database: %w", err))
		}
	}
}

// checkDatabase makes the file of the database if it is missing. Only the owner can read the new
// file. It returns an error if the path is not a regular file.
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

// readKey reads the key of all hashes; nil if there is none yet.
func readKey(path string) ([]byte, error) {
	src, err := config.ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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

// keepKey returns the key of all hashes. It makes the key if the centre does not have one yet. If several centres can use one
// database, all of them must have the same key.
func keepKey(ctx context.Context, db store.Store, s *Settings, path string, key []byte) ([]byte, error) {
	shared := s.Database != ""
	if shared {
		if err := checkMark(ctx, db, path, key); err != nil {
			return nil, err
		}
	}
	if key != nil {
		return key, nil
	}
	key = make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	if err := atomicfile.Write(path, []byte(hex.EncodeToString(key)+"\n"), atomicfile.Options{Mode: 0o600}); err != nil || !shared {
		return key, err
	}
	return key, checkMark(ctx, db, path, key) // another centre may have marked the database meanwhile
}

// checkMark returns an error if key is not the key of the database. With another key, a centre would not know
// the laptops and the sessions of the other centres, and would tell laptops that they were revoked. If the
// database has no mark yet, checkMark marks it with key; nil marks nothing.
func checkMark(ctx context.Context, db store.Store, path string, key []byte) error {
	var mark int64
	if key != nil {
		h := hmac.New(sha256.New, key)
		h.Write([]byte("mark of the database"))
		mark = int64(binary.BigEndian.Uint64(h.Sum(nil))>>1) | 1 //nolint:gosec // 63 bits; never 0, because 0 means that there is no mark
	}
	kept, err := db.KeepMark(ctx, mark)
	if err != nil || kept == mark {
		return err
	}
	what := path + " is another key than"
	if key == nil {
		what = "there is no " + path + ", which must be"
	}
	return fmt.Errorf("%s that of the centre whose database it is: copy %s from that centre's folder, or from a backup; "+
		"if it is lost, run in the database: DELETE FROM about WHERE name = 'key %s'; then every laptop must be enrolled again", what, keyFile, organisation)
}

// hashSecret returns the keyed hash of a secret. kind keeps secrets of different use apart.
func (c *Centre) hashSecret(kind, secret string) string {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte(kind + "\x00" + secret))
	return hex.EncodeToString(h.Sum(nil))
}

// isSecret reports whether hash is the keyed hash of a secret. The comparison takes constant time.
func (c *Centre) isSecret(kind, secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(c.hashSecret(kind, secret)), []byte(hash)) == 1
}
