package web

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/text/term"
)

// historyLength is the number of resolved requests that the page shows.
const historyLength = 50

// pageState knows what was sent to one page, and sends only the changes.
type pageState struct {
	s     *Server
	in    *session
	out   *events
	rows  map[string]*row // the pending requests that the page shows, by id; nil before the first event
	past  map[string]*resolvedRow
	sent  map[string][]byte // the last data of each event that is always sent in full
	alone string            // an error text that stays until the stream ends
	words string            // the error text that the page shows
}

func newPageState(s *Server, in *session, out *events) *pageState {
	return &pageState{s: s, in: in, out: out, past: map[string]*resolvedRow{}, sent: map[string][]byte{}}
}

// pendingEvent tells the page how the list of pending requests has changed.
type pendingEvent struct {
	Fresh bool   `json:"fresh"` // the page must drop its old list
	Now   int64  `json:"now"`   // time in ms, from which the page computes the remaining times
	Added []*row `json:"added"` // new requests, the oldest first; the page adds them below its list
	Gone  []gone `json:"gone"`
}

type gone struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// updatePage reads the queue and sends the changes to the page. It returns an error if the page
// cannot be reached any more.
func (b *pageState) updatePage(ctx context.Context) error {
	pending, err := b.s.o.Queue.Pending(ctx)
	if err != nil {
		return b.sendTrouble("The queue cannot be read: " + term.VisibleText(err.Error()))
	}
	if err := b.sendPending(ctx, pending); err != nil {
		return err
	}
	history, err := b.s.o.Queue.History(ctx, historyLength)
	if err != nil {
		return b.sendTrouble("The history cannot be read: " + term.VisibleText(err.Error()))
	}
	if err := b.sendReplacement("history", b.historyRows(history)); err != nil {
		return err
	}
	grants, err := b.s.o.Queue.Grants(ctx)
	if err != nil {
		return b.sendTrouble("The answers that hold cannot be read: " + term.VisibleText(err.Error()))
	}
	if err := b.sendReplacement("grants", grantRows(grants, b.s.o.Home)); err != nil {
		return err
	}
	return b.sendTrouble("")
}

func (b *pageState) sendPending(ctx context.Context, list []queue.Request) error {
	ev := pendingEvent{Fresh: b.rows == nil, Now: time.Now().UnixMilli(), Added: []*row{}, Gone: []gone{}}
	rows := make(map[string]*row, len(list))
	for i := range list {
		r := &list[i]
		known := b.rows[r.ID]
		if known == nil {
			known = b.s.requestRow(r)
			ev.Added = append(ev.Added, known)
		}
		rows[r.ID] = known
	}
	for id := range b.rows {
		if rows[id] == nil {
			ev.Gone = append(ev.Gone, gone{id, b.endingText(ctx, id)})
		}
	}
	b.rows = rows
	b.in.setPending(rows, time.Now())
	if !ev.Fresh && len(ev.Added) == 0 && len(ev.Gone) == 0 {
		return nil
	}
	return b.out.sendEvent("pending", ev)
}

func (b *pageState) endingText(ctx context.Context, id string) string {
	r, err := b.s.o.Queue.Get(ctx, id)
	if err != nil {
		return "It is no longer in the queue; nothing was executed that waited for it."
	}
	return endingSentence(&r)
}

func (b *pageState) historyRows(list []queue.Request) []*resolvedRow {
	past, out := make(map[string]*resolvedRow, len(list)), make([]*resolvedRow, 0, len(list))
	for i := range list {
		r := &list[i]
		known := b.past[r.ID]
		if known == nil {
			known = b.s.resolvedRow(r)
		}
		known.Text = endingSentence(r) // set the text again, because the outcome comes later than the answer
		past[r.ID] = known
		out = append(out, known)
	}
	b.past = past
	return out
}

// sendReplacement sends data that replaces all data of this event, if the data has changed.
func (b *pageState) sendReplacement(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil || bytes.Equal(data, b.sent[name]) {
		return err
	}
	b.sent[name] = data
	return b.out.sendEvent(name, json.RawMessage(data))
}

// sendTrouble shows an error text on the page. The text stays until a call with another text; ""
// removes it.
func (b *pageState) sendTrouble(text string) error {
	if text == "" {
		text = b.alone
	}
	if text == b.words {
		return nil
	}
	b.words = text
	return b.out.sendEvent("trouble", map[string]string{"text": text})
}
