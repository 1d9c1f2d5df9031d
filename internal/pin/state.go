package pin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// State is what one person's machine knows of a server: what was approved, and what the
// server has said last.
type State struct {
	Server   string // its name, so that another's file is not taken for it
	Sighted  []Kind // of which a first list was seen to its end
	Approved Server
	Served   Server
	Kept     []string // digests of what a person has seen and not approved
}

// maxKept is how many answers are remembered; of more, the last.
const maxKept = 1 << 12

// Keep notes what a person did not approve.
func (s *State) Keep(digest string) {
	if !slices.Contains(s.Kept, digest) {
		s.Kept = append(s.Kept, digest)
	}
	s.Kept = s.Kept[max(0, len(s.Kept)-maxKept):]
}

// Clone is a copy that changes by itself.
func (s *State) Clone() *State {
	return &State{s.Server, slices.Clone(s.Sighted), s.Approved.Clone(), s.Served.Clone(), slices.Clone(s.Kept)}
}

// Text is the state as a file, in the form of a lock without its blanks.
func (s *State) Text() []byte {
	sighted := make([]string, 0, len(s.Sighted))
	for _, k := range s.Sighted {
		sighted = append(sighted, k.String())
	}
	b := append([]byte(`{"formula":`), strconv.Itoa(Formula)...)
	for _, part := range []struct {
		name string
		of   any
	}{{"kept", append([]string{}, s.Kept...)}, {"server", s.Server}, {"sighted", sighted}} {
		b = append(append(b, `,"`+part.name+`":`...), written(part.of)...)
	}
	b = s.Approved.appendTo(append(b, `,"approved":`...))
	b = s.Served.appendTo(append(b, `,"served":`...))
	return seen(append(b, '}', '\n'))
}

// appendTo writes a block without blanks: its entries are canonical already.
func (s *Server) appendTo(b []byte) []byte {
	head := written(map[string]any{"start": append([]string{}, s.Start...), "version": s.Version, "instructions": s.Instructions})
	b = append(b, head[:len(head)-1]...)
	for _, kind := range Kinds {
		b = append(b, `,"`+lists[kind]+`":{`...)
		for i, e := range s.Entries(kind) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, written(e.Name)...), `:{"digest":"`+e.Digest()+`","entry":`...)
			b = append(append(b, e.text...), '}')
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// ReadState reads the state of the server of that name. Like ReadLock it takes nothing that
// it does not know whole.
func ReadState(src []byte, server string) (*State, error) {
	tree, err := parse(src)
	if err != nil {
		return nil, err
	}
	file, err := only(tree, "formula", "server", "sighted", "approved", "served", "kept")
	if err != nil {
		return nil, err
	}
	if formula := file["formula"]; formula != json.Number(strconv.Itoa(Formula)) {
		return nil, fmt.Errorf("its formula is %s, and this version of clawai knows %d alone", written(formula), Formula)
	}
	if file["server"] != server {
		return nil, fmt.Errorf("it is that of another server, %s", written(file["server"]))
	}
	s := &State{Server: server}
	sighted, isList := words(file["sighted"])
	kept, areKept := words(file["kept"])
	if !isList || !areKept {
		return nil, errors.New("sighted and kept are lists of texts")
	}
	s.Kept = kept
	for _, word := range sighted {
		at := slices.IndexFunc([]Kind{Tool, Prompt, Template, Itself}, func(k Kind) bool { return k.String() == word })
		if at < 0 {
			return nil, fmt.Errorf("%q is nothing that can be sighted", word)
		}
		s.Sighted = append(s.Sighted, Kind(at)) //nolint:gosec // an index of four
	}
	if s.Approved, err = readServer(file["approved"]); err != nil {
		return nil, fmt.Errorf("approved: %w", err)
	}
	if s.Served, err = readServer(file["served"]); err != nil {
		return nil, fmt.Errorf("served: %w", err)
	}
	return s, nil
}
