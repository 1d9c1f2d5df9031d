package pin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/inspect"
)

// Change is one difference in an entry, or in a server's description of itself.
type Change struct {
	Class Class
	At    string          // member names with dots between; "" for the whole entry
	Was   json.RawMessage // the old value; nil if there was none
	Is    json.RawMessage // the new value; nil if there is none
	What  string          // description of a change that Was and Is do not show, without any text of the server
}

// ValueText returns the text of a JSON string. It returns any other value as JSON.
func ValueText(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

// Difference holds all changes of one entry, sorted by At.
type Difference struct {
	Kind    EntryKind
	Name    string
	Class   Class // the most serious class in Changes
	Changes []Change
}

// DiffEntries compares an old entry (was) with a new entry (is) and returns the changes. The
// entries must have the same kind and name. It returns nil if they are equal.
func DiffEntries(was, is Entry) []Change {
	if bytes.Equal(was.text, is.text) {
		return nil
	}
	var d differ
	old, now := was.parseMembers(), is.parseMembers()
	for _, name := range unionNames(old, now) {
		before, after := old[name], now[name]
		if !sameMember(old, now, name) {
			d.compareMember(members[is.Kind][name], name, before, after)
		}
	}
	if len(d.found) == 0 { // the bytes differ but the meaning is the same, as with {} for true, or null for an absent member
		d.addChange(Shown, "", nil, nil)
		d.found[0].What = "written in another way"
	}
	return append(d.found, suspectChanges(is)...)
}

// differ collects changes.
type differ struct {
	found    []Change
	contrary bool // inside a part such as "not": a tighter part does not make the whole schema tighter
}

func (d *differ) addChange(class Class, at string, was, is any) {
	if class == Narrowed && d.contrary {
		class = Widened
	}
	d.found = append(d.found, Change{Class: class, At: at, Was: rawValue(was), Is: rawValue(is)})
}

func rawValue(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return encodeTree(v)
}

// unionNames returns the sorted names of the members of both maps.
func unionNames[T any](was, is map[string]T) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(all)
	return slices.Compact(all)
}

// sameMember reports whether a member is the same in both objects. A missing member and null are
// not the same.
func sameMember(was, is map[string]any, name string) bool {
	before, had := was[name]
	after, has := is[name]
	return had == has && equalTrees(before, after)
}

func equalTrees(a, b any) bool { return bytes.Equal(encodeTree(a), encodeTree(b)) }

func (d *differ) compareMember(how rating, at string, was, is any) {
	switch how {
	case asName:
	case asShown:
		d.addChange(shownClass(is), at, was, is)
	case asText:
		d.addChange(Text, at, was, is)
	case asHints:
		d.compareHints(at, was, is)
	case asSchema:
		d.compareSchemas(at, was, is)
	case asArgs:
		d.compareArguments(at, was, is)
	default:
		d.addChange(Widened, at, was, is)
	}
}

// shownClass returns the class of a change of a text that people see in a list. It is Shown for a
// short text. It is Text for a text as long as a sentence, because a model may read it.
func shownClass(v any) Class {
	const words, letters = 8, 80
	is := false
	visitTexts("", v, func(_, text string) {
		is = is || len(strings.Fields(text)) > words || utf8.RuneCountInString(text) > letters && !strings.HasPrefix(text, "data:")
	})
	if is {
		return Text
	}
	return Shown
}

// restrictingHints are the values with which a hint restricts a tool (schema.ts, ToolAnnotations).
// The loss of such a value needs approval. A missing hint has no value.
var restrictingHints = map[string]bool{"readOnlyHint": true, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false}

func (d *differ) compareHints(at string, was, is any) {
	before, wasObject := asObject(was)
	after, isObject := asObject(is)
	if !wasObject || !isObject {
		d.addChange(Loosened, at, was, is)
		return
	}
	for _, name := range unionNames(before, after) {
		if sameMember(before, after, name) {
			continue
		}
		class := shownClass(after[name])
		if held, known := restrictingHints[name]; known && before[name] == held || !known && name != "title" {
			class = Loosened
		}
		d.addChange(class, at+"."+name, before[name], after[name])
	}
}

// asObject returns v as an object. A missing object counts as an object without members.
func asObject(v any) (map[string]any, bool) {
	if v == nil {
		return nil, true
	}
	o, ok := v.(map[string]any)
	return o, ok
}

// compareArguments compares the arguments of a prompt. Each has a name, a description and the
// member required.
func (d *differ) compareArguments(at string, was, is any) {
	before, wasNamed := byName(was)
	after, isNamed := byName(is)
	if !wasNamed || !isNamed {
		d.addChange(Widened, at, was, is)
		return
	}
	for _, name := range unionNames(before, after) {
		old, had := before[name].(map[string]any)
		now, has := after[name].(map[string]any)
		at := at + "." + name
		switch {
		case !had:
			d.addChange(Widened, at, nil, now)
		case !has:
			d.addChange(Narrowed, at, old, nil)
		default:
			for _, member := range unionNames(old, now) {
				if how := map[string]rating{"description": asText, "title": asText, "_meta": asShown}[member]; !sameMember(old, now, member) {
					d.compareMember(how, at+"."+member, old[member], now[member])
				}
			}
		}
	}
}

func byName(v any) (map[string]any, bool) {
	elements, ok := v.([]any)
	if v == nil {
		ok = true
	}
	all := map[string]any{}
	for _, element := range elements {
		o, _ := element.(map[string]any)
		name, _ := o["name"].(string)
		if name == "" || all[name] != nil {
			return nil, false
		}
		all[name] = o
	}
	return all, ok
}

// exact are the kinds of findings that an honest list never has.
var exact = sync.OnceValue(func() inspect.Kinds {
	kinds, err := inspect.ParseKinds([]string{string(inspect.Hidden), string(inspect.Control), string(inspect.TemplateToken)})
	if err != nil {
		panic(err)
	}
	return kinds.WithCloseLook()
})

// suspectChanges returns a change for each text in an entry that has a finding of the kinds in
// exact. Such a text is never approved.
func suspectChanges(e Entry) []Change {
	if isPlain(e.text) {
		return nil
	}
	return suspectsIn(e.parseMembers())
}

func suspectsIn(tree map[string]any) (found []Change) {
	visitTexts("", tree, func(at, text string) {
		for _, f := range inspect.SearchText(text, exact()) {
			found = append(found, Change{Class: Refused, At: at, What: fmt.Sprintf("%s: %s", f.Kind, f.What)})
			return // one finding is enough to refuse a text
		}
	})
	return found
}

// visitTexts calls visit for every text in a tree and for every member name.
func visitTexts(at string, v any, visit func(at, text string)) {
	switch v := v.(type) {
	case string:
		visit(at, v)
	case []any:
		for _, element := range v {
			visitTexts(at, element, visit)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(at, name)
			visitTexts(joinPath(at, name), v[name], visit)
		}
	}
}

func joinPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// GravestClass returns the most serious class. The unknown class is the most serious of all.
func GravestClass(all []Change) (worst Class) {
	for _, c := range all {
		if c.Class == 0 {
			return 0
		}
		worst = max(worst, c.Class)
	}
	return worst
}
