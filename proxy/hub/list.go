package hub

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/tidwall/gjson"
)

// kind is what servers list.
type kind uint8

const (
	tools kind = iota
	prompts
	resources
	templates
	kinds
)

// words of each kind: the method, the member of its result, what names an entry, and whose
// changes concern it.
var words = [kinds]struct{ method, member, name, changes string }{
	tools:     {"tools/list", "tools", "name", "tools"},
	prompts:   {"prompts/list", "prompts", "name", "prompts"},
	resources: {"resources/list", "resources", "uri", "resources"},
	templates: {"resources/templates/list", "resourceTemplates", "uriTemplate", "resources"},
}

func (k kind) changes() string { return words[k].changes }

func kindOf(method string) (kind, bool) {
	for k := range words {
		if words[k].method == method {
			return kind(k), true
		}
	}
	return 0, false
}

// list is what a server has said that it has of one kind.
type list struct {
	mu       sync.Mutex // guards what follows
	fresh    bool
	rules    <-chan struct{} // of the gate, that the last fetch began under
	fetching chan struct{}   // closed when the fetch that is under way has ended; nil: none is
	outdated bool            // the server has said so since the last fetch began
	missed   bool            // the client was given a list without it
	why      error           // of the last fetch
	entries  []entry
	at       map[string]int // the entry of an advertised name or a URI; -1: of two

	recalled bool // it is as it was kept, and the server has not been heard; its goroutine's alone
}

// entry is one thing that a server has, as the client is told of it.
type entry struct {
	original   string // name or URI
	advertised string
	raw        []byte
}

// fetch has the list brought up to date; the channel is closed when it is, or cannot be.
func (l *list) fetch(s *server, k kind) <-chan struct{} {
	done, begun := l.begin(s.h.o.Gate.Superseded())
	if !begun {
		return done
	}
	s.post(job{starts: true, recall: func() bool { return l.recall(s, k) }, run: func(on *conn, err error) {
		if err != nil {
			l.fetched(s, k, nil, err)
			return
		}
		first := make(chan frame.Frame, 1)
		on.ask(words[k].method, on.with(""), first)
		s.h.tasks.Go(func() {
			entries, err := s.pages(on, k, first, s.nextPage)
			answers := on.unaltered(words[k].method) // before another fetch begins
			l.fetched(s, k, entries, err)
			on.keep(k, answers)
		})
	}})
	return done
}

// begin is the fetch that is under way, a new one if there is need for it.
func (l *list) begin(rules <-chan struct{}) (done chan struct{}, begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetching != nil {
		return l.fetching, false
	}
	done = make(chan struct{})
	if l.fresh && l.rules == rules {
		close(done)
		return done, false
	}
	if l.at != nil && l.rules != rules { // what other rules let through is shown no more, whatever comes
		l.entries, l.at, l.missed = nil, nil, true
	}
	l.fresh, l.outdated, l.rules, l.fetching = false, false, rules, done
	return done, true
}

// fetched keeps what a fetch has brought; after a failure, what was known before.
func (l *list) fetched(s *server, k kind, entries []entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(s, k, entries, err)
	close(l.fetching)
	l.fetching = nil
}

// take is fetched while l.mu is held, and no fetch ends by it.
func (l *list) take(s *server, k kind, entries []entry, err error) {
	changed := false
	if l.why = err; err == nil {
		changed = l.missed || l.at != nil && !sameEntries(l.entries, entries)
		l.fresh, l.missed = !l.outdated, false
		l.entries, l.at = entries, map[string]int{}
		for i, e := range entries {
			if _, twice := l.at[e.advertised]; twice {
				l.at[e.advertised] = -1
			} else {
				l.at[e.advertised] = i
			}
		}
	}
	if changed {
		s.h.changes.note(k)
	}
}

func sameEntries(a, b []entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i].raw, b[i].raw) {
			return false
		}
	}
	return true
}

// follow tells the client when other rules about lists may show it other ones.
func (h *hub) follow() {
	for {
		rules := h.o.Gate.Superseded()
		for _, s := range h.all() {
			for k := range s.lists {
				if s.lists[k].stale(rules) {
					h.changes.note(kind(k))
				}
			}
		}
		select {
		case <-rules:
		case <-h.ctx.Done():
			return
		}
	}
}

// stale says that the client was given the list under other rules, or is about to be.
func (l *list) stale(rules <-chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.at != nil || l.missed || l.fetching != nil) && l.rules != rules
}

// invalidate notes that the server may have something else by now, outdated that it has.
func (l *list) invalidate(outdated bool) {
	l.mu.Lock()
	l.fresh, l.outdated = false, outdated
	l.mu.Unlock()
}

// seen says that the client was given the list, or one without what the server has.
func (l *list) seen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at != nil || l.missed
}

// refetch fetches again what the client has seen, or has missed: the server may have become
// another one since.
func (l *list) refetch(s *server, k kind) {
	l.mu.Lock()
	seen := l.at != nil || l.missed
	if l.fetching == nil {
		l.fresh = false
	} else {
		seen = false
	}
	l.mu.Unlock()
	if seen {
		l.fetch(s, k)
	}
}

// Bounds of what one server may list.
const (
	maxPages     = 1000
	maxListBytes = 4 << 20 // and no more than its share of what one answer holds
)

// pager asks for the page behind a cursor, a member of the request.
type pager func(on *conn, k kind, cursor []byte) <-chan frame.Frame

// pages follows a list to its end.
func (s *server) pages(on *conn, k kind, answer <-chan frame.Frame, further pager) (entries []entry, err error) {
	late := time.NewTimer(s.Timeout)
	defer late.Stop()
	cursors, size, most := map[string]bool{}, 0, min(maxListBytes, s.h.o.Limits.MaxBytes/max(1, len(s.h.all())))
	for range maxPages {
		var f frame.Frame
		var ok bool
		select {
		case f, ok = <-answer:
		case <-late.C:
			return nil, fmt.Errorf("no answer to %s within %s", words[k].method, s.Timeout)
		case <-s.ctx.Done():
			return nil, s.over()
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("no answer to %s", words[k].method)
		case f.Error != nil && jsonscan.Of(f.Error).Member("code") == "-32601":
			return entries, nil // it has nothing of the kind
		case f.Error != nil:
			return nil, fmt.Errorf("%s is refused", words[k].method)
		}
		result := jsonscan.Of(f.Result)
		if size += len(f.Result); size > most {
			return nil, fmt.Errorf("its list is too long: more than %d KiB", most>>10)
		}
		for value := range result.Member(words[k].member).Elements() {
			if e, ok := s.entry(k, value); ok {
				entries = append(entries, e)
			}
		}
		next := result.Member("nextCursor")
		if next.Kind() != jsonscan.String {
			return entries, nil
		}
		if cursors[next.Text()] {
			return nil, errors.New("its list has no end")
		}
		cursors[next.Text()] = true
		answer = further(on, k, append([]byte(`"cursor":`), next.Bytes()...))
	}
	return nil, errors.New("its list has too many pages")
}

// nextPage is a pager that runs beside the server's goroutine.
func (s *server) nextPage(on *conn, k kind, cursor []byte) <-chan frame.Frame {
	answer := make(chan frame.Frame, 1)
	s.post(job{starts: true, run: func(now *conn, _ error) {
		if now != on {
			close(answer)
			return
		}
		on.ask(words[k].method, on.with(string(cursor)), answer)
	}})
	return answer
}

// entry is what the client is told of one thing; not ok when it has no name, or is not for
// this client.
func (s *server) entry(k kind, value jsonscan.Value) (e entry, ok bool) {
	raw := bytes.Clone(value.Bytes()) // what it was read in is large
	value = jsonscan.Of(raw)
	name := value.Member(words[k].name)
	if name.Kind() != jsonscan.String {
		return e, false
	}
	original := string([]byte(name.Text()))
	if k == tools && !s.offers(original) {
		return e, false
	}
	e = entry{original: original, advertised: original, raw: raw}
	if k == resources || k == templates {
		other, _ := s.h.marked(original)
		return e, other == nil || other == s // what is called like another's is no second way to it
	}
	e.advertised = upstream.Advertised(s.ID, s.Prefix, original)
	edits := []frame.Edit{{Part: name.Bytes(), Token: gjson.AppendJSONString(nil, e.advertised)}}
	if text := value.Member("description"); s.h.o.PrefixDescriptions && text.Kind() == jsonscan.String {
		edits = append(edits, frame.Edit{Part: text.Bytes(), Token: append([]byte(`"[`+s.ID+`] `), text[1:]...)})
	}
	e.raw = frame.SpliceAll(raw, edits...)
	return e, true
}

func (s *server) offers(tool string) bool { return s.Offers == nil || s.Offers(tool) }
