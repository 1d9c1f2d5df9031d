package reply

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The kinds that are found here and in no text by itself.
const (
	Marker = "marker" // a mark that stands for a text that was withheld
	Fence  = "fence"  // a mark that imitates ours around what a server sent
	Schema = "schema" // what does not fit the schema that it was promised by
	Link   = "link"   // an address that leads into the reader's machine or network, or away from the server's
)

// Bounds of one look: beyond them stands unscreened.
const (
	maxText   = 4 << 20 // bytes of strings
	maxFound  = 256     // of one kind: a further string with it was not looked at whole
	maxCut    = 4096    // strings that were not looked at whole; then the look ends
	maxLevels = 4       // of JSON in a string in JSON
)

// Finding is one thing that a message carries.
type Finding struct {
	Kind    string
	What    string // in words, never a part of the message
	Pointer string // of the string it stands in: /result/content/0/text
	Entry   int    // of a list, from 0; -1 in none
	// Fixed says that it stands where nothing may be altered: in a number, a blob, a
	// request to the client.
	Fixed bool
	// Of is, of a string that was not looked at whole (unscreened), the kind that may still
	// stand in it; "" where that is not known.
	Of string

	start, end int    // of the message
	value      string // what is said there
}

// Wanted is what a look is for.
type Wanted struct {
	Texts  inspect.Kinds
	Any    bool // Texts counts; else no text is looked into
	Marker bool
	Shown  []string // escapes that count as a Marker: Numbers.ShownEscapes
	Fence  bool
	Link   bool
	Server string // its URL, for Link; "" of one without
	Schema bool   // for the caller, who knows the schemas

	words []string // all of them, as written; "*" for any
}

// ParseWanted reads the words of kinds, among them those of the owner's packs.
func ParseWanted(words []string, own ...*inspect.Pack) (w Wanted, err error) {
	var texts []string
	w.words = slices.Clone(words)
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

// Message is a message that came back, looked at.
type Message struct {
	Findings []Finding
	raw      []byte
	root     string // where the payload stands: /result
	payload  span   // an object or, of an error, what there is
	method   string // that it answers, or its own
	list     string // the member that holds the entries of a list; "" is no list
	whole    bool   // the look reached its end
	wanted   []string
}

// IsWhole reports whether all of the message was looked at, for all kinds.
func (m *Message) IsWhole() bool { return m.whole && len(m.DoubtfulKinds()) == 0 }

// ReachedEnd reports whether the look reached the end of the message.
func (m *Message) ReachedEnd() bool { return m.whole }

// DoubtfulKinds gives the kinds that may stand in what was not looked at, each once, in order. "*" is
// all of them.
func (m *Message) DoubtfulKinds() (kinds []string) {
	if !m.whole {
		kinds = slices.DeleteFunc(slices.Clone(m.wanted), func(k string) bool { return k == Schema }) // that is held to all of it
	}
	for i := range m.Findings {
		if of := m.Findings[i].Of; of != "" {
			kinds = append(kinds, of)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// JudgedKinds gives the kinds that rules judge: those that were found, and those that may stand in
// what was not looked at.
func (m *Message) JudgedKinds() []string {
	all := append(m.FoundKinds(), m.DoubtfulKinds()...)
	slices.Sort(all)
	return slices.Compact(all)
}

type span struct{ start, end int }

// lists are the methods whose results are lists, and where their entries are.
var lists = map[string]struct{ member, name string }{
	"tools/list": {"tools", "name"}, "prompts/list": {"prompts", "name"}, "resources/list": {"resources", "uri"},
	"resources/templates/list": {"resourceTemplates", "uriTemplate"}, "skills/list": {"skills", "uri"},
}

// introduces are the methods by whose results a server introduces itself.
var introduces = map[string]bool{"initialize": true, "server/discover": true}

// IsList reports whether the answers to a method are lists.
func IsList(method string) bool { return lists[method].member != "" }

// errNothing is a message without a payload.
var errNothing = errors.New("the message carries nothing that could be looked at")

// InspectMessage looks at a message that answers method, or that came by itself. f is as
// internal/wire/frame gave it.
func InspectMessage(f *frame.Frame, method string, wanted Wanted) (*Message, error) {
	m := &Message{raw: f.Raw, method: method, list: lists[method].member, whole: true, wanted: wanted.words}
	part := f.Result
	switch {
	case part != nil:
		m.root = "/result"
	case f.Error != nil:
		m.root, part, m.list = "/error", f.Error, ""
	case f.Params != nil:
		m.root, part, m.list = "/params", f.Params, ""
	default:
		return nil, errNothing
	}
	start := m.offsetOf(jsonscan.ValueOf(part))
	m.payload = span{start, start + len(part)}
	if m.list != "" || introduces[method] {
		wanted.Texts = wanted.Texts.WithCloseLook()
	}
	l := looker{m: m, wanted: wanted, room: maxText}
	w := walker{c: jsonscan.Cursor{Src: string(jsonscan.ValueOf(part))}, base: start, pass: m.isUnread}
	w.see = func(name, value token) (string, bool) { return l.inspectToken(w.path, name, value) }
	if !w.walkValue() && m.whole {
		return nil, errors.New("the message cannot be read as JSON")
	}
	return m, nil
}

// isUnread reports an opaque member whose value is one word of ASCII, as ids and cursors are: there is
// nothing in it to look for.
func (m *Message) isUnread(path []string, name, rest string) bool {
	if !m.isOpaque(path, name, rest) {
		return false
	}
	said, isText := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), `"`)
	end := strings.IndexFunc(said, func(r rune) bool { return isOutsideWord(r) || r == '"' || r == '\\' })
	return !isText || end >= 0 && said[end] == '"'
}

// isOpaque reports a member that is the server's or the protocol's own in answers to the method, and
// is given back as it came.
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
		return m.root == "/result" && m.payloadValue().Member("resultType").Text() == "input_required"
	case "taskId":
		return strings.HasPrefix(m.method, "tasks/") || strings.HasPrefix(m.method, "notifications/tasks")
	case "progressToken":
		return m.method == "notifications/progress"
	case "requestId":
		return m.method == "notifications/cancelled"
	}
	return false
}

// looker looks at one message.
type looker struct {
	m       *Message
	wanted  Wanted
	room    int // bytes that may still be looked at
	cut     int // strings that were not looked at whole
	doubted int // where the last of them begins, and kinds
	doubts  []string
	counts  map[string]int // findings by kind
	scratch []byte
}

// inspectToken looks at a member or an element.
func (l *looker) inspectToken(path []string, name, value token) (segment string, ok bool) {
	at := place{path: path[:len(path)-1], entry: l.entryIndex(path)}
	segment = name.said
	if l.isBlob(path, name, value) && isPicture(value.said) {
		return segment, true
	}
	if l.room -= len(name.said) + len(value.said); l.room < 0 {
		l.noteUnscreened(at, "the rest of a long message")
		return segment, false
	}
	if value.end == 0 || name.end == 0 { // one of them alone
		t := value
		if value.end == 0 {
			t = name
		} else {
			at.path = path
		}
		if t.end == 0 || isDull(t.said) {
			return segment, true
		}
		found := l.inspectText(t.said)
		if len(found) > 0 && name.end > 0 {
			segment = "*"
		}
		return segment, l.addFindings(at, t, 0, found)
	}
	// What a name says of its value is a part of what is looked for.
	if isDull(name.said) && (isDull(value.said) || value.number && len(value.said) < 9) {
		return segment, true
	}
	const between = `":"`
	l.scratch = slices.Grow(l.scratch[:0], len(name.said)+len(between)+len(value.said))
	l.scratch = append(append(append(l.scratch, name.said...), between...), value.said...)
	found := l.lookFlat(string(jsonscan.ValueOf(l.scratch)))
	for _, f := range inspectNested(value.said, nil, 1, l.lookFlat) {
		f.Start, f.End = f.Start+len(name.said)+len(between), f.End+len(name.said)+len(between)
		found = append(found, f)
	}
	if l.wanted.Link && !value.number && isLink(path, name.said) {
		if what := checkAddress(value.said, name.said == "src", l.wanted.Server); what != "" {
			from := len(name.said) + len(between)
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
	if !(blob && isBase64(value.said)) && !l.addFindings(at, value, len(name.said)+len(between), found) {
		return segment, false
	}
	return segment, !blob || l.addBlob(at, value)
}

// isDull says of a text that it is too short and too plain for anything to be in it, with
// or without a name that says something of it.
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

// place is where a token stands.
type place struct {
	path  []string
	entry int
}

// entryIndex gives the entry of a list that a path leads into, -1 for none.
func (l *looker) entryIndex(path []string) int {
	if l.m.list == "" || len(path) < 2 || path[0] != l.m.list {
		return -1
	}
	n, err := strconv.Atoi(path[1])
	if err != nil {
		return -1
	}
	return n
}

// inspectText finds everything that is wanted in a text; what it gives are parts of it.
func (l *looker) inspectText(text string) (found []inspect.Found) {
	return inspectNested(text, l.lookFlat(text), 1, l.lookFlat)
}

// lookFlat gives look of what stands in no further JSON.
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

// addFindings notes what was found in a token, which stands at offset from of what was looked at.
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

// taken is what becomes of one finding.
type taken int

const (
	asFound taken = iota
	asDoubt       // it stands for a string that was not looked at whole for a kind
	again         // such a string is told of already
	full          // there is no more room
)

// setKind gives f the kind of what was found, as far as there is room for it.
func (l *looker) setKind(f *Finding, t token, one *inspect.Found) taken {
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

// noteUnscreened notes that not all of the message was looked at.
func (l *looker) noteUnscreened(at place, what string) {
	l.m.whole = false
	l.m.Findings = append(l.m.Findings, Finding{Kind: string(inspect.Unscreened), What: what, Pointer: formatPointer(l.m.root, at.path), Entry: at.entry, Fixed: true})
}

// isFixed reports a place in a request to the client, which is judged as it is, or one that is given
// back as it came.
func (l *looker) isFixed(path []string) bool {
	last := len(path) - 1
	return last >= 0 && (path[0] == "inputRequests" || l.m.isOpaque(path[:last], path[last], ""))
}

// isBlob says that a value stands where servers send base64.
func (l *looker) isBlob(path []string, name, value token) bool {
	if name.said != "blob" && name.said != "data" || len(value.said) < 24 {
		return false
	}
	if path[0] == "result" && len(path) > 1 { // of a task
		path = path[1:]
	}
	switch path[0] {
	case "content", "contents", "messages":
		return len(path) > 2
	}
	return false
}

// addBlob looks into a blob that is text.
func (l *looker) addBlob(at place, t token) bool {
	b := ofUTF16(decodeBlob(t.said))
	if !isTextual(b) {
		return true
	}
	text := token{start: t.start, end: t.end, said: string(b), number: true} // no part of it can be altered
	return l.addFindings(at, text, 0, l.inspectText(text.said))
}

// isPicture reports a long blob that is no text: a screenshot, say. There is nothing in it that
// anything here finds, and it takes no room from texts.
func isPicture(said string) bool {
	const long = 4 << 10
	return len(said) >= long && isBase64(said) && !isTextual(ofUTF16(decodeBlob(said)))
}

// isBase64 reports base64 as MCP has it (RFC 4648, 4), in lines or not. A key is often none: it has
// another letter.
func isBase64(said string) bool {
	for i := range len(said) {
		c := said[i]
		if (c == '-' || c == '_' || base64Letter(rune(c)) < 0) && c != '=' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// decodeBlob reads base64 as the most lenient of clients do: in either alphabet, padded or not, in
// several pieces, and without what is no letter of it.
func decodeBlob(said string) (b []byte) {
	for piece := range strings.SplitSeq(said, "=") {
		piece = strings.Map(base64Letter, piece)
		if len(piece)%4 == 1 { // of no whole byte
			piece = piece[:len(piece)-1]
		}
		b, _ = base64.RawStdEncoding.AppendDecode(b, []byte(piece))
	}
	return b
}

// base64Letter is a letter of base64 in its first alphabet, -1 what is none.
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

// ofUTF16 gives a text in UTF-16 in UTF-8, and anything else as it is. Every other byte of a text in
// letters of Latin is zero.
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

// isTextual says that readers may take bytes for a text: a few that are none they leave out.
func isTextual(b []byte) bool {
	const one = 16 // of so many
	broken := 0
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r == 0 {
			broken++
		}
		rest = rest[size:]
	}
	return broken == 0 || broken*one < len(b)
}
