package screening

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

const promising = `[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},"outputSchema":{"type":"object","properties":{"id":{"type":"string","maxLength":12},"note":{"type":"string"}},"required":["id"]}},` +
	`{"name":"b","inputSchema":{"type":"object"}},{"name":"twice","outputSchema":{"type":"object","required":["id"]}},{"name":"twice","outputSchema":{"type":"object"}},` +
	`{"name":"same","outputSchema":{"type":"object"}},{"name":"same","outputSchema":{"type":"object"}},{"name":"odd","outputSchema":{"type":"object","unevaluatedProperties":false}}]`

func structuredAnswer(content string) string {
	return `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":` + content + `}}`
}

func kindsFound(all []gate.Found) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %s;", f.Kind, f.At)
	}
	return b.String()
}

// Answers are held to what their tools have promised, where a rule asks.
func TestAnswersAndTheirSchemas(t *testing.T) {
	asks := on("reply", "deny", "tool = \"*\"\nfind = [\"schema\", \"unscreened\"]")
	for _, tt := range []struct{ name, rules, tool, answer, found string }{
		{"fits", asks, "a", structuredAnswer(`{"id":"x"}`), ""},
		{"does not fit", asks, "a", structuredAnswer(`{"id":1}`), "schema /result/structuredContent/id;"},
		{"nothing is there", asks, "a", answer(1, "x"), "schema /result;"},
		{"under another spelling", asks, "a", strings.Replace(structuredAnswer(`{"id":"x"}`), "structured", "Structured", 1), "schema /result;"},
		{"an error", asks, "a", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`, ""},
		{"an error of the protocol", asks, "a", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, ""},
		{"not the answer yet", asks, "a", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{}}}`, ""},
		{"a task", asks, "a", `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t"}}}`, ""},
		{"what a task has given", asks, "a", `{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","result":{"content":[],"structuredContent":{"id":1}}}}`, "schema /result/result/structuredContent/id;"},
		{"that calls itself a task", asks, "a", strings.Replace(structuredAnswer(`{"id":1}`), "{\"content", `{"taskId":"t","content`, 1), "schema /result/structuredContent/id;"},
		{"that calls itself something else", asks, "a", strings.Replace(structuredAnswer(`{"id":1}`), "{\"content", `{"resultType":"x","content`, 1), "schema /result/structuredContent/id;"},
		{"beside one that fits", asks, "a", `{"jsonrpc":"2.0","id":1,"result":{"result":{"structuredContent":{"id":"x"}},"structuredContent":{"id":1}}}`, "schema /result/structuredContent/id;"},
		{"a task of a tool that no list has named", asks, "c", strings.Replace(structuredAnswer(`{"id":1}`), "{\"content", `{"task":{},"content`, 1), "unscreened /result/structuredContent;"},
		{"promised in two ways", asks, "twice", structuredAnswer(`{"x":1}`), "unscreened /result;"},
		{"promised twice alike", asks, "same", structuredAnswer(`{"x":1}`), ""},
		{"nothing was promised", asks, "b", structuredAnswer(`{"id":1}`), ""},
		{"cannot be checked", asks, "odd", structuredAnswer(`{"id":1}`), "unscreened /result/structuredContent;"},
		{"no list has named it", asks, "c", answer(1, "x"), "unscreened /result;"},
		{"no rule asks", on("reply", "deny", "tool = \"*\"\nfind = [\"unscreened\"]"), "a", structuredAnswer(`{"id":1}`), ""},
	} {
		in, p := New("s", nil, nil), rules(t, tt.rules)
		if got, err := in.Inspect(exchange("tools/list", listing(promising)), p); err != nil || got.Sent != nil {
			t.Fatal(got, err)
		}
		got, err := in.Inspect(exchange("tools/call", tt.answer, tool(tt.tool)), p)
		if err != nil || kindsFound(got.Found) != tt.found || (got.Decision.Action == policy.Deny) != (tt.found != "") {
			t.Errorf("%s: %s, %v, %v", tt.name, kindsFound(got.Found), got.Decision.Action, err)
		}
	}
}

// What was taken out of structured content must leave it fitting, or nothing goes on.
func TestWhatIsAlteredStillFits(t *testing.T) {
	redacts := on("reply", "redact", "tool = \"*\"\nfind = [\"secret\"]")
	for name, tt := range map[string]struct {
		rules, list, tool, content string
		want                       policy.Action
	}{
		"in a place for any text":       {redacts, promising, "a", `{"id":"x","note":"` + token + `"}`, policy.Allow},
		"in a place for a short one":    {redacts, promising, "a", `{"id":"x","note":{}}`, policy.Allow},
		"with a limit that it breaks":   {redacts, strings.Replace(promising, `"note":{"type":"string"}`, `"note":{"type":"string","pattern":"^ghp_"}`, 1), "a", `{"id":"x","note":"` + token + `"}`, policy.Deny},
		"that cannot be checked":        {redacts, promising, "odd", `{"id":"x","note":"` + token + `"}`, policy.Deny},
		"of which nothing was promised": {redacts, promising, "b", `{"id":"x","note":"` + token + `"}`, policy.Allow},
		"as a list goes on": {redacts + on("list", "redact", "tool = \"*\"\nfind = [\"hidden\"]"),
			strings.Replace(promising, `"note":{"type":"string"}`, "\"note\":{\"enum\":[\"a\\u202e\"]}", 1), "a", `{"id":"x","note":"` + token + `"}`, policy.Deny},
	} {
		in, p := New("s", nil, nil), rules(t, tt.rules)
		if _, err := in.Inspect(exchange("tools/list", listing(tt.list)), p); err != nil {
			t.Fatal(err)
		}
		got, err := in.Inspect(exchange("tools/call", structuredAnswer(tt.content), tool(tt.tool)), p)
		if err != nil || got.Decision.Action != tt.want || strings.Contains(string(got.Sent), token) || tt.want == policy.Deny && got.Why == "" {
			t.Errorf("%s: %v, sent %s, %q, %v", name, got.Decision.Action, got.Sent, got.Why, err)
		}
	}
}

// Arguments are held to what their tools take, where a rule asks.
func TestArgumentsAndTheirSchemas(t *testing.T) {
	in, p := New("s", nil, nil), rules(t, "[[rule]]\naction = \"deny\"\ntool = \"*\"\nfind = [\"schema\"]\n")
	if _, err := in.Inspect(exchange("tools/list", listing(promising)), p); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, args, found string }{
		{"a", `{"n":1}`, ""}, {"a", `{"n":"1"}`, "schema /n;"}, {"a", "", "schema ;"}, {"b", `{"x":1}`, ""}, {"odd", `{}`, ""}, {"c", `{}`, "unscreened ;"},
	} {
		c := tool(tt.tool)
		c.Args = []byte(tt.args)
		got, err := in.Carries(&c, p)
		if err != nil || kindsFound(got) != tt.found {
			t.Errorf("%s %s: %s, %v", tt.tool, tt.args, kindsFound(got), err)
		}
	}
	if got, err := in.Carries(&policy.Call{Subject: policy.SamplingSubject, Names: []string{"x"}}, p); err != nil || len(got) > 0 {
		t.Errorf("sampling: %v, %v", got, err)
	}
}

// A client that never asks for a list is held to what it was shown before, as approved.
func TestSchemasOfPins(t *testing.T) {
	in, p := pinnedFirst(t), rules(t, first+on("reply", "deny", "tool = \"*\"\nfind = [\"schema\", \"unscreened\"]"))
	if _, err := in.Inspect(exchange("tools/list", listing(promising)), p); err != nil {
		t.Fatal(err)
	}
	later := New("s", nil, in.(*inspector).pins)
	for content, found := range map[string]string{`{"id":"x"}`: "", `{"id":1}`: "schema /result/structuredContent/id;"} {
		if got, err := later.Inspect(exchange("tools/call", structuredAnswer(content), tool("a")), p); err != nil || kindsFound(got.Found) != found {
			t.Errorf("%s: %s, %v", content, kindsFound(got.Found), err)
		}
	}
	closes := rules(t, first+"[[rule]]\naction = \"deny\"\ntool = \"*\"\nfind = [\"schema\"]\n")
	for args, found := range map[string]string{`{"n":1}`: "", `{"n":"1"}`: "schema /n;"} {
		c := tool("a")
		c.Args = []byte(args)
		if got, err := New("s", nil, in.(*inspector).pins).Carries(&c, closes); err != nil || kindsFound(got) != found {
			t.Errorf("%s: %s, %v", args, kindsFound(got), err)
		}
	}
}

// What servers promise is kept within bounds, and a new list counts.
func TestPromisesAreBounded(t *testing.T) {
	in, p := New("s", nil, nil), rules(t, on("reply", "deny", "tool = \"*\"\nfind = [\"schema\", \"unscreened\"]"))
	long := func(n int) string {
		return listing(fmt.Sprintf(`[{"name":"big%d","outputSchema":{"description":%q}},{"name":"small","outputSchema":{"type":"object","required":["v%d"]}}]`, n, strings.Repeat("x", 900<<10), n))
	}
	for n := range 9 {
		if _, err := in.Inspect(exchange("tools/list", long(n)), p); err != nil {
			t.Fatal(err)
		}
	}
	if got := in.(*inspector).promises.bytes; got > maxPromiseBytes {
		t.Errorf("%d bytes are kept", got)
	}
	for name, found := range map[string]string{"small": "", "big8": "unscreened /result;"} {
		if got, err := in.Inspect(exchange("tools/call", structuredAnswer(`{"v8":1}`), tool(name)), p); err != nil || kindsFound(got.Found) != found {
			t.Errorf("%s: %s, %v", name, kindsFound(got.Found), err)
		}
	}
}
