package jsonscan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// leavesByLevel is Leaves as another reader sees them, level by level.
func leavesByLevel(v gjson.Result, name string, visit func(name string, leaf gjson.Result)) {
	switch v.Type {
	case gjson.JSON:
		v.ForEach(func(key, inner gjson.Result) bool {
			leavesByLevel(inner, key.Str, visit)
			return true
		})
	case gjson.Null:
	default:
		visit(name, v)
	}
}

func TestLeavesAreThoseOfEveryLevel(t *testing.T) {
	for _, text := range []string{
		``, `null`, `"a"`, `-1.5e3`, `true`, `[]`, `{}`, `[null , {} ,[ ]]`,
		`{"a":"b" , "c" :["d",1 ,true,{"e":false}],"f":{"g":null,"description" :"h"}}`,
		`{"a\"}":"b\\","\u0061":["\"", ":" , "x:"] ,"t" : "\u00e9}"}`,
		`[[["a"],"b"],{"title":["c"],"d":{"title":"e"}},1,-0.5 ]`,
	} {
		var got, want []string
		Value(text).VisitLeaves(func(name string, leaf Value) { got = append(got, name+"="+string(leaf)+"="+leaf.Text()) })
		leavesByLevel(gjson.Parse(text), "", func(name string, leaf gjson.Result) {
			want = append(want, name+"="+leaf.Raw+"="+leaf.Str)
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[Value]ValueKind{``: Absent, `null`: Null, `true`: Boolean, `false`: Boolean, `-1`: Number, `"x"`: String, `[]`: Array, `{}`: Object} {
		if got := text.Kind(); got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func TestMember(t *testing.T) {
	o := Value(`{"a" : 1, "\u0062":{"c":"\n"},"d":[1, "x" ,{}]}`)
	for name, want := range map[string]Value{"a": `1`, "b": `{"c":"\n"}`, "d": `[1, "x" ,{}]`, "c": ``} {
		if got := o.Member(name); got != want || string(got.Bytes()) != string(want) || (got.Bytes() == nil) != (want == "") {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := o.Member("b").Member("c").Text(); got != "\n" {
		t.Errorf("%q", got)
	}
	if got := slices.Collect(o.Member("d").Elements()); !slices.Equal(got, []Value{`1`, `"x"`, `{}`}) {
		t.Errorf("%q", got)
	}
	for _, other := range []Value{``, `null`, `"a"`, `["a"]`, `1`} {
		if other.Member("a") != "" || other.Kind() != Array && len(slices.Collect(other.Elements())) > 0 {
			t.Errorf("%s has members", other)
		}
	}
}

// Nothing is copied to look at a message.
func TestReadingAllocatesNothing(t *testing.T) {
	b := []byte(`{"a":[1,"x",{"b":null}],"c":{"d":"text"},"e":-1.5}`)
	found := 0
	if n := testing.AllocsPerRun(100, func() {
		v := ValueOf(b)
		for name, value := range v.Members() {
			found += len(name.Text()) + len(value.Bytes())
		}
		for element := range v.Member("a").Elements() {
			found += int(element.Kind())
		}
		found += len(v.Member("c").Member("d").Text())
		c := Cursor{Src: string(v)}
		if !c.SkipValue() || c.At != len(b) {
			t.Fatal("not read to its end")
		}
	}); n > 0 || found == 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzValue: of what encoding/json takes for JSON, a Value has what encoding/json finds in
// it, and a Cursor passes over all of it; anything else is read without harm.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		`{"a":"x"}`, `[1,"\u0041",[true,false,null],{}]`, `{"b":{"a":[-1.5e3]},"a":true}`, `"\ud83d\ude00"`, `"\ud83d"`, `{`, `{"a":1,"b`, `[1,,2]`, `"\`, `{"\x":1}`,
		`[1e09000]`, // no float64
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Trim(text, " \t\r\n")
		valid := json.Valid([]byte(text))
		c := Cursor{Src: text}
		whole := c.SkipValue() && c.At == len(text)
		if valid && !whole && len(text) < MaxDepth {
			t.Fatalf("%q is JSON that was not read", text)
		}
		var leaves []Value
		Value(text).VisitLeaves(func(_ string, leaf Value) { leaves = append(leaves, leaf) })
		for _, v := range append(leaves, Value(text)) {
			_, _ = v.Text(), v.Member("a")
		}
		if valid && len(text) < MaxDepth {
			same(t, Value(text))
		}
	})
}

func same(t *testing.T, v Value) {
	switch v.Kind() {
	case String:
		var want string
		if err := json.Unmarshal(v.Bytes(), &want); err != nil || v.Text() != want && validText(v) {
			t.Fatalf("%s says %q, want %q", v, v.Text(), want)
		}
	case Array:
		var want []json.RawMessage
		_ = json.Unmarshal(v.Bytes(), &want)
		i := 0
		for element := range v.Elements() {
			if i == len(want) || string(element) != string(want[i]) {
				t.Fatalf("element %d of %s is %s", i, v, element)
			}
			same(t, element)
			i++
		}
		if i != len(want) {
			t.Fatalf("%d elements of %s, want %d", i, v, len(want))
		}
	case Object:
		want := map[string]json.RawMessage{}
		_ = json.Unmarshal(v.Bytes(), &want)
		got := map[string]Value{}
		for name, value := range v.Members() {
			got[name.Text()] = value // the last of several, as encoding/json takes it
			same(t, name)
			same(t, value)
		}
		for name, value := range got {
			if validText(Value(name)) && string(want[name]) != string(value) {
				t.Fatalf("member %q of %s is %s, want %s", name, v, value, want[name])
			}
		}
		if len(got) != len(want) && validText(v) {
			t.Fatalf("%d members of %s, want %d", len(got), v, len(want))
		}
	case Null, Boolean, Number:
		if !json.Valid(v.Bytes()) || IsNumber(v.Bytes()) != (v.Kind() == Number) {
			t.Fatalf("%s is no value", v)
		}
	default:
		t.Fatalf("%q has no kind", v)
	}
}

// validText: what is no UTF-8 is read as it stands here, and repaired by encoding/json.
func validText(v Value) bool { return strings.ToValidUTF8(string(v), "") == string(v) }
