package modelapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
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

// What a request says beside results is words: whatever its kind, and never where a client wants a cache to end.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api  API
		body string
		want []string
	}{
		{Messages, `{"system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"own"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"r"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}},{"type":"document","title":"c","source":{"type":"text","data":"d"}},{"type":"new","x":[{"y":"e"}]}]},{"role":"system","content":[{"type":"text","text":"f"}]}]}`,
			[]string{`"s"`, `"a"`, `"b"`, `{"title":"c","source":{"type":"text","data":"d"}}`, `{"x":[{"y":"e"}]}`, `"f"`}},
		{Responses, `{"instructions":"s","input":"a"}`, []string{`"s"`, `"a"`}},
		{Responses, `{"input":[{"role":"developer","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"},{"type":"input_image","image_url":"c"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"own"}]},{"type":"new","x":"d"},{"type":"function_call_output","call_id":"i","output":"r"}]}`, []string{`"a"`, `"b"`, `{"image_url":"c"}`, `{"x":"d"}`}},
		{Chat, `{"messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"c"}}]},{"role":"assistant","content":"own"},{"role":"tool","tool_call_id":"i","content":"r"},{"role":"new","content":"d"}]}`, []string{`"a"`, `"b"`, `{"image_url":{"url":"c"}}`, `"d"`}},
		{Gemini, `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"a"},{"inlineData":{"data":"b"}},{"new":{"x":"c"}}]},{"role":"model","parts":[{"text":"own"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"},"parts":[{"inlineData":{"data":"d"}}]}}]}]}`, []string{`"s"`, `"a"`, `{"inlineData":{"data":"b"}}`, `{"new":{"x":"c"}}`, `{"inlineData":{"data":"d"}}`}},
	} {
		r, err := ReadRequest(c.api, []byte(c.body))
		var got []string
		for _, v := range r.Words {
			got = append(got, string(v))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, %v; want %q", c.api, got, err, c.want)
		}
	}
}
