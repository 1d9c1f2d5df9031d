package pinning

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Ask asks a person to approve the differences in a server's lists. answered is false if no person
// has answered.
type Ask func(ctx context.Context, server string, all []pin.Difference) (approved, answered bool)

// ClientPins compares the servers of one client with the approved entries. It is safe for
// concurrent use.
type ClientPins struct {
	store *Store
	ask   Ask
	told  func() // called when a person has approved something
	ctx   context.Context
	end   context.CancelFunc // ends ctx
	asks  sync.WaitGroup     // the goroutines that wait for a person

	mu      sync.Mutex // guards the fields below
	servers map[string]*sight
}

// sight holds what one server has listed to one client. Each sight has its own mutex, so that a
// slow server does not delay other servers.
type sight struct {
	mu     sync.Mutex // guards the fields below
	served pin.SelfDescription
	unwritten
	page   [len(pin.Kinds)]map[string]bool // names on the pages of the current list so far, per kind; nil between lists
	first  [len(pin.Kinds)]bool            // true if the current list is the server's first on this machine, per kind
	asked  map[string]bool                 // digests that this session has asked about
	asking bool                            // a question about this server waits for a person
}

// unwritten is the part of a paged list that is not in the state file yet. It is written when it
// has as many pages as the written part. So the total cost is linear in the length of the list.
type unwritten struct {
	listed   []pin.Entry
	approved pin.SelfDescription // entries of the server's first list, which are approved
	pages    int                 // number of pages that are not in the state file yet
	written  int                 // number of pages of the list that are in the state file
}

// isDue counts one page and reports whether the state must be written now. It must be written after
// the first page, after the last page, and when there are as many unwritten pages as written ones.
func (u *unwritten) isDue(begins, last bool) bool {
	if begins {
		u.written = 0
	}
	u.pages++
	return begins || last || u.pages >= u.written
}

// mergeInto adds the unwritten part to a state. If the state is too large, mergeInto keeps only the
// entries in the parameter kept.
func (u *unwritten) mergeInto(st *pin.State, kept *pin.SelfDescription) (changed bool) {
	for _, e := range u.listed {
		changed = putEntry(&st.Served, e) || changed
	}
	for _, kind := range pin.Kinds {
		for _, e := range u.approved.Entries(kind) {
			if _, had := st.Approved.FindEntry(kind, e.Name); !had {
				st.Approved.PutEntry(e)
				changed = true
			}
		}
		if st.Served.Len(kind) > maxServed || st.Served.Size() > maxBytes { // other sessions have added too many entries
			changed = st.Served.RetainEntries(kind, func(name string) bool {
				_, shown := kept.FindEntry(kind, name)
				return shown
			}) || changed
		}
	}
	return changed
}

// hasDifference reports whether the unwritten part would change a state. The parameter whole holds
// the names of a complete list; it is nil before the last page. If it is not nil, a state with
// another number of entries also differs.
func (u *unwritten) hasDifference(st *pin.State, kind pin.EntryKind, whole map[string]bool) bool {
	for _, e := range u.listed {
		if was, had := st.Served.FindEntry(e.Kind, e.Name); !had || !bytes.Equal(was.Text(), e.Text()) {
			return true
		}
	}
	for _, kind := range pin.Kinds {
		if u.approved.Len(kind) > 0 {
			return true
		}
	}
	return whole != nil && st.Served.Len(kind) != len(whole)
}

// markWritten notes that the unwritten part is in the state file now.
func (u *unwritten) markWritten() { *u = unwritten{written: u.written + u.pages} }

// NewSession returns the pins of one client. They ask a person with the function in the parameter
// ask. If this function is nil, no person is asked. They call the function in the parameter told
// when the person has approved something.
func NewSession(store *Store, ask Ask, told func()) *ClientPins {
	s := &ClientPins{store: store, ask: ask, told: told, servers: map[string]*sight{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Close cancels open questions, waits until they have ended, and writes unfinished lists.
func (s *ClientPins) Close() {
	s.end()
	s.asks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for server, one := range s.servers {
		one.mu.Lock()
		if one.pages > 0 { // an error is ignored: the next session then treats these pages as new
			_ = s.store.ChangeState(server, func(st *pin.State) (bool, error) { return one.mergeInto(st, &one.served), nil })
		}
		one.mu.Unlock()
	}
}

// Fate is the result for one entry of a list. The zero value lets the entry pass unchanged.
type Fate struct {
	Class pin.Class // how the entry differs from the approved entry; 0 for no difference
	Out   bool      // the entry is left out
	With  []byte    // text that replaces the entry; nil for no change
}

// For each server, maxServed limits the number of stored entries of a kind, and maxBytes the total
// size of the stored entries of all kinds.
const (
	maxServed = 10_000
	maxBytes  = 8 << 20
)

// base holds the approved entries for comparisons with lists.
type base struct {
	mode     policy.Pin
	approved pin.SelfDescription
	first    *pin.SelfDescription // entries of the server's first list, which are approved and not in the state yet; nil for none
	lock     bool                 // approved comes from a project's lock, so no person is asked
	state    *pin.State
}

// approvedEntry returns the approved form of an entry. The result had is false if no entry of that
// name was approved.
func (b *base) approvedEntry(kind pin.EntryKind, name string) (e pin.Entry, had bool) {
	if e, had = b.approved.FindEntry(kind, name); !had && b.first != nil && !b.lock && b.mode == policy.PinFirst {
		e, had = b.first.FindEntry(kind, name)
	}
	return e, had
}

func (s *ClientPins) loadBase(server string, mode policy.Pin) (base, error) {
	state, err := s.store.LoadState(server)
	if err != nil {
		return base{}, err
	}
	return s.makeBase(state, mode)
}

// makeBase returns the approved entries for comparisons with lists, in a mode.
func (s *ClientPins) makeBase(state *pin.State, mode policy.Pin) (b base, err error) {
	b = base{mode: mode, state: state}
	if mode == policy.PinRecord { // PinRecord only reports changes since the last list
		b.approved = state.Served
		return b, nil
	}
	if b.approved, b.lock, err = s.store.LoadLock(state.Server); err == nil && !b.lock && mode != policy.PinLock {
		b.approved = state.Approved
	}
	return b, err
}

// asksPerson reports whether a person is asked about differences.
func (b *base) asksPerson() bool {
	return !b.lock && (b.mode == policy.PinAsk || b.mode == policy.PinFirst)
}

// entryFate returns the result for an entry. among holds the entries that the server has listed.
func (b *base) entryFate(e pin.Entry, among *pin.SelfDescription) Fate {
	was, had := b.approvedEntry(e.Kind, e.Name)
	var changes []pin.Change
	if had {
		changes = pin.DiffEntries(was, e)
	} else if b.mode != policy.PinRecord || slices.Contains(b.state.Sighted, e.Kind) {
		changes = pin.NewEntryChanges(e, among)
	}
	if len(changes) == 0 {
		return Fate{}
	}
	f := Fate{Class: pin.GravestClass(changes)}
	switch {
	case b.mode == policy.PinRecord || !f.Class.NeedsApproval():
	case had && changesOnlyTexts(changes):
		f.With = was.Text()
	default:
		f.Out = true
	}
	return f
}

// changesOnlyTexts reports whether the changes that need approval are only in texts for the model.
// Then the client can use the approved entry, because a call still means the same to the server.
func changesOnlyTexts(changes []pin.Change) bool {
	return !slices.ContainsFunc(changes, func(c pin.Change) bool { return c.Class.NeedsApproval() && c.Class != pin.Text })
}

func (s *ClientPins) serverSight(server string) *sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.servers[server]
	if one == nil {
		one = &sight{asked: map[string]bool{}}
		s.servers[server] = one
	}
	return one
}

// Page is the position of a page in a list. The zero value is the first page of several.
type Page struct {
	Further bool // the client has asked for a page after the first
	Last    bool // no page follows
}

// JudgeEntries returns the results for the entries of one page of a list, in order. After an error
// no entry may pass.
func (s *ClientPins) JudgeEntries(server string, mode policy.Pin, kind pin.EntryKind, raw [][]byte, which Page) ([]Fate, error) {
	raw = maskEntries(s.store.knownValues(), raw)
	one := s.serverSight(server)
	one.mu.Lock()
	defer one.mu.Unlock()
	var fates []Fate
	asks := false
	read := func(st *pin.State) (whole map[string]bool, err error) {
		b, err := s.makeBase(st, mode)
		if err != nil {
			return nil, err
		}
		b.first = &one.approved
		become, page := one.readPage(&b, kind, raw, which.Further)
		fates, asks = become, b.asksPerson()
		return one.turnPage(kind, page, which.Last), nil
	}
	due := one.isDue(one.page[kind] == nil || !which.Further, which.Last)
	st, err := s.store.LoadState(server)
	if err != nil {
		return nil, err
	}
	var whole map[string]bool
	// An unknown list may be the first list, which PinFirst approves. Such a list must be judged
	// under the store's lock.
	known := slices.Contains(st.Sighted, kind)
	if known {
		if whole, err = read(st); err != nil {
			return nil, err
		}
	}
	if !known || due && one.hasDifference(st, kind, whole) {
		err = s.store.ChangeState(server, func(st *pin.State) (changed bool, err error) {
			if !known {
				if whole, err = read(st); err != nil {
					return false, err
				}
			}
			changed = one.mergeInto(st, &one.served)
			if whole != nil {
				changed = st.Served.RetainEntries(kind, func(name string) bool { return whole[name] }) || changed
			}
			return markSighted(st, kind) || changed, nil
		})
	}
	if err != nil {
		return fates, err
	}
	if due || !known {
		one.markWritten()
	}
	if which.Last && asks {
		s.askDifferences(server, mode, one)
	}
	return fates, nil
}

// maskEntries returns the entries with known secret values masked, so that the state does not store
// these values.
func maskEntries(k *redact.Known, raw [][]byte) [][]byte {
	if k == nil {
		return raw
	}
	masked := make([][]byte, len(raw))
	for i, entry := range raw {
		masked[i] = k.MaskJSON(entry)
	}
	return masked
}

// markSighted notes that the server has listed a kind. It returns true the first time.
func markSighted(st *pin.State, kind pin.EntryKind) (first bool) {
	if slices.Contains(st.Sighted, kind) {
		return false
	}
	st.Sighted = append(st.Sighted, kind)
	return true
}

// readPage returns the results for the entries of a page, and the names of the accepted entries. It
// adds entries of the server's first list to one.approved, because these are approved.
func (one *sight) readPage(b *base, kind pin.EntryKind, raw [][]byte, further bool) (fates []Fate, names map[string]bool) {
	fates, names = make([]Fate, len(raw)), make(map[string]bool, len(raw))
	one.first[kind] = one.first[kind] || !slices.Contains(b.state.Sighted, kind)
	var all []pin.Entry // the entries of a later page; nil for the first page
	if begun := one.page[kind]; begun != nil {
		for i := range raw {
			e, _ := pin.Read(kind, raw[i])
			all, further = append(all, e), further && !begun[e.Name]
		}
		if !further { // the client reads the list anew, so this is not the first list any more
			one.page[kind], one.first[kind] = nil, false
		}
	}
	for i := range raw {
		var e pin.Entry
		if all != nil {
			e = all[i]
		} else {
			e, _ = pin.Read(kind, raw[i])
		}
		if e.Name == "" || names[e.Name] || one.served.Len(kind) >= maxServed || one.served.Size()+len(e.Text()) > maxBytes {
			fates[i] = Fate{Class: pin.Refused, Out: b.mode != policy.PinRecord}
			continue
		}
		names[e.Name] = true
		if was, had := b.state.Served.FindEntry(kind, e.Name); had && bytes.Equal(was.Text(), e.Text()) {
			e = was // so that only one copy of the text stays in memory
		}
		one.served.PutEntry(e)
		one.listed = append(one.listed, e)
		f := b.entryFate(e, &one.served)
		if first := b.mode == policy.PinFirst && !b.lock && one.first[kind]; first && f.Class == pin.Added {
			f = Fate{}
			one.approved.PutEntry(e)
		}
		fates[i] = f
	}
	return fates, names
}

// turnPage adds the names of a page to the current list. The last page ends the list, and turnPage
// then returns all names of the list. For other pages it returns nil.
func (one *sight) turnPage(kind pin.EntryKind, page map[string]bool, last bool) (whole map[string]bool) {
	if one.page[kind] == nil {
		one.page[kind] = page
	} else {
		maps.Copy(one.page[kind], page)
	}
	if !last {
		return nil
	}
	whole, one.page[kind], one.first[kind] = one.page[kind], nil, false
	one.served.RetainEntries(kind, func(name string) bool { return whole[name] })
	return whole
}

func putEntry(to *pin.SelfDescription, e pin.Entry) (changed bool) {
	if was, had := to.FindEntry(e.Kind, e.Name); had && bytes.Equal(was.Text(), e.Text()) {
		return false
	}
	to.PutEntry(e)
	return true
}

// JudgeInstructions returns the result for a server's instructions. class tells how they differ
// from the approved instructions; 0 means no difference. JudgeInstructions also returns the text
// that replaces the instructions; nil means no change.
func (s *ClientPins) JudgeInstructions(server string, mode policy.Pin, instructions, version string) (class pin.Class, with *string, err error) {
	k := s.store.knownValues()
	instructions, version = k.MaskText(instructions), k.MaskText(version)
	one := s.serverSight(server)
	one.mu.Lock()
	defer one.mu.Unlock()
	is := &one.served
	is.Instructions, is.Version = instructions, version
	err = s.store.ChangeState(server, func(st *pin.State) (bool, error) {
		b, err := s.makeBase(st, mode)
		if err != nil {
			return false, err
		}
		changes := pin.CompareInstructions(&b.approved, is)
		same := st.Served.Instructions == instructions && st.Served.Version == version
		st.Served.Instructions, st.Served.Version = instructions, version
		first := markSighted(st, pin.Itself)
		if class = pin.GravestClass(changes); len(changes) == 0 || mode == policy.PinRecord && first {
			class = 0
			return first || !same, nil
		}
		switch {
		case mode == policy.PinFirst && !b.lock && first && class != pin.Refused:
			class = 0
			st.Approved.Instructions, st.Approved.Version = instructions, version
		case mode != policy.PinRecord:
			with = &b.approved.Instructions
		}
		return first || !same, nil
	})
	return class, with, err
}

// ShownEntry returns an entry in the form in which the client sees it; known is false if the client
// sees no such entry.
func (s *ClientPins) ShownEntry(server string, mode policy.Pin, kind pin.EntryKind, name string) (text []byte, known bool) {
	name = s.store.knownValues().MaskText(name)
	one := s.serverSight(server)
	one.mu.Lock()
	defer one.mu.Unlock()
	b, err := s.loadBase(server, mode)
	if err != nil {
		return nil, false
	}
	b.first = &one.approved
	among := &b.state.Served
	is, known := among.FindEntry(kind, name)
	if !known && one.pages > 0 {
		among = &one.served
		is, known = among.FindEntry(kind, name)
	}
	if !known {
		is, known = b.approved.FindEntry(kind, name)
		return is.Text(), known
	}
	switch f := b.entryFate(is, among); {
	case f.Out:
		return nil, false
	case f.With != nil:
		return f.With, true
	}
	return is.Text(), true
}

// BlockReason returns the reason why a tool or a prompt may not be called; "" if the call is
// allowed. If the server has not listed the entry to this client, BlockReason judges the entry in
// the state.
func (s *ClientPins) BlockReason(server string, mode policy.Pin, kind pin.EntryKind, name string) (why string) {
	if mode <= policy.PinRecord {
		return ""
	}
	name = s.store.knownValues().MaskText(name)
	one := s.serverSight(server)
	one.mu.Lock()
	defer one.mu.Unlock()
	b, err := s.loadBase(server, mode)
	if err != nil {
		return "what was approved of the server cannot be read; tell the owner"
	}
	how := fmt.Sprintf("the owner sees what changed, and takes it, with: clawai lock accept %q", server)
	if b.lock || mode == policy.PinLock {
		how = "the owner takes it with: clawai lock, then clawai lock trust"
	}
	b.first = &one.approved
	was, had := b.approvedEntry(kind, name)
	if !had {
		return fmt.Sprintf("the owner has not approved this %s of the server; %s", kind, how)
	}
	is, listed := one.served.FindEntry(kind, name)
	if !listed {
		is, listed = b.state.Served.FindEntry(kind, name)
	}
	changes := pin.DiffEntries(was, is)
	if !listed || !pin.GravestClass(changes).NeedsApproval() || len(changes) == 0 || changesOnlyTexts(changes) {
		return ""
	}
	return fmt.Sprintf("the server's %s is not the one that the owner has approved; %s", kind, how)
}
