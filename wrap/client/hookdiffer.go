package client

import (
	"fmt"
	"slices"
	"strings"
)

// findDifferences returns how our handlers differ from the handlers that this version of wrap
// writes.
func (f *hookFile) findDifferences(ours []Hook, events []string, start HookStart) (all []string, err error) {
	for _, event := range events {
		var found []Hook
		for _, h := range ours {
			if h.Event == event {
				found = append(found, h)
			}
		}
		want, err := f.renderWanted(event, start)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			all = append(all, "no entry for "+event)
		case len(found) > 1:
			all = append(all, fmt.Sprintf("%d entries for %s", len(found), event))
		default:
			differs := f.compareHandler(event, found[0], want)
			if len(differs) > 0 && f.matchesFormer(event, found[0], start) {
				differs = []string{"the entry for " + event + " is one of an older clawai"}
			}
			all = append(all, differs...)
		}
	}
	for _, h := range ours {
		if !slices.Contains(events, h.Event) {
			all = append(all, "an entry for "+h.Event+", which wrap does not write")
		}
	}
	return all, nil
}

// renderWanted returns the element that wrap would write for an event, parsed like a file.
func (f *hookFile) renderWanted(event string, start HookStart) (*hookFile, error) {
	text, err := f.hooks.renderElement(event, start)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON([]byte(text), JSON, nil)
	if err != nil {
		return nil, err
	}
	return &hookFile{file: file{row: f.row, src: []byte(text)}, hooks: f.hooks, root: root}, nil
}

// matchesFormer reports whether the handler is one that an older version of clawai wrote.
func (f *hookFile) matchesFormer(event string, h Hook, start HookStart) bool {
	older := *f
	older.hooks.Windows, older.hooks.Names = "", false
	for _, element := range f.hooks.Former {
		older.hooks.Element = element
		if want, err := older.renderWanted(event, start); err == nil && len(older.compareHandler(event, h, want)) == 0 {
			return true
		}
	}
	return false
}

func (f *hookFile) compareHandler(event string, h Hook, want *hookFile) (all []string) {
	leaves, _ := f.hooks.findHandlers(want.root)
	all = f.compareMembers(event, h.leaf, want, leaves[0], "")
	if f.hooks.Inner != "" {
		all = append(all, f.compareMembers(event, h.element, want, want.root, f.hooks.Inner)...)
	}
	return all
}

// compareMembers returns how the members of an object differ from the wanted members. It ignores
// the member whose name is in the parameter except.
func (f *hookFile) compareMembers(event string, present *node, want *hookFile, wanted *node, except string) (all []string) {
	if m := present.ownDuplicate(); m != nil {
		all = append(all, fmt.Sprintf("%s of %s is there twice", quoteText(m.name), event))
	}
	for _, m := range wanted.members {
		mine, _ := present.findMember(m.name)
		switch {
		case m.name == except:
		case mine == nil:
			all = append(all, fmt.Sprintf("%s has no %s: wrap writes %s", event, quoteText(m.name), want.rawText(m.value)))
		case !equalValues(mine.value, m.value):
			all = append(all, fmt.Sprintf("%s of %s is %s: wrap writes %s", quoteText(m.name), event, shortenText(f.rawText(mine.value)), want.rawText(m.value)))
		}
	}
	for _, m := range present.members {
		if known, _ := wanted.findMember(m.name); known == nil && m.name != except {
			all = append(all, fmt.Sprintf("%s has %s, which wrap does not write", event, quoteText(m.name)))
		}
	}
	return all
}

// shortenText shortens a text that is too long for a message.
func shortenText(text string) string {
	if r := []rune(strings.Join(strings.Fields(text), " ")); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}

// equalValues reports whether two values are equal. The order of members does not matter.
func equalValues(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.members) != len(b.members) || len(a.items) != len(b.items) {
		return false
	}
	for _, m := range a.members {
		other, twice := b.findMember(m.name)
		if other == nil || twice || !equalValues(m.value, other.value) {
			return false
		}
	}
	for i := range a.items {
		if !equalValues(a.items[i], b.items[i]) {
			return false
		}
	}
	return true
}
