package client

import (
	"bytes"
	"slices"
	"strings"
)

// PutHooks returns the file with an entry of clawai-hook for each event. A new entry comes last in
// the list of its event, so that the other entries keep their indexes, because Codex identifies
// reviewed hooks by these indexes. An existing entry of ours is updated in place. If src is nil,
// the file does not exist.
func PutHooks(r HookRow, src []byte, events []string, start HookStart) ([]byte, error) {
	if r.Format == Script {
		return putScript(r, src, events[0], start)
	}
	if r.Format == TOML {
		return putTOMLHooks(r, src, events, start)
	}
	if src == nil {
		return createHooks(r, events, start)
	}
	for {
		f, err := openHooks(r, src)
		if err != nil {
			return nil, err
		}
		next, err := f.putOne(events, start)
		if err != nil || bytes.Equal(next, src) {
			return next, err
		}
		src = next
	}
}

// putOne makes one edit towards the wanted hooks. It returns the same bytes if no edit is needed
// any more.
func (f *hookFile) putOne(events []string, start HookStart) ([]byte, error) {
	found := map[string]int{}
	for _, h := range f.all {
		if !startsClawai(h.leaf) {
			continue
		}
		if found[h.Event]++; found[h.Event] > 1 || !slices.Contains(events, h.Event) {
			return f.removeHandler(h), nil
		}
		want, err := f.renderWanted(h.Event, start)
		if err != nil {
			return nil, err
		}
		if len(f.compareHandler(h.Event, h, want)) == 0 {
			continue
		}
		if alone := h.leaf == h.element || len(h.trail[len(h.trail)-1].items) == 1; !alone {
			return f.removeHandler(h), nil
		}
		return spliceEdits(f.src, []edit{{h.element.start, h.element.end, string(want.src)}}), nil
	}
	for _, event := range events {
		if found[event] > 0 {
			continue
		}
		want, err := f.renderWanted(event, start)
		if err != nil {
			return nil, err
		}
		return f.insertElement(event, string(want.src))
	}
	return f.src, nil
}

// createHooks returns the text of a new file. TakeHooks can recognise this text, because PutHooks
// never makes the same text from an existing file.
func createHooks(r HookRow, events []string, start HookStart) ([]byte, error) {
	var b strings.Builder
	b.WriteString("{\n")
	if r.Version != "" {
		b.WriteString(`  "version": ` + r.Version + ",\n")
	}
	indent := "  "
	var closing []string
	open := func(key, bracket, end string) {
		b.WriteString(indent + quoteText(key) + ": " + bracket + "\n")
		closing = append(closing, indent+end)
		indent += "  "
	}
	keys, each := r.listPath()
	for i, key := range keys {
		if !each && i == len(keys)-1 {
			open(key, "[", "]")
			continue
		}
		open(key, "{", "}")
	}
	for i, event := range events {
		text, err := r.renderElement(event, start)
		if err != nil {
			return nil, err
		}
		comma := ","
		if i == len(events)-1 {
			comma = ""
		}
		if each {
			text = quoteText(event) + ": [\n" + indent + "  " + text + "\n" + indent + "]"
		}
		b.WriteString(indent + text + comma + "\n")
	}
	for i := len(closing) - 1; i >= 0; i-- {
		b.WriteString(closing[i] + "\n")
	}
	b.WriteString("}\n")
	return []byte(b.String()), nil
}

// insertElement puts an element into an event's list, and adds the containers that are missing.
func (f *hookFile) insertElement(event, text string) ([]byte, error) {
	at := f.root
	for i, key := range f.hooks.List {
		if key == "<event>" {
			key = event
		}
		m, _ := at.findMember(key)
		if m == nil {
			return f.appendChild(at, nestMember(f.hooks.List[i:], event, text)), nil
		}
		at = m.value
	}
	return f.appendChild(at, text), nil
}

// nestMember returns one line of text: nested objects, with one key at each level. The parameter
// keys lists these keys. The value of the last key is a list with one element, the parameter text.
// The outermost member has no braces. In keys, the word <event> stands for the name of the event.
func nestMember(keys []string, event, text string) string {
	text = "[" + text + "]"
	for i := len(keys) - 1; i >= 0; i-- {
		key := keys[i]
		if key == "<event>" {
			key = event
		}
		if text = quoteText(key) + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// appendChild puts text after the last child of a container, with the same blanks as before the
// last child. In an empty container it puts one blank before the text; removeHandler later sees
// from this blank that the container was there before.
func (f *hookFile) appendChild(in *node, text string) []byte {
	all := in.childSpans()
	if len(all) == 0 {
		return spliceEdits(f.src, []edit{{in.start + 1, in.start + 1, " " + text}})
	}
	last := all[len(all)-1]
	return spliceEdits(f.src, []edit{{last.end, last.end, "," + f.blanksBefore(last.start) + text}})
}

func (f *hookFile) blanksBefore(at int) string {
	head := f.src[:at]
	return string(head[len(bytes.TrimRight(head, " \t\r\n")):])
}

// childSpans returns the ranges of the members or items of a container, each as an edit that
// removes it.
func (n *node) childSpans() (all []edit) {
	for _, m := range n.members {
		all = append(all, edit{start: m.start, end: m.value.end})
	}
	for _, item := range n.items {
		all = append(all, edit{start: item.start, end: item.end})
	}
	return all
}
