package modelapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// MaxText is the size in bytes of the longest document that is read.
const MaxText = 64 << 20

// maxArguments and maxCalls bound the calls of one reply.
const (
	maxArguments = 4 << 20
	maxCalls     = 128
)

// parseDocument checks that a text is JSON and within the limits of size and nesting.
func parseDocument(text []byte) (jsonscan.Value, error) {
	if !json.Valid(text) {
		return "", errors.New("it is not JSON")
	}
	if len(text) > MaxText {
		return "", errTooLong
	}
	v := jsonscan.ValueOf(bytes.Trim(text, blanks))
	if c := (jsonscan.Cursor{Src: string(v)}); !c.SkipValue() {
		return "", errNotJSON
	}
	return v, nil
}

// readDocument reads an object that its receiver checks again. It refuses text that is not JSON,
// except for mistakes that only a strict reader refuses (a raw line end in a string, the number
// 01). It is faster than parseDocument.
func readDocument(text []byte) (o object, err error) {
	if len(text) > MaxText {
		return o, errTooLong
	}
	v := jsonscan.ValueOf(bytes.Trim(text, blanks))
	if v.Kind() != jsonscan.Object {
		return o, fmt.Errorf("there is %s where an object should be", nounOf(v))
	}
	c := jsonscan.Cursor{Src: string(v)}
	if o, err = readMembers(&c, (*jsonscan.Cursor).SkipValue); err == nil && c.At != len(c.Src) {
		err = errNotJSON
	}
	return o, err
}

const blanks = " \t\r\n"

var errTooLong = fmt.Errorf("it is longer than %d MiB", MaxText>>20)

// object holds the members of an object that the package looks at.
type object struct {
	names  []string
	values []jsonscan.Value
}

// readObject reads the members of an object. A name that occurs twice, or again in another case, is
// an error, because another reader might take the other value.
func readObject(v jsonscan.Value) (o object, err error) {
	if v.Kind() != jsonscan.Object {
		return o, fmt.Errorf("there is %s where an object should be", nounOf(v))
	}
	c := jsonscan.Cursor{Src: string(v)}
	return readMembers(&c, skipValue)
}

// readMembers reads the object at the position of c and moves c past it. skip moves c past one
// value.
func readMembers(c *jsonscan.Cursor, skip func(*jsonscan.Cursor) bool) (o object, err error) {
	more, ok := c.EnterContainer('{')
	for more {
		var name string
		name, ok = c.ReadName()
		from := c.At
		if !ok || !skip(c) {
			return o, errNotJSON
		}
		o.names, o.values = append(o.names, name), append(o.values, jsonscan.Value(c.Src[from:c.At]))
		more, ok = c.NextItem('}')
	}
	if !ok {
		return o, errNotJSON
	}
	return o, o.checkNames()
}

var errNotJSON = errors.New("it is not JSON, or nested too deep")

// skipValue moves past a value of a document that was checked.
func skipValue(c *jsonscan.Cursor) bool {
	if b := c.Peek(); b != '{' && b != '[' {
		return c.SkipValue()
	}
	c.At++
	return c.LeaveContainer()
}

// checkNames checks that no name occurs twice, or again in another case.
func (o *object) checkNames() error {
	if len(o.names) > 256 { // for few members, comparing each pair is faster
		seen := make(map[string]bool, len(o.names))
		for _, name := range o.names {
			if name = strings.ToLower(name); seen[name] {
				return fmt.Errorf("a member %q is there twice", shorten(name))
			}
			seen[name] = true
		}
		return nil
	}
	for i, name := range o.names {
		for _, other := range o.names[:i] {
			if len(name) == len(other) && strings.EqualFold(name, other) {
				return fmt.Errorf("a member %q is there twice", shorten(name))
			}
		}
	}
	return nil
}

func nounOf(v jsonscan.Value) string {
	if v == "" {
		return "nothing"
	}
	return v.Kind().String()
}

func shorten(text string) string {
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// value returns a member, or "" if it is absent or null.
func (o *object) value(name string) jsonscan.Value {
	for i, n := range o.names {
		if n == name && o.values[i].Kind() != jsonscan.Null {
			return o.values[i]
		}
	}
	return ""
}

// firstOf returns the first of some members that is there.
func (o *object) firstOf(names ...string) jsonscan.Value {
	for _, name := range names {
		if v := o.value(name); v != "" {
			return v
		}
	}
	return ""
}

func (o *object) text(name string) string { return o.value(name).Text() }

// checkTexts checks that members are texts if they are present. Otherwise a client that joins such
// a member with a text may convert it first, for example a list of one text to this text.
func (o *object) checkTexts(names ...string) error {
	for _, name := range names {
		if v := o.value(name); v != "" && v.Kind() != jsonscan.String {
			return fmt.Errorf("%s is %s and should be a text", name, nounOf(v))
		}
	}
	return nil
}

// object reads a member that is an object; an absent one has no members.
func (o *object) object(name string) (object, error) {
	v := o.value(name)
	if v == "" {
		return object{}, nil
	}
	return readObject(v)
}

// visitObjects calls visit for each object of an array. An absent value counts as an empty array.
// Any other value is an error.
func visitObjects(v jsonscan.Value, visit func(o *object) error) error {
	if v == "" {
		return nil
	}
	if v.Kind() != jsonscan.Array {
		return fmt.Errorf("there is %s where a list should be", nounOf(v))
	}
	c := jsonscan.Cursor{Src: string(v)}
	more, _ := c.EnterContainer('[')
	for more {
		if c.Peek() != '{' {
			from := c.At
			skipValue(&c)
			return fmt.Errorf("there is %s where an object should be", nounOf(jsonscan.Value(c.Src[from:c.At])))
		}
		o, err := readMembers(&c, skipValue)
		if err == nil {
			err = visit(&o)
		}
		if err != nil {
			return err
		}
		more, _ = c.NextItem(']')
	}
	return nil
}
