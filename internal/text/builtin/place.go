package builtin

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Names of arguments that CompleteArguments adds to a call if the tool's contract is known.
// "places" lists the files that other arguments of the call name; rules treat them like the path
// argument of the class. "reach" lists folders or wildcards through which the call reads files that
// policies deny.
const (
	placesArgument = "places"
	reachArgument  = "reach"
)

func (t Tool) workKind() extraction {
	if t.row == nil {
		return noExtraction
	}
	return t.row.extract
}

// isDerived reports whether name is the name of an argument that CompleteArguments adds.
func (t Tool) isDerived(name string) bool {
	return t.row != nil && t.row.contract && (name == placesArgument || name == reachArgument)
}

// hasNested reports whether the tables know the members of the objects inside an argument.
func (r *row) hasNested(argument string) bool {
	for entry := range strings.FieldsSeq(r.nested) {
		if head, _, _ := strings.Cut(entry, "."); head == argument {
			return true
		}
	}
	return false
}

// gathersArgument reports whether an argument is a list of objects in which an argument of the
// class is a member.
func (r *row) gathersArgument(argument string) bool {
	for pair := range strings.FieldsSeq(r.args) {
		if head, _, listed := strings.Cut(pair, "[]."); listed && head == argument {
			return true
		}
	}
	return false
}

// addPlaces adds the arguments "places" and "reach" if the tool's contract is known.
func (t Tool) addPlaces(args []byte, members object) ([]byte, error) {
	if t.row == nil || !t.row.contract {
		return args, nil
	}
	places, reach, err := t.row.findPlaces(t, members)
	switch {
	case err != nil:
		return nil, err
	case len(places) > MaxPlaces:
		return nil, fmt.Errorf("it names more than %d places at once; split it", MaxPlaces)
	}
	if args, err = members.addDerived(args, reachArgument, reach); err != nil {
		return nil, err
	}
	return members.addDerived(args, placesArgument, places)
}

// addDerived adds a member with a list of texts to args. An empty list adds nothing. It returns an
// error if the call already has a different member of this name.
func (o object) addDerived(args []byte, name string, texts []string) ([]byte, error) {
	if len(texts) > 0 {
		return o.addMember(args, name, encodeTexts(texts))
	}
	if slices.ContainsFunc(o, func(m member) bool { return m.name == name }) {
		return nil, fmt.Errorf("it has a %q of its own", name)
	}
	return args, nil
}

// findPlaces returns the values of the arguments "places" and "reach" for a call.
func (r *row) findPlaces(t Tool, members object) (places, reach []string, err error) {
	var folders, globs []string
	shown := false // rules already see the wildcards, as the path argument of the class
	for _, m := range members {
		switch {
		case t.isDerived(m.name), r.gathersArgument(m.name):
			continue
		case r.hasNested(m.name):
			inner, err := r.readNested(m)
			if err != nil {
				return nil, nil, err
			}
			places = append(places, inner...)
		case listsName(r.plain, m.name):
		case listsName(r.globs, m.name):
			for _, text := range readTexts(m.raw) {
				globs = append(globs, splitWildcard(text)...)
			}
			shown = t.SharedName(m.name) == "path"
		case t.SharedName(m.name) == "path" || m.name == "path":
			folders = append(folders, readTexts(m.raw)...)
			fallthrough
		default:
			if name := nestedPlace(m.raw); name != "" {
				return nil, nil, fmt.Errorf("it names a file by %q within %q, of which nothing is known", name, m.name)
			}
		}
	}
	if len(globs) > MaxPlaces || len(folders) > MaxPlaces {
		return nil, nil, fmt.Errorf("it names more than %d places at once; split it", MaxPlaces)
	}
	if len(folders) == 0 && r.folder {
		folders = []string{"."}
		places = append(places, ".")
	}
	if r.content {
		wide := slices.ContainsFunc(members, func(m member) bool { return liftsIgnore(m.name, jsonscan.Value(m.raw)) })
		if wide && len(folders) == 0 {
			folders = []string{"."}
		}
		for _, f := range folders {
			switch {
			case wide:
				reach = append(reach, joinWildcard(f, "*"))
			case textclass.SurroundsSecrets(slashPath(f)):
				reach = append(reach, f)
			}
		}
	}
	for _, g := range globs {
		named, wide := r.findChosen(folders, slashPath(g))
		for _, place := range named {
			if !slices.Contains(places, place) && (place != g || !shown) {
				places = append(places, place)
			}
		}
		if wide {
			reach = append(reach, joinWildcard(".", g))
		}
	}
	return places, reach, nil
}

// liftsIgnore reports whether an argument makes a search read files that it usually skips:
// includeIgnoredFiles, no_ignore, hidden; respect_git_ignore = false.
func liftsIgnore(name string, v jsonscan.Value) bool {
	if v.Kind() == jsonscan.Object {
		for key, inner := range v.Members() {
			if liftsIgnore(key.Text(), inner) {
				return true
			}
		}
		return false
	}
	name = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
	if strings.Contains(name, "case") || !containsAny(name, "ignore", "hidden", "unrestricted", "dotfiles") {
		return false
	}
	value := strings.ToLower(strings.Trim(string(v), `"`))
	off := slices.Contains([]string{"false", "0", "no", "null", ""}, value)
	if !off && !slices.Contains([]string{"true", "1", "yes"}, value) {
		return false // not a boolean, so the tool ignores the argument
	}
	return off == containsAny(name, "respect", "skip", "exclude", "honor", "obey", "apply", "use")
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// findChosen returns the denied files that a wildcard names in full, and the wildcard itself if it
// leads out of the folder. The result wide means that the tool shows contents of files and may also
// show other denied files.
func (r *row) findChosen(folders []string, wildcard string) (named []string, wide bool) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	if leaves := isRooted(wildcard) || slices.Contains(strings.Split(wildcard, "/"), ".."); leaves {
		named = append(named, wildcard)
	}
	for _, f := range folders {
		names, reaches := textclass.ChoosesSecrets(joinWildcard(slashPath(f), wildcard))
		named = append(named, names...)
		wide = wide || reaches && r.content
	}
	return named, wide
}

// splitWildcard lists the wildcards that a text may stand for: the whole text, and its parts.
// Claude Code splits a text at blanks, and at commas outside of braces.
func splitWildcard(text string) []string {
	all := []string{text}
	add := func(part string) {
		if part != "" && !slices.Contains(all, part) && len(all) <= MaxPlaces {
			all = append(all, part)
		}
	}
	for field := range strings.FieldsSeq(text) {
		add(field)
		if !strings.Contains(field, "{") {
			for part := range strings.SplitSeq(field, ",") {
				add(part)
			}
		}
	}
	return all
}

// joinWildcard puts a folder before a wildcard. It leaves an absolute wildcard, and a wildcard that
// begins with "!", unchanged.
func joinWildcard(folder, wildcard string) string {
	if isRooted(wildcard) || strings.HasPrefix(wildcard, "!") {
		return wildcard
	}
	return strings.TrimSuffix(folder, "/") + "/" + wildcard
}

func isRooted(name string) bool {
	return path.IsAbs(name) || strings.HasPrefix(name, "~") || len(name) > 1 && name[1] == ':'
}

// slashPath returns a path with / as the separator. It also accepts a Windows path.
func slashPath(name string) string {
	if rest, found := strings.CutPrefix(name, "file://"); found {
		name = rest
	}
	if len(name) > 1 && (name[1] == ':' || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, `~\`)) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

// readTexts lists the strings inside a JSON value.
func readTexts(raw string) (all []string) {
	visitTexts(jsonscan.Value(raw), "", func(_, text string) { all = append(all, text) })
	return all
}

// visitTexts visits every non-empty string inside a JSON value. name is the name of the nearest
// object member around the string.
func visitTexts(v jsonscan.Value, name string, visit func(name, text string)) {
	switch v.Kind() {
	case jsonscan.Object:
		for key, inner := range v.Members() {
			visitTexts(inner, key.Text(), visit)
		}
	case jsonscan.Array:
		for inner := range v.Elements() {
			visitTexts(inner, name, visit)
		}
	case jsonscan.String:
		if text := v.Text(); text != "" {
			visit(name, text)
		}
	case jsonscan.Absent, jsonscan.Null, jsonscan.Boolean, jsonscan.Number:
	}
}

// readNested lists the files that the objects in an argument name. It returns an error for a member
// that is not in the contract although its name is usual for files (NamesPlace).
func (r *row) readNested(m member) (all []string, err error) {
	if nestedPlace(m.text) != "" { // some tools take the list as a string that contains JSON
		return nil, fmt.Errorf("it has JSON for %q", m.name)
	}
	visitTexts(jsonscan.Value(m.raw), "", func(name, text string) {
		switch {
		case listsName(r.nested, m.name+"."+name):
			all = append(all, text)
		case NamesPlace(name):
			err = fmt.Errorf("it names a file by %q within %q, of which nothing is known", name, m.name)
		}
	})
	return all, err
}

// nestedPlace searches all objects in a JSON value for a member whose name is usual for files
// (NamesPlace). It returns this name; "" if there is none.
func nestedPlace(raw string) (found string) {
	if !strings.Contains(raw, "{") {
		return ""
	}
	visitTexts(jsonscan.Value(raw), "", func(name, _ string) {
		if NamesPlace(name) {
			found = name
		}
	})
	return found
}

// NamesPlace reports whether a member with this name holds a file or a folder.
func NamesPlace(name string) bool {
	name = strings.ToLower(strings.TrimRight(name, "0123456789"))
	for _, ending := range [...]string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder", "uri", "glob", "globs"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}
