package schema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// many is a text again and again, with commas between.
func many(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

func TestCheck(t *testing.T) {
	const old = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, tt := range []struct{ schema, value, want string }{
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":1.0}`, "fits [] "},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":[1,1.5]}`, "unfit [1 a] type"},
		{`{"properties":{"a":{"properties":{"b":{"maxLength":1}}}},"additionalProperties":false}`, `{"a":{"b":"é"},"c":1}`, "unfit [c] additionalProperties"},
		{`{"required":["a","b"]}`, `{"b":1}`, "unfit [] required"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "unfit [] anyOf"},
		{`{"const":{"a":[1,2.0],"b":"x"}}`, `{"b":"\u0078","a":[1e0,2]}`, "fits [] "},
		{`{"maximum":9007199254740992}`, `9007199254740993`, "unfit [] maximum"},
		{`{"multipleOf":0.01}`, `19.99`, "fits [] "},
		{`{"enum":["a"],"const":"b"}`, `"a"`, "unfit [] enum"},
		{`{"uniqueItems":true}`, `[1,{"a":1},1.0]`, "unfit [] uniqueItems"},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"null"}}`, `"a"`, "unfit [] minLength"},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`, `[[],[[1]]]`, "unfit [0 0 1] type"},
		{`{` + old + `"items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, "unfit [1] false"},
		{`{"format":"email","x-y":1,"title":"t"}`, `"nobody"`, "fits [] "},

		// what is not known is not said to fit, and what does not fit in any case is said
		{`{"unevaluatedProperties":false}`, `{}`, "unchecked [] a keyword is not known, or not checked"},
		{`{"type":"object","frobnicate":1}`, `{}`, "unchecked [] a keyword is not known, or not checked"},
		{`{"type":"object","frobnicate":1}`, `[]`, "unfit [] type"},
		{`{"not":{"frobnicate":1}}`, `1`, "unchecked [] a keyword is not known, or not checked"},
		{`{"anyOf":[{"frobnicate":1},{"type":"string"}]}`, `"a"`, "fits [] "},
		{`{"oneOf":[{"frobnicate":1},{"type":"string"}]}`, `"a"`, "unchecked [] a keyword is not known, or not checked"},
		{`{"pattern":"^.$"}`, `"é"`, "unchecked [] a pattern is about plain ASCII alone"},
		{`{"pattern":"^(?=a)"}`, `"a"`, "unchecked [] a pattern is too large, or means different things to different readers"},
		{`{"pattern":"[[:alpha:]]"}`, `"a"`, "unchecked [] a pattern is too large, or means different things to different readers"},
		{`{"patternProperties":{"é":{}},"additionalProperties":false}`, `{"a":1}`, "unchecked [] a pattern is too large, or means different things to different readers"},
		{`{"type":"integer"}`, `1e99999999999`, "unchecked [] a number is too large"},
		{`{"multipleOf":3}`, `1e2000`, "unchecked [] a number is too large"},
		{`{"$ref":"https://example.org/s.json"}`, `1`, "unchecked [] a reference leads out of the schema, or to an anchor"},
		{`{"$ref":"file:///etc/passwd"}`, `1`, "unchecked [] a reference leads out of the schema, or to an anchor"},
		{`{"$ref":"#%zz"}`, `1`, "unchecked [] a reference leads out of the schema, or to an anchor"},
		{`{"$ref":"#/$defs/x"}`, `1`, "unchecked [] a reference leads nowhere, or into another schema"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `1`, "unchecked [] the schema is of a dialect that is not known"},
		{`{"properties":{"a":{"$id":"x","type":"string"}}}`, `{"a":1}`, "unchecked [] $id within a schema is not checked"},
		{`{"items":[{"type":"string"}]}`, `[1]`, "unchecked [] what should be a schema is not one"},
		{`{` + old + `"$ref":"#/definitions/a","type":"string","definitions":{"a":{}}}`, `1`, "unchecked [] members beside $ref are read in two ways"},
		{`{` + old + `"$ref":"#/nowhere","type":"string"}`, `1`, "unchecked [] members beside $ref are read in two ways"},
		{`{` + old + `"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "unchecked [] a keyword is not known, or not checked"},
		{`{` + old + `"prefixItems":[false]}`, `[1]`, "unchecked [] prefixItems is not of this dialect"},
		{`{"type":"any"}`, `1`, "unchecked [] a keyword has a value that it cannot have"},
		{`{"minLength":-1}`, `""`, "unchecked [] a keyword has a value that it cannot have"},
		{`[]`, `1`, "unchecked [] what should be a schema is not one"},
	} {
		a := ReadSchema([]byte(tt.schema)).CheckValue([]byte(tt.value))
		if got := fmt.Sprint(a.Verdict, a.At, " ", a.Why); got != strings.Replace(tt.want, "] ", "]  ", 1) && got != tt.want {
			t.Errorf("%s of %s:\n got %q\nwant %q", tt.value, tt.schema, got, tt.want)
		}
	}
}

// hostile are schemas and values that cost most of those who read them.
var hostile = map[string]struct{ schema, value string }{
	"anyOf in anyOf": {func() string {
		s := `{"type":"integer"}`
		for i := range 24 {
			s = fmt.Sprintf(`{"anyOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]}`, i, i) + "|" + s
		}
		all := strings.Split(s, "|")
		defs := many(len(all)-1, func(i int) string { return fmt.Sprintf(`"%d":%s`, len(all)-2-i, all[i+1]) })
		return strings.TrimSuffix(all[0], "}") + `,"$defs":{` + defs + `}}`
	}(), `"x"`},
	"a reference to itself":     {`{"$ref":"#"}`, `1`},
	"references in a ring":      {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}`, `1`},
	"a schema of 4 MiB":         {`{"enum":[` + many(500_000, func(i int) string { return fmt.Sprintf(`"%06d"`, i) }) + `]}`, `1`},
	"schemas a thousand deep":   {strings.Repeat(`{"not":`, 1000) + "true" + strings.Repeat("}", 1000), `1`},
	"elements that all differ":  {`{"uniqueItems":true}`, "[" + many(100_000, func(i int) string { return fmt.Sprint(i) }) + "]"},
	"contains in contains":      {strings.Repeat(`{"contains":`, 20) + "false" + strings.Repeat("}", 20), strings.Repeat("[", 20) + many(20_000, func(int) string { return "[[[]]]" }) + strings.Repeat("]", 20)},
	"many patterns, many names": {`{"patternProperties":{` + many(400, func(i int) string { return fmt.Sprintf(`"^(?:a|b|%d)*c":{}`, i) }) + `}}`, "{" + many(20_000, func(i int) string { return fmt.Sprintf(`"%s%d":1`, strings.Repeat("ab", 20), i) }) + "}"},
	"a pattern of repetitions":  {`{"pattern":"((a{100}){9}b{900}){900}"}`, `"` + strings.Repeat("a", 1<<20) + `"`},
	"a pattern of alternatives": {`{"pattern":"` + strings.Repeat("(?:a|aa)*", 60) + `$"}`, `"` + strings.Repeat("a", 1<<20) + `b"`},
	"required of everything":    {`{"required":[` + many(25_000, func(i int) string { return fmt.Sprintf(`"%05d"`, i) }) + `]}`, "{" + many(25_000, func(i int) string { return fmt.Sprintf(`"x%05d":1`, i) }) + "}"},
	"required again and again":  {`{"items":{"anyOf":[{"required":[` + many(25_000, func(i int) string { return fmt.Sprintf(`"%05d"`, i) }) + `]},true]}}`, "[" + many(100_000, func(int) string { return "{}" }) + "]"},
	"patterns nobody reads":     {`{"patternProperties":{` + many(15_000, func(i int) string { return fmt.Sprintf(`"\\p%d":true`, i) }) + `}}`, "{" + many(30_000, func(i int) string { return fmt.Sprintf(`"%d":1`, i) }) + "}"},
	"references by many names":  {`{"properties":{` + many(6_000, func(i int) string { return fmt.Sprintf(`"%d":{"$ref":"#/properties/%d"}`, i, 5_999-i) }) + `}}`, `{"3":1}`},
	"a number of a MiB":         {`{"multipleOf":7,"maximum":1e10}`, "-" + strings.Repeat("9", 1<<20)},
	"a value of 5 MiB":          {`{"type":"object"}`, `"` + strings.Repeat("a", 5<<20) + `"`},
}

// What costs others seconds ends, is not said to fit, and takes no memory without end. How
// soon: BenchmarkHostile.
func TestHostile(t *testing.T) {
	var before, after runtime.MemStats
	for name, h := range hostile {
		runtime.ReadMemStats(&before)
		a := ReadSchema([]byte(h.schema)).CheckValue([]byte(h.value))
		if runtime.ReadMemStats(&after); a.Verdict == Fits || a.Why == "" {
			t.Errorf("%s: %+v", name, a)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 512 {
			t.Errorf("%s takes %d MiB", name, took)
		}
	}
}

// BenchmarkTable is a look at a table of a MiB, beside decoding it.
func BenchmarkTable(b *testing.B) {
	value := []byte(`{"rows":[` + many(9_000, func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"somebody called %d","tags":["a","b"],"place":{"city":"Bern","zip":"3000"},"open":true}`, i, i)
	}) + `],"next":null}`)
	schema := `{"type":"object","required":["rows"],"properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}},"next":{"anyOf":[{"type":"string"},{"type":"null"}]}},
		"$defs":{"row":{"type":"object","required":["id","name"],"additionalProperties":false,"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":80},
		"tags":{"type":"array","items":{"enum":["a","b","c"]}},"place":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string","pattern":"^[0-9]{4}$"}}},"open":{"type":"boolean"}}}}}`
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		b.ReportAllocs()
		for b.Loop() {
			if a := ReadSchema([]byte(schema)).CheckValue(value); a.Verdict != Fits {
				b.Fatal(a)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(value, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkHostile(b *testing.B) {
	for name, h := range hostile {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ReadSchema([]byte(h.schema)).CheckValue([]byte(h.value))
			}
		})
	}
}
