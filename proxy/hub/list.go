package hub

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// kind is a kind of list, such as tools.
type kind uint8

const (
	tools kind = iota
	prompts
	resources
	templates
	kinds // number of kinds
)

// methods are the list methods, by kind.
var methods = [kinds]string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"}

func (k kind) shape() mcp.ListShape { return mcp.ListOf(methods[k]) }

// changeTopic returns the word for the kind in the method of a list_changed notification, such as
// "tools".
func (k kind) changeTopic() string {
	topic, _, _ := strings.Cut(methods[k], "/")
	return topic
}

func kindOf(method string) (kind, bool) {
	k := slices.Index(methods[:], method)
	return kind(max(k, 0)), k >= 0
}

// list is one server's list of one kind.
type list struct {
	mu       sync.Mutex      // guards the fields below, except recalled
	fresh    bool            // the entries are known to be up to date
	rules    <-chan struct{} // the RulesChanged channel of the gate when the last fetch began; another channel means other rules
	fetching chan struct{}   // closed when the running fetch has ended; nil if none runs
	outdated bool            // the server has reported a change since the last fetch began
	missed   bool            // the client got a merged list that lacks this list
	why      error           // error of the last fetch; nil if it succeeded
	entries  []entry
	own      map[string]bool // the names in the server's list, before rules remove any; nil if unknown
	at       map[string]int  // index of the entry by advertised name or URI; -1 if two entries have the same name or URI

	recalled bool // the entries are the kept ones, because the server has not been asked; used only by the server's goroutine
}

// entry is one entry of a server's list, in the form for the client.
type entry struct {
	original   string // name or URI
	advertised string // name for the client; a URI is not changed, so it equals original
	raw        []byte // the entry's JSON object, for the client
}

// fetchList brings the list up to date. It returns a channel that is closed when the fetch has
// ended, even with an error.
func (l *list) fetchList(s *server, k kind) <-chan struct{} {
	done, begun := l.beginFetch(s.h.o.Gate.RulesChanged())
	if !begun {
		return done
	}
	s.postJob(job{starts: true, recall: func() bool { return l.recallList(s, k) }, run: func(on *conn, err error) {
		if err != nil {
			l.finishFetch(s, k, nil, err)
			return
		}
		first := make(chan frame.Frame, 1)
		on.requestAnswer(methods[k], on.requestParams(""), first)
		s.h.tasks.Go(func() {
			entries, err := s.collectPages(on, k, first, s.nextPage)
			answers := on.takeBufferedAnswers(methods[k])
			l.finishFetch(s, k, entries, err)
			l.noteOwn(k, answers)
			on.keepList(k, answers)
		})
	}})
	return done
}

// beginFetch begins a fetch if the list needs one. It returns the channel of the new or running
// fetch, or a closed channel.
func (l *list) beginFetch(rules <-chan struct{}) (done chan struct{}, begun bool) {
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
	if l.at != nil && l.rules != rules { // these entries passed the earlier rules, not the present ones, so they are removed even if the fetch fails
		l.entries, l.at, l.missed = nil, nil, true
	}
	l.fresh, l.outdated, l.rules, l.fetching = false, false, rules, done
	return done, true
}

// finishFetch stores the result of a fetch. After an error the old entries stay.
func (l *list) finishFetch(s *server, k kind, entries []entry, err error) {
	if err != nil {
		_ = s.h.o.Gate.NoteEvents(&event.Event{Kind: event.Chatter, Server: s.ID, Code: "absent", Detail: methods[k] + ": " + err.Error()})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.storeEntries(s, k, entries, err)
	close(l.fetching)
	l.fetching = nil
}

// noteOwn stores which names the server lists. answers are the server's answers before the gate
// changed them.
func (l *list) noteOwn(k kind, answers [][]byte) {
	var own map[string]bool
	for _, page := range answers {
		if own == nil {
			own = map[string]bool{}
		}
		for entry := range jsonscan.ValueOf(page).Member(k.shape().Entries).Elements() {
			own[strings.Clone(entry.Member(k.shape().Name).Text())] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = own
}

// lacks reports whether the hub knows the names in the server's list and this name is not among
// them.
func (l *list) lacks(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.own != nil && !l.own[name]
}

// storeEntries stores entries but does not end a fetch. The caller holds l.mu.
func (l *list) storeEntries(s *server, k kind, entries []entry, err error) {
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
		s.h.changes.noteChange(k)
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

// followRules tells the client that a list may have changed, each time the rules change.
func (h *hub) followRules() {
	for {
		rules := h.o.Gate.RulesChanged()
		for _, s := range h.currentServers() {
			for k := range s.lists {
				if s.lists[k].isStale(rules) {
					h.changes.noteChange(kind(k))
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

// isStale reports whether the client got the list under other rules than the given ones. It is also
// true if the client will get the list from a fetch that began under other rules.
func (l *list) isStale(rules <-chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.at != nil || l.missed || l.fetching != nil) && l.rules != rules
}

// markStale notes that the list may have changed. outdated is true when the server reported the
// change.
func (l *list) markStale(outdated bool) {
	l.mu.Lock()
	l.fresh, l.outdated = false, outdated
	l.mu.Unlock()
}

// wasListed reports whether the client got the list, or got a merged list without it.
func (l *list) wasListed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at != nil || l.missed
}

// refetchList fetches the list again if the client got it, or got a merged list without it. A
// restarted server may have another list.
func (l *list) refetchList(s *server, k kind) {
	l.mu.Lock()
	seen := l.at != nil || l.missed
	if l.fetching == nil {
		l.fresh = false
	} else {
		seen = false
	}
	l.mu.Unlock()
	if seen {
		l.fetchList(s, k)
	}
}

// Limits of one server's list.
const (
	maxPages     = 1000
	maxListBytes = 4 << 20 // the list must also fit into the server's share of Limits.MaxBytes
)

// pager requests one page of a list. cursor is a whole JSON member, such as "cursor":"x", for the
// params. It is nil for the first page.
type pager func(on *conn, k kind, cursor []byte) <-chan frame.Frame

// collectPages reads all the pages of a list and returns the entries. The first page comes from the
// channel in the parameter answer. collectPages requests each later page with the pager in the
// parameter further.
func (s *server) collectPages(on *conn, k kind, answer <-chan frame.Frame, further pager) (entries []entry, err error) {
	late := time.After(s.Timeout)
	cursors, size, most := map[string]bool{}, 0, min(maxListBytes, s.h.o.Limits.MaxBytes/max(1, len(s.h.currentServers())))
	for range maxPages {
		var f frame.Frame
		var ok bool
		select {
		case f, ok = <-answer:
		case <-late:
			return nil, fmt.Errorf("no answer to %s within %s", methods[k], s.Timeout)
		case <-s.ctx.Done():
			return nil, s.endReason()
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("no answer to %s", methods[k])
		case f.Error != nil && jsonscan.ValueOf(f.Error).Member("code") == "-32601":
			return entries, nil // an error here means that the server has no such list
		case f.Error != nil:
			return nil, fmt.Errorf("%s is refused", methods[k])
		}
		result := jsonscan.ValueOf(f.Result)
		if size += len(f.Result); size > most {
			return nil, fmt.Errorf("its list is too long: more than %d KiB", most>>10)
		}
		for value := range result.Member(k.shape().Entries).Elements() {
			if e, ok := s.readEntry(k, value); ok {
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

// nextPage is a pager for goroutines other than the server's.
func (s *server) nextPage(on *conn, k kind, cursor []byte) <-chan frame.Frame {
	answer := make(chan frame.Frame, 1)
	s.postJob(job{starts: true, run: func(now *conn, _ error) {
		if now != on {
			close(answer)
			return
		}
		on.requestAnswer(methods[k], on.requestParams(string(cursor)), answer)
	}})
	return answer
}

// readEntry returns one entry in the form for the client. ok is false when the entry has no name or
// this client must not get it.
func (s *server) readEntry(k kind, value jsonscan.Value) (e entry, ok bool) {
	raw := bytes.Clone(value.Bytes()) // a copy, so that the large buffer of the answer can be freed
	value = jsonscan.ValueOf(raw)
	name := value.Member(k.shape().Name)
	if name.Kind() != jsonscan.String {
		return e, false
	}
	original := string([]byte(name.Text()))
	if k == tools && !s.offersTool(original) {
		return e, false
	}
	e = entry{original: original, advertised: original, raw: raw}
	if k == resources || k == templates {
		other, _ := s.h.findByURIPrefix(original)
		return e, other == nil || other == s // a URI with the prefix of a server belongs only to that server
	}
	e.advertised = upstream.AdvertisedName(s.ID, s.Prefix, original)
	edits := []frame.Edit{{Part: name.Bytes(), Token: quoteJSON(e.advertised)}}
	if text := value.Member("description"); s.h.o.PrefixDescriptions && text.Kind() == jsonscan.String {
		edits = append(edits, frame.Edit{Part: text.Bytes(), Token: append([]byte(`"[`+s.ID+`] `), text[1:]...)})
	}
	e.raw = frame.SpliceAll(raw, edits...)
	return e, true
}

func (s *server) offersTool(tool string) bool { return s.Offers == nil || s.Offers(tool) }
