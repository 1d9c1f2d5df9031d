package pin

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// State is the knowledge of this machine about a server: the approved description and the latest
// one.
type State struct {
	Server   string      // name of the server, so that the file of another server is not used by mistake
	Sighted  []EntryKind // kinds for which a list was read to its end at least once
	Approved SelfDescription
	Served   SelfDescription
	Kept     []string // digests of entries that a person has seen but not approved
}

// maxKept is the maximum number of digests in Kept. The latest ones stay.
const maxKept = 1 << 12

// KeepDigest remembers the digest of an entry that a person has seen but not approved.
func (s *State) KeepDigest(digest string) {
	if !slices.Contains(s.Kept, digest) {
		s.Kept = append(s.Kept, digest)
	}
	s.Kept = s.Kept[max(0, len(s.Kept)-maxKept):]
}

// Clone returns an independent copy.
func (s *State) Clone() *State {
	return &State{s.Server, slices.Clone(s.Sighted), s.Approved.Clone(), s.Served.Clone(), slices.Clone(s.Kept)}
}

// Write writes the state as a file, in the form of a lock without blanks. It writes the file in
// pieces, because the file holds most of a server's lists twice.
func (s *State) Write(to io.Writer) error {
	sighted := make([]string, 0, len(s.Sighted))
	for _, k := range s.Sighted {
		sighted = append(sighted, k.String())
	}
	w := bufio.NewWriterSize(to, 1<<16)
	writeStrings(w, `{"formula":`, strconv.Itoa(Formula))
	for _, part := range []struct {
		name  string
		value any
	}{{"kept", append([]string{}, s.Kept...)}, {"server", s.Server}, {"sighted", sighted}} {
		writeStrings(w, `,"`, part.name, `":`)
		_, _ = w.Write(escapeUnseen(encodeTree(part.value)))
	}
	writeStrings(w, `,"approved":`)
	s.Approved.writeBlock(w)
	writeStrings(w, `,"served":`)
	s.Served.writeBlock(w)
	writeStrings(w, "}\n")
	return w.Flush() // Flush returns the first error of all writes
}

func writeStrings(w *bufio.Writer, all ...string) {
	for _, one := range all {
		_, _ = w.WriteString(one)
	}
}

// writeBlock writes a server's block without blanks. Its entries are already in canonical form.
func (s *SelfDescription) writeBlock(w *bufio.Writer) {
	head := escapeUnseen(encodeTree(map[string]any{"start": append([]string{}, s.Start...), "version": s.Version, "instructions": s.Instructions}))
	_, _ = w.Write(head[:len(head)-1])
	for _, kind := range Kinds {
		writeStrings(w, `,"`, lists[kind], `":{`)
		for i, name := range slices.Sorted(maps.Keys(s.entries[kind])) {
			if i > 0 {
				writeStrings(w, ",")
			}
			e := s.entries[kind][name]
			_, _ = w.Write(escapeUnseen(encodeTree(name)))
			writeStrings(w, `:{"digest":"`, e.TextDigest(), `","entry":`)
			_, _ = w.Write(escapeUnseen(e.text))
			writeStrings(w, "}")
		}
		writeStrings(w, "}")
	}
	writeStrings(w, "}")
}

// match is a writer that compares the bytes it gets with the expected bytes.
type match struct{ rest []byte }

var errOther = errors.New("it is another text")

func (m *match) Write(b []byte) (int, error) {
	rest, same := bytes.CutPrefix(m.rest, b)
	if !same {
		return 0, errOther
	}
	m.rest = rest
	return len(b), nil
}

// writtenEntry is the text of an entry in a file of Write.
type writtenEntry []byte

// UnmarshalJSON stores the entry's part of src. The entry shares the memory of src.
func (e *writtenEntry) UnmarshalJSON(src []byte) error {
	const before = len(`{"digest":"sha256:","entry":`) + 2*sha256.Size
	if len(src) <= before {
		return errOther
	}
	*e = src[before : len(src)-1]
	return nil
}

// readExact parses a file that has exactly the bytes that Write would write. Then its entries are
// in canonical form and match their digests. known is false for any other file.
func readExact(src []byte, server string) (s *State, known bool) {
	type entries map[string]writtenEntry
	type block struct {
		Start        []string `json:"start"`
		Version      string   `json:"version"`
		Instructions string   `json:"instructions"`
		Tools        entries  `json:"tools"`
		Prompts      entries  `json:"prompts"`
		Templates    entries  `json:"templates"`
	}
	var file struct {
		Kept     []string `json:"kept"`
		Server   string   `json:"server"`
		Sighted  []string `json:"sighted"`
		Approved block    `json:"approved"`
		Served   block    `json:"served"`
	}
	if json.Unmarshal(src, &file) != nil || file.Server != server {
		return nil, false
	}
	sighted, err := readKinds(file.Sighted)
	if err != nil {
		return nil, false
	}
	s = &State{Server: server, Kept: file.Kept, Sighted: sighted}
	for _, part := range []struct {
		target *SelfDescription
		source *block
	}{{&s.Approved, &file.Approved}, {&s.Served, &file.Served}} {
		part.target.Start, part.target.Version, part.target.Instructions = part.source.Start, part.source.Version, part.source.Instructions
		for kind, all := range [...]entries{Tool: part.source.Tools, Prompt: part.source.Prompts, Template: part.source.Templates} {
			for name, one := range all {
				e := Entry{Kind: EntryKind(kind), Name: name, text: one} //nolint:gosec // an index of an array of few elements
				if !bytes.Contains(e.text, append([]byte(`"`+e.Kind.keyMember()+`":`), encodeTree(name)...)) {
					return nil, false
				}
				if same, there := s.Approved.FindEntry(e.Kind, name); there && bytes.Equal(same.text, e.text) {
					e = same // both entries share the same text
				} else {
					e.text = bytes.Clone(one)
				}
				part.target.PutEntry(e)
			}
		}
	}
	checked := match{src}
	return s, s.Write(&checked) == nil && len(checked.rest) == 0
}

// readKinds returns the kinds for these words.
func readKinds(words []string) (kinds []EntryKind, err error) {
	for _, word := range words {
		at := slices.IndexFunc([]EntryKind{Tool, Prompt, Template, Itself}, func(k EntryKind) bool { return k.String() == word })
		if at < 0 {
			return nil, fmt.Errorf("%q is not a kind of list", word)
		}
		kinds = append(kinds, EntryKind(at)) //nolint:gosec // the index is less than four
	}
	return kinds, nil
}

// ReadState parses the state of the server with this name. Like ReadLock it returns an error for
// anything that it does not know.
func ReadState(src []byte, server string) (*State, error) {
	if s, known := readExact(src, server); known {
		return s, nil
	}
	file, err := readFile(src, "server", "sighted", "approved", "served", "kept")
	if err != nil {
		return nil, err
	}
	if file["server"] != server {
		return nil, fmt.Errorf("it is that of another server, %s", encodeTree(file["server"]))
	}
	sighted, isList := textArray(file["sighted"])
	kept, areKept := textArray(file["kept"])
	if !isList || !areKept {
		return nil, errors.New("sighted and kept are lists of texts")
	}
	s := &State{Server: server, Kept: kept}
	if s.Sighted, err = readKinds(sighted); err != nil {
		return nil, err
	}
	if s.Approved, err = readServer(file["approved"]); err != nil {
		return nil, fmt.Errorf("approved: %w", err)
	}
	if s.Served, err = readServer(file["served"]); err != nil {
		return nil, fmt.Errorf("served: %w", err)
	}
	return s, nil
}
