package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/mirror"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/text/term"
)

// runCheckpointKey makes the two keys that sign and verify checkpoints. It never replaces a
// key.
func runCheckpointKey(c *call) error {
	s, err := centre.ReadSettings(c.dir)
	if err != nil {
		return err
	}
	secret, public, err := bundle.NewKey(c.arguments[0])
	if err != nil {
		return usagef("%v", err)
	}
	path := s.Checkpoints.KeyIn(c.dir)
	for _, f := range []struct {
		path, text string
		mode       fs.FileMode
	}{{path, secret, 0o600}, {path + ".pub", public, 0o644}} {
		if err := createFile(f.path, f.text+"\n", f.mode); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.stdout, "%s signs checkpoints; a centre that runs takes it by itself.\n%s verifies, so keep a copy elsewhere: %s\nOn laptops that are enrolled already: clawai log verify --gateway --gateway-key %s\n", path, path+".pub", public, public)
	return err
}

func createFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; a key is never replaced, so move it away first, and keep it", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be made: there is no folder %s; make it with: mkdir -m 700 %[2]s", path, filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// runVerify compares the database with the file of checkpoints.
func runVerify(c *call) error {
	if c.key == "" {
		return usagef("verify needs the public key: clawai-gateway verify --dir %s --key FILE (checkpoint.key.pub, or a copy that you kept elsewhere)", c.dir)
	}
	key, err := os.ReadFile(c.key)
	if err != nil {
		return usagef("%v", err)
	}
	if err := checkpoint.CheckKey(string(key)); err != nil {
		return usagef("%s: %v", c.key, err)
	}
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	path := c.checkpoints
	if path == "" {
		path = is.Settings.Checkpoints.FileIn(c.dir)
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("%v; name the file of checkpoints with --checkpoints FILE", err)
	}
	defer file.Close()
	v, err := is.Verify(ctx, file, strings.TrimSpace(string(key)))
	if err != nil {
		return err
	}
	for _, n := range v.Notes {
		fmt.Fprintf(c.stdout, "note     %s\n", term.VisibleText(n))
	}
	for _, f := range v.Findings {
		fmt.Fprintf(c.stdout, "FINDING  %s\n", term.VisibleText(f))
	}
	if len(v.Findings) > 0 {
		fmt.Fprintf(c.stdout, "The database is not what the checkpoints say: %d findings.\n", len(v.Findings))
		return errFailed
	}
	if v.Checkpoints == 0 {
		fmt.Fprintf(c.stdout, "%s has no checkpoint yet.\n", path)
		return errFailed
	}
	_, err = fmt.Fprintf(c.stdout, "Intact: %d checkpoints with %d heads of %d segments, %d bytes.\n", v.Checkpoints, v.Heads, v.Segments, v.Bytes)
	return err
}

// mirrorFolder is the git repository in the centre's folder from which checkpoints are pushed.
const mirrorFolder = "checkpoints.mirror"

// runCheckpointPush pushes the file of checkpoints to the git remote that gateway.toml names.
func runCheckpointPush(c *call) error {
	s, err := centre.ReadSettings(c.dir)
	if err != nil {
		return err
	}
	set := s.Checkpoints
	if set.Git == "" {
		return usagef("%s names no remote: write git = \"ssh://git@HOST/PATH\" into its [checkpoints]", filepath.Join(c.dir, centre.SettingsFile))
	}
	path := set.FileIn(c.dir)
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w; the centre writes it with its first checkpoint, once there is a key: clawai-gateway checkpoint-key --dir %s NAME", err, c.dir)
	}
	defer func() { _ = file.Close() }()
	folder, err := filepath.Abs(filepath.Join(c.dir, mirrorFolder))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := mirror.Mirror{Folder: folder, Remote: set.Git}
	r, err := m.Push(ctx, file)
	switch {
	case errors.Is(err, mirror.ErrOther):
		return fmt.Errorf("%w; nothing was pushed. Compare the two: clawai-gateway verify --dir %s --key FILE --checkpoints COPY", err, c.dir)
	case err != nil:
		return err
	case r.Before == r.Now:
		_, err = fmt.Fprintf(c.stdout, "nothing new: the remote has all %d bytes\n", r.Now)
	default:
		_, err = fmt.Fprintf(c.stdout, "pushed: %d bytes more, commit %s\n", r.Now-r.Before, r.Commit)
	}
	return err
}

// lateAfter is a duration, as a number of intervals between checkpoints. doctor reports a segment
// if it changed longer ago and is in no checkpoint.
const lateAfter = 10

// checkCheckpoints checks that checkpoints contain all segments that changed some time ago
// (lateAfter).
func checkCheckpoints(ctx context.Context, is *centre.Centre, say sayFunc) {
	set := is.Settings.Checkpoints
	public, err := is.CheckpointKey()
	if err != nil {
		say(false, "checkpoints: %v", err)
		return
	}
	if public == "" {
		say(true, "checkpoints: none are signed; a change of the database would not show. Make a key with: clawai-gateway checkpoint-key --dir DIR NAME")
		return
	}
	late := is.Now().Add(-lateAfter * time.Duration(set.Seconds) * time.Second)
	waiting, err := is.Store.CountUnlogged(ctx, late)
	switch {
	case err != nil:
		say(false, "checkpoints: %v", err)
	case waiting > 0:
		say(false, "checkpoints: %d segments changed before %s and are in none; what the centre writes to standard error says why", waiting, late.UTC().Format(time.DateTime))
	default:
		say(true, "checkpoints: all that came before %s is signed", late.UTC().Format(time.DateTime))
	}
}
