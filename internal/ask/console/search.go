package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/text/term"
)

// SearchCalls searches the whole record, the oldest call first. It passes to the function send each
// call whose Row.Search contains the parameter text. text is in lower case. If a found call gets
// its reply later, SearchCalls passes the call to send again, with the same ID. It passes two
// numbers of bytes to the function progress: the bytes read so far, and all bytes. The error tells
// why the record cannot be read.
type SearchCalls func(ctx context.Context, text string, send func(Row), progress func(read, all int64)) error

// search is a search in the record for the filter of the page of calls.
type search struct {
	text  string
	stop  context.CancelFunc
	state string // progress of the search, in words for a person
}

// searchMsg holds the calls that a search has found since its last message.
type searchMsg struct {
	search    *search
	rows      []Row
	read, all int64
	done      bool
	err       error
}

// searchRecord starts a search in the whole record for the filter of the page of calls. It does
// nothing if a search for this filter already runs. An empty filter ends the search.
func (m *model) searchRecord() {
	if len(m.pages) == 0 || m.o.Search == nil {
		return
	}
	l := &m.pages[0].list
	if m.search != nil {
		if m.search.text == l.filter {
			return
		}
		m.search.stop()
		m.search, l.found = nil, nil
	}
	if l.filter == "" {
		return
	}
	one := &search{text: l.filter, stop: func() {}, state: "reading the record"}
	m.search = one
	ended := make(chan struct{})
	one.stop = func() { close(ended) }
	m.startTask(func(ctx context.Context, send func(tea.Msg)) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-ended:
				cancel()
			case <-ctx.Done():
			}
		}()
		one.run(ctx, m.o.Search, send)
	})
}

// run searches the record and sends the found calls in batches.
func (s *search) run(ctx context.Context, find SearchCalls, send func(tea.Msg)) {
	var mu sync.Mutex
	msg, ended := searchMsg{search: s}, make(chan error, 1)
	go func() {
		ended <- find(ctx, strings.ToLower(s.text), func(r Row) {
			mu.Lock()
			defer mu.Unlock()
			if msg.rows = append(msg.rows, r); len(msg.rows) > 2*MaxCalls {
				msg.rows = slices.Clone(msg.rows[MaxCalls:])
			}
		}, func(read, all int64) {
			mu.Lock()
			defer mu.Unlock()
			msg.read, msg.all = read, all
		})
	}()
	draw := time.NewTicker(redrawEvery)
	defer draw.Stop()
	for {
		var err error
		done := false
		select {
		case <-draw.C:
		case err = <-ended:
			done = true
		}
		mu.Lock()
		now := msg
		msg.rows = nil
		mu.Unlock()
		if now.done, now.err = done, err; ctx.Err() == nil {
			send(now)
		}
		if done {
			return
		}
	}
}

// applySearch adds the found calls to the page. It ignores the messages of a search that was ended.
func (m *model) applySearch(msg searchMsg) {
	s := msg.search
	if s != m.search {
		return
	}
	l := &m.pages[0].list
	for i := range msg.rows {
		l.addFound(&msg.rows[i])
	}
	switch {
	case errors.Is(msg.err, context.Canceled):
	case msg.err != nil:
		s.state = "the record cannot be searched"
		m.addNews("the record cannot be searched: %s", term.VisibleText(msg.err.Error()))
	case msg.done:
		s.state = "the whole record was searched"
	case msg.all > 0:
		s.state = fmt.Sprintf("searching the record: %d %%", min(99, 100*msg.read/msg.all))
	}
	if m.tab == callsTab {
		m.redrawDetail()
	}
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// addFound adds a found call in front of the earlier ones, or replaces the call with the same ID.
// It keeps only the latest MaxCalls.
func (l *rowList) addFound(r *Row) {
	for i := range l.found[:min(len(l.found), MaxCalls)] {
		if l.found[i].ID == r.ID {
			l.found[i] = *r
			return
		}
	}
	if l.found = slices.Insert(l.found, 0, *r); len(l.found) > MaxCalls {
		clear(l.found[MaxCalls:])
		l.found, l.more = l.found[:MaxCalls], true
	}
}
