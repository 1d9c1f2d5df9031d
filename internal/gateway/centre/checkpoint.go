package centre

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/gateway/mirror"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/text/redact"
)

// Default names of the files of checkpoints, in the centre's folder.
const (
	CheckpointKeyFile = "checkpoint.key"
	CheckpointsFile   = "checkpoints.ndjson"
)

// Checkpoints is the table [checkpoints] of gateway.toml: how the centre signs the state of all records.
// Without a key file it signs nothing.
type Checkpoints struct {
	Key     string `toml:"key"`     // file of the secret key
	File    string `toml:"file"`    // file to which each checkpoint is appended
	Witness string `toml:"witness"` // address of a witness (C2SP tlog-witness); "" for none
	Git     string `toml:"git"`     // remote to which clawai-gateway checkpoint-push pushes the file; "" for none
	Seconds int    `toml:"seconds"` // seconds between two checkpoints
}

// check returns an error for settings that could not be used.
func (s *Checkpoints) check() error {
	if s.Seconds < 1 || s.Seconds > 86400 {
		return fmt.Errorf("seconds: %d; it is 1 to 86400", s.Seconds)
	}
	if s.Key == "" || s.File == "" {
		return errors.New("key and file name files; leave them out for those in the centre's folder")
	}
	if s.Git != "" {
		if err := mirror.CheckRemote(s.Git); err != nil {
			return fmt.Errorf("git: %w", err)
		}
	}
	if s.Witness == "" {
		return nil
	}
	u, err := url.Parse(s.Witness)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("witness: %q is not an address like https://HOST/PATH", redact.MaskAddress(s.Witness))
	}
	return nil
}

// KeyIn returns the path of the secret key. A relative path is relative to the centre's folder.
func (s *Checkpoints) KeyIn(folder string) string { return pathIn(folder, s.Key) }

// FileIn returns the path of the file of checkpoints. A relative path is relative to the centre's folder.
func (s *Checkpoints) FileIn(folder string) string { return pathIn(folder, s.File) }

func pathIn(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// ErrNoCheckpointKey means that the centre has no key with which it could sign checkpoints.
var ErrNoCheckpointKey = errors.New("there is no key that signs checkpoints")

// readCheckpointKey reads the secret key. It reads the file each time, so that a new key is used at once.
func (c *Centre) readCheckpointKey() (string, error) {
	path := c.Settings.Checkpoints.KeyIn(c.folder)
	src, err := ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoCheckpointKey
	}
	secret := strings.TrimSpace(string(src))
	if err == nil {
		_, err = checkpoint.PublicKey(secret)
	}
	if err != nil {
		return "", fmt.Errorf("the key of checkpoints %s cannot be used: %w", path, err)
	}
	return secret, nil
}

// CheckpointKey returns the public key of checkpoints; "" if the centre has no key and signs none.
func (c *Centre) CheckpointKey() (string, error) {
	secret, err := c.readCheckpointKey()
	if errors.Is(err, ErrNoCheckpointKey) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return checkpoint.PublicKey(secret)
}

// continueSum returns a SHA-256 hash that has taken all stored bytes of a segment, so that more bytes can
// be written to it. It restores the stored state g.Sum. If this fails, it gets the bytes from the
// function read.
func continueSum(g *store.Segment, read func(from int64, most int) ([]byte, error)) (hash.Hash, error) {
	sum := sha256.New()
	if g.Sum != "" {
		state, err := base64.StdEncoding.DecodeString(g.Sum)
		if err == nil {
			err = sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
		}
		if err == nil {
			return sum, nil
		}
		sum.Reset() // the state is not valid: hash the bytes themselves
	}
	for at := int64(0); at < g.Size; {
		text, err := read(at, MaxPart)
		if err == nil && len(text) == 0 {
			err = fmt.Errorf("%s of laptop %s has bytes up to %d, and %d are named", g.Name, g.Laptop, at, g.Size)
		}
		if err != nil {
			return nil, err
		}
		text = text[:min(int64(len(text)), g.Size-at)]
		sum.Write(text)
		at += int64(len(text))
	}
	return sum, nil
}

// stateOf returns the state of a hash in the form of store.Segment.Sum.
func stateOf(sum hash.Hash) (string, error) {
	state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
	return base64.StdEncoding.EncodeToString(state), err
}

// headOf returns the head of a segment as it is stored now.
func (c *Centre) headOf(ctx context.Context, g *store.Segment) (checkpoint.Head, error) {
	sum, err := continueSum(g, func(from int64, most int) ([]byte, error) {
		return c.Store.ReadSegment(ctx, g.Laptop, g.Name, from, most)
	})
	if err != nil {
		return checkpoint.Head{}, err
	}
	return checkpoint.Head{Laptop: g.Laptop, Segment: g.Name, Size: g.Size, Digest: hex.EncodeToString(sum.Sum(nil)), Complete: g.Complete}, nil
}

// mostHeads is the maximum number of heads that one checkpoint adds. If more segments have changed,
// several checkpoints are made.
const mostHeads = 1000

// MakeCheckpoint signs a checkpoint if bytes have come since the last one. It appends missing checkpoints
// to the file, and sends the newest one to the witness. It returns ErrTree and signs nothing if the tree in
// the database does not begin with the tree of the newest checkpoint in the file: then the database was
// changed, or restored from a copy.
func (c *Centre) MakeCheckpoint(ctx context.Context) error {
	c.signing.Lock()
	defer c.signing.Unlock()
	secret, err := c.readCheckpointKey()
	if err != nil {
		return err
	}
	public, err := checkpoint.PublicKey(secret)
	if err != nil {
		return err
	}
	if err := c.signed.open(c.Settings.Checkpoints.FileIn(c.folder)); err != nil {
		return err
	}
	if err := c.checkAgainstFile(ctx, public); err != nil {
		return err
	}
	for {
		n, err := c.addHeads(ctx, secret)
		if err != nil {
			return err
		}
		if n < mostHeads {
			break
		}
	}
	return c.bringCheckpoints(ctx, public)
}

// checkAgainstFile compares the tree in the database with the newest checkpoint in the file.
func (c *Centre) checkAgainstFile(ctx context.Context, public string) error {
	path := c.Settings.Checkpoints.FileIn(c.folder)
	if c.signed.note == "" {
		return nil
	}
	was, err := checkpoint.Read([]byte(c.signed.note), public)
	if err != nil {
		return fmt.Errorf("the last checkpoint in %s: %w; with a new key, begin a new file: move this one away and keep it", path, err)
	}
	root, err := tlog.TreeHash(was.Size, c.treeReader(ctx))
	if err == nil && root != was.Root {
		err = errors.New("the tree has another root")
	}
	if err != nil {
		return fmt.Errorf("%w: the database is not the one that %s tells of, at %d heads (%w); see: clawai-gateway verify --help", ErrTree, path, was.Size, err)
	}
	return nil
}

// ErrTree means that the tree in the database does not begin with the tree that was signed last.
var ErrTree = errors.New("no checkpoint is signed")

// addHeads adds the heads of changed segments to the tree, at most mostHeads. It returns the number of
// changed segments that it found.
func (c *Centre) addHeads(ctx context.Context, secret string) (int, error) {
	changed, err := c.Store.ListUnlogged(ctx, mostHeads)
	if err != nil || len(changed) == 0 {
		return 0, err
	}
	var heads []checkpoint.Head
	for i := range changed {
		h, err := c.headOf(ctx, &changed[i])
		if err != nil {
			return 0, err
		}
		heads = append(heads, h)
	}
	err = c.Store.AddCheckpoint(ctx, heads, func(size int64, heads []checkpoint.Head, tree tlog.HashReader) ([]tlog.Hash, store.Checkpoint, error) {
		return signTree(size, heads, tree, secret, c.now())
	})
	if errors.Is(err, store.ErrNone) { // another process has added these heads
		return 0, nil
	}
	return len(changed), err
}

// signTree adds heads to a tree that has size heads, and signs the larger tree. added are the hashes to
// store, as package tlog orders them.
func signTree(size int64, heads []checkpoint.Head, tree tlog.HashReader, secret string, now time.Time) (added []tlog.Hash, c store.Checkpoint, err error) {
	old := tlog.StoredHashCount(size)
	grown := tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) {
		var stored []int64
		for _, p := range places {
			if p < old {
				stored = append(stored, p)
			}
		}
		before, err := tree.ReadHashes(stored)
		if err != nil {
			return nil, err
		}
		var all []tlog.Hash
		for _, p := range places {
			if p < old {
				all, before = append(all, before[0]), before[1:]
			} else {
				all = append(all, added[p-old])
			}
		}
		return all, nil
	})
	for i := range heads {
		more, err := tlog.StoredHashesForRecordHash(size+int64(i), heads[i].Hash(), grown)
		if err != nil {
			return nil, c, err
		}
		added = append(added, more...)
	}
	made := checkpoint.Checkpoint{Size: size + int64(len(heads)), Made: now}
	if made.Root, err = tlog.TreeHash(made.Size, grown); err != nil {
		return nil, c, err
	}
	note, err := checkpoint.Sign(made, secret)
	return added, store.Checkpoint{Size: made.Size, Made: made.Made, Note: string(note)}, err
}

// KeepSigning makes a checkpoint every Settings.Checkpoints.Seconds until ctx ends. It passes errors to
// report.
func (c *Centre) KeepSigning(ctx context.Context, report func(error)) {
	every := time.NewTicker(time.Duration(c.Settings.Checkpoints.Seconds) * time.Second)
	defer every.Stop()
	for {
		if err := c.MakeCheckpoint(ctx); err != nil && !errors.Is(err, ErrNoCheckpointKey) && ctx.Err() == nil {
			report(fmt.Errorf("checkpoint: %w", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// NewestCheckpoint returns the newest checkpoint, with a proof that its tree begins with the tree that the
// laptop has seen last. The parameter old is the size of that tree, or 0 for none.
func (c *Centre) NewestCheckpoint(ctx context.Context, old int64) (n checkpoint.Newest, err error) {
	newest, err := c.Store.FindNewestCheckpoint(ctx)
	if errors.Is(err, store.ErrNone) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	if public, err := c.CheckpointKey(); err != nil || public != "" && isForeign(newest.Note, public) {
		return n, err // a new key has signed nothing yet
	}
	n.Note = newest.Note
	if old > 0 && old <= newest.Size {
		n.Consistency, err = tlog.ProveTree(newest.Size, old, c.treeReader(ctx))
	}
	return n, err
}

// NewestSize returns the number of heads in the newest checkpoint, or 0 before the first one.
func (c *Centre) NewestSize(ctx context.Context) (int64, error) {
	newest, err := c.Store.FindNewestCheckpoint(ctx)
	if errors.Is(err, store.ErrNone) {
		return 0, nil
	}
	return newest.Size, err
}

func (c *Centre) treeReader(ctx context.Context) tlog.HashReader {
	return tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) { return c.Store.ReadTree(ctx, places) })
}

// ListHeld returns the heads of a laptop's stored segments, beginning after the segment whose name is in the
// parameter after. Each has a proof that the tree of this size contains one of the segment's heads; with
// size 0 there are no proofs. Only the first page, for which this parameter is "", has the findings.
func (c *Centre) ListHeld(ctx context.Context, laptop, after string, size int64) (all checkpoint.Heads, err error) {
	all = checkpoint.Heads{Laptop: laptop, Held: []checkpoint.Held{}, Findings: []string{}}
	segments, err := c.Store.ListSegments(ctx, laptop, after, true, checkpoint.MostHeld+1)
	if err != nil {
		return all, err
	}
	if all.More = len(segments) > checkpoint.MostHeld; all.More {
		segments = segments[:checkpoint.MostHeld]
	}
	for i := range segments {
		g := &segments[i]
		h := checkpoint.Held{}
		if h.Head, err = c.headOf(ctx, g); err != nil {
			return all, err
		}
		if h.Leaf, err = c.findLeaf(ctx, laptop, g.Name, size); err != nil {
			return all, err
		}
		all.Held = append(all.Held, h)
	}
	if after != "" {
		return all, nil
	}
	found, err := c.Store.ListFindings(ctx, laptop, "", checkpoint.MostFindings)
	for _, f := range found {
		if !f.Note {
			all.Findings = append(all.Findings, fmt.Sprintf("%s:%d: %s", f.Segment, f.Line, f.What))
		}
	}
	return all, err
}

// findLeaf returns the newest head of a segment in the tree of a size, with the proof that the tree contains
// it; nil if the tree has no head of the segment.
func (c *Centre) findLeaf(ctx context.Context, laptop, segment string, size int64) (*checkpoint.Leaf, error) {
	h, err := c.Store.FindHead(ctx, laptop, segment, size)
	if errors.Is(err, store.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveRecord(size, h.Number, c.treeReader(ctx))
	return &checkpoint.Leaf{Head: h.Head, Number: h.Number, Proof: proof}, err
}
