package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
)

// oracle is another validator; nil where it does not take the schema.
func oracle(schema string) *jsonschema.Schema {
	s, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	if err := c.AddResource("mem:schema.json", s); err != nil {
		return nil
	}
	compiled, err := c.Compile("mem:schema.json")
	if err != nil {
		return nil
	}
	return compiled
}

// agree holds one answer to the oracle's.
func agree(t testing.TB, schema, value string, o *jsonschema.Schema) Verdict {
	t.Helper()
	got := ReadSchema([]byte(schema)).CheckValue([]byte(value))
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		t.Fatal(value, err)
	}
	if fits := o.Validate(v) == nil; got.Verdict == Fits && !fits || got.Verdict == Unfit && fits {
		t.Errorf("%s\nof %s\nis %s (%s at %q); the oracle says it fits: %v", value, schema, got.Verdict, got.Why, got.At, fits)
	}
	return got.Verdict
}

// maker makes schemas, and values that often fit them.
type maker struct{ *rand.Rand }

func (m maker) of(all ...string) string { return all[m.IntN(len(all))] }

var words = []string{"a", "b", "ab", "c1", "é", ""}

func (m maker) value(depth int) string {
	n := 8
	if depth <= 0 {
		n = 6
	}
	switch m.IntN(n) {
	case 0:
		return "null"
	case 1:
		return m.of("true", "false")
	case 2, 3:
		return m.of("0", "-0", "1", "1.0", "10e-1", "2", "2.5", "-3", "0.1", "0.3", "100", "1e2", "12345678901234567890", "9007199254740993")
	case 4, 5:
		return quote(m.of(words...))
	case 6:
		var all []string
		for range m.IntN(4) {
			all = append(all, m.value(depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return m.object(func() string { return m.value(depth - 1) })
}

func (m maker) object(value func() string) string {
	var all []string
	for _, i := range m.Perm(len(words))[:m.IntN(4)] {
		all = append(all, quote(words[i])+":"+value())
	}
	return "{" + strings.Join(all, ",") + "}"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (m maker) list(one func() string) string {
	var all []string
	for range 1 + m.IntN(3) {
		all = append(all, one())
	}
	return "[" + strings.Join(all, ",") + "]"
}

// schema is one with a few keywords, each with a value that it can have.
func (m maker) schema(depth int) string {
	if depth <= 0 || m.IntN(12) == 0 {
		return m.of("true", "{}", `{"type":"string"}`, `{"type":"integer"}`, `{"type":["number","null"]}`, `{"type":"object"}`, `{"type":"array"}`, "false")
	}
	sub := func() string { return m.schema(depth - 1) }
	all := map[string]string{}
	for range 1 + m.IntN(3) {
		k := m.of("type", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
			"maxItems", "minProperties", "maxProperties", "pattern", "uniqueItems", "required", "properties", "properties", "patternProperties", "additionalProperties", "propertyNames",
			"prefixItems", "items", "items", "additionalItems", "contains", "minContains", "maxContains", "allOf", "anyOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "title", "x-note", "unevaluatedProperties", "dependentRequired")
		var v string
		switch k {
		case "type":
			v = m.of(`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["object","array"]`, `["string","null"]`)
		case "enum":
			v = "[" + m.value(1) + "]"
		case "const":
			v = m.value(1)
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			v = m.of("0", "1", "2.5", "-1", "1e2", "12345678901234567891")
		case "multipleOf":
			v = m.of("1", "2", "0.1", "0.5", "1e-2", "3")
		case "minLength", "minItems", "minProperties", "minContains", "maxLength", "maxItems", "maxProperties", "maxContains":
			v = m.of("0", "1", "2", "1.0", "3")
		case "pattern":
			v = quote(m.of(patterns...))
		case "uniqueItems":
			v = m.of("true", "false")
		case "required":
			v = `["a"]`
		case "properties":
			v = m.object(sub)
		case "patternProperties":
			v = "{" + quote(m.of(patterns...)) + ":" + sub() + "}"
		case "prefixItems", "allOf", "anyOf", "oneOf":
			v = m.list(sub)
		case "$ref":
			v = quote(m.of("#", "#/$defs/a", "#/$defs/b", "#/$defs/a/items", "#/%24defs/a", "#/$defs/a~1b", "#/nowhere", "other.json", "#anchor"))
		case "title", "x-note":
			v = `"a note"`
		case "dependentRequired":
			v = `{"a":["b"]}`
		default:
			v = sub()
		}
		all[k] = v
	}
	if all["items"] != "" && m.IntN(4) == 0 { // as draft 7 has it
		all["items"] = m.list(sub)
	}
	return object(all)
}

func object(all map[string]string) string {
	raw := map[string]json.RawMessage{}
	for k, v := range all {
		raw[k] = json.RawMessage(v)
	}
	b, err := json.Marshal(raw)
	if err != nil {
		panic(fmt.Sprint(err, all))
	}
	return string(b)
}

var patterns = []string{"^a", "b$", "^[a-z]+$", "^.$", "[0-9]", "a|b", "^(?:a|ab)$", "^a{1,2}", `^\w+$`, `\s`, "(?=a)", `\p{L}`, "[^a]", ""}

func (m maker) document() string {
	body := strings.TrimPrefix(m.schema(3), "{")
	if body == "true" || body == "false" {
		return body
	}
	head := "{"
	if dialect := m.of("", "", `"$schema":"https://json-schema.org/draft/2020-12/schema"`, `"$schema":"http://json-schema.org/draft-07/schema#"`); dialect != "" {
		head += dialect + ","
	}
	head += `"$defs":{"a":` + m.schema(2) + `,"b":` + m.schema(1) + `,"a/b":{"type":"string"}}`
	if body != "}" {
		head += ","
	}
	return head + body
}

// What is said of random schemas and values is what the oracle says, or that it was not
// checked; most is checked.
func TestAgainstTheOracle(t *testing.T) {
	slow.Test(t)
	m := maker{rand.New(rand.NewPCG(17, 3))} //nolint:gosec // the same each time
	got := map[Verdict]int{}
	for range 1200 {
		schema := m.document()
		o := oracle(schema)
		if o == nil {
			continue
		}
		for range 8 {
			got[agree(t, schema, m.value(3), o)]++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("fits %d, unfit %d, unchecked %d", got[Fits], got[Unfit], got[Unchecked])
	if all := got[Fits] + got[Unfit] + got[Unchecked]; got[Unchecked]*3 > all || got[Fits]*10 < all || got[Unfit]*10 < all {
		t.Errorf("too little was checked: %v", got)
	}
}

// FuzzCheck: of what stands in a text as a schema and a value, nothing is said that the
// oracle does not say.
func FuzzCheck(f *testing.F) {
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"string","maxLength":2},{"$ref":"#"}]}},"required":["a"]}`, `{"a":{"a":"xy"}}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"const":1.0}],"additionalItems":{"pattern":"^[a-c]+$"}}`, `[1,"abc"]`)
	f.Add(`{"oneOf":[{"multipleOf":0.1},{"minimum":-3e1}],"not":{"enum":[[],{"a":null}]}}`, `0.3`)
	f.Add(`{"patternProperties":{"^x":{"uniqueItems":true}},"additionalProperties":false,"minProperties":1}`, `{"x":[1,true]}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		var s, v frame.Frame
		line := func(text string) []byte { return []byte(`{"jsonrpc":"2.0","id":1,"result":` + text + `}`) }
		if s.Parse(line(schema), frame.DefaultLimits()) != nil || v.Parse(line(value), frame.DefaultLimits()) != nil || string(s.Result) != schema || string(v.Result) != value {
			return
		}
		if strings.Contains(schema, "format") || strings.Contains(schema, "content") || large.MatchString(schema) || large.MatchString(value) {
			return // asserted by the oracle in draft 7; and numbers that it takes long for
		}
		if o := oracle(schema); o != nil {
			agree(t, schema, value, o)
		}
	})
}

var large = regexp.MustCompile(`[eE][+-]?[0-9]{3}|[0-9]{60}`)
