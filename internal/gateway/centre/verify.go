package centre

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/checkpoint"
)

// Verification is the result of comparing the database with the file of checkpoints.
type Verification struct {
	Checkpoints int // in the file
	Heads       int64
	Segments    int
	Bytes       int64
	Findings    []string // differences that the centre itself never causes
	Notes       []string
}

// verifier compares a database with checkpoints.
type verifier struct {
	Verification
	c      *Centre
	public string
	signed []checkpoint.Checkpoint // checkpoints of the file, in its order
	notes  map[int64]string        // texts of these checkpoints, by size
}

func (v *verifier) find(format string, a ...any) {
	v.Findings = append(v.Findings, fmt.Sprintf(format, a...))
}

// Verify compares the database with the checkpoints in a file. It needs only the public key.
func (c *Centre) Verify(ctx context.Context, file io.Reader, public string) (Verification, error) {
	v := &verifier{c: c, public: public, notes: map[int64]string{}}
	if err := v.readFile(file); err != nil {
		return v.Verification, err
	}
	for _, step := range []func(context.Context) error{v.checkTree, v.checkKept, v.checkSegments} {
		if err := step(ctx); err != nil {
			return v.Verification, err
		}
	}
	return v.Verification, nil
}

// maxSignedLine is the maximum length of a line of the file in bytes: JSON may need six bytes for one byte
// of a note.
const maxSignedLine = 8 * checkpoint.MaxNote

// readFile reads the checkpoints of the file. Each must be signed and larger than the one before it.
func (v *verifier) readFile(file io.Reader) error {
	r := bufio.NewScanner(file)
	r.Buffer(nil, maxSignedLine)
	var broken []brokenLine // a crash or a full disk may have left these parts of the next whole line
	line := 0
	for r.Scan() {
		line++
		text := r.Bytes()
		var s signedLine
		if err := json.Unmarshal(text, &s); err != nil {
			if len(broken) == mostBroken {
				v.find("line %d of the file is no checkpoint", broken[0].at)
				broken = broken[1:]
			}
			broken = append(broken, brokenLine{line, bytes.Clone(text)})
			continue
		}
		for _, b := range broken {
			if !bytes.HasPrefix(text, b.text) {
				v.find("line %d of the file is no checkpoint", b.at)
			}
		}
		broken = nil
		v.takeSigned(line, &s)
	}
	for _, b := range broken {
		v.takeBrokenEnd(b)
	}
	if errors.Is(r.Err(), bufio.ErrTooLong) {
		v.find("line %d of the file is no checkpoint: it is too long; what is behind it was not read", line+1)
		return nil
	}
	return r.Err()
}

// brokenLine is a line of the file that is no JSON.
type brokenLine struct {
	at   int
	text []byte
}

// mostBroken is the maximum number of broken lines that are kept to compare them with the next whole line. It
// bounds the memory for a file that has no checkpoints.
const mostBroken = 64

// takeBrokenEnd judges a broken line after the last checkpoint. If it is the beginning of a line, the centre
// is writing it now, was killed while it wrote it, or had a full disk: that is a note, not a finding. Then the
// file is shorter than the database, as an older copy is, and checkKept reports the further checkpoints.
func (v *verifier) takeBrokenEnd(b brokenLine) {
	if start := []byte(`{"size":`); bytes.HasPrefix(b.text, start) || bytes.HasPrefix(start, b.text) {
		v.Notes = append(v.Notes, fmt.Sprintf("line %d of the file, at its end, is no whole checkpoint: the centre writes it now, or could not; it writes it again with the next one", b.at))
		return
	}
	v.find("line %d of the file, at its end, is no checkpoint", b.at)
}

func (v *verifier) takeSigned(line int, s *signedLine) {
	c, err := checkpoint.Read([]byte(s.Note), v.public)
	switch last := len(v.signed) - 1; {
	case err != nil:
		v.find("line %d of the file: the checkpoint cannot be used: %v", line, err)
		return
	case c.Size != s.Size:
		v.find("line %d of the file names %d heads, and its checkpoint %d", line, s.Size, c.Size)
		return
	case last >= 0 && c.Size <= v.signed[last].Size:
		if v.notes[c.Size] != s.Note {
			v.find("line %d of the file has %d heads, and the one before it %d: the checkpoints were forked or mixed", line, c.Size, v.signed[last].Size)
		}
		return
	}
	v.signed, v.notes[c.Size] = append(v.signed, c), s.Note
	v.Checkpoints++
}

// mostRead is how many rows are read at once.
const mostRead = 1000

// checkTree computes the tree from its heads, and compares it with each checkpoint of the file.
func (v *verifier) checkTree(ctx context.Context) error {
	var tree checkpoint.Tree
	left := v.signed
	for whole := true; whole; {
		heads, err := v.c.Store.ListHeads(ctx, tree.Size(), mostRead)
		if err != nil {
			return err
		}
		for i := range heads {
			if heads[i].Number != tree.Size() {
				v.find("head %d is not in the database: it was dropped", tree.Size())
				return nil
			}
			tree.Add(heads[i].Hash())
			if len(left) > 0 && left[0].Size == tree.Size() {
				if tree.Root() != left[0].Root {
					from := int64(0)
					if done := len(v.signed) - len(left); done > 0 {
						from = v.signed[done-1].Size
					}
					v.find("the heads %d to %d in the database are not those that were signed on %s: they were changed, dropped, inserted or moved", from, left[0].Size-1, left[0].Made.Format(time.DateTime))
					return nil // all later roots differ, too
				}
				left = left[1:]
			}
		}
		whole = len(heads) == mostRead
	}
	v.Heads = tree.Size()
	if len(left) > 0 {
		v.find("the database has %d heads, and %d were signed on %s: its tree was cut, or it is an older copy", tree.Size(), left[0].Size, left[0].Made.Format(time.DateTime))
	}
	return nil
}

// checkKept compares the checkpoints in the database with those of the file.
func (v *verifier) checkKept(ctx context.Context) error {
	kept, above, others := map[int64]bool{}, int64(0), 0
	var oldest, newest int64 // sizes of the first and last checkpoint of the file
	if len(v.signed) > 0 {
		oldest, newest = v.signed[0].Size, v.signed[len(v.signed)-1].Size
	}
	for {
		all, err := v.c.Store.ListCheckpoints(ctx, above, mostRead)
		if err != nil {
			return err
		}
		for _, c := range all {
			above, kept[c.Size] = c.Size, true
			signed, err := checkpoint.Read([]byte(c.Note), v.public)
			switch note, there := v.notes[c.Size]; {
			case errors.Is(err, checkpoint.ErrForeign) && (c.Size < oldest || c.Size > newest):
				others++
			case err != nil:
				v.find("the checkpoint of %d heads in the database cannot be used: %v", c.Size, err)
			case signed.Size != c.Size:
				v.find("the checkpoint of %d heads in the database is one of %d heads", c.Size, signed.Size)
			case there && note != c.Note:
				v.find("the checkpoint of %d heads in the database is another one than in the file", c.Size)
			case !there && c.Size < newest:
				v.find("the checkpoint of %d heads is in the database, and not in the file: it was dropped there, or inserted here", c.Size)
			case !there:
				v.Notes = append(v.Notes, fmt.Sprintf("the checkpoint of %d heads is in the database, and the file ends before it: the file is an older copy, was cut, or could not be written", c.Size))
			}
		}
		if len(all) < mostRead {
			break
		}
	}
	if others > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%d checkpoints before or behind those of the file are by another key; if the key was changed, verify them with that key and the file that was kept with it", others))
	}
	for _, c := range v.signed {
		if !kept[c.Size] {
			v.find("the checkpoint of %d heads is in the file, and not in the database: it was dropped there", c.Size)
		}
	}
	return nil
}

// checkSegments compares the bytes of each segment with its heads. Then it reads all heads again to find
// those whose segment is missing.
func (v *verifier) checkSegments(ctx context.Context) error {
	var laptop, name string
	for {
		all, err := v.c.Store.ListSegments(ctx, laptop, name, false, mostRead)
		if err != nil {
			return err
		}
		for i := range all {
			laptop, name = all[i].Laptop, all[i].Name
			if err := v.checkSegment(ctx, laptop, name); err != nil {
				return err
			}
		}
		if len(all) < mostRead {
			return v.checkGone(ctx)
		}
	}
}

// checkSegment compares the bytes of a segment with each of its heads.
func (v *verifier) checkSegment(ctx context.Context, laptop, name string) error {
	v.Segments++
	where := fmt.Sprintf("segment %s of laptop %s", name, laptop)
	heads, err := v.c.Store.ListSegmentHeads(ctx, laptop, name)
	if err != nil {
		return err
	}
	// The segment is read after its heads: a running centre may add to both, and must not seem to have cut it.
	g, err := v.c.Store.FindSegment(ctx, laptop, name)
	if errors.Is(err, store.ErrNone) {
		v.find("%s is not in the database any more: it was dropped just now", where)
		return nil
	}
	if err != nil {
		return err
	}
	if len(heads) == 0 {
		v.Notes = append(v.Notes, where+" is in no checkpoint yet")
	}
	sum, at := sha256.New(), int64(0)
	ended := false
	for i := range heads {
		h := &heads[i]
		switch {
		case h.Size < at || ended:
			v.find("%s: head %d says less than the one before it, or goes on behind an end: the record was forked", where, h.Number)
			return nil
		case h.Size > g.Size:
			v.find("%s has %d bytes, and had %d at head %d: it was cut", where, g.Size, h.Size, h.Number)
			return nil
		}
		for at < h.Size {
			text, err := v.c.Store.ReadSegment(ctx, laptop, name, at, int(min(MaxPart, h.Size-at)))
			if err != nil || len(text) == 0 {
				v.find("%s: the bytes behind %d cannot be read: %s", where, at, textOf(err, "they are gone"))
				return ctx.Err()
			}
			sum.Write(text)
			at += int64(len(text))
		}
		if hex.EncodeToString(sum.Sum(nil)) != h.Digest {
			before := int64(0)
			if i > 0 {
				before = heads[i-1].Size
			}
			v.find("%s: the bytes %d to %d are not those of head %d: they were changed", where, before, h.Size-1, h.Number)
			return nil
		}
		ended = h.Complete
	}
	if ended && (g.Size > at || !g.Complete) {
		v.find("%s was complete with %d bytes, and has %d now: it was lengthened, or opened again", where, at, g.Size)
	}
	v.Bytes += at
	return nil
}

func textOf(err error, or string) string {
	if err == nil {
		return or
	}
	return err.Error()
}

// checkGone finds heads whose segment is not in the database any more.
func (v *verifier) checkGone(ctx context.Context) error {
	told := map[string]bool{}
	for from := int64(0); ; {
		heads, err := v.c.Store.ListHeads(ctx, from, mostRead)
		if err != nil {
			return err
		}
		for i := range heads {
			h := &heads[i]
			from = h.Number + 1
			where := h.Laptop + " " + h.Segment
			if known := told[where]; known {
				continue
			}
			told[where] = true
			if _, err := v.c.Store.FindSegment(ctx, h.Laptop, h.Segment); errors.Is(err, store.ErrNone) {
				v.find("segment %s of laptop %s is not in the database: it was dropped", h.Segment, h.Laptop)
			} else if err != nil {
				return err
			}
		}
		if len(heads) < mostRead {
			return nil
		}
	}
}
