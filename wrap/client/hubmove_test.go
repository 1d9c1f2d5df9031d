package client

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// movable are the bare entries of each container of a file that the hub can have.
func movable(t interface{ Fatalf(string, ...any) }, row Row, src []byte) (groups [][]Entry, refused []string) {
	entries, err := Read(row, src)
	if err != nil {
		t.Fatalf("read: %v\n%s", err, src)
	}
	at := map[string]int{}
	for _, e := range entries {
		if _, err := ForHub(row, src, e); err != nil {
			if _, ok := errors.AsType[*EditError](err); !ok {
				t.Fatalf("%q: %v is no EditError", e.Name, err)
			}
			refused = append(refused, e.Name+": "+err.Error())
			continue
		}
		key := pathKey(e.KeyPath[:len(e.KeyPath)-1])
		if _, known := at[key]; !known {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], e)
	}
	return groups, refused
}

// checkMoved moves entries and sees with other parsers that nothing but them went.
func checkMoved(t interface{ Fatalf(string, ...any) }, row Row, src []byte, group []Entry) []byte {
	after, pieces, err := MoveOut(row, src, group, "/opt/bin/clawai", []string{"a", "b"})
	if err != nil {
		t.Fatalf("move: %v\n%s", err, src)
	}
	hub := append(slices.Clone(group[0].KeyPath[:len(group[0].KeyPath)-1]), HubName)
	back, err := MoveBack(row, after, hub, pieces)
	if err != nil || string(back) != string(src) {
		t.Fatalf("move back: %v\n%s\n%s\n%s", err, src, after, back)
	}
	want, err := decode(row.Format, string(src))
	if err != nil {
		t.Fatalf("the sample does not decode: %v\n%s", err, src)
	}
	got, err := decode(row.Format, string(after))
	if err != nil {
		t.Fatalf("the file does not decode: %v\n%s", err, after)
	}
	for _, e := range group {
		want = dropped(want, e.KeyPath)
	}
	if entry, err := at(got, hub); err != nil || !strings.Contains(strings.Join(wordsOf(row, entry), " "), "clawai hub --only a,b") {
		t.Fatalf("the hub's entry: %v\n%s", err, after)
	}
	if got = dropped(got, hub); !same(got, want) {
		t.Fatalf("got\n%v\nwant\n%v\nof\n%s", got, want, after)
	}
	return after
}

// dropped is a decoded file without one entry.
func dropped(value any, path []string) any {
	switch v := value.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
		} else {
			v[path[0]] = dropped(v[path[0]], path[1:])
		}
	case []any:
		return slices.DeleteFunc(v, func(item any) bool {
			m, ok := item.(map[string]any)
			return ok && m["name"] == path[0]
		})
	}
	return value
}

func wordsOf(r Row, entry map[string]any) (words []string) {
	for _, key := range []string{r.commandKey(), r.argsKey()} {
		switch v := entry[key].(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, word := range v {
				text, _ := word.(string)
				words = append(words, text)
			}
		}
	}
	return words
}

// What each client's documentation shows can be moved, or it is known why not.
func TestMoveGolden(t *testing.T) {
	slow.Test(t)
	moved := 0
	for _, row := range catalogue(t) {
		if row.ReadOnly {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			src := golden(t, row, "before")
			groups, refused := movable(t, row, src)
			for _, text := range refused {
				t.Log(text)
			}
			for _, group := range groups {
				moved += len(group)
				checkMoved(t, row, src, group)
			}
		})
	}
	if moved < 100 {
		t.Errorf("of all servers in documentation only %d can be moved", moved)
	}
}

// Generated files: whatever is moved comes back, and nothing else has gone.
func TestMoveProperties(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name    string
		samples *rapid.Generator[sample]
	}{
		{"json", jsonSamples(JSON)}, {"jsonc", jsonSamples(JSONC)}, {"json5", jsonSamples(JSON5)}, {"toml", tomlSamples}, {"yaml", yamlSamples},
	} {
		t.Run(c.name, func(t *testing.T) {
			moved, refused := 0, map[string]int{}
			rapid.Check(t, func(t *rapid.T) {
				s := c.samples.Draw(t, "file")
				groups, _ := movable(t, s.row, []byte(s.src))
				for _, group := range groups {
					if _, _, err := MoveOut(s.row, []byte(s.src), group, "/opt/bin/clawai", []string{"a"}); err != nil {
						refused[err.Error()[strings.Index(err.Error(), ": "):]]++
						continue
					}
					checkMoved(t, s.row, []byte(s.src), group)
					moved++
				}
			})
			t.Log(moved, "moved;", refused)
			if moved == 0 {
				t.Error("nothing was moved")
			}
		})
	}
}

// A client that prints its file anew, or a person who edits it, loses no server.
func TestMoveBackIntoChangedFile(t *testing.T) {
	row := Row{Format: JSON, KeyPath: []string{"mcpServers"}}
	src := []byte("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"other\": 1,\n    \"b\": {\"command\": \"y\"},\n    \"c\": {\"command\": \"z\"}\n  }\n}\n")
	groups, _ := movable(t, row, src)
	after, pieces, err := MoveOut(row, src, groups[0], "clawai", []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	hub := []string{"mcpServers", HubName}
	for _, c := range []struct{ name, old, new string }{
		{"a member was added", `"mcpServers"`, `"theme": "dark", "mcpServers"`},
		{"what stood between is gone", ",\n    \"other\": 1", ""},
		{"a server was added", `"other": 1`, `"other": 1, "d": {"command": "q"}`},
	} {
		back, err := MoveBack(row, []byte(strings.Replace(string(after), c.old, c.new, 1)), hub, pieces)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := decode(JSON, string(back))
		want, _ := decode(JSON, strings.Replace(string(src), c.old, c.new, 1))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%s", c.name, err, back)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"the hub is gone", `{"mcpServers":{}}`, "the hub's entry is gone"},
		{"a name is taken", strings.Replace(string(after), `"other": 1`, `"other": 1, "b": {"command": "q"}`, 1), `a server "b" was written beside the hub`},
	} {
		if _, err := MoveBack(row, []byte(c.text), hub, pieces); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
