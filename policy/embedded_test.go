package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/reading"

	"github.com/clawai/clawai/internal/testing/slow"
)

func TestEmbeddedValues(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"a", `{"a":"[\"x\",1,[true,null],{\"k\":\"y\"}]"}`, `map[a:[["x",1,[true,null],{"k":"y"}] x 1 true y]]`},
		{"a", `{"a":" {\"k\":1,\"k\":2} "}`, `map[a:[ {"k":1,"k":2}  1 2]]`},
		{"a", `{"a":"[NaN,-Infinity]"}`, `map[a:[[NaN,-Infinity] NaN -Infinity]]`},
		{"a", `{"a":["[1]"]}`, `map[a:[[1] 1]]`},
		{"a", `{"a":"[\"[\\\"x\\\"]\"]"}`, `map[a:[["[\"x\"]"] ["x"] x]]`},
		// What no reader would take for JSON is a text alone.
		{"a", `{"a":"[x]"}`, `map[a:[[x]]]`},
		{"a", `{"a":"[\"x\",]"}`, `map[a:[["x",]]]`},
		{"a", `{"a":"[\"x\"] [1]"}`, `map[a:[["x"] [1]]]`},
		{"a", `{"a":"{\"x\"}"}`, `map[a:[{"x"}]]`},
		{"a", `{"a":"{]"}`, `map[a:[{]]]`},
		{"a", `{"a":"["}`, `map[a:[[]]`},
		{"a", `{"a":"\"x\""}`, `map[a:["x"]]`},
		{"a", `{"a":"[]"}`, `map[a:[[]]]`},
		// A member may be found in the text, or there is none.
		{"a.b", `{"a":"{\"b\":\"x\",\"c\":1}"}`, `map[a.b:[x <absent>]]`},
		{"a.b", `{"a":"[{\"b\":\"x\"},{}]"}`, `map[a.b:[x <absent> <absent>]]`},
		{"a.b", `{"a":["{\"b\":\"x\"}"]}`, `map[a.b:[x <absent>]]`},
		{"a.b", `{"a":"{\"b\":\"[1]\"}"}`, `map[a.b:[[1] 1 <absent>]]`},
		{"a.b.c", `{"a":{"b":"{\"C\":1}"}}`, `map[a.b.c:[1 <absent> <absent>]]`},
		{"a.b", `{"a":"{\"c\":1}"}`, `map[]`},
		{"a.b", `{"a":"b"}`, `map[]`},
	} {
		got, ok := valuesFor([]string{c.name}, c.args)
		if fmt.Sprint(got) != c.want || !ok {
			t.Errorf("args.%s of %s: %v, %v; want %s", c.name, c.args, got, ok, c.want)
		}
	}
	deep := strings.Repeat("[", jsonscan.MaxDepth+1) + strings.Repeat("]", jsonscan.MaxDepth+1)
	for _, name := range []string{"a", "a.b"} {
		if got, ok := valuesFor([]string{name}, `{"a":"`+deep+`"}`); ok {
			t.Errorf("args.%s: a text that nests too deeply was read as %v", name, got)
		}
	}
	if got, ok := valuesFor([]string{"a.b"}, `{"a":"`); ok {
		t.Errorf("a text without an end was read as %v", got)
	}
}

// A text that holds JSON is judged no more kindly than what it holds, unless a
// rule is about such texts.
func TestLawTextOpensNoMoreThanItsJSON(t *testing.T) {
	globs := slices.DeleteFunc(slices.Clone(hostilePatterns), reading.SpellsJSON)
	rapid.Check(t, func(t *rapid.T) {
		p := compileRules(t, drawTyped(globs).Draw(t, "policy"))
		name := rapid.SampledFrom(toolNames).Draw(t, "name")
		var elements []string
		for _, v := range rapid.SliceOfN(drawHostile(), 1, 4).Draw(t, "values") {
			elements = append(elements, jsonText(v))
		}
		list := "[" + strings.Join(elements, ",") + "]"
		embedded := p.Decide(toolCall(name, `{"path":`+jsonText(list)+`}`))
		// The text itself is a reading; where it is as free as an element is, the
		// elements decide.
		free := toolCall(name, `{"path":`+list+`}`)
		if plain := p.Decide(free); embedded.Action > plain.Action && !refusedIn(p, free) {
			t.Fatalf("%s: %v, as a list %v by %+v", list, embedded.Action, plain.Action, plain.Rule)
		}
		member := `{"k":` + elements[0] + `}`
		free = toolCall(name, `{"o":`+member+`}`)
		text, object := p.Decide(toolCall(name, `{"o":`+jsonText(member)+`}`)), p.Decide(free)
		if text.Action > object.Action && !refusedIn(p, free) {
			t.Fatalf("%s: %v, as an object %v by %+v", member, text.Action, object.Action, object.Rule)
		}
	})
}

// refusedIn says whether a value is refused, which in a text holds under path
// patterns alone.
func refusedIn(p *Policy, c *Call) bool {
	return slices.ContainsFunc(p.Trace(c).Values, func(v ArgumentValue) bool {
		return slices.ContainsFunc(v.Readings, func(r Reading) bool { return r.Refused != "" })
	})
}

// A rule that spells the JSON of a text is about the text: what it holds needs
// no rule of its own.
func TestAllowOfJSONTexts(t *testing.T) {
	for _, c := range []struct {
		rules, args string
		want        Action
	}{
		{`args.a = "{*}"`, `{"a":"{\"k\":\"v\"}"}`, Allow},
		{`args.a = "[**]"`, `{"a":"[\"v\",\"a\\u0000b\"]"}`, Allow},
		{`args.a = "[*]"`, `{"a":["v"]}`, Deny},
		{`args.a = "*v*"`, `{"a":"[\"v\",\"x\"]"}`, Deny},
		{`args.a = "*v*"`, `{"a":"[\"v\",\"xvx\"]"}`, Allow},
		{`args.a.k = "v"`, `{"a":"{\"k\":\"v\"}"}`, Deny},
		{`where.a = { type = "string" }`, `{"a":"{\"k\":[1]}"}`, Allow},
		{`where.a = { type = "array" }`, `{"a":"[1]"}`, Deny},
		{`where.a = { present = true }`, `{"a":"[null]"}`, Allow},
		{`where.a = { one_of = ['{"k":1}'] }`, `{"a":"{\"k\":1}"}`, Allow},
		{`where.a = { one_of = ['{"k":1}'] }`, `{"a":"{\"k\":2}"}`, Deny},
		{`where.a = { regex = '(?s)^\{.*\}' }`, `{"a":"{\"k\":1}"}`, Allow},
		{`where.a = { regex = '\[.*' }`, `{"a":"[1]"}`, Allow},
		{`where.a = { regex = '.*[0-9].*' }`, `{"a":"[1,\"x\"]"}`, Deny},
		{`where.a = { max_length = 40 }`, `{"a":"{\"k\":[1,\"x\"]}"}`, Allow},
		{`where.a = { max_length = 4 }`, `{"a":"[1,2,3]"}`, Deny},
		{"args.a = \"x\"\n[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.a = \"y\"\n[[rule]]\naction = \"allow\"\ntool = \"t\"", `{"a":"[\"y\"]"}`, Deny},
	} {
		p, err := Parse("", []byte("[[rule]]\naction = \"allow\"\ntool = \"t\"\n"+c.rules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(toolCall("t", c.args)); d.Action != c.want {
			t.Errorf("%s, %s: %v by %+v (%s), want %v", c.rules, c.args, d.Action, d.Rule, d.Reason, c.want)
		}
	}
}

// A long document is judged in one look at the whole of it, not one for each of
// its values.
func TestLongDocumentIsAffordable(t *testing.T) {
	slow.Test(t)
	long := `{"a":` + jsonText("["+strings.TrimSuffix(strings.Repeat(`"some words",`, 20_000), ",")+"]") + `}`
	for _, rule := range []string{`args.a = "**"`, `args.a = "[**"`, `where.a = { type = "string" }`, `where.a = { regex = '\[.*' }`} {
		p, err := Parse("", []byte("[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.a = \"**secret**\"\n[[rule]]\naction = \"allow\"\ntool = \"t\"\n"+rule), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(toolCall("t", long)); d.Action != Allow {
			t.Errorf("%s: %v by %+v (%s)", rule, d.Action, d.Rule, d.Reason)
		}
	}
}
