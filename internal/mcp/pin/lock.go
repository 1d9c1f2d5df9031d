package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Lock holds the approved descriptions of servers. The keys are the servers' names in rules.
type Lock map[string]SelfDescription

// lists are the members with entries in a server's block.
var lists = [...]string{Tool: "tools", Prompt: "prompts", Template: "templates"}

// Text returns the text of the lock file: sorted JSON, indented by two blanks, with LF line ends.
// It does not state when or where it was made, so that equal locks have equal files. Invisible
// characters are escaped, and readable text is unchanged.
func (l Lock) Text() []byte {
	servers := map[string]any{}
	for name, s := range l {
		servers[name] = s.lockBlock()
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(map[string]any{"formula": Formula, "servers": servers}); err != nil {
		panic(err) // cannot happen, because every tree of parseTree can be encoded
	}
	return escapeUnseen(b.Bytes())
}

func (s *SelfDescription) lockBlock() map[string]any {
	start := s.Start
	if start == nil {
		start = []string{}
	}
	block := map[string]any{"start": start, "version": s.Version, "instructions": s.Instructions}
	for _, kind := range Kinds {
		entries := map[string]any{}
		for name, e := range s.entries[kind] {
			entries[name] = map[string]any{"digest": e.TextDigest(), "entry": json.RawMessage(e.text)}
		}
		block[lists[kind]] = entries
	}
	return block
}

// escapeUnseen escapes the invisible characters in JSON. Outside strings JSON has no such
// characters except line ends.
func escapeUnseen(src []byte) []byte {
	if isSeen(src) {
		return src
	}
	out := make([]byte, 0, len(src))
	for _, r := range string(src) {
		switch {
		case r >= ' ' && r <= '~' || r == '\n' || textclass.IsSeen(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// isSeen reports whether a text has only visible ASCII characters. Most texts do.
func isSeen(src []byte) bool {
	for _, c := range src {
		if (c < ' ' || c > '~') && c != '\n' {
			return false
		}
	}
	return true
}

// ReadLock parses a file with the content of Lock.Text. The order of members and the blanks do not
// matter. It returns an error for an unknown member and for an entry that does not match its
// digest. A file with such a fault may be the result of a merge, and may hold entries that no
// person has approved.
func ReadLock(src []byte) (Lock, error) {
	file, err := readFile(src, "servers")
	if err != nil {
		return nil, err
	}
	servers, ok := file["servers"].(map[string]any)
	if !ok {
		return nil, errors.New("servers is not an object")
	}
	l := Lock{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s, err := readServer(servers[name])
		if err != nil {
			return nil, fmt.Errorf("server %q: %w", name, err)
		}
		l[name] = s
	}
	return l, nil
}

// readFile parses a file of this package. It must be an object that has the member "formula", the
// members whose names are in the list names, and no other members.
func readFile(src []byte, names ...string) (map[string]any, error) {
	tree, err := parseTree(src)
	if err != nil {
		return nil, err
	}
	file, err := checkMembers(tree, append([]string{"formula"}, names...)...)
	if err != nil {
		return nil, err
	}
	if formula := file["formula"]; formula != json.Number(strconv.Itoa(Formula)) {
		return nil, fmt.Errorf("its formula is %s, and this version of clawai knows %d alone", encodeTree(formula), Formula)
	}
	return file, nil
}

func readServer(v any) (s SelfDescription, err error) {
	block, err := checkMembers(v, append(lists[:], "start", "version", "instructions")...)
	if err != nil {
		return s, err
	}
	var isText, isVersion, isWords bool
	s.Instructions, isText = block["instructions"].(string)
	s.Version, isVersion = block["version"].(string)
	s.Start, isWords = textArray(block["start"])
	if !isText || !isVersion || !isWords {
		return s, errors.New("instructions and version are texts, and start is a list of texts")
	}
	for _, kind := range Kinds {
		entries, ok := block[lists[kind]].(map[string]any)
		if !ok {
			return s, fmt.Errorf("%s is not an object", lists[kind])
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			e, err := readPinned(kind, name, entries[name])
			if err != nil {
				return s, fmt.Errorf("%s %q: %w", kind, name, err)
			}
			if err := s.Add(e); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func readPinned(kind EntryKind, name string, v any) (Entry, error) {
	pinned, err := checkMembers(v, "digest", "entry")
	if err != nil {
		return Entry{}, err
	}
	object, ok := pinned["entry"].(map[string]any)
	if !ok {
		return Entry{}, errors.New("entry is not an object")
	}
	e, err := Read(kind, encodeTree(object))
	switch {
	case err != nil:
		return Entry{}, err
	case e.Name != name:
		return Entry{}, fmt.Errorf("its %s is %q", kind.keyMember(), e.Name)
	case pinned["digest"] != e.TextDigest():
		return Entry{}, errors.New("its digest is another; was it edited, or merged?")
	}
	return e, nil
}

// checkMembers returns v as an object. It returns an error unless v has exactly these members.
func checkMembers(v any, names ...string) (map[string]any, error) {
	o, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%q is not known here", name)
		}
	}
	for _, name := range names {
		if _, there := o[name]; !there {
			return nil, fmt.Errorf("%q is missing", name)
		}
	}
	return o, nil
}
