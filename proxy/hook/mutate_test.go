package hook_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
)

// mutation writes a payload otherwise; nil where it does not apply.
type mutation struct {
	name string
	of   func(payload []byte, row *client.Row) []byte
}

// edit is a mutation of the members of the top level.
func edit(name string, change func(m map[string]json.RawMessage, row *client.Row) bool) mutation {
	return mutation{name, func(payload []byte, row *client.Row) []byte {
		var m map[string]json.RawMessage
		if json.Unmarshal(payload, &m) != nil || !change(m, row) {
			return nil
		}
		out, err := json.Marshal(m)
		if err != nil {
			return nil
		}
		return out
	}}
}

// place changes the first of some members that is there; of places within others nothing.
func place(name string, places func(*client.Row) []string, change func(value json.RawMessage) json.RawMessage) mutation {
	return edit(name, func(m map[string]json.RawMessage, row *client.Row) bool {
		for _, at := range places(row) {
			if value, there := m[at]; there {
				if next := change(value); next == nil {
					delete(m, at)
				} else {
					m[at] = next
				}
				return true
			}
		}
		return false
	})
}

func tools(r *client.Row) []string    { return r.Tool }
func inputs(r *client.Row) []string   { return r.Input }
func sessions(r *client.Row) []string { return r.Session }
func events(r *client.Row) []string   { return r.Event }

func wide(payload []byte, order binary.AppendByteOrder, mark string) []byte {
	out := []byte(mark)
	for _, unit := range utf16.Encode([]rune(string(payload))) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func text(s string) json.RawMessage {
	b, _ := json.Marshal(s) //nolint:errchkjson // a text always marshals
	return b
}

func constant(s string) func(json.RawMessage) json.RawMessage {
	return func(json.RawMessage) json.RawMessage { return json.RawMessage(s) }
}

func raw(change func(string) string) func([]byte, *client.Row) []byte {
	return func(payload []byte, _ *client.Row) []byte { return []byte(change(string(payload))) }
}

// snakes turns the names of the top level from one form into the other.
func snakes(m map[string]json.RawMessage, _ *client.Row) bool {
	for _, name := range slices.Sorted(maps.Keys(m)) { // a map that grows is walked in no order
		value, other := m[name], ""
		for i, part := range strings.Split(name, "_") {
			if i > 0 && part != "" {
				part = strings.ToUpper(part[:1]) + part[1:]
			}
			other += part
		}
		if other == name {
			other = ""
			for _, c := range name {
				if c >= 'A' && c <= 'Z' {
					other += "_"
				}
				other += strings.ToLower(string(c))
			}
		}
		delete(m, name)
		m[other] = value
	}
	return true
}

// modeOfClaudeCode makes the form of some clients that of others, who have such a mode.
const modeOfClaudeCode = "Claude Code's mode"

// mutations are ways in which a client of another version, or something between, could write
// the same call. None of them makes it another's or lets it go.
var mutations = []mutation{
	{"BOM", raw(func(s string) string { return "\xef\xbb\xbf" + s })},
	{"two BOMs", raw(func(s string) string { return "\xef\xbb\xbf\xef\xbb\xbf" + s })},
	{"UTF-16LE", func(p []byte, _ *client.Row) []byte { return wide(p, binary.LittleEndian, "\xff\xfe") }},
	{"UTF-16BE", func(p []byte, _ *client.Row) []byte { return wide(p, binary.BigEndian, "\xfe\xff") }},
	{"UTF-16 without a mark", func(p []byte, _ *client.Row) []byte { return wide(p, binary.LittleEndian, "") }},
	{"in a list", raw(func(s string) string { return "[" + s + "]" })},
	{"in a text", raw(func(s string) string { return string(text(s)) })},
	{"in a member", raw(func(s string) string { return `{"payload":` + s + `}` })},
	{"twice", raw(func(s string) string { return s + s })},
	{"garbage behind", raw(func(s string) string { return s + "x" })},
	{"half", raw(func(s string) string { return s[:len(s)/2] })},
	{"comma behind the last", raw(func(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), "}") + ",}" })},
	{"a comment", raw(func(s string) string { return "/* */" + s })},
	{"no UTF-8", raw(func(s string) string { return strings.Replace(s, `{"`, "{\"\xff\":1,\"", 1) })},
	{"blanks", raw(func(s string) string { return " \r\n\t" + s + "\r\n" })},
	{"a NUL behind", raw(func(s string) string { return s + "\x00" })},
	{"a huge member", raw(func(s string) string {
		return strings.Replace(s, "{", `{"padding":"`+strings.Repeat("x", 1<<20)+`",`, 1)
	})},
	{"deep", raw(func(s string) string {
		return strings.Replace(s, "{", `{"deep":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`,`, 1)
	})},
	{"many members", raw(func(s string) string {
		var more strings.Builder
		for i := range 5000 {
			more.WriteString(`"m` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/182) + `":1,`)
		}
		return strings.Replace(s, "{", "{"+more.String(), 1)
	})},
	{"the tool twice", func(p []byte, r *client.Row) []byte {
		for _, at := range r.Tool {
			if strings.Contains(string(p), `"`+at+`"`) {
				return bytes.Replace(p, []byte("{"), []byte(`{"`+at+`":"TodoWrite",`), 1)
			}
		}
		return nil
	}},
	{"the tool in other letters, too", func(p []byte, r *client.Row) []byte {
		for _, at := range r.Tool {
			if strings.Contains(string(p), `"`+at+`"`) {
				return bytes.Replace(p, []byte("{"), []byte(`{"`+strings.ToUpper(at)+`":"TodoWrite",`), 1)
			}
		}
		return nil
	}},
	{"escaped names", raw(func(s string) string {
		return strings.NewReplacer(`"tool`, `"\u0074ool`, `"hook`, `"\u0068ook`, `"session`, `"\u0073ession`).Replace(s)
	})},
	edit("names in the other form", snakes),
	edit("camelCase beside", func(m map[string]json.RawMessage, _ *client.Row) bool {
		_, there := m["toolName"]
		m["toolName"] = text("TodoWrite")
		return !there
	}),
	edit("snake_case beside", func(m map[string]json.RawMessage, _ *client.Row) bool {
		_, there := m["tool_name"]
		m["tool_name"] = text("TodoWrite")
		return !there
	}),
	edit("an empty input beside", func(m map[string]json.RawMessage, _ *client.Row) bool {
		for _, name := range []string{"tool_input", "toolInput", "toolArgs", "input"} {
			if _, there := m[name]; !there {
				m[name] = json.RawMessage(`{}`)
			}
		}
		return true
	}),
	edit(modeOfClaudeCode, func(m map[string]json.RawMessage, _ *client.Row) bool {
		m["permission_mode"] = text("bypassPermissions")
		return true
	}),
	edit("a mode that is not text", func(m map[string]json.RawMessage, _ *client.Row) bool {
		m["permission_mode"] = json.RawMessage(`["default"]`)
		return true
	}),
	edit("a prototype", func(m map[string]json.RawMessage, _ *client.Row) bool {
		m["__proto__"] = json.RawMessage(`{"tool_name":"TodoWrite"}`)
		return true
	}),
	place("no tool", tools, constant("null")),
	place("the tool left out", tools, func(json.RawMessage) json.RawMessage { return nil }),
	place("an empty tool", tools, constant(`""`)),
	place("a list of tools", tools, func(v json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(v) + "]") }),
	place("an object for the tool", tools, func(v json.RawMessage) json.RawMessage { return json.RawMessage(`{"name":` + string(v) + "}") }),
	place("a number for the tool", tools, constant("7")),
	place("a blank behind the tool", tools, func(v json.RawMessage) json.RawMessage { return append(v[:len(v)-1:len(v)-1], ` "`...) }),
	place("a NUL behind the tool", tools, func(v json.RawMessage) json.RawMessage { return append(v[:len(v)-1:len(v)-1], `\u0000"`...) }),
	place("an unseen sign in the tool", tools, func(v json.RawMessage) json.RawMessage { return append(v[:len(v)-1:len(v)-1], "\u200b\""...) }),
	place("the input as a text", inputs, func(v json.RawMessage) json.RawMessage {
		if v[0] != '{' {
			return v
		}
		return text(string(v))
	}),
	place("the input as a text in a text", inputs, func(v json.RawMessage) json.RawMessage { return text(string(text(string(v)))) }),
	place("the input with a BOM", inputs, func(v json.RawMessage) json.RawMessage { return text("\ufeff" + string(v)) }),
	place("the input in a list", inputs, func(v json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(v) + "]") }),
	place("the input in an object", inputs, func(v json.RawMessage) json.RawMessage { return json.RawMessage(`{"input":` + string(v) + "}") }),
	place("no input", inputs, constant("null")),
	place("a number for the input", inputs, constant("0")),
	place("the input with more", inputs, func(v json.RawMessage) json.RawMessage {
		if v[0] != '{' || len(v) < 3 {
			return v
		}
		return json.RawMessage(`{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "," + string(v[1:]))
	}),
	place("no session", sessions, constant("null")),
	place("an empty session", sessions, constant(`""`)),
	place("a list of sessions", sessions, func(v json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(v) + "]") }),
	place("no event", events, constant("null")),
	place("a list of events", events, func(v json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(v) + "]") }),
	place("an event that nobody knows", events, constant(`"PreToolUseOfTomorrow"`)),
	place("an event in capitals", events, func(v json.RawMessage) json.RawMessage { return json.RawMessage(strings.ToUpper(string(v))) }),
}

// A recorded call that the rules deny, written in any of these ways, is denied at its own
// client's entry: read as the same call, or not read. So it is under rules that let every
// other call go, where it is read as the same call of the same client.
func TestMutatedPayloads(t *testing.T) {
	slow.Test(t)
	if len(mutations) < 40 {
		t.Fatalf("%d mutations", len(mutations))
	}
	strictest := rules(t)
	open, err := policy.Parse("p", []byte("[[rule]]\naction = \"deny\"\ntool = \"**\"\nargs.\"*\" = [\"**.ssh**\", \"**rm -rf**\", \"**id_rsa**\"]\n[[rule]]\naction = \"allow\"\ntool = \"**\"\n"), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried, told := 0, map[string]bool{}
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		row := client.FindRow(id)
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		req, err := row.Read(payload, "")
		if err != nil || req.Event.Kind != client.Before || req.Row.ID != id {
			continue
		}
		deniedBy := func(p *policy.Policy) bool {
			return req.Row.IsDenial(hook.Run(t.Context(), payload, options(p, id, &record{})))
		}
		always, byRule := deniedBy(strictest), deniedBy(open)
		for _, m := range mutations {
			other := m.of(payload, row)
			if other == nil {
				continue
			}
			again, unread := row.Read(other, "")
			if unread == nil && (again.Event.Kind != client.Before || again.Row.ID != id) && m.name != modeOfClaudeCode {
				t.Errorf("%s, %s: read as %s of %s", file, m.name, again.Event.Name, again.Row.ID)
			}
			tried++
			told[m.name] = true
			a := hook.Run(t.Context(), other, options(strictest, id, &record{}))
			if always && !again.Row.IsDenial(a) {
				t.Errorf("%s, %s: let go: %s", file, m.name, a.Stdout)
			}
			same := unread == nil && len(again.Calls) > 0 && again.Calls[0].Names[0] == req.Calls[0].Names[0] && bytes.Contains(again.Calls[0].Args, bytes.Trim(req.Calls[0].Args, "{}"))
			if byRule && same && !again.Row.IsDenial(hook.Run(t.Context(), other, options(open, id, &record{}))) {
				t.Errorf("%s, %s: the rule is missed", file, m.name)
			}
		}
	}
	if tried < 3000 || len(told) != len(mutations) {
		t.Errorf("%d payloads, by %d of %d mutations", tried, len(told), len(mutations))
	}
}
