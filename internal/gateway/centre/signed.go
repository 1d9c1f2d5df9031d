package centre

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/state/egress"
)

// signedLine is a line of the file of checkpoints.
type signedLine struct {
	Size int64  `json:"size"`
	Note string `json:"note"`
}

// signedFile is the file to which each checkpoint is appended. It is outside the database, so that a forger
// must change both.
type signedFile struct {
	length int64  // length of the file in bytes when it was last read or written
	size   int64  // size of the tree in the last checkpoint
	note   string // the last checkpoint
	known  bool   // the other fields are valid
}

// open reads the file if its length has changed since it was last read or written.
func (f *signedFile) open(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		*f = signedFile{known: true}
		return nil
	}
	if err != nil {
		return err
	}
	if f.known && info.Size() == f.length {
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	*f = signedFile{length: int64(len(src)), known: true}
	for line := range bytes.Lines(src) {
		var s signedLine
		if json.Unmarshal(line, &s) == nil && s.Size >= f.size {
			f.size, f.note = s.Size, s.Note
		}
	}
	if f.note == "" && len(bytes.TrimSpace(src)) > 0 {
		return fmt.Errorf("%s has no checkpoint in it; name another file for checkpoints.file in %s", path, SettingsFile)
	}
	return nil
}

// add appends checkpoints to the file. When it returns, they are on the disk.
func (f *signedFile) add(path string, all []store.Checkpoint) (err error) {
	// If a crash has left half a line, end that line first. The whole line is written after it, so readers
	// skip the half line.
	var text []byte
	if f.length > 0 {
		end, err := lastByte(path)
		if err != nil {
			return err
		}
		if end != '\n' {
			text = append(text, '\n')
		}
	}
	for _, c := range all {
		line, err := json.Marshal(signedLine{c.Size, c.Note})
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	f.known = false                                                          // until everything is written
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644) //nolint:gosec // the file is public
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	last := all[len(all)-1]
	*f = signedFile{length: f.length + int64(len(text)), size: last.Size, note: last.Note, known: true}
	return nil
}

func lastByte(path string) (byte, error) {
	from, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if _, err := from.Seek(-1, io.SeekEnd); err != nil {
		return 0, err
	}
	var end [1]byte
	_, err = io.ReadFull(from, end[:])
	return end[0], err
}

// isForeign reports whether a checkpoint was signed by another key than the one with this public key.
func isForeign(note, public string) bool {
	_, err := checkpoint.Read([]byte(note), public)
	return errors.Is(err, checkpoint.ErrForeign)
}

// isNewestOwn reports whether there is a checkpoint and the present key has signed the newest one.
func (c *Centre) isNewestOwn(ctx context.Context, public string) (bool, error) {
	newest, err := c.Store.FindNewestCheckpoint(ctx)
	if errors.Is(err, store.ErrNone) {
		return false, nil
	}
	if err != nil || !isForeign(newest.Note, public) {
		return err == nil, err
	}
	if c.signed.note != "" {
		err = fmt.Errorf("the newest one in the database, of %d heads, is by another key than those of %s: the database was changed", newest.Size, c.Settings.Checkpoints.FileIn(c.folder))
	}
	return false, err
}

// bringCheckpoints appends the checkpoints that the file does not have, and then sends the newest one to the
// witness. The file gets them even if the witness does not answer.
func (c *Centre) bringCheckpoints(ctx context.Context, public string) error {
	own, err := c.isNewestOwn(ctx, public)
	for above := c.signed.size; err == nil && own; {
		all, err := c.Store.ListCheckpoints(ctx, above, mostHeads)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			break
		}
		above = all[len(all)-1].Size
		// Checkpoints by an earlier key are in an earlier file, which was moved away when the key changed.
		if all = slices.DeleteFunc(all, func(k store.Checkpoint) bool { return isForeign(k.Note, public) }); len(all) == 0 {
			continue
		}
		if err := c.signed.add(c.Settings.Checkpoints.FileIn(c.folder), all); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if c.Settings.Checkpoints.Witness == "" || c.signed.note == "" || c.witnessed == c.signed.size {
		return nil
	}
	if err := c.askWitness(ctx); err != nil {
		return fmt.Errorf("the witness %s: %w", c.Settings.Checkpoints.Witness, err)
	}
	return nil
}

// witnessPatience is the maximum time for the requests to a witness.
const witnessPatience = 30 * time.Second

// askWitness sends the newest checkpoint to the witness (add-checkpoint of C2SP tlog-witness). The witness
// stores the newest checkpoint that it has seen. It accepts another checkpoint only with a proof that the
// new tree begins with the tree of the stored checkpoint.
func (c *Centre) askWitness(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, witnessPatience)
	defer cancel()
	for tries := 0; ; tries++ {
		status, has, err := c.sendToWitness(ctx, c.witnessed)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			c.witnessed = c.signed.size
			return nil
		case status != http.StatusConflict || has < 0 || tries > 0:
			return fmt.Errorf("it answers %d %s", status, http.StatusText(status))
		case has > c.signed.size:
			return fmt.Errorf("it has seen %d heads, and the database has %d: the database was cut, or put back from a copy", has, c.signed.size)
		}
		c.witnessed = has
	}
}

// sendToWitness sends the newest checkpoint, with the proof that its tree begins with the tree of size old.
// If the status is a conflict (409), it also returns the size of the tree that the witness has seen; -1 if
// the witness names no size.
func (c *Centre) sendToWitness(ctx context.Context, old int64) (status int, has int64, err error) {
	var body strings.Builder
	fmt.Fprintf(&body, "old %d\n", old)
	if old > 0 && old < c.signed.size {
		proof, err := tlog.ProveTree(c.signed.size, old, c.treeReader(ctx))
		if err != nil {
			return 0, -1, err
		}
		for _, h := range proof {
			body.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
		}
	}
	body.WriteString("\n" + c.signed.note)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.Settings.Checkpoints.Witness, "/")+"/add-checkpoint", strings.NewReader(body.String()))
	if err != nil {
		return 0, -1, err
	}
	out := egress.Network{}.NewTransport(egress.Options{})
	defer out.CloseIdleConnections()
	client := http.Client{Transport: out, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return 0, -1, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, checkpoint.MaxNote))
	has, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if bad != nil {
		has = -1
	}
	return resp.StatusCode, has, err
}
