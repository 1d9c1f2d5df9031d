package reply

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// metaKey is the member of _meta that tells the client about the changes.
const metaKey = ourPrefix + "reply"

// offsetOf returns the offset of a part in the message. The parameter part must be a slice of the
// message's memory.
func (m *Message) offsetOf(part jsonscan.Value) int {
	return int(uintptr(unsafe.Pointer(unsafe.StringData(string(part)))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.raw))))
}

// addMeta adds an edit that reports the changes in _meta. It adds none to an error, because errors
// have no _meta.
func (m *Message) addMeta(edits []edit, c *Change) ([]edit, error) {
	payload := m.payloadValue()
	if m.root == "/error" || payload.Kind() != jsonscan.Object {
		return edits, nil
	}
	at, into, some := m.payload.start+1, `"_meta":{%s}`, !payload.IsEmpty()
	if meta := m.findMember("_meta"); meta != "" {
		if meta.Kind() != jsonscan.Object {
			return nil, errShape
		}
		at, into, some = m.offsetOf(meta)+1, "%s", false
		for name := range meta.Members() {
			some = some || !isClaim(name)
		}
	}
	text := fmt.Sprintf(into, `"`+metaKey+`":`+m.metaText(c))
	if some {
		text += ","
	}
	return append(edits, edit{span{at, at}, text}), nil
}

// metaText returns the report for the client: the changes, the findings, and the id of the record
// of the answered call.
func (m *Message) metaText(c *Change) string {
	var changed, finds []string
	for _, one := range []struct {
		done bool
		word string
	}{{len(c.Redact) > 0, "redact"}, {c.Fence != "", "fence"}, {len(c.Warn) > 0, "warn"}, {len(c.LeftOut) > 0, "deny"}, {c.Pinned, "pin"}, {c.Claims, "meta"}} {
		if one.done {
			changed = append(changed, quoteASCII(one.word))
		}
	}
	for _, k := range m.FoundKinds() {
		n := 0
		for i := range m.Findings {
			if m.Findings[i].Kind == k {
				n++
			}
		}
		finds = append(finds, quoteASCII(k)+":"+strconv.Itoa(n))
	}
	text := `{"changed":[` + strings.Join(changed, ",") + `],"finds":{` + strings.Join(finds, ",") + `}`
	if c.Call != "" {
		text += `,"record":` + quoteASCII(c.Call)
	}
	return text + "}"
}

// FoundKinds returns the kinds of the findings, sorted, each once.
func (m *Message) FoundKinds() (kinds []string) {
	for i := range m.Findings {
		kinds = append(kinds, m.Findings[i].Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// members returns the members of the payload (see jsonscan.Value.Members).
func (m *Message) members() iter.Seq2[jsonscan.Value, jsonscan.Value] {
	return m.payloadValue().IndexedMembers(&m.index)
}

// findMember returns the value of the payload's member with this name, or "".
func (m *Message) findMember(name string) jsonscan.Value {
	for n, value := range m.members() {
		if n.IsText(name) {
			return value
		}
	}
	return ""
}

// EntryNames returns the names of the entries of a list, in order. An entry without a name has "".
// ok is false if the message is no list.
func (m *Message) EntryNames() (names []string, ok bool) {
	if m.isList() {
		for _, entry := range m.entries {
			names = append(names, entry.Member(m.list.Name).Text())
		}
	}
	return names, m.isList()
}

// IsInName reports whether a finding is in the name of a list entry. Such a finding cannot be
// redacted, because no client could use the entry without its name.
func (m *Message) IsInName(f *Finding) bool {
	return m.isList() && f.Pointer == m.EntryAt(f.Entry)+"/"+m.list.Name
}

// EntryTexts returns the entries of a list as JSON, in order. The result last is true if this is
// the last page.
func (m *Message) EntryTexts() (entries [][]byte, last bool) {
	if !m.isList() {
		return nil, false
	}
	for _, e := range m.entries {
		entries = append(entries, e.Bytes())
	}
	next := m.findMember("nextCursor")
	return entries, next == "" || next.Kind() == jsonscan.Null
}

// ReadIntroduction returns the instructions and the version of a server from its answer to
// initialize or server/discover.
func (m *Message) ReadIntroduction() (instructions, version string) {
	return strings.Clone(m.findMember("instructions").Text()), strings.Clone(m.findMember("serverInfo").Member("version").Text())
}

// EntryAt returns the JSON pointer of the n-th list entry.
func (m *Message) EntryAt(n int) string { return m.root + "/" + m.list.Entries + "/" + strconv.Itoa(n) }

// besideEntries are the members that a list result may have in addition to the entries.
var besideEntries = []string{"nextCursor", "_meta", "ttlMs", "cacheScope", "resultType"}

// isForeign reports whether a member of a list result is one that the protocol does not define.
func (m *Message) isForeign(name string) bool {
	return m.isList() && name != m.list.Entries && !slices.Contains(besideEntries, name)
}

// HasForeign reports whether a list result has a member that the protocol does not define.
func (m *Message) HasForeign() bool {
	for name := range m.members() {
		if m.isForeign(name.Text()) {
			return true
		}
	}
	return false
}

// cutForeign returns edits that remove the members that the protocol does not define.
func (m *Message) cutForeign() []edit {
	var all []span
	var out []int
	for name, v := range m.members() {
		if m.isForeign(name.Text()) {
			out = append(out, len(all))
		}
		all = append(all, span{m.offsetOf(name), m.offsetOf(v) + len(v)})
	}
	return cutSpans(all, out)
}

// ReplaceEntries returns the message with other JSON for these entries, and with other instructions
// if these are not nil. It also removes the members that the protocol does not define. The result
// must be inspected again, because the rules must judge the text that is forwarded.
func (m *Message) ReplaceEntries(entries map[int][]byte, instructions *string) []byte {
	edits := m.cutForeign()
	put := func(v jsonscan.Value, to string) {
		at := m.offsetOf(v)
		edits = append(edits, edit{span{at, at + len(v)}, to})
	}
	for n, e := range m.entries {
		if to, there := entries[n]; there {
			put(e, string(to))
		}
	}
	if said := m.findMember("instructions"); instructions != nil && said != "" {
		put(said, quoteASCII(*instructions))
	}
	return spliceEdits(m.raw, edits)
}

// errOtherForm means that a client may read the message in another way than clawai does.
var errOtherForm = errors.New("what it lists, or says of itself, stands in another form or under another spelling than the protocol has, so that it cannot be told what a client reads")

// CheckMembers returns an error if clients may find list entries or instructions where clawai finds
// none. This can happen because some clients ignore the case of member names.
func (m *Message) CheckMembers() error {
	known, kind := "instructions", jsonscan.String
	if m.isList() {
		known, kind = m.list.Entries, jsonscan.Array
	}
	for name, v := range m.members() {
		if frame.FoldsTo(name.Text(), known) && (name.Text() != known || v.Kind() != kind && v.Kind() != jsonscan.Null) {
			return errOtherForm
		}
	}
	return nil
}

// cutEntries returns edits that remove the list entries whose indexes are in the parameter out.
func (m *Message) cutEntries(out []int) []edit {
	var all []span
	for _, e := range m.entries {
		at := m.offsetOf(e)
		all = append(all, span{at, at + len(e)})
	}
	return cutSpans(all, out)
}

// cutSpans returns edits that remove the elements or members whose indexes are in the parameter
// out, each with a comma.
func cutSpans(all []span, out []int) (edits []edit) {
	chosen := func(i int) bool { _, ok := slices.BinarySearch(out, i); return ok }
	for i := 0; i < len(all); i++ {
		if !chosen(i) {
			continue
		}
		j := i
		for j+1 < len(all) && chosen(j+1) {
			j++
		}
		cut := span{all[i].start, all[j].end}
		if j+1 < len(all) {
			cut.end = all[j+1].start
		} else if i > 0 {
			cut.start = all[i-1].end
		}
		edits = append(edits, edit{cut, ""})
		i = j
	}
	return edits
}

// maxTTL is the maximum time, in milliseconds, for which a client may cache an altered list.
const maxTTL = 60_000

// makePrivate returns edits that keep an altered list out of shared caches. They are needed only if
// the list has a cache scope (MCP 2026-07-28).
func (m *Message) makePrivate() (edits []edit) {
	if scope := m.findMember("cacheScope"); scope != "" && scope != `"private"` {
		at := m.offsetOf(scope)
		edits = append(edits, edit{span{at, at + len(scope)}, `"private"`})
	}
	if ttl := m.findMember("ttlMs"); ttl != "" {
		if ms, err := strconv.ParseFloat(string(ttl), 64); err != nil || ms > maxTTL {
			at := m.offsetOf(ttl)
			edits = append(edits, edit{span{at, at + len(ttl)}, strconv.Itoa(maxTTL)})
		}
	}
	return edits
}
