package modelapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// membersOf returns the members of an object as encoding/json reads them, in their order, by a reader that
// shares no code with this package.
func membersOf(text []byte) (names []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, errors.New("no object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("more behind the object")
	}
	return names, values, nil
}

// FuzzDocument: of a text that encoding/json takes, an object has the members that encoding/json finds, and
// is refused only where a member stands twice; so is each object of a list in it.
func FuzzDocument(f *testing.F) {
	for _, text := range append(requests, `{}`, ` {"a" : 1 , "b":[ {"c":"\u0064"} ,{ } ]}`+"\r\n", `{"a":1,"\u0061":2}`, `{"a":1,"A":2}`, `{"a":"\"}","b":{"c":"]"}}`, `{"a":[{"x":"\\"},{"y":[[{}]]}]}`, `{"a":1}x`, `{"a":1,}`, `{"é":1,"É":2}`, `{"":null}`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || len(text) > 4<<10 { // encoding/json repairs what is no UTF-8
			return
		}
		o, err := readDocument(text)
		names, values, wrong := membersOf(text)
		if wrong != nil || !json.Valid(text) {
			return
		}
		checkObject(t, &o, err, names, values)
	})
}

func checkObject(t *testing.T, o *object, err error, names []string, values []json.RawMessage) {
	t.Helper()
	twice := false
	for i := range names {
		for j := range i {
			twice = twice || strings.EqualFold(names[i], names[j])
		}
	}
	if err != nil {
		if !twice && !errors.Is(err, errNotJSON) {
			t.Fatalf("%q is refused: %v", names, err)
		}
		return
	}
	if len(o.names) != len(names) {
		t.Fatalf("%q and %q", o.names, names)
	}
	for i := range names {
		if o.names[i] != names[i] && !strings.ContainsRune(names[i], utf8.RuneError) || string(o.values[i]) != string(values[i]) {
			t.Fatalf("%q %s and %q %s", o.names[i], o.values[i], names[i], values[i])
		}
		for j := range i {
			if names[i] == names[j] {
				t.Fatalf("%q stands twice", names[i])
			}
		}
		var list []json.RawMessage
		if values[i][0] != '[' || json.Unmarshal(values[i], &list) != nil {
			continue
		}
		n := 0
		err := visitObjects(o.values[i], func(one *object) error {
			names, values, wrong := membersOf(list[n])
			if wrong != nil {
				t.Fatalf("%s is read: %v", list[n], wrong)
			}
			checkObject(t, one, nil, names, values)
			n++
			return nil
		})
		if err == nil && n != len(list) {
			t.Fatalf("%d objects of %d", n, len(list))
		}
	}
}
