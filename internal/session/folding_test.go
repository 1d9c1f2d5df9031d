package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// page is a record that can be full.
type page struct {
	all  []event.Event
	full bool
}

func (p *page) Record(events ...*event.Event) error {
	if p.full {
		return errors.New("no space left")
	}
	for _, ev := range events {
		ev.Record = fmt.Sprintf("s-%d", len(p.all)+1)
		p.all = append(p.all, *ev)
	}
	return nil
}

// told are the lines that the record tells of: those it has, and those it counts.
func (p *page) told(server string) (lines, bytes int) {
	for i := range p.all {
		if ev := &p.all[i]; ev.Server == server && (isJunk(ev) || ev.Folded > 0) {
			lines, bytes = lines+max(1, ev.Folded), bytes+ev.Bytes
		}
	}
	return lines, bytes
}

func TestJunkIsFolded(t *testing.T) {
	for name, junk := range map[string]event.Event{
		"a print statement":    {Kind: event.Chatter, Server: "loud", Direction: "server", Bytes: 100, Detail: "debug"},
		"an unreadable frame":  {Kind: event.Dropped, Server: "loud", Direction: "server", Code: "syntax", Bytes: 100},
		"a reply to none":      {Kind: event.Dropped, Server: "loud", Direction: "server", Code: "unsolicited", Bytes: 100, ID: []byte("7")},
		"a client's bad frame": {Kind: event.Dropped, Server: "loud", Direction: "client", Code: "syntax", Bytes: 100},
	} {
		t.Run(name, func(t *testing.T) {
			kept, now := &page{}, time.Now()
			f := newFolding(kept)
			f.now = func() time.Time { return now }
			const all = 20_000
			for range all {
				ev := junk
				if err := f.Record(&ev); err != nil || ev.Record == "" {
					t.Fatalf("%q: %v", ev.Record, err)
				}
			}
			if len(kept.all) != junkOneByOne+1 {
				t.Errorf("%d records", len(kept.all))
			}
			quiet := event.Event{Kind: event.Chatter, Server: "quiet", Direction: "server"}
			call := event.Event{Kind: event.Decision, Server: "loud", Direction: "client"}
			lost := event.Event{Kind: event.Dropped, Server: "loud", Direction: "server", Ref: "s-1"}
			if err := f.Record(&quiet, &call, &lost); err != nil || kept.all[len(kept.all)-3].Server != "quiet" {
				t.Errorf("%v, and %+v is last but two", err, kept.all[len(kept.all)-3])
			}
			before := len(kept.all)
			if now = now.Add(foldEvery); f.Record() != nil || len(kept.all) != before+1 {
				t.Errorf("%d records after a while", len(kept.all)-before)
			}
			count := kept.all[before]
			if lines, bytes := kept.told("loud"); lines != all || bytes != 100*all || count.Code != codeFolded || count.Digest == [32]byte{} || count.Direction != junk.Direction {
				t.Errorf("%d lines of %d bytes are told: %+v", lines, bytes, count)
			}
		})
	}
}

// A day of it takes what thousands of lines take, and no line is forgotten: not where the
// record was full, and not at the end.
func TestFoldedJunkIsCountedToTheEnd(t *testing.T) {
	kept, now, sent := &page{}, time.Now(), 0
	f := newFolding(kept)
	f.now = func() time.Time { return now }
	say := func() {
		_ = f.Record(&event.Event{Kind: event.Dropped, Server: "loud", Direction: "server", Bytes: 1})
		sent++
	}
	for ; sent < 86_400; now = now.Add(time.Second) {
		say()
	}
	if most := junkOneByOne + 2*86_400/10 + 2; len(kept.all) > most {
		t.Errorf("a day takes %d records", len(kept.all))
	}
	kept.full, now = true, now.Add(foldEvery)
	if f.Record() == nil {
		t.Error("a full disk is not told")
	}
	for range 2 * junkOneByOne {
		_ = f.Record(&event.Event{Kind: event.Dropped, Server: "other", Direction: "server", Bytes: 1})
	}
	kept.full = false
	say()
	if err := f.Record(&event.Event{Kind: event.End}); err != nil || kept.all[len(kept.all)-1].Kind != event.End {
		t.Errorf("%v: the end is not the last", err)
	}
	if lines, bytes := kept.told("loud"); lines != sent || bytes != sent {
		t.Errorf("%d lines and %d bytes of %d are told", lines, bytes, sent)
	}
	if f.waits.Load() != 0 {
		t.Error("counts are left")
	}
}
