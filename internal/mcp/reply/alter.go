package reply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/mcp/schema"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Change describes the changes to make in a message. The zero value changes nothing.
type Change struct {
	Redact  []int    // indexes of the Findings that marks replace, in ascending order
	Takes   bool     // a rule redacts some kind, so a message that was not searched to its end is withheld
	Fence   string   // the id in the marks around the server's texts; "" means no marks
	Warn    []string // kinds of findings that the reader is warned of
	Server  string   // the server's name in the marks
	LeftOut []int    // indexes of the list entries that are removed, in ascending order
	Pinned  bool     // the message came from ReplaceEntries
	Claims  bool     // remove the members of _meta that only clawai may write
	Call    string   // id of the record of the answered call; "" if there is none
	// Output is the schema that changed structured content must fit. It is nil if none is known.
	Output *schema.Schema
}

// Reasons why a change cannot be made. Then the message is withheld.
var (
	errFixed = errors.New("something that is to be taken out stands where nothing may be altered: in a number, a blob, or a request to the client")
	errPart  = errors.New("not all of it could be looked at, so that not all of it can be taken out")
	errShape = errors.New("it has no place for a mark around it")
	errUnfit = errors.New("with what is taken out, it does not fit the output schema of the tool, or cannot be held to it")
)

// edit replaces a part of the message by a text. If the part is empty, the edit inserts the text.
type edit struct {
	span
	to string
}

// AlterMessage returns the changed message. limits are the limits under which the message was
// admitted. After an error the message must not be forwarded. The text of the error has no part of
// the message. A nil result means that nothing changes.
func (m *Message) AlterMessage(c *Change, n *Numbers, limits frame.Limits) ([]byte, error) {
	edits, err := m.listRedactions(c, n)
	if err != nil {
		return nil, err
	}
	if len(c.LeftOut) > 0 {
		edits = append(edits, m.cutEntries(c.LeftOut)...)
	}
	if m.isList() && (c.Pinned || len(edits) > 0) {
		edits = append(edits, m.makePrivate()...)
	}
	if c.Claims {
		edits = append(edits, m.cutClaims()...)
	}
	if c.Fence != "" || len(c.Warn) > 0 {
		blocks, err := m.fenceBlocks(c)
		if err != nil {
			return nil, err
		}
		if edits = append(edits, blocks...); len(edits) == 0 && len(c.Warn) == 0 {
			return nil, nil // nothing changes
		}
	}
	if edits, err = m.addMeta(edits, c); err != nil {
		return nil, err
	}
	raw := spliceEdits(m.raw, edits)
	var f frame.Frame
	if err := f.Parse(raw, limits); err != nil {
		return nil, fmt.Errorf("with the changes it is no longer a message: %w", err)
	}
	if c.Output != nil && m.altersStructured(edits) {
		with := Message{raw: f.Result, root: m.root, payload: span{0, len(f.Result)}}
		if with.CheckSchema(c.Output); len(with.Findings) > 0 {
			return nil, errUnfit
		}
	}
	return raw, nil
}

// altersStructured reports whether one of the edits changes structured content.
func (m *Message) altersStructured(edits []edit) bool {
	body, _ := m.toolAnswer()
	content := body.Member(structured)
	if content == "" {
		return false
	}
	from := m.offsetOf(content)
	return slices.ContainsFunc(edits, func(e edit) bool { return e.start >= from && e.end <= from+len(content) })
}

// listRedactions returns the edits that replace the findings in c.Redact by marks. It also replaces
// repeats of the secrets among these findings.
func (m *Message) listRedactions(c *Change, n *Numbers) (edits []edit, err error) {
	switch {
	case !m.whole && (c.Takes || c.Fence != "" || len(c.Redact) > 0):
		return nil, errPart
	case len(c.Redact) == 0:
		return nil, nil
	}
	same := map[string]string{} // secrets that are replaced everywhere, with their marks
	for _, i := range c.Redact {
		f := &m.Findings[i]
		if f.Fixed {
			return nil, errFixed
		}
		to := n.shownAs(f)
		switch {
		case f.Of != "":
			to = n.makeMarker(f.Kind, f.value) + " This text is withheld whole: it was not looked at to its end, because more was found in it than clawai counts (" + f.Of + ")."
		case to == "":
			to = n.makeMarker(f.Kind, f.value)
			if len(f.value) >= minSame && strings.HasPrefix(f.Kind, "secret") {
				same[f.value] = to
				if inner, is := redact.FindUnnamed(f.value, 0); is && inner.End-inner.Start >= minSame { // for example the secret in "Basic CREDENTIALS"
					same[f.value[inner.Start:inner.End]] = to
				}
			}
		}
		edits = append(edits, edit{span{f.start, f.end}, to})
	}
	again, err := m.findRepeats(same)
	if err != nil {
		return nil, err
	}
	return m.mergeEdits(append(edits, again...)), nil
}

// minSame is the minimum length in bytes of a secret that is replaced everywhere. A shorter secret
// may be an ordinary word elsewhere.
const minSame = 8

// maxShown is the maximum number of bytes of an invisible text that is shown as escapes.
const maxShown = 48

// shownAs returns invisible characters as escapes. So they are harmless and still readable. It
// returns "" for a text that must be withheld: a finding of another kind, a long text, or
// characters that encode letters or bytes.
func (n *Numbers) shownAs(f *Finding) string {
	if k := inspect.Kind(f.Kind); k != inspect.Hidden && k != inspect.Control || len(f.value) > maxShown {
		return ""
	}
	var b strings.Builder
	var all []string
	selectors := 0
	for _, r := range f.value {
		if textclass.Selector.HasRune(r) {
			selectors++
		}
		switch {
		case textclass.Tag.HasRune(r), selectors > 1:
			return ""
		case r < ' ' || r > '~' || r == '"' || r == '\\' || textclass.OddInReply(r):
			escape := fmt.Sprintf("<U+%04X>", r)
			all = append(all, escape)
			b.WriteString(escape)
		default:
			b.WriteRune(r)
		}
	}
	for _, escape := range all {
		n.noteEscape(escape)
	}
	return b.String()
}

// findRepeats finds other places of the message that contain the values of the given map. It
// returns the edits that replace these places. The map has the mark of each value.
func (m *Message) findRepeats(same map[string]string) (edits []edit, err error) {
	if len(same) == 0 {
		return nil, nil
	}
	starts := byStart(same)
	w := walker{c: jsonscan.Cursor{Src: string(jsonscan.ValueOf(m.raw[m.payload.start:m.payload.end]))}, base: m.payload.start, pass: m.isOpaque}
	w.see = func(name, value token) (string, bool) {
		for _, t := range [2]token{name, value} {
			if t.end == 0 {
				continue
			}
			for _, f := range inspectNested(t.said, findEqual(t.said, starts, same), 1, func(s string) []inspect.Found { return findEqual(s, starts, same) }) {
				if t.number || len(w.path) > 0 && w.path[0] == "inputRequests" {
					err = errFixed
				} else if len(edits) > maxText/minSame {
					err = errPart
				}
				from, to := t.rawSpan(m.raw, f.Start, f.End)
				edits = append(edits, edit{span{from, to}, f.What})
			}
		}
		return name.said, err == nil
	}
	if !w.walkValue() && err == nil {
		err = errPart
	}
	return edits, err
}

// byStart groups values by their first minSame bytes. So a text is read only once, even with many
// values.
func byStart(same map[string]string) map[string][]string {
	all := make(map[string][]string, len(same))
	for value := range same {
		all[value[:minSame]] = append(all[value[:minSame]], value)
	}
	return all
}

// findEqual returns the places of the values in a text. Found.What is the mark of the value.
func findEqual(text string, starts map[string][]string, same map[string]string) (found []inspect.Found) {
	for at := 0; at+minSame <= len(text); at++ {
		for _, value := range starts[text[at:at+minSame]] {
			if strings.HasPrefix(text[at:], value) {
				found = append(found, inspect.Found{What: same[value], Start: at, End: at + len(value)})
			}
		}
	}
	return found
}

// mergeEdits returns the edits in order. It joins overlapping edits into one, with the mark of the
// longest.
func (m *Message) mergeEdits(edits []edit) (all []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	for _, e := range edits {
		if len(all) == 0 || e.start >= all[len(all)-1].end {
			all = append(all, e)
			continue
		}
		last := &all[len(all)-1]
		if e.end-e.start > last.end-last.start || !strings.HasPrefix(last.to, "["+withheld) {
			last.to = e.to
		}
		last.end = max(last.end, e.end)
	}
	return all
}

// spliceEdits returns the bytes of raw after the edits. It drops an edit that is inside the part of
// another edit.
func spliceEdits(raw []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end-a.start, b.end-b.start))
	})
	more := 0
	for _, e := range edits {
		more += len(e.to)
	}
	out := make([]byte, 0, len(raw)+more)
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue
		}
		out = append(append(out, raw[at:e.start]...), e.to...)
		at = e.end
	}
	return append(out, raw[at:]...)
}

// quoteASCII returns a text as a JSON string in ASCII.
func quoteASCII(text string) string {
	return string(escape.QuoteText(text))
}
