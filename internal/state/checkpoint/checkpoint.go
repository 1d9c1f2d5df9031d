// Package checkpoint signs and checks statements about the records that a team's centre holds. The
// centre signs the statements. A laptop or the keeper of a copy checks them.
//
// The centre keeps a Merkle tree (golang.org/x/mod/sumdb/tlog) to which it only adds leaves. Each
// leaf is a Head: the length of a segment at some time, and the digest of its bytes. A checkpoint
// is the size and the root of the tree in a signed note.
package checkpoint

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Head is the length of a segment of a laptop's record at some time, and the digest of its bytes up
// to there.
type Head struct {
	Laptop   string `json:"-"`
	Segment  string `json:"segment"`
	Size     int64  `json:"size"`     // number of bytes
	Digest   string `json:"digest"`   // SHA-256 of the first Size bytes, in hexadecimal
	Complete bool   `json:"complete"` // the segment is closed: no bytes follow
}

// Hash returns the hash of the head as a leaf. The parts of a head contain no space, so two
// different heads never give the same text.
func (h *Head) Hash() tlog.Hash {
	end := "open"
	if h.Complete {
		end = "complete"
	}
	return tlog.RecordHash(fmt.Appendf(nil, "clawai head 1\n%s %s %d %s %s\n", h.Laptop, h.Segment, h.Size, h.Digest, end))
}

// Checkpoint is the state of a tree at one moment.
type Checkpoint struct {
	Size int64 // number of leaves
	Root tlog.Hash
	Made time.Time // time on the centre's clock
}

// MaxNote is the maximum size of a signed checkpoint, in bytes.
const MaxNote = 4096

// Sign returns a checkpoint as a note, signed by a secret key of golang.org/x/mod/sumdb/note. The
// name of the key is the origin of the tree.
func Sign(c Checkpoint, secret string) ([]byte, error) {
	signer, err := note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s\n%d\n%s\ntime %s\n", signer.Name(), c.Size, c.Root, c.Made.UTC().Format(time.RFC3339))
	return note.Sign(&note.Note{Text: text}, signer)
}

// CheckKey returns an error for a text that is no public key.
func CheckKey(public string) error {
	_, err := parseKey(public)
	return err
}

func parseKey(public string) (note.Verifier, error) {
	v, err := note.NewVerifier(strings.TrimSpace(public))
	if err != nil {
		return nil, fmt.Errorf("the public key cannot be used: %w", err)
	}
	return v, nil
}

// ErrForeign means that the expected key has not signed a note.
var ErrForeign = errors.New("no signature is by the key")

// Read returns the checkpoint in a note. It returns an error if the public key has not signed the
// note.
func Read(src []byte, public string) (c Checkpoint, err error) {
	if len(src) > MaxNote {
		return c, fmt.Errorf("it has more than %d bytes", MaxNote)
	}
	v, err := parseKey(public)
	if err != nil {
		return c, err
	}
	n, err := note.Open(src, note.VerifierList(v))
	if _, foreign := errors.AsType[*note.UnverifiedNoteError](err); foreign {
		return c, fmt.Errorf("%w %s", ErrForeign, v.Name())
	}
	if err != nil {
		return c, err
	}
	return parse(n.Text, v.Name())
}

// parse reads the text of a note. It accepts exactly one text for each checkpoint.
func parse(text, origin string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[0] != origin || lines[4] != "" {
		return c, errors.New("its text is no checkpoint of " + origin)
	}
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err == nil {
		c.Root, err = tlog.ParseHash(lines[2])
	}
	if err == nil {
		c.Made, err = time.Parse("time "+time.RFC3339, lines[3])
	}
	if err != nil || c.Size < 1 || text != fmt.Sprintf("%s\n%d\n%s\ntime %s\n", origin, c.Size, c.Root, c.Made.UTC().Format(time.RFC3339)) {
		return Checkpoint{}, errors.New("its text is no checkpoint of " + origin)
	}
	return c, nil
}

// PublicKey returns the public key that belongs to a secret key.
func PublicKey(secret string) (string, error) {
	secret = strings.TrimSpace(secret)
	signer, err := note.NewSigner(secret)
	if err != nil {
		return "", fmt.Errorf("it is no secret key: %w", err)
	}
	// A key has the parts PRIVATE, KEY, name, hash and data. The data is one byte for the kind of
	// key, and then the seed.
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(secret, "+", 5)[4])
	if err != nil {
		return "", err
	}
	return note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
}

// Tree computes the root of a tree while leaves are added. It keeps only the hashes of the largest
// whole subtrees.
type Tree struct {
	size  int64
	whole []tlog.Hash // the hashes of the whole subtrees, from left to right
}

// Size returns how many leaves were added.
func (t *Tree) Size() int64 { return t.size }

// Add adds the hash of the next leaf.
func (t *Tree) Add(h tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.whole) - 1
		h = tlog.NodeHash(t.whole[last], h)
		t.whole = t.whole[:last]
	}
	t.whole = append(t.whole, h)
	t.size++
}

// Root returns the root of the tree. The tree must have a leaf.
func (t *Tree) Root() tlog.Hash {
	last := len(t.whole) - 1
	h := t.whole[last]
	for i := last - 1; i >= 0; i-- {
		h = tlog.NodeHash(t.whole[i], h)
	}
	return h
}
