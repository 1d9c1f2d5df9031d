package courier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

const (
	portionSize = 1 << 20  // maximum size of one request in bytes; every line of the record is smaller
	roundSize   = 16 << 20 // maximum number of bytes in one round, so that the next poll does not wait long
	// refusedPause is the time after which a refused segment is tried again. Other segments are
	// copied in the meantime.
	refusedPause = 5 * time.Minute
	mostMoves    = 3 // how often in one round the centre may name another offset
	// cutPause is like refusedPause, but for a segment that was shortened on this laptop. The pause
	// is long, because such a segment never becomes complete.
	cutPause = 24 * time.Hour
)

// shipper copies the record to the centre.
type shipper struct {
	state  string
	since  time.Time
	centre *Centre
	held   map[string]enrolment.Held // what the centre holds of each segment, by the segment's name
	later  map[string]time.Time      // when to try a refused segment again, by the segment's name
}

func newShipper(state string, since time.Time, centre *Centre) shipper {
	s := shipper{state: state, since: since, centre: centre, held: map[string]enrolment.Held{}, later: map[string]time.Time{}}
	if src, err := config.ReadFile(s.file()); err == nil {
		_ = json.Unmarshal(src, &s.held) // after an error, the shipper asks the centre about each segment
	}
	return s
}

// file returns the path of the file that stores the map held. A new process reads this file, so
// that it does not ask the centre about each segment.
func (s *shipper) file() string { return filepath.Join(enrolment.Folder(s.state), "shipped.json") }

// IsShipped reports whether clawai copies a segment to the centre. It copies all sessions that
// began after the enrolment. The calls of agents' hooks share one segment each day, so it also
// copies the hooks' segment of the day of the enrolment.
func IsShipped(s audit.Segment, since time.Time) bool {
	return !s.Began.Before(since) || s.Shared && s.Began.Equal(since.UTC().Truncate(24*time.Hour))
}

// Ship sends the centre the bytes of the record that the centre does not have yet, at most
// roundSize bytes. The result more is true if there are more bytes to send now. Ship stores the
// result for clawai status.
func (c *Courier) Ship(ctx context.Context) (more bool, err error) {
	unlock, err := enrolment.LockRound(ctx, c.folders.State)
	if err != nil {
		return false, err
	}
	defer unlock()
	if !enrolment.IsEnrolled(c.folders.State) {
		return false, enrolment.ErrNone
	}
	sent, backlog, err := c.shipper.shipRound(ctx)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	p, unread := enrolment.ReadProgress(c.folders.State)
	if unread == nil && sent == 0 && p.Backlog == backlog && p.ShipError == failed {
		// Nothing has changed. Ship runs every few seconds, so it must not write the file each
		// time.
		return false, err
	}
	return backlog > 0 && err == nil, errors.Join(err, enrolment.ChangeProgress(c.folders.State, func(p *enrolment.Progress) {
		if p.Backlog, p.ShipError = backlog, failed; sent > 0 {
			p.Shipped = now()
		}
	}))
}

// shipRound copies segments. sent is the number of bytes that were sent, and backlog is the number
// of bytes that the centre does not have yet. err is the first error. A refused segment does not
// stop the other segments.
func (s *shipper) shipRound(ctx context.Context) (sent, backlog int64, err error) {
	list, err := audit.ListSegments(base.RecordDir(s.state))
	if err != nil {
		return 0, 0, err
	}
	known, changed := map[string]enrolment.Held{}, false
	for _, segment := range list {
		if !IsShipped(segment, s.since) {
			continue
		}
		if was, ok := s.held[segment.Name]; ok {
			known[segment.Name] = was
		}
	}
	changed = len(known) != len(s.held) // the retention has removed some segments
	s.held = known
	var unreachable error
	for _, segment := range list {
		before := s.held[segment.Name]
		if !IsShipped(segment, s.since) || before.Complete && segment.Size >= before.Size {
			continue
		}
		if unreachable == nil && sent < roundSize && time.Now().After(s.later[segment.Name]) {
			n, failed := s.shipSegment(ctx, segment, roundSize-sent)
			sent += n
			if _, refused := errors.AsType[*StatusError](failed); refused || errors.Is(failed, audit.ErrCut) {
				pause := refusedPause
				if !refused {
					pause = cutPause
				}
				s.later[segment.Name] = time.Now().Add(pause)
			} else if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
				unreachable = failed
			}
			if failed != nil && err == nil && !errors.Is(failed, fs.ErrNotExist) {
				err = fmt.Errorf("%s: %w", segment.Name, failed)
			}
		}
		changed = changed || s.held[segment.Name] != before
		backlog += max(0, segment.Size-s.held[segment.Name].Size)
	}
	if changed {
		src, failed := json.Marshal(s.held)
		if failed == nil {
			failed = atomicfile.Write(s.file(), append(src, '\n'), atomicfile.Options{Mode: 0o600})
		}
		err = errors.Join(err, failed)
	}
	return sent, backlog, err
}

// shipSegment sends the bytes of a segment that the centre does not have yet. It stops when size
// bytes are sent; the last part may exceed size.
func (s *shipper) shipSegment(ctx context.Context, segment audit.Segment, size int64) (sent int64, err error) {
	held, known := s.held[segment.Name]
	if !known {
		if held, err = s.centre.askHeld(ctx, segment.Session, segment.Name); err != nil {
			return 0, err
		}
		s.held[segment.Name] = held
	}
	moves := 0
	for sent < size {
		if held.Complete && segment.Size >= held.Size {
			return sent, nil
		}
		portion, err := audit.ReadPortion(base.RecordDir(s.state), segment, held.Size, portionSize)
		if errors.Is(err, audit.ErrCut) {
			// This tells the centre that the segment is shorter on the laptop. The centre keeps its
			// bytes.
			_, _, told := s.centre.sendPortion(ctx, segment.Session, segment.Name, min(segment.Size, held.Size-1), nil, true)
			return sent, cmp.Or(told, err)
		}
		if err != nil {
			return sent, err
		}
		complete := segment.Closed && held.Size+int64(len(portion)) >= segment.Size
		if len(portion) == 0 && !complete {
			return sent, nil
		}
		next, moved, err := s.centre.sendPortion(ctx, segment.Session, segment.Name, held.Size, portion, complete)
		if err != nil {
			return sent, err
		}
		if moved {
			moves++
		}
		if moved && (next == held || moves > mostMoves) {
			return sent, errors.New("the centre refuses what follows the bytes that it holds")
		}
		if held = next; !moved {
			sent += int64(len(portion))
		}
		s.held[segment.Name] = held
	}
	return sent, nil
}
