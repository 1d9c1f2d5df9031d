package centre

import (
	"context"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/telemetry"
	"github.com/clawai/clawai/internal/state/audit"
)

// Telemetry are the settings of what goes to a receiver of OpenTelemetry.
type Telemetry struct {
	Payload bool `toml:"payload"` // also send texts that may contain arguments
}

// sendRecords sends stored records to the receiver of OpenTelemetry. indexed are their index entries.
func (c *Centre) sendRecords(l *store.Laptop, arrived []audit.Arrived, indexed []store.Record) {
	if c.Telemetry == nil || len(arrived) == 0 {
		return
	}
	part := telemetry.Part{Laptop: l.ID, Name: l.Name, Records: make([]*event.Entry, len(arrived))}
	for i := range arrived {
		arrived[i].Time = indexed[i].Time // a laptop's clock may be far off
		part.Records[i] = &arrived[i].Entry
	}
	c.Telemetry.Add(part)
}

// FindEntry returns a stored record of a laptop's session by its number; false if there is none.
func (c *Centre) FindEntry(ctx context.Context, laptop, session string, seq uint64) (*event.Entry, bool, error) {
	found, err := c.Store.ListNeighbours(ctx, laptop, session, seq, seq)
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	r := &found[0]
	line, err := c.Store.ReadSegment(ctx, laptop, r.Segment, r.Offset, r.Length)
	if err != nil {
		return nil, false, err
	}
	e, err := audit.ParseLine(line)
	e.Time, e.Seq, e.Session, e.Record = r.Time, r.Seq, r.Session, fmt.Sprintf("%s-%d", r.Session, r.Seq) // these members of the line may be false, because the laptop wrote it
	return &e, err == nil, err
}
