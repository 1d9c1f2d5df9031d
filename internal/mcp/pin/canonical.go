package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth is deeper than what internal/wire/frame admits, and what a file of such entries adds.
const maxDepth = 100

// parseTree reads JSON as a tree of map[string]any, []any, string, json.Number, bool and nil.
// A member that stands twice is an error.
func parseTree(src []byte) (any, error) {
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

// encodeTree gives a tree as canonical JSON: members by code point, no blanks. Code points and
// the bytes of UTF-8 have one order.
func encodeTree(tree any) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(tree); err != nil {
		panic(err) // a tree of parse has nothing that cannot be written
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// textArray gives the texts of an array; ok says that it has nothing else.
func textArray(v any) (all []string, ok bool) {
	elements, ok := v.([]any)
	for _, element := range elements {
		text, isText := element.(string)
		all, ok = append(all, text), ok && isText
	}
	return all, ok
}
