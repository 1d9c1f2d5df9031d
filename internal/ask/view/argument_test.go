package view

import (
	"encoding/json"
	"testing"
)

func TestMainArgument(t *testing.T) {
	for args, want := range map[string]string{
		``:                                     "",
		`{}`:                                   "",
		`{"content":"x","path":"/a"}`:          "/a",
		`{"content":"x","file_path":"/a"}`:     "/a",
		`{"content":"x","notebook-path":"/a"}`: "/a",
		`{"paths":["/a","/b","/c"]}`:           "/a and 2 more",
		`{"paths":["/a"]}`:                     "/a",
		`{"paths":[]}`:                         "[]",
		`{"url":"https://a","path":"/b"}`:      "/b",
		`{"owner":"o","n":7,"deep":{"path":"x"}}`: `owner=o n=7 deep={"path":"x"}`,
		`{"path":null}`: "null",
		`["a"]`:         `["a"]`,
		`{"path":`:      `{"path":`,
		`"text"`:        `"text"`,
	} {
		if got := MainArgument([]byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// What is an object to the standard library is one here, with the same members.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"path":"/a","b":[1,"x"],"c":{"d":null},"path":2}`))
	f.Add([]byte(`{"a":1`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) == 0 || len(src) > 1<<12 {
			t.Skip()
		}
		var want map[string]json.RawMessage
		object := json.Unmarshal(src, &want) == nil && want != nil
		all, ok := parseArguments(src)
		if ok != object {
			t.Fatalf("%s: an object: %v", src, ok)
		}
		names := map[string]bool{}
		for _, a := range all {
			if names[a.name] = true; want[a.name] == nil {
				t.Errorf("%s: there is no %q", src, a.name)
			}
		}
		if len(names) != len(want) {
			t.Errorf("%s: %v are not all members", src, all)
		}
		_ = MainArgument(src)
	})
}
