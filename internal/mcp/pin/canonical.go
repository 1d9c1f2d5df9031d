package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth. It is larger than the depth that internal/wire/frame
// admits plus the levels that a file of entries adds.
const maxDepth = 100

// parseTree parses JSON into a tree of map[string]any, []any, string, json.Number, bool and nil. It
// returns an error if an object has a member twice.
func parseTree(src []byte) (any, error) {
	if !utf8.Valid(src) {
		return nil, errors.New("it is not UTF-8")
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
		return nil, errors.New("there is text after its end")
	}
	n, err := countMembers(tree, 0)
	if err == nil && n != countColons(src) { // repeated members are found by counting, because the decoder keeps only the last of several members with the same name
		err = errors.New("a member is there twice")
	}
	return tree, err
}

// countMembers returns the total number of members of all objects in a tree.
func countMembers(tree any, depth int) (n int, err error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	var parts []any
	switch v := tree.(type) {
	case map[string]any:
		n, parts = len(v), slices.Collect(maps.Values(v))
	case []any:
		parts = v
	}
	for _, part := range parts {
		inner, err := countMembers(part, depth+1)
		if err != nil {
			return 0, err
		}
		n += inner
	}
	return n, nil
}

// countColons returns the number of colons outside strings in JSON. It equals the number of
// members.
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

// encodeTree returns a tree as canonical JSON: sorted members, no blanks. Members are sorted by
// code point, which is also the order of their UTF-8 bytes.
func encodeTree(tree any) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(tree); err != nil {
		panic(err) // cannot happen, because every tree of parseTree can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// textArray returns the texts in an array. ok is false if v is no array or has other elements.
func textArray(v any) (all []string, ok bool) {
	elements, ok := v.([]any)
	for _, element := range elements {
		text, isText := element.(string)
		all, ok = append(all, text), ok && isText
	}
	return all, ok
}
