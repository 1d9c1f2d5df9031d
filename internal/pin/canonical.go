package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// maxDepth is deeper than what proxy/frame admits, and what a file of such entries adds.
const maxDepth = 100

// parse reads JSON as a tree of map[string]any, []any, string, json.Number, bool and nil.
// A member that stands twice is an error.
func parse(src []byte) (any, error) {
	if !utf8.Valid(src) {
		return nil, errors.New("it is no UTF-8")
	}
	from := json.NewDecoder(bytes.NewReader(src))
	from.UseNumber()
	var tree any
	if err := from.Decode(&tree); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := from.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind its end")
	}
	n, err := countMembers(tree, 0)
	if err == nil && n != countColons(src) { // the decoder keeps the last of several
		err = errors.New("a member stands twice")
	}
	return tree, err
}

// countMembers counts the members of all objects in a tree.
func countMembers(tree any, depth int) (n int, err error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	switch v := tree.(type) {
	case map[string]any:
		n = len(v)
		for _, one := range v {
			inner, err := countMembers(one, depth+1)
			if err != nil {
				return 0, err
			}
			n += inner
		}
	case []any:
		for _, one := range v {
			inner, err := countMembers(one, depth+1)
			if err != nil {
				return 0, err
			}
			n += inner
		}
	}
	return n, nil
}

// countColons counts those of JSON that stand in no text: as many as members.
func countColons(src []byte) (n int) {
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case ':':
			n++
		case '"':
			for i++; src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// written is a tree as canonical JSON: members by code point, no blanks. Code points and
// the bytes of UTF-8 have one order.
func written(tree any) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(tree); err != nil {
		panic(err) // a tree of parse has nothing that cannot be written
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// plain is a value that is data: numbers by what they are worth, arrays in their order.
// Texts are neither folded nor normalised, which would hide one behind another.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = plain(element)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = plain(member)
		}
		return object
	}
	return v
}

// schema is a JSON schema: what plain does, and the arrays that are sets as sets.
func schema(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return plain(v)
	}
	made := make(map[string]any, len(object))
	for name, member := range object {
		switch k := keywords[name]; {
		case k.set:
			made[name] = set(member)
		case k.holds == one:
			made[name] = each(member, schema) // an array of them in draft 7
		case k.holds == list:
			made[name] = each(member, schema)
		case k.holds == named:
			made[name] = eachNamed(member, schema)
		default:
			made[name] = plain(member)
		}
	}
	return made
}

// each is a schema, or an array of them.
func each(v any, of func(any) any) any {
	elements, ok := v.([]any)
	if !ok {
		return of(v)
	}
	made := make([]any, len(elements))
	for i, element := range elements {
		made[i] = of(element)
	}
	return made
}

func eachNamed(v any, of func(any) any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return plain(v)
	}
	made := make(map[string]any, len(object))
	for name, member := range object {
		made[name] = of(member)
	}
	return made
}

// set is an array of texts in which order and repetition mean nothing; another value is
// as it is.
func set(v any) any {
	all, texts := words(v)
	if !texts {
		return plain(v)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	elements := make([]any, len(all))
	for i, w := range all {
		elements[i] = w
	}
	return elements
}

// words are the texts of an array; ok says that it has nothing else.
func words(v any) (all []string, ok bool) {
	elements, ok := v.([]any)
	for _, element := range elements {
		text, isText := element.(string)
		all, ok = append(all, text), ok && isText
	}
	return all, ok
}
