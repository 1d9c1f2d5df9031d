package reply

import (
	"encoding/base64"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The kinds that this package finds besides those in texts.
const (
	Marker = "marker" // a mark for a withheld text
	Fence  = "fence"  // a mark that imitates our fence around a server's text
	Schema = "schema" // a value that does not fit its promised schema
	Link   = "link"   // an address that leads into the reader's machine or network, or away from the server's origin
)

// Limits of one search. The parts of a message beyond a limit are reported as unscreened.
const (
	maxText   = 4 << 20 // total length of the searched strings in bytes
	maxFound  = 256     // findings of one kind; after these, later strings are not searched fully for this kind
	maxCut    = 4096    // strings that were not searched fully; at this number the search ends
	maxLevels = 4       // levels of JSON inside a JSON string
)

// Finding is one finding in a message.
type Finding struct {
	Kind    string
	What    string // description, never a part of the message
	Pointer string // JSON pointer of the string with the finding: /result/content/0/text
	Entry   int    // index of the list entry, from 0; -1 outside lists
	// Fixed means that the text at this place must not be altered, because it is a number, a blob
	// or a part of a request to the client.
	Fixed bool
	// If the finding stands for a string that was not searched fully (Kind is then unscreened), Of
	// is the kind of findings that the string may still hold. It is "" if this kind is unknown.
	Of string

	start, end int    // offsets in the message
	value      string // the found text
}

// Wanted tells what a search looks for.
type Wanted struct {
	Texts  inspect.Kinds
	Any    bool // Texts is used; otherwise no text is searched
	Marker bool
	Shown  []string // escapes that count as findings of kind Marker, from Numbers.ShownEscapes
	Fence  bool
	Link   bool
	Server string // the server's URL, for Link; "" for a server without one
	Schema bool   // not used here: the caller has the schemas and calls CheckSchema

	words []string // all kinds as written; "*" for any
	names *quietNames
}

// quietNames are names of members in which a search has found nothing. They are not searched again:
// servers use the same few names in each message, and the findings in a name depend only on the
// name and on Wanted.
type quietNames struct {
	known   atomic.Pointer[map[string]bool]
	closely *quietNames // the quiet names for a search with WithCloseLook
}

// Limits of quietNames.
const (
	maxQuiet = 64 // number of names
	longName = 32 // length of a name in bytes
)

func (q *quietNames) hasName(name string) bool {
	if q == nil {
		return false
	}
	known := q.known.Load()
	return known != nil && (*known)[name]
}

// addName adds a name in which nothing was found. It does not add a name with "<" or a backslash.
// The reason is that Wanted.Shown grows, and an escape in it may later be found in such a name:
// each escape begins with "<", and JSON inside the name may write "<" with a backslash.
func (q *quietNames) addName(name string) {
	if q == nil || len(name) > longName || strings.ContainsAny(name, `<\`) {
		return
	}
	before, after := q.known.Load(), map[string]bool{strings.Clone(name): true}
	if before != nil {
		if len(*before) >= maxQuiet {
			return
		}
		maps.Copy(after, *before)
	}
	q.known.CompareAndSwap(before, &after) // if another search has added a name in the meantime, this name is not added now, but by a later search
}

// ParseWanted parses kinds, including those of the owner's packs.
func ParseWanted(words []string, own ...*inspect.Pack) (w Wanted, err error) {
	var texts []string
	w.words, w.names = slices.Clone(words), &quietNames{closely: &quietNames{}}
	for _, k := range words {
		switch k {
		case "*":
			w.Marker, w.Fence, w.Link, w.Schema = true, true, true, true
			texts = append(texts, k)
		case Marker:
			w.Marker = true
		case Fence:
			w.Fence = true
		case Link:
			w.Link = true
		case Schema:
			w.Schema = true
		default:
			texts = append(texts, k)
		}
	}
	if w.Any = len(texts) > 0; w.Any {
		w.Texts, err = inspect.ParseKinds(texts, own...)
	}
	return w, err
}

// Message is an inspected message.
type Message struct {
	Findings []Finding
	raw      []byte
	root     string        // pointer of the payload: /result
	payload  span          // the result, error or params: an object, or any value for an error
	method   string        // the method of the request that the message answers; the message's own method if it answers no request
	list     mcp.ListShape // zero outside lists
	whole    bool          // the search reached the end
	wanted   []string
	index    jsonscan.Index   // index of the payload
	entries  []jsonscan.Value // entries of a list, in order
}

func (m *Message) isList() bool { return m.list != mcp.ListShape{} }

// IsWhole reports whether all of the message was searched for all kinds.
func (m *Message) IsWhole() bool { return m.whole && len(m.DoubtfulKinds()) == 0 }

// ReachedEnd reports whether the search reached the end of the message.
func (m *Message) ReachedEnd() bool { return m.whole }

// DoubtfulKinds returns, sorted and without repeats, the kinds that may occur in parts that were
// not searched. "*" means all kinds.
func (m *Message) DoubtfulKinds() (kinds []string) {
	if !m.whole {
		kinds = slices.DeleteFunc(slices.Clone(m.wanted), func(k string) bool { return k == Schema }) // the schema check covers the whole message
	}
	for i := range m.Findings {
		if kind := m.Findings[i].Of; kind != "" {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// JudgedKinds returns the kinds that rules judge: found kinds, and kinds that may occur in parts
// that were not searched.
func (m *Message) JudgedKinds() []string {
	all := append(m.FoundKinds(), m.DoubtfulKinds()...)
	slices.Sort(all)
	return slices.Compact(all)
}

type span struct{ start, end int }

// isHandshake reports whether a server describes itself in the results of a method.
func isHandshake(method string) bool { return method == "initialize" || method == "server/discover" }

// IsList reports whether the answers to a method are lists.
func IsList(method string) bool { return mcp.ListOf(method) != mcp.ListShape{} }

// errNothing means that a message has no payload.
var errNothing = errors.New("the message carries nothing that could be looked at")

// InspectMessage searches a message. The message answers a request with the given method, or it
// came by itself. f is the frame from internal/wire/frame.
func InspectMessage(f *frame.Frame, method string, wanted Wanted) (*Message, error) {
	m := &Message{}
	return m, m.InspectFrame(f, method, wanted)
}

// InspectFrame does the work of InspectMessage in m, whose memory is used again.
func (m *Message) InspectFrame(f *frame.Frame, method string, wanted Wanted) error {
	*m = Message{raw: f.Raw, method: method, list: mcp.ListOf(method), whole: true, wanted: wanted.words}
	part := f.Result
	switch {
	case part != nil:
		m.root = "/result"
	case f.Error != nil:
		m.root, part, m.list = "/error", f.Error, mcp.ListShape{}
	case f.Params != nil:
		m.root, part, m.list = "/params", f.Params, mcp.ListShape{}
	default:
		return errNothing
	}
	start := m.offsetOf(jsonscan.ValueOf(part))
	m.payload, m.index = span{start, start + len(part)}, f.Index
	if m.isList() {
		m.entries = slices.Collect(m.findMember(m.list.Entries).Elements())
	}
	if m.isList() || isHandshake(method) {
		wanted.Texts = wanted.Texts.WithCloseLook()
		if wanted.names != nil {
			wanted.names = wanted.names.closely
		}
	}
	room := maxText
	if m.isList() && !wanted.Any && !wanted.Marker && !wanted.Link { // in this case only marks are searched for, which is fast
		room = len(part)
	}
	if !m.searchValue(part, start, wanted, room) && m.whole {
		return errors.New("the message cannot be read as JSON")
	}
	if m.hasSecondName() {
		return errSecondName
	}
	return nil
}

// search is the state of one search. It is reused for later searches, because a new state for each
// search would cost allocations.
type search struct {
	looker
	walker
	first [8]string // memory for the walker's path
}

var searches = sync.Pool{New: func() any {
	s := &search{}
	s.see = func(name, value token) (string, bool) { return s.inspectToken(s.path, name, value) }
	s.pass = func(path []string, name, rest string) bool { return s.m.isUnread(path, name, rest) }
	return s
}}

// maxScratch is the size up to which the buffer of a search is kept.
const maxScratch = 64 << 10

// searchValue searches a value that begins at the offset base of the message. It returns false if the search ended before
// the end of the value.
func (m *Message) searchValue(value []byte, base int, wanted Wanted, room int) bool {
	s := searches.Get().(*search)
	s.looker = looker{m: m, wanted: wanted, room: room, scratch: s.scratch}
	s.c, s.base, s.path = jsonscan.Cursor{Src: string(jsonscan.ValueOf(value))}, base, s.first[:0]
	ok := s.walkValue()
	s.looker = looker{scratch: s.scratch[:0]}
	if cap(s.scratch) > maxScratch {
		s.scratch = nil
	}
	s.c, s.path, s.first = jsonscan.Cursor{}, nil, [len(s.first)]string{}
	searches.Put(s)
	return ok
}

// errSecondName is the error for a list that clients may read in different ways, so that rules
// cannot judge it for every client.
var errSecondName = errors.New(`the list has a member such as "Name" beside "name", or "Tools": some clients read it as that, so the entries have other names there`)

// hasSecondName reports whether a client that ignores the case of member names would find another
// list than this package, or another name of an entry.
func (m *Message) hasSecondName() bool {
	if !m.isList() {
		return false
	}
	other := func(all iter.Seq2[jsonscan.Value, jsonscan.Value], known string, is jsonscan.Value) bool {
		for key, value := range all {
			if name := key.Text(); name != known && frame.FoldsTo(name, known) && value != is {
				return true
			}
		}
		return false
	}
	if other(m.members(), m.list.Entries, m.findMember(m.list.Entries)) {
		return true
	}
	return slices.ContainsFunc(m.entries, func(entry jsonscan.Value) bool {
		return other(entry.Members(), m.list.Name, entry.Member(m.list.Name))
	})
}

// isUnread reports whether an opaque member's value is one ASCII word, as ids and cursors are. Such
// a value needs no search.
func (m *Message) isUnread(path []string, name, rest string) bool {
	if !m.isOpaque(path, name, rest) {
		return false
	}
	said, isText := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), `"`)
	end := strings.IndexFunc(said, func(r rune) bool { return isOutsideWord(r) || r == '"' || r == '\\' })
	return !isText || end >= 0 && said[end] == '"'
}

// isOpaque reports whether a member in answers to the method belongs to the server or the
// protocol, and the client returns it unchanged.
func (m *Message) isOpaque(path []string, name, _ string) bool {
	switch {
	case m.root == "/error" || len(path) > 1:
		return false
	case len(path) == 1:
		return m.root == "/result" && path[0] == "task" && name == "taskId"
	}
	switch name {
	case "nextCursor":
		return m.root == "/result" && (strings.HasSuffix(m.method, "/list") || m.method == "resources/directory/read")
	case "requestState":
		return m.root == "/result" && m.findMember("resultType").Text() == "input_required"
	case "taskId":
		return strings.HasPrefix(m.method, "tasks/") || strings.HasPrefix(m.method, "notifications/tasks")
	case "progressToken":
		return m.method == "notifications/progress"
	case "requestId":
		return m.method == "notifications/cancelled"
	}
	return false
}

// looker searches one message.
type looker struct {
	m       *Message
	wanted  Wanted
	room    int // bytes that may still be searched
	cut     int // strings that were not searched fully
	doubted int // start of the last such string; doubts are the kinds that it may still hold
	doubts  []string
	counts  map[string]int // findings by kind
	scratch []byte
}

// inspectToken searches a member or an element.
func (l *looker) inspectToken(path []string, name, value token) (segment string, ok bool) {
	at := place{path: path[:len(path)-1], entry: l.entryIndex(path)}
	segment = name.said
	if blob := value.said; l.isBlob(path, name, value) && isPicture(blob) || isPicture(dataOf(blob)) {
		return segment, true
	}
	if l.room -= len(name.said) + len(value.said); l.room < 0 {
		l.noteUnscreened(at, "the rest of a long message")
		return segment, false
	}
	if value.end == 0 || name.end == 0 { // a name without a value, or a value without a name
		t := value
		if value.end == 0 {
			t = name
		} else {
			at.path = path
		}
		if t.end == 0 || isDull(t.said) {
			return segment, true
		}
		if name.end > 0 && l.wanted.names.hasName(name.said) {
			return segment, true
		}
		found := l.inspectText(t.said)
		switch {
		case name.end == 0:
		case len(found) > 0:
			segment = "*"
		default:
			l.wanted.names.addName(name.said)
		}
		return segment, l.addFindings(at, t, 0, found)
	}
	// Detectors also use the name of a value.
	if isDull(name.said) && (isDull(value.said) || value.number && len(value.said) < 9) {
		return segment, true
	}
	l.scratch = slices.Grow(l.scratch[:0], len(name.said)+len(nameEnd)+len(value.said))
	l.scratch = append(append(append(l.scratch, name.said...), nameEnd...), value.said...)
	found := l.lookFlat(string(jsonscan.ValueOf(l.scratch)))
	if l.wanted.Any && redact.IsNamedBeside(name.said, l.m.raw[:name.start], l.m.raw[value.end:]) {
		found = l.addNamedBeside(found, name.said, value.said)
	}
	for _, f := range inspectNested(value.said, nil, 1, l.lookFlat) {
		f.Start, f.End = f.Start+len(name.said)+len(nameEnd), f.End+len(name.said)+len(nameEnd)
		if !isCovered(found, f) {
			found = append(found, f)
		}
	}
	if l.wanted.Link && !value.number && isLink(path, name.said) {
		if what := checkAddress(value.said, name.said == "src", l.wanted.Server); what != "" {
			from := len(name.said) + len(nameEnd)
			found = append(found, inspect.Found{Kind: Link, What: what, Start: from, End: from + len(value.said)})
		}
	}
	if len(found) == 0 && !l.isBlob(path, name, value) {
		return segment, true
	}
	if slices.ContainsFunc(found, func(f inspect.Found) bool { return f.Start < len(name.said) }) {
		segment = "*"
	}
	path[len(path)-1] = segment
	if !l.addFindings(at, name, 0, found) {
		return segment, false
	}
	at.path = path
	blob := l.isBlob(path, name, value)
	if !(blob && isBase64(value.said)) && !l.addFindings(at, value, len(name.said)+len(nameEnd), found) {
		return segment, false
	}
	return segment, !blob || l.addBlob(at, value)
}

// addNamedBeside adds the findings in a value that is a secret according to another member of its
// object, for example "name":"password".
func (l *looker) addNamedBeside(found []inspect.Found, name, value string) []inspect.Found {
	const before = `"name":"password","value":"`
	for _, f := range l.lookFlat(before + value + `"`) {
		f.Start, f.End = f.Start-len(before)+len(name)+len(nameEnd), f.End-len(before)+len(name)+len(nameEnd)
		if f.Start >= len(name) && f.End <= len(name)+len(nameEnd)+len(value) && !isCovered(found, f) {
			found = append(found, f)
		}
	}
	return found
}

// nameEnd joins a name and its value into one text, which is then searched for findings.
const nameEnd = `":"`

// isDull reports whether a text is too short and plain to hold anything, with or without a name
// for it.
func isDull(s string) bool {
	if len(s) > 5 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '<' {
			return false
		}
	}
	return true
}

// place is the position of a token.
type place struct {
	path  []string
	entry int
}

// entryIndex returns the index of the list entry that a path leads into, -1 for none.
func (l *looker) entryIndex(path []string) int {
	if !l.m.isList() || len(path) < 2 || path[0] != l.m.list.Entries {
		return -1
	}
	n, err := strconv.Atoi(path[1])
	if err != nil {
		return -1
	}
	return n
}

// inspectText returns all wanted findings in a text.
func (l *looker) inspectText(text string) (found []inspect.Found) {
	return inspectNested(text, l.lookFlat(text), 1, l.lookFlat)
}

// lookFlat does the work of inspectText without nested JSON.
func (l *looker) lookFlat(text string) (found []inspect.Found) {
	if l.wanted.Any {
		found = inspect.SearchText(text, l.wanted.Texts)
	}
	if l.wanted.Marker || l.wanted.Fence {
		found = append(found, findMarks(text, l.wanted.Marker, l.wanted.Fence)...)
	}
	if l.wanted.Marker {
		found = append(found, findEscapes(text, l.wanted.Shown)...)
	}
	return found
}

// addFindings adds the findings that lie in the token t. The parameter from is the offset in the
// searched text at which t begins. addFindings returns false when the search must end.
func (l *looker) addFindings(at place, t token, from int, found []inspect.Found) bool {
	for i := range found {
		start, end := max(found[i].Start-from, 0), min(found[i].End-from, len(t.said))
		if start >= end {
			continue
		}
		f := Finding{Pointer: formatPointer(l.m.root, at.path), Entry: at.entry, Fixed: t.number || l.isFixed(at.path), start: t.start, end: t.end}
		switch l.setKind(&f, t, &found[i]) {
		case full:
			l.noteUnscreened(at, "behind too many findings")
			return false
		case again:
			continue
		case asDoubt:
			start, end = 0, len(t.said)
		}
		if f.value = strings.Clone(t.said[start:end]); !t.number {
			f.start, f.end = t.rawSpan(l.m.raw, start, end)
		}
		l.m.Findings = append(l.m.Findings, f)
	}
	return true
}

// kindOutcome says how setKind has counted a finding.
type kindOutcome int

const (
	asFound kindOutcome = iota
	asDoubt             // the finding stands for a string that was not searched fully for a kind
	again               // such a string has already been reported for this kind
	full                // the limit is reached
)

// setKind sets the kind of f from a finding, within the limits.
func (l *looker) setKind(f *Finding, t token, one *inspect.Found) kindOutcome {
	if f.Kind, f.What, f.Of = string(one.Kind), one.What, string(one.Of); one.Kind != inspect.Unscreened {
		if l.counts == nil {
			l.counts = map[string]int{}
		}
		if l.counts[f.Kind]++; l.counts[f.Kind] <= maxFound {
			return asFound
		}
		f.Kind, f.What, f.Of = string(inspect.Unscreened), "behind too many findings", f.Kind
	}
	if l.doubted != t.start {
		l.doubted, l.doubts = t.start, l.doubts[:0]
	}
	switch {
	case slices.Contains(l.doubts, f.Of):
		return again
	case f.Of == "" || l.cut == maxCut:
		return full
	}
	l.doubts = append(l.doubts, f.Of)
	l.cut++
	return asDoubt
}

// noteUnscreened records that the message was not searched fully.
func (l *looker) noteUnscreened(at place, what string) {
	l.m.whole = false
	l.m.Findings = append(l.m.Findings, Finding{Kind: string(inspect.Unscreened), What: what, Pointer: formatPointer(l.m.root, at.path), Entry: at.entry, Fixed: true})
}

// isFixed reports whether a place is in a request to the client, which is judged unchanged, or in
// a member that the client returns unchanged.
func (l *looker) isFixed(path []string) bool {
	last := len(path) - 1
	return last >= 0 && (path[0] == "inputRequests" || l.m.isOpaque(path[:last], path[last], ""))
}

// isBlob reports whether a value is at a place where servers send base64.
func (l *looker) isBlob(path []string, name, value token) bool {
	if name.said != "blob" && name.said != "data" || len(value.said) < 24 {
		return false
	}
	if path[0] == "result" && len(path) > 1 { // result of a task
		path = path[1:]
	}
	switch path[0] {
	case "content", "contents", "messages":
		return len(path) > 2
	}
	return false
}

// addBlob searches a blob that is text.
func (l *looker) addBlob(at place, t token) bool {
	b := ofUTF16(decodeBlob(t.said))
	if !isTextual(b) {
		return true
	}
	text := token{start: t.start, end: t.end, said: string(b), number: true} // no part of it can be altered
	return l.addFindings(at, text, 0, l.inspectText(text.said))
}

// dataOf returns the base64 of a URL such as data:image/png;base64,… (RFC 2397); "" for any other text.
func dataOf(said string) string {
	rest, is := strings.CutPrefix(said, "data:")
	head, data, found := strings.Cut(rest, ",")
	if !is || !found || len(head) > 100 || !strings.HasSuffix(head, ";base64") {
		return ""
	}
	return data
}

// isPicture reports whether a long blob is not text, such as a screenshot. Nothing can be found
// in it, so it does not use up the limit for texts.
func isPicture(said string) bool {
	const long = 4 << 10
	return len(said) >= long && isBase64(said) && !isTextual(ofUTF16(decodeBlob(said)))
}

// isBase64 reports whether a text is base64 as in MCP (RFC 4648, 4), with or without line ends.
// Many keys are not base64, because they contain other characters.
func isBase64(said string) bool {
	for i := range len(said) {
		c := said[i]
		if (c == '-' || c == '_' || base64Letter(rune(c)) < 0) && c != '=' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// decodeBlob decodes base64 like the most lenient clients: in either alphabet, padded or not, and
// in several pieces. It skips other characters.
func decodeBlob(said string) (b []byte) {
	for piece := range strings.SplitSeq(said, "=") {
		piece = strings.Map(base64Letter, piece)
		if len(piece)%4 == 1 { // an incomplete last byte
			piece = piece[:len(piece)-1]
		}
		b, _ = base64.RawStdEncoding.AppendDecode(b, []byte(piece))
	}
	return b
}

// base64Letter returns a letter of base64 in the standard alphabet, -1 for another character.
func base64Letter(r rune) rune {
	switch {
	case r == '-':
		return '+'
	case r == '_':
		return '/'
	case r == '+', r == '/', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	}
	return -1
}

// ofUTF16 returns UTF-16 text as UTF-8, and anything else unchanged. In UTF-16, every other byte
// of Latin text is zero.
func ofUTF16(b []byte) []byte {
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(b) / 2
	little := zeros[1]*2 > half && zeros[0]*8 < half
	if !little && !(zeros[0]*2 > half && zeros[1]*8 < half) {
		return b
	}
	units := make([]uint16, half)
	for i := range units {
		if units[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1]); little {
			units[i] = units[i]<<8 | units[i]>>8
		}
	}
	return []byte(string(utf16.Decode(units)))
}

// isTextual reports whether readers may read bytes as text. A few invalid bytes are allowed,
// because readers drop them.
func isTextual(b []byte) bool {
	const share = 16 // fewer than one byte in 16 may be invalid
	broken := 0
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r == 0 {
			broken++
		}
		rest = rest[size:]
	}
	return broken == 0 || broken*share < len(b)
}
