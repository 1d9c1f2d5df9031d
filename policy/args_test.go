package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/reading"
)

// valuesFor gives what the conditions on args.<name> see, one text each;
// "<absent>" where a server may find nothing.
func valuesFor(names []string, args string) (map[string][]string, bool) {
	root := &argNames{}
	for i, name := range names {
		root.ensureNode(strings.Split(name, ".")).slot = int32(i + 1)
	}
	var sc scanner
	ok := sc.scanArguments([]byte(args), root)
	got := map[string][]string{}
	for _, v := range sc.values {
		s := v.s
		if v.isAbsent() {
			s = "<absent>"
		}
		got[names[v.slot-1]] = append(got[names[v.slot-1]], s)
	}
	return got, ok
}

func TestArgumentValues(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"a", ``, `map[]`},
		{"a", `{}`, `map[]`},
		{"a", ` { "b" : 1 , "a" : "x" } `, `map[a:[x]]`},
		{"a", `{"a":1.50,"b":[1,{"c":"}"}]}`, `map[a:[1.50]]`},
		{"a", `{"a":true}`, `map[a:[true]]`},
		{"a", `{"a":null}`, `map[a:[<absent>]]`},
		{"a", `{"a":[]}`, `map[a:[<absent>]]`},
		{"a", `{"a":["x",["y",[null]]]}`, `map[a:[x y <absent>]]`},
		{"a", `{"a":{"b":"x","c":[1,{"d":null}],"e":false}}`, `map[a:[<absent> x 1 false]]`},
		{"a", `{"A":"x"}`, `map[a:[x <absent>]]`},
		{"a", `{"a":"x","A":"y"}`, `map[a:[x y <absent>]]`},
		{"a", `{"a":"\u0078\n\"\\\/\b\f\r\t\ud83d\ude00"}`, "map[a:[x\n\"\\/\b\f\r\t\U0001F600]]"},
		{"a", `{"a":"\ud83d"}`, "map[a:[\uFFFD]]"},
		{"a", `{"a":"\ud83d\u0041"}`, "map[a:[\uFFFDA]]"},
		{"a", `{"\u0061":"x"}`, `map[a:[x]]`},
		{"s", `{"` + "\u017f" + `":"x"}`, `map[s:[x <absent>]]`},
		{"a.b", `{"a":{"b":"x"},"b":"y"}`, `map[a.b:[x]]`},
		{"a.b", `{"a":"x"}`, `map[]`},
		{"a.b", `{"a":[{"b":"x"},{"b":"y"}]}`, `map[a.b:[x y]]`},
		{"a.b", `{"a":[{"b":"x"},{"c":"y"},3]}`, `map[a.b:[x <absent> <absent>]]`},
		{"a.b", `{"a":[[{"b":"x"}]]}`, `map[a.b:[x]]`},
		{"a.b.c", `{"a":[{"b":[{"c":1},{}]}]}`, `map[a.b.c:[1 <absent>]]`},
		{"a.b.c", `{"A":{"b":{"c":1}}}`, `map[a.b.c:[1 <absent>]]`},
	} {
		got, ok := valuesFor([]string{c.name}, c.args)
		if fmt.Sprint(got) != c.want || !ok {
			t.Errorf("args.%s of %s: %v, %v; want %s", c.name, c.args, got, ok, c.want)
		}
	}
	got, _ := valuesFor([]string{"a", "a.b"}, `{"a":[{"b":"x"}]}`)
	if want := "map[a:[<absent> x] a.b:[x]]"; fmt.Sprint(got) != want {
		t.Errorf("a name and a longer one: %v, want %s", got, want)
	}
}

// However many names the rules mention, each is found.
func TestArgumentsByManyNames(t *testing.T) {
	var names []string
	for i := range 3 * fewNames {
		names = append(names, fmt.Sprintf("name%d", i))
	}
	got, ok := valuesFor(names, `{"name1":"x","NAME23":"y","name24":"z"}`)
	if want := "map[name1:[x] name23:[y <absent>]]"; fmt.Sprint(got) != want || !ok {
		t.Errorf("%v, want %s", got, want)
	}
}

// What is no JSON object is never half read.
func TestArgumentsThatAreNone(t *testing.T) {
	for _, args := range []string{
		`[]`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":"x"`, `{"a":"x",`, `{"a":"x"}}`, `{a:1}`, `{"a" 1}`, `{"a":"x}`, `{"a":"x\"}`, `{"a":"\`,
		`{"a":}`, `{"a":[}`, `{"a":[1}`, `{"a":[1`, `{"a":{"b":}}`, `{"b":}`, `{"b":"x}`,
		`{"a":"x" "b":1}`, `{"a":[1 2]}`, `{"b":[}`, `{"b":"\`, `{"\`, `{"\x":1}`, `{"a":@}`, `{"b":1`, `{"a":tru}`, `{"b":[-]}`, `{"b":{"c":x}}`,
		`{"a":` + strings.Repeat("[", jsonscan.MaxDepth+1) + strings.Repeat("]", jsonscan.MaxDepth+1) + `}`,
		`{"b":` + strings.Repeat(`{"c":`, jsonscan.MaxDepth+1) + "1" + strings.Repeat("}", jsonscan.MaxDepth+1) + `}`,
	} {
		for _, names := range [][]string{{"a"}, {"a.b"}, {"a", "a.b"}} {
			if got, ok := valuesFor(names, args); ok {
				t.Errorf("%.60s was read for %v as %v", args, names, got)
			}
		}
	}
}

// An escape that is none shows where the text is asked for.
func TestBrokenEscapes(t *testing.T) {
	for _, args := range []string{`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12zz"}`} {
		if got, ok := valuesFor([]string{"a"}, args); ok {
			t.Errorf("%s was read as %v", args, got)
		}
	}
}

// The scanner reads what encoding/json reads: the same texts for a name, and
// nothing from what encoding/json refuses but for what it is lenient in, which
// internal/wire/frame has refused before.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"a":"x"}`, `{"a":[1,"\u0041"]}`, `{"b":{"a":null},"a":true}`, `{"a":"\ud83d\ude00"}`, `{"a":-1.5e3}`, `{`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got, ok := valuesFor([]string{"a"}, args)
		var want map[string]any
		if json.Unmarshal([]byte(args), &want) != nil || want == nil || strings.Count(args, `"`) != strings.Count(strings.ToValidUTF8(args, ""), `"`) {
			return
		}
		if !ok && len(args) < jsonscan.MaxDepth {
			t.Fatalf("%q is an object that was not read", args)
		}
		// With exactly one member that could be meant, and it a string, that
		// string is what is seen.
		named := 0
		dec := json.NewDecoder(strings.NewReader(args))
		dec.Token()
		for depth := 1; depth > 0; {
			tok, err := dec.Token()
			if err != nil {
				return
			}
			switch tok := tok.(type) {
			case json.Delim:
				depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[tok]
			case string:
				if reading.FoldCase(tok) == "a" {
					named++
				}
			}
		}
		if s, is := want["a"].(string); is && named == 1 && (len(got["a"]) == 0 || got["a"][0] != s) && strings.ToValidUTF8(args, "") == args {
			t.Fatalf("%q: %q, want %q", args, got["a"], s)
		}
	})
}
