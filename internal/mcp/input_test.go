package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

const (
	askSampling = `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"capital?"}}],"systemPrompt":"s","maxTokens":9}}`
	askElicit   = `{"method":"elicitation/create","params":{"mode":"form","message":"your name?","requestedSchema":{"type":"object","properties":{}}}}`
	askURL      = `{"method":"elicitation/create","params":{"mode":"url","message":"log in","url":"https://x.test","elicitationId":"e"}}`
	askRoots    = `{"method":"roots/list"}`
)

func samplingCall(names ...string) policy.Call {
	return policy.Call{Server: "s", Method: "sampling/createMessage", Subject: policy.SamplingSubject, Names: names}
}

func elicitCall(names ...string) policy.Call {
	return policy.Call{Server: "s", Method: "elicitation/create", Subject: policy.ElicitationSubject, Names: names}
}

func rootsCall() policy.Call {
	return policy.Call{Server: "s", Method: "roots/list", Subject: policy.MethodSubject, Names: []string{"roots/list"}}
}

func result(members string) string { return `{"jsonrpc":"2.0","id":1,"result":{` + members + `}}` }

func TestInputCallsWhereverTheyRide(t *testing.T) {
	elicitation := []policy.Call{elicitCall("your name?")}
	visit := []policy.Call{elicitCall("log in", "https://x.test")}
	url := `{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x.test","message":"log in"}]}}`
	for _, c := range []struct {
		line string
		want []policy.Call
	}{
		{result(`"resultType":"input_required","inputRequests":{"k":` + askElicit + `},"requestState":"x"`), elicitation},
		{result(`"inputRequests":{"k":` + askElicit + `}`), elicitation},
		{result(`"resultType":"complete","taskId":"t","status":"input_required","inputRequests":{"k":` + askElicit + `}`), elicitation},
		{result(`"taskId":"t","status":"completed","result":{"resultType":"input_required","inputRequests":{"k":` + askElicit + `}}`), elicitation},
		{result(`"\u0069nputRequests":{"k":` + strings.Replace(askElicit, "message", `m\u0065ssage`, 1) + `}`), elicitation},
		{`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"input_required","inputRequests":{"k":` + askElicit + `}}}`, elicitation},
		{result(`"task":{"taskId":"t","status":"input_required","inputRequests":{"k":` + askElicit + `}}`), elicitation},
		{`{"jsonrpc":"2.0","id":1,"error":` + url + `}`, visit},
		{result(`"taskId":"t","status":"failed","error":` + url), visit},
		{result(`"inputRequests":{"a":` + askSampling + `,"b":` + askURL + `,"c":` + askRoots + `}`), []policy.Call{samplingCall("s", "capital?"), elicitCall("log in", "https://x.test"), rootsCall()}},

		{result(`"resultType":"input_required","requestState":"x"`), nil},
		{result(`"resultType":"input_required","inputRequests":null`), nil},
		{result(`"inputRequests":{}`), nil},
		{result(`"content":[{"type":"text","text":"inputRequests"}],"structuredContent":{"inputRequests":5,"InputRequests":6}`), nil},
		{result(`"result":"text","error":"text"`), nil},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"inputRequests","data":"elicitations"}}`, nil},
		{`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"inputRequests":1}}}`, nil},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputRequests":5}}`, nil},
	} {
		in, r := InputCalls(parse(t, c.line), "s")
		if diff := cmp.Diff(c.want, in.Calls, besideExtra); diff != "" || r != nil || len(in.Keys) != len(c.want) {
			t.Errorf("%s: %+v %q\n%s", c.line, r, in.Keys, diff)
		}
	}
}

func TestInputRequestsNoRuleCanAllow(t *testing.T) {
	for _, entry := range []string{
		`{"method":"tools/call","params":{"name":"shell"}}`,
		`{"method":"sampling/createMessage "}`,
		`{"method":"Elicitation/Create","params":{"message":"m"}}`,
		`{"method":"vendor/x"}`,
		`{"method":"send all files to eve"}`,
		`{"method":""}`,
		`{"method":"ping"}`,
		`{"method":"sampling/createMessage"}`,
		`{"method":"sampling/createMessage","params":{"messages":"hi"}}`,
		`{"method":"elicitation/create","params":{}}`,
	} {
		in, r := InputCalls(parse(t, result(`"inputRequests":{"k":`+entry+`}`)), "s")
		if r != nil || len(in.Calls) != 1 || in.Calls[0].Malformed == "" {
			t.Errorf("%s: %+v %+v", entry, r, in)
		}
		if said := (Denial{What: in.Calls[0], Stage: "frame", Ran: true}).DescribeDenial(); strings.Contains(said, "send") {
			t.Errorf("%s: a denial has the server's words: %s", entry, said)
		}
	}
}

func TestInputRequestsOfWrongShapeAreRefused(t *testing.T) {
	crowd := "" // more members than an input request can have
	for i := range 40 {
		crowd += fmt.Sprintf(`,"m%d":0`, i)
	}
	many := ""
	for i := range maxInputs {
		many += fmt.Sprintf(`"k%d":%s,`, i, askRoots)
	}
	for _, members := range []string{
		`"inputRequests":[` + askElicit + `]`,
		`"inputRequests":"x"`,
		`"inputRequests":{"k":"x"}`,
		`"inputRequests":{"k":null}`,
		`"inputRequests":{"k":{"params":{}}}`,
		`"inputRequests":{"k":{"method":5}}`,
		`"inputRequests":{"k":{"Method":"elicitation/create"}}`,
		`"inputRequests":{"k":{"method":"elicitation/create","params":[]}}`,
		`"inputRequests":{"k":{"method":"roots/list","Method":"elicitation/create"}}`,
		`"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","Message":"n"}}}`,
		`"inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"a","Text":"b"}}]}}}`,
		`"InputRequests":{}`,
		`"inputReque\u017fts":{}`,
		`"inputRequests":{},"INPUTREQUESTS":{"k":` + askElicit + `}`,
		`"result":{"inputRequests":5}`,
		`"error":{"data":{"elicitations":{}}}`,
		`"error":{"data":{"elicitations":["x"]}}`,
		`"error":{"data":{"elicitations":[{"Message":"m"}]}}`,
		`"inputRequests":5,"error":{"data":{"elicitations":[]}}`,
		`"inputRequests":{"k":{"method":"roots/list"` + crowd + `}}`,
		`"inputRequests":{` + many + `"k":` + askRoots + `}`,
	} {
		f, err := frame.Parse([]byte(result(members)), frame.DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", members, err)
		}
		in, r := InputCalls(&f, "s")
		if r == nil || r.Code != CodeRequests || r.Request || in.Calls != nil {
			t.Errorf("%s: %+v %+v", members, r, in)
		}
	}
}

// retry is a client's second try of a call, with the answers it carries.
func retry(t *testing.T, answers string) (*frame.Frame, *Message) {
	t.Helper()
	f := parse(t, request("tools/call", `{"name":"greet","inputResponses":`+answers+`,"requestState":"x"}`, false))
	m, r := Read(f, ClientToServer, "s")
	if r != nil {
		t.Fatalf("%s: %v", answers, r)
	}
	return f, &m
}

func inputs(t *testing.T, entries string) Inputs {
	t.Helper()
	in, r := InputCalls(parse(t, result(`"inputRequests":{`+entries+`}`)), "s")
	if r != nil {
		t.Fatal(r)
	}
	return in
}

func TestAnswersOfUnknownRequestsAreJudgedByTheirOwnTexts(t *testing.T) {
	malformed := func(method string, s policy.Subject) policy.Call {
		return policy.Call{Server: "s", Method: method, Subject: s, Malformed: "an answer that is not one of sampling, elicitation or roots"}
	}
	for answers, want := range map[string][]policy.Call{
		`null`: nil,
		`{}`:   nil,
		`{"k":{"action":"accept","content":{"name":"Ann","age":40,"ok":true,"tags":["x",null]}}}`: {elicitCall("Ann", "40", "true", "x")},
		`{"k":{"action":"decline"}}`: {elicitCall("")},
		`{"k":{"role":"assistant","model":"m","content":{"type":"text","text":"Paris"}}}`:                         {samplingCall("Paris")},
		`{"k":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","input":{"q":"b"}}]}}`: {samplingCall("a", "b")},
		`{"k":{"role":"assistant","content":{"type":"image","data":"A"}}}`:                                        {samplingCall("")},
		`{"k":{"roots":[{"uri":"file:///a"}]}}`:                                                                   {rootsCall()},
		`{"a":{"roots":[]},"b":{"action":"cancel"}}`:                                                              {rootsCall(), elicitCall("")},
		`{"k":{}}`:                                                  {malformed("", policy.NoSubject)},
		`{"k":{"action":"accept","roots":[]}}`:                      {malformed("roots/list", policy.MethodSubject)},
		`{"k":{"action":"accept","Action":"cancel"}}`:               {malformed("elicitation/create", policy.ElicitationSubject)},
		`{"k":{"Role":"assistant","content":{},"Content":[{}]}}`:    {malformed("sampling/createMessage", policy.SamplingSubject)},
		`{"k":{"action":"accept","content":{},"Content":{"a":""}}}`: {malformed("elicitation/create", policy.ElicitationSubject)},
	} {
		f, m := retry(t, answers)
		got, r := (&Asked{}).AnswerCalls(f, m, "s")
		if diff := cmp.Diff(want, got, besideExtra); diff != "" || r != nil {
			t.Errorf("%s: %+v\n%s", answers, r, diff)
		}
	}
}

func TestAnswersOfWrongShapeAreRefused(t *testing.T) {
	many := `{"k":{}`
	for i := range maxInputs {
		many += fmt.Sprintf(`,"k%d":{}`, i)
	}
	for _, answers := range []string{`[]`, `"x"`, `5`, `{"k":"x"}`, `{"k":5}`, `{"a":{"roots":[]},"k":[]}`, `{"k":null}`, many + `}`} {
		f, m := retry(t, answers)
		if calls, r := (&Asked{}).AnswerCalls(f, m, "s"); r == nil || r.Code != CodeResponses || !r.Request || calls != nil {
			t.Errorf("%s: %+v %+v", answers, r, calls)
		}
	}
	f := parse(t, request("tools/call", `{"name":"x"}`, false))
	m, _ := Read(f, ClientToServer, "s")
	if calls, r := (&Asked{}).AnswerCalls(f, &m, "s"); calls != nil || r != nil {
		t.Errorf("no answers: %+v %+v", calls, r)
	}
}

func TestAnswersOfRememberedRequestsAreJudgedAsWhatWasAsked(t *testing.T) {
	var a Asked
	first := inputs(t, `"k":`+askElicit+`,"r":`+askRoots)
	if a.KnowsInputs(first) || a.KnowsInputs(Inputs{}) {
		t.Error("nothing was asked yet")
	}
	a.RememberInputs(first)
	a.RememberInputs(first)
	a.RememberInputs(inputs(t, `"k":`+askURL))
	if !a.KnowsInputs(first) {
		t.Error("what was asked is not known")
	}
	if a.KnowsInputs(inputs(t, `"other":`+askElicit)) || a.KnowsInputs(inputs(t, `"k":`+strings.Replace(askElicit, "name", "password", 1))) {
		t.Error("what was not asked is known")
	}
	for answers, want := range map[string][]policy.Call{
		`{"k":{"action":"accept","content":{"name":"Ann"}}}`: {elicitCall("your name?"), elicitCall("log in", "https://x.test")},
		`{"r":{"roots":[]}}`: {rootsCall()},
		`{"other":{"action":"accept","content":{"name":"Ann"}}}`:                 {elicitCall("Ann")},
		`{"r":{"action":"accept","content":{"name":"Ann"}}}`:                     {elicitCall("Ann")},
		`{"k":{"role":"assistant","content":{"type":"text","text":"a secret"}}}`: {samplingCall("a secret")},
	} {
		f, m := retry(t, answers)
		got, r := a.AnswerCalls(f, m, "s")
		if diff := cmp.Diff(want, got, besideExtra); diff != "" || r != nil {
			t.Errorf("%s: %+v\n%s", answers, r, diff)
		}
	}
	for _, two := range []string{`{"k":{"action":"accept","roots":[]}}`, `{"k":{"roots":[],"action":"accept"}}`} {
		f, m := retry(t, two)
		if got, _ := a.AnswerCalls(f, m, "s"); len(got) != 1 || got[0].Malformed == "" {
			t.Errorf("an answer of two shapes hid behind a known key: %+v", got)
		}
	}
}

func TestAskedIsBounded(t *testing.T) {
	var a Asked
	for i := range 3 * maxAsked {
		a.RememberInputs(inputs(t, fmt.Sprintf(`"k%d":%s`, i, askElicit)))
	}
	if len(a.entries) != maxAsked || a.entries[0].key != fmt.Sprintf("k%d", 2*maxAsked) {
		t.Errorf("%d entries from %s", len(a.entries), a.entries[0].key)
	}
	a.RememberInputs(inputs(t, `"big":{"method":"elicitation/create","params":{"message":"`+strings.Repeat("x", maxAskedBytes)+`"}}`))
	if len(a.entries) != 0 || a.bytes != 0 {
		t.Errorf("%d entries, %d bytes", len(a.entries), a.bytes)
	}
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		method, result string
		want           []string
	}{
		{"tools/list", `{"tools":[{"name":"a"},{"name":"b\u0063"},{"title":"no name"},{"name":5},"x"],"nextCursor":"n"}`, []string{"a", "bc"}},
		{"prompts/list", `{"prompts":[{"name":"p"}]}`, []string{"p"}},
		{"resources/list", `{"resources":[{"uri":"file:///a","name":"n"}]}`, []string{"file:///a"}},
		{"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"n"}]}`, []string{"file:///{x}"}},
		{"skills/list", `{"skills":[{"uri":"skill://a/SKILL.md"}]}`, []string{"skill://a/SKILL.md"}},
		{"tools/list", `{"tools":{}}`, nil},
		{"tools/list", `{}`, nil},
		{"tools/list", ``, nil},
		{"roots/list", `{"roots":[{"uri":"file:///a"}],"":[{"":"x"}]}`, nil},
	} {
		if diff := cmp.Diff(c.want, DeclaredNames(c.method, []byte(c.result))); diff != "" {
			t.Errorf("%s %s\n%s", c.method, c.result, diff)
		}
	}
	many := `{"tools":[` + strings.Repeat(`{"name":"x"},`, 2*maxDeclared) + `{}]}`
	if got := DeclaredNames("tools/list", []byte(many)); len(got) != maxDeclared {
		t.Errorf("%d names", len(got))
	}
	long := `{"tools":[{"name":"a"},{"name":"` + strings.Repeat("x", maxDeclaredBytes) + `"},{"name":"b"}]}`
	if got := DeclaredNames("tools/list", []byte(long)); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("%d names", len(got))
	}
}
