package pin

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// canonical is the form by a tree, in the plainest words: what rewrite has to give.
func canonical(how shape, kind EntryKind, v any) any {
	switch v := v.(type) {
	case json.Number:
		return normalizeNumber(v)
	case []any:
		all, texts := textArray(v)
		if how == setShape && texts {
			slices.Sort(all)
			return append([]string{}, slices.Compact(all)...)
		}
		of := dataShape
		if how == schemasShape {
			of = schemaShape
		}
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = canonical(of, kind, element)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range v {
			object[name] = canonical((&writer{kind: kind}).shapeOf(how, []byte(name)), kind, member)
		}
		return object
	}
	return v
}

func FuzzRewrite(f *testing.F) {
	for _, src := range []string{
		`{"name":"a","inputSchema":{"type":["string","null","string"],"required":["b","a"],"enum":[1,"a"],"items":[{"required":["z","a"]}]}}`,
		`{ "uriTemplate" : "x:\u2028\ud800\"é" , "name":"\u0000\b\f\n" , "e":[ ] , "o":{ } , "n":[1.0,-0,1e2,1e999999999999,12345678901234567890123,1E+25] }`,
		`{"name":"a","name":"b"}`, `{"name":"a","x":{"\ud800":1,"\udc00":2}}`, `[1]`, `"a"`, `{"name":1}`, `{"b":1,"a":{"d":[true,false,null],"c":""},"name":"x"} `,
		`{"name":"` + "\u2028\u2029\u2030\u007f" + `","outputSchema":{"properties":{"type":{"enum":["b","a","b"]}},"anyOf":[{"enum":[]}]}}`,
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, kind := range Kinds {
			e, err := Read(kind, []byte(src))
			tree, wrong := parseTree([]byte(src))
			object, isObject := tree.(map[string]any)
			name, _ := object[kind.keyMember()].(string)
			if readable := wrong == nil && isObject && name != ""; readable != (err == nil) {
				t.Fatalf("%q as a %s: %v, and by its tree %v", src, kind, err, wrong)
			}
			if err != nil {
				continue
			}
			if want := encodeTree(canonical(entryShape, kind, object)); e.Name != name || !bytes.Equal(e.Text(), want) {
				t.Fatalf("%q as a %s is %q %s\nwant %q %s", src, kind, e.Name, e.Text(), name, want)
			}
			again, err := Read(kind, e.Text())
			if err != nil || !bytes.Equal(again.Text(), e.Text()) {
				t.Fatalf("%s read again is %s: %v", e.Text(), again.Text(), err)
			}
			if isPlain(e.Text()) && len(suspectsIn(e.parseMembers())) > 0 {
				t.Fatalf("%s is plain, and has %v", e.Text(), suspectsIn(e.parseMembers()))
			}
		}
	})
}
