package builtin

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/jsonscan"
	"github.com/clawai/clawai/internal/screen"
)

// What Complete adds to a call of a tool whose contract is known. places are files that the
// call names elsewhere than in the argument that is the class's path, and are the class's
// path too. reach are folders, or wildcards, through which the call reads what is shut.
const (
	placesArgument = "places"
	reachArgument  = "reach"
)

func (t Tool) worked() worked {
	if t.row == nil {
		return nothing
	}
	return t.row.more
}

// derived reports whether Complete adds an argument of that name.
func (t Tool) derived(name string) bool {
	return t.row != nil && t.row.contract && (name == placesArgument || name == reachArgument)
}

// nests reports whether the members of objects in an argument are known.
func (r *row) nests(argument string) bool {
	for entry := range strings.FieldsSeq(r.nested) {
		if head, _, _ := strings.Cut(entry, "."); head == argument {
			return true
		}
	}
	return false
}

// gathers reports whether an argument is a list whose objects hold the class's argument.
func (r *row) gathers(argument string) bool {
	for pair := range strings.FieldsSeq(r.args) {
		if head, _, listed := strings.Cut(pair, "[]."); listed && head == argument {
			return true
		}
	}
	return false
}

// addPlaces adds what a call names by its contract.
func (t Tool) addPlaces(args []byte, members object) ([]byte, error) {
	if t.row == nil || !t.row.contract {
		return args, nil
	}
	places, reach, err := t.row.named(t, members)
	switch {
	case err != nil:
		return nil, err
	case len(places) > MaxPlaces:
		return nil, fmt.Errorf("it names more than %d places at once; split it", MaxPlaces)
	}
	if args, err = members.derive(args, reachArgument, reach); err != nil {
		return nil, err
	}
	return members.derive(args, placesArgument, places)
}

// derive is with for a list that may be empty.
func (o object) derive(args []byte, name string, texts []string) ([]byte, error) {
	if len(texts) > 0 {
		return o.with(args, name, list(texts))
	}
	if slices.ContainsFunc(o, func(m member) bool { return m.name == name }) {
		return nil, fmt.Errorf("it has a %q of its own", name)
	}
	return args, nil
}

// named lists the places that a call names beside the class's path, and those that it
// reaches.
func (r *row) named(t Tool, members object) (places, reach []string, err error) {
	var folders, globs []string
	shown := false // the wildcards are the class's path themselves
	for _, m := range members {
		switch {
		case t.derived(m.name), r.gathers(m.name):
			continue
		case r.nests(m.name):
			inner, err := r.inside(m)
			if err != nil {
				return nil, nil, err
			}
			places = append(places, inner...)
		case lists(r.plain, m.name):
		case lists(r.globs, m.name):
			globs, shown = append(globs, leaves(m.raw)...), t.Shared(m.name) == "path"
		case t.Shared(m.name) == "path" || m.name == "path":
			folders = append(folders, leaves(m.raw)...)
			fallthrough
		default:
			if name := nestedPlace(m.raw); name != "" {
				return nil, nil, fmt.Errorf("it names a file by %q within %q, of which nothing is known", name, m.name)
			}
		}
	}
	if len(folders) == 0 && r.here {
		folders = []string{"."}
		places = append(places, ".")
	}
	if r.looks {
		for _, f := range folders {
			if screen.Surrounds(slashed(f)) {
				reach = append(reach, f)
			}
		}
	}
	for _, g := range globs {
		named, wide := r.choice(folders, slashed(g))
		for _, place := range named {
			if !slices.Contains(places, place) && (place != g || !shown) {
				places = append(places, place)
			}
		}
		if wide {
			reach = append(reach, below(".", g))
		}
	}
	return places, reach, nil
}

// choice is what a wildcard names by its whole name, and whether a tool that shows what is
// in files shows more that is shut.
func (r *row) choice(folders []string, wildcard string) (named []string, wide bool) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	if leaves := rooted(wildcard) || slices.Contains(strings.Split(wildcard, "/"), ".."); leaves {
		named = append(named, wildcard)
	}
	for _, f := range folders {
		names, reaches := screen.Chooses(below(slashed(f), wildcard))
		named = append(named, names...)
		wide = wide || reaches && r.looks
	}
	return named, wide
}

// below is a wildcard as it stands in a folder.
func below(folder, wildcard string) string {
	if rooted(wildcard) || strings.HasPrefix(wildcard, "!") {
		return wildcard
	}
	return strings.TrimSuffix(folder, "/") + "/" + wildcard
}

func rooted(name string) bool {
	return path.IsAbs(name) || strings.HasPrefix(name, "~") || len(name) > 1 && name[1] == ':'
}

// slashed is a path with / between its parts, as on Windows too.
func slashed(name string) string {
	if rest, found := strings.CutPrefix(name, "file://"); found {
		name = rest
	}
	if len(name) > 1 && (name[1] == ':' || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, `~\`)) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

// leaves are the texts in a value.
func leaves(raw string) (all []string) {
	walk(jsonscan.Value(raw), "", func(_, text string) { all = append(all, text) })
	return all
}

// walk visits every text in a value that is not empty, with the name of the nearest member
// that holds it.
func walk(v jsonscan.Value, name string, visit func(name, text string)) {
	switch v.Kind() {
	case jsonscan.Object:
		for key, inner := range v.Members() {
			walk(inner, key.Text(), visit)
		}
	case jsonscan.Array:
		for inner := range v.Elements() {
			walk(inner, name, visit)
		}
	case jsonscan.String:
		if text := v.Text(); text != "" {
			visit(name, text)
		}
	case jsonscan.Absent, jsonscan.Null, jsonscan.Boolean, jsonscan.Number:
	}
}

// inside lists the files that the objects of an argument name. A member that reads as one
// and is not in the contract is an error.
func (r *row) inside(m member) (all []string, err error) {
	if nestedPlace(m.text) != "" { // some take JSON in a text for the list
		return nil, fmt.Errorf("it has JSON for %q", m.name)
	}
	walk(jsonscan.Value(m.raw), "", func(name, text string) {
		switch {
		case lists(r.nested, m.name+"."+name):
			all = append(all, text)
		case namesPlace(name):
			err = fmt.Errorf("it names a file by %q within %q, of which nothing is known", name, m.name)
		}
	})
	return all, err
}

// nestedPlace is the name of a member of an object in a value that reads as a file's; ""
// without one.
func nestedPlace(raw string) (found string) {
	if !strings.Contains(raw, "{") {
		return ""
	}
	walk(jsonscan.Value(raw), "", func(name, _ string) {
		if namesPlace(name) {
			found = name
		}
	})
	return found
}

// namesPlace reports whether a member of that name holds a file or a folder.
func namesPlace(name string) bool {
	name = strings.ToLower(strings.TrimRight(name, "0123456789"))
	for _, ending := range [...]string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder", "uri", "glob", "globs"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}
