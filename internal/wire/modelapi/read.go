package modelapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// MaxText is the maximum size in bytes of a document.
const MaxText = 64 << 20

// maxArguments (in bytes) and maxCalls limit the calls in one reply.
const (
	maxArguments = 4 << 20
	maxCalls     = 128
)

// parseDocument parses a text and checks that it is JSON and within the limits of size and nesting
// depth.
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

// readDocument reads an object that its receiver will check again. It is faster than parseDocument,
// but it accepts some mistakes that a strict reader refuses (a raw line end in a string, the number
// 01).
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

// object holds the members of a JSON object.
type object struct {
	names  []string
	values []jsonscan.Value
}

// readObject reads the members of an object. It returns an error if a name occurs twice (the case
// of letters makes no difference), because another reader might use the other value.
func readObject(v jsonscan.Value) (o object, err error) {
	if v.Kind() != jsonscan.Object {
		return o, fmt.Errorf("there is %s where an object should be", nounOf(v))
	}
	c := jsonscan.Cursor{Src: string(v)}
	return readMembers(&c, skipValue)
}

// readMembers reads the object at the cursor and moves the cursor past it. skip moves the cursor
// past one value.
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

// skipValue moves the cursor past a value in a document that was checked before.
func skipValue(c *jsonscan.Cursor) bool {
	if b := c.Peek(); b != '{' && b != '[' {
		return c.SkipValue()
	}
	c.At++
	return c.LeaveContainer()
}

// checkNames returns an error if a name occurs twice. The case of letters makes no difference.
func (o *object) checkNames() error {
	if len(o.names) > 256 { // a map is faster only for many members
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

// value returns the value of a member. It returns "" if the member is absent or null.
func (o *object) value(name string) jsonscan.Value {
	for i, n := range o.names {
		if n == name && o.values[i].Kind() != jsonscan.Null {
			return o.values[i]
		}
	}
	return ""
}

// firstOf returns the value of the first of these members that is present and not null.
func (o *object) firstOf(names ...string) jsonscan.Value {
	for _, name := range names {
		if v := o.value(name); v != "" {
			return v
		}
	}
	return ""
}

func (o *object) text(name string) string { return o.value(name).Text() }

// checkTexts returns an error if one of these members is present but is not a text. The check is
// needed because some clients convert such a member to a text and then use it, for example a list
// with one text.
func (o *object) checkTexts(names ...string) error {
	for _, name := range names {
		if v := o.value(name); v != "" && v.Kind() != jsonscan.String {
			return fmt.Errorf("%s is %s and should be a text", name, nounOf(v))
		}
	}
	return nil
}

// object returns the members of the object with this name. An absent object counts as an empty one.
func (o *object) object(name string) (object, error) {
	v := o.value(name)
	if v == "" {
		return object{}, nil
	}
	return readObject(v)
}

// visitObjects calls visit for each object in an array. An absent value counts as an empty array.
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
