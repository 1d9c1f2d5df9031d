package courier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Comparison is the result of comparing this laptop's record with the centre's copy.
type Comparison struct {
	URL string `json:"url"`
	// Checkpoint is nil if the centre makes no checkpoints, or if the checkpoint cannot be checked.
	Checkpoint *SeenCheckpoint `json:"checkpoint,omitempty"`
	Segments   int             `json:"segments"` // number of segments that the centre has
	Proved     int             `json:"proved"`   // number of these segments that the checkpoint covers
	Bytes      int64           `json:"bytes"`    // number of bytes that are the same on both sides
	Findings   []audit.Finding `json:"findings"`
	Notes      []audit.Finding `json:"notes"`
}

// SeenCheckpoint is a checkpoint of the centre with a valid signature.
type SeenCheckpoint struct {
	Heads int64     `json:"heads"`
	Made  time.Time `json:"made"`
}

// SeenFile returns the path of the file with the newest checkpoint that this laptop has seen. The
// centre must prove that each later checkpoint continues this one.
func SeenFile(state string) string { return filepath.Join(enrolment.Folder(state), "checkpoint.note") }

// comparer is the state of one comparison of the record with the centre's copy.
type comparer struct {
	Comparison
	c   *Courier
	dir string
	key string // public key of the checkpoints; "" if the centre named none
	// newest is the newest checkpoint. Proofs are checked against it. Its Size is 0 if there is
	// none.
	newest checkpoint.Checkpoint
	// acknowledged has the bytes that the centre acknowledged before this comparison, by segment.
	acknowledged map[string]enrolment.Held
	local        map[string]audit.Segment
	// inLedger has the segments in this laptop's ledger. The value is true if the retention has
	// removed the segment.
	inLedger map[string]bool
	atCentre map[string]bool // segments that the centre holds
}

func (m *comparer) find(segment, format string, a ...any) {
	m.Findings = addFinding(m.Findings, segment, format, a...)
}

func (m *comparer) note(segment, format string, a ...any) {
	m.Notes = addFinding(m.Notes, segment, format, a...)
}

// mostListed is the maximum number of listed findings, and also of listed notes. There is a limit,
// because a centre could cause any number of them.
const mostListed = 1000

func addFinding(all []audit.Finding, segment, format string, a ...any) []audit.Finding {
	switch {
	case len(all) < mostListed:
		return append(all, audit.Finding{File: segment, What: fmt.Sprintf(format, a...)})
	case len(all) == mostListed:
		return append(all, audit.Finding{File: centreFile, What: fmt.Sprintf("there are more like these; the first %d are listed", mostListed)})
	}
	return all
}

// Compare compares this laptop's record with the centre's copy. key is the public key of the
// centre's checkpoints. If key is "", Compare uses the key that the centre named at the enrolment.
// It returns an error if the centre or the disk cannot be read.
func (c *Courier) Compare(ctx context.Context, key string) (Comparison, error) {
	m := &comparer{c: c, dir: base.RecordDir(c.folders.State), key: cmp.Or(key, c.joined.CheckpointKey), local: map[string]audit.Segment{}, atCentre: map[string]bool{}}
	m.URL, m.Findings, m.Notes = c.joined.URL, []audit.Finding{}, []audit.Finding{}
	// The bytes that the centre acknowledged are a part of the centre's copy, and the copy is a
	// part of the record. All three only grow. They are read in this order, so that a later growth
	// does not look like a loss.
	m.acknowledged = maps.Clone(c.shipper.held)
	if err := m.takeCheckpoint(ctx); err != nil {
		return m.Comparison, err
	}
	held, err := m.askHeads(ctx)
	if err != nil {
		return m.Comparison, err
	}
	list, err := audit.ListSegments(m.dir)
	if err != nil {
		return m.Comparison, err
	}
	// The ledger is read after the list. If the retention removes segments in between, the ledger
	// names them.
	if m.inLedger, err = audit.ListNamed(m.dir); err != nil {
		return m.Comparison, err
	}
	for _, s := range list {
		m.local[s.Name] = s
	}
	for i := range held {
		if err := m.compareSegment(&held[i]); err != nil {
			return m.Comparison, err
		}
	}
	m.findMissing(list)
	return m.Comparison, nil
}

const centreFile = "the centre" // stands in place of the segment's name in a finding that is not about one segment

// takeCheckpoint asks the centre for the newest checkpoint. It checks that this checkpoint
// continues the last checkpoint that the laptop saw.
func (m *comparer) takeCheckpoint(ctx context.Context) error {
	if m.key == "" {
		m.note(centreFile, "it named no key of checkpoints when this laptop was enrolled, so only the bytes are compared; name the key with --gateway-key")
		return nil
	}
	before, usable, err := m.readSeen()
	if err != nil {
		return err
	}
	var newest checkpoint.Newest
	if err := m.c.centre.ExchangeJSON(ctx, http.MethodGet, checkpoint.NotePath+"?old="+strconv.FormatInt(before.Size, 10), nil, &newest); err != nil {
		return err
	}
	if newest.Note == "" {
		if before.Size > 0 {
			m.find(centreFile, "it has no checkpoint, and signed one of %d heads on %s: its checkpoints were dropped", before.Size, before.Made.Format(time.DateTime))
		} else {
			m.note(centreFile, "it has made no checkpoint yet")
		}
		return nil
	}
	is, err := checkpoint.Read([]byte(newest.Note), m.key)
	switch {
	case err != nil:
		m.find(centreFile, "its checkpoint cannot be used: %v", err)
		return nil
	case is.Size < before.Size:
		m.find(centreFile, "its newest checkpoint has %d heads, and it signed one of %d on %s: its checkpoints were cut, or its database was put back from a copy", is.Size, before.Size, before.Made.Format(time.DateTime))
		return nil
	case before.Size > 0 && checkpoint.CheckGrowth(before, is, newest.Consistency) != nil:
		m.find(centreFile, "its checkpoint of %d heads does not continue the one of %d that it signed on %s: its checkpoints were forked or rewritten", is.Size, before.Size, before.Made.Format(time.DateTime))
		return nil
	}
	m.newest, m.Checkpoint = is, &SeenCheckpoint{is.Size, is.Made}
	if !usable {
		return nil // the old file stays, so that the next comparison has the same finding
	}
	return atomicfile.Write(SeenFile(m.c.folders.State), []byte(newest.Note), atomicfile.Options{Mode: 0o600})
}

// readSeen reads the last checkpoint that this laptop saw. It returns the zero value if there is
// none. If the checkpoint is damaged or signed with another key, readSeen adds a finding, and
// usable is false.
func (m *comparer) readSeen() (was checkpoint.Checkpoint, usable bool, err error) {
	path := SeenFile(m.c.folders.State)
	src, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, true, nil
	}
	if err != nil {
		return was, false, err
	}
	if was, err = checkpoint.Read(src, m.key); err != nil {
		m.find(centreFile, "the checkpoint that this laptop kept in %s cannot be used: %v; if the centre has a new key, remove the file", path, err)
		return was, false, nil
	}
	return was, true, nil
}

// These limits stop a centre that sends an endless list of segments. mostPages is enough for half a
// million segments.
const (
	mostPages    = 2500
	headPatience = 10 * time.Minute
)

// askHeads asks the centre for the list of segments that it holds, and checks the proofs of these
// segments.
func (m *comparer) askHeads(ctx context.Context) (all []checkpoint.Held, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, headPatience, fmt.Errorf("the centre took more than %v to list what it holds; try again later", headPatience))
	defer cancel()
	after := ""
	for range mostPages {
		var page checkpoint.Heads
		query := url.Values{"size": {strconv.FormatInt(m.newest.Size, 10)}}
		if after != "" {
			query.Set("after", after)
		}
		if err := m.c.centre.ExchangeJSON(ctx, http.MethodGet, checkpoint.HeadsPath+"?"+query.Encode(), nil, &page); err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		if err := checkPage(&page, after); err != nil {
			return nil, err
		}
		for _, f := range page.Findings {
			m.find(centreFile, "it found, as the record came: %s", f)
		}
		for i := range page.Held {
			h := page.Held[i]
			m.Segments++
			m.atCentre[h.Segment] = true
			if m.checkLeaf(&h) {
				all = append(all, h)
			}
		}
		if !page.More {
			return all, nil
		}
		after = page.Held[len(page.Held)-1].Segment
	}
	return nil, errors.New("the centre's list of segments does not end")
}

// checkPage returns an error for a page that no centre of clawai sends: the page is too long, or
// its segments are not sorted.
func checkPage(page *checkpoint.Heads, after string) error {
	if len(page.Held) > checkpoint.MostHeld || len(page.Findings) > checkpoint.MostFindings || after != "" && len(page.Findings) > 0 || page.More && len(page.Held) == 0 {
		return fmt.Errorf("the centre's list of segments is not what a centre of clawai says: a page has %d segments and %d findings; is this its address?", len(page.Held), len(page.Findings))
	}
	for i := range page.Held {
		h := &page.Held[i]
		if len(h.Segment) > maxName || h.Segment <= after || !isBounded(&h.Head) || h.Leaf != nil && !isBounded(&h.Leaf.Head) {
			return fmt.Errorf("the centre's list of segments is not what a centre of clawai says: %.80q of %d bytes stands behind %q; is this its address?", h.Segment, h.Size, after)
		}
		after = h.Segment
	}
	return nil
}

// maxName is the maximum length of a segment's name at the centre, in bytes.
const maxName = 128

// isBounded reports whether a head has a valid size, and a digest with the length of a SHA-256 in
// hexadecimal.
func isBounded(h *checkpoint.Head) bool { return h.Size >= 0 && len(h.Digest) == 2*sha256.Size }

// compareSegment compares the centre's copy of a segment with this laptop's segment. It compares
// the bytes that the centre holds, and also the bytes that the checkpoint covers.
func (m *comparer) compareSegment(h *checkpoint.Held) error {
	if was := m.acknowledged[h.Segment]; was.Size > h.Size {
		m.find(h.Segment, "the centre acknowledged %d bytes, and holds %d now: it was cut there", was.Size, h.Size)
	}
	s, here := m.local[h.Segment]
	if !here {
		switch removed, known := m.inLedger[h.Segment]; {
		case removed:
			m.note(h.Segment, "the retention removed it here; the centre holds its %d bytes", h.Size)
		case known:
			m.find(h.Segment, "it is missing here, and the centre holds its %d bytes: it was dropped here", h.Size)
		default:
			m.find(h.Segment, "the centre holds %d bytes of it, and the ledger here does not know it: it was inserted there, or the ledger here was rewritten", h.Size)
		}
		return nil
	}
	return m.compareBytes(h, s)
}

// checkLeaf checks the proof that the checkpoint covers a segment. It reports whether the segment's
// bytes can be compared.
func (m *comparer) checkLeaf(h *checkpoint.Held) bool {
	l := h.Leaf
	switch {
	case m.newest.Size == 0:
		h.Leaf = nil // takeCheckpoint has already reported that there is no checkpoint
		return true
	case l == nil:
		m.note(h.Segment, "no checkpoint has it yet")
		return true
	}
	l.Laptop = m.c.joined.Laptop // so that a proof about another laptop's segment fails
	switch {
	case l.Segment != h.Segment || l.Check(m.newest) != nil:
		m.find(h.Segment, "the centre cannot prove what its checkpoint says of it: the database there was changed")
		return false
	case l.Size > h.Size:
		m.find(h.Segment, "the centre signed %d bytes of it, and holds %d now: it was cut there", l.Size, h.Size)
	case l.Complete && (l.Size != h.Size || !h.Complete):
		m.find(h.Segment, "the centre signed that it ends at byte %d, and holds %d now: it was lengthened there", l.Size, h.Size)
	}
	m.Proved++
	l.Proof = nil // many proofs would take much memory, and this one is no longer needed
	return true
}

// compareBytes compares the beginning of a local segment with the digests of the centre and of the
// checkpoint.
func (m *comparer) compareBytes(h *checkpoint.Held, s audit.Segment) error {
	ends := []checkpoint.Head{h.Head}
	if h.Leaf != nil && m.newest.Size > 0 && h.Leaf.Size <= h.Size {
		ends = []checkpoint.Head{h.Leaf.Head, h.Head}
	}
	sum, at := sha256.New(), int64(0)
	for i, end := range ends {
		for at < end.Size {
			text, err := audit.ReadPortion(m.dir, s, at, portionSize)
			if errors.Is(err, os.ErrNotExist) {
				return nil // the retention has removed the segment in the meantime
			}
			if err != nil && !errors.Is(err, audit.ErrCut) {
				return err
			}
			text = text[:min(int64(len(text)), end.Size-at)]
			if len(text) == 0 {
				m.find(h.Segment, "it has %d bytes here, and the centre holds %d: it was cut here", at, end.Size)
				return nil
			}
			sum.Write(text)
			at += int64(len(text))
		}
		if hex.EncodeToString(sum.Sum(nil)) != end.Digest {
			from, whose := int64(0), "the centre holds"
			if i < len(ends)-1 {
				whose = "the centre signed"
			} else if i > 0 {
				from = ends[i-1].Size
			}
			m.find(h.Segment, "its bytes %d to %d are other ones here than those that %s: it was changed or rewritten, here or there", from, end.Size-1, whose)
			return nil
		}
	}
	if h.Complete && s.Size > h.Size {
		m.find(h.Segment, "it was closed with %d bytes, and has %d here: it was lengthened here", h.Size, s.Size)
	}
	m.Bytes += at
	return nil
}

// findMissing reports segments that the centre acknowledged but no longer holds. It also adds a
// note for each segment that is not copied yet.
func (m *comparer) findMissing(list []audit.Segment) {
	for name, was := range m.acknowledged {
		if was.Size > 0 && !m.atCentre[name] {
			m.find(name, "the centre acknowledged %d bytes of it, and holds nothing now: it was dropped there", was.Size)
		}
	}
	for _, s := range list {
		if _, acknowledged := m.acknowledged[s.Name]; IsShipped(s, m.c.joined.Since) && !m.atCentre[s.Name] && !acknowledged && s.Size > 0 {
			m.note(s.Name, "the centre does not have it yet; copy it with: clawai enroll sync")
		}
	}
}
