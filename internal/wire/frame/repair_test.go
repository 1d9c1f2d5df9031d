package frame_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
)

// inFlight are ids of requests, by their key.
type inFlight map[string]string

func (w inFlight) pending() frame.Pending {
	p := frame.Pending{Waiting: func(id []byte) []byte {
		for _, one := range w {
			if loose := frame.LooseID(id); loose != "" && loose == frame.LooseID([]byte(one)) {
				return []byte(one)
			}
		}
		return nil
	}}
	for _, id := range w {
		if len(w) == 1 {
			p.Only = []byte(id)
		}
	}
	return p
}

func waiting(ids ...string) inFlight {
	w := inFlight{}
	for _, id := range ids {
		w[frame.IDKey([]byte(id))] = id
	}
	return w
}

func TestRepair(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	list := func(entries ...string) string {
		return `{"jsonrpc":"2.0","id":2,"result":{"nextCursor":"x","tools":[` + strings.Join(entries, ", ") + `]}}`
	}
	good, bad := `{"name":"a"}`, `{"name":"b","inputSchema":`+deep(600)+`}`
	twice := `{"name":"c","name":"d"}`
	for name, c := range map[string]struct {
		line    string
		waiting inFlight
		want    string // "" for no repair
		words   string
	}{
		"a mark before it":         {line: "\uFEFF" + `{"jsonrpc":"2.0","id":2,"result":{}}`, want: `{"jsonrpc":"2.0","id":2,"result":{}}`, words: "mark"},
		"a code with a fraction":   {line: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000.0,"message":"x"}}`, want: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"x"}}`, words: "code"},
		"a code that is not whole": {line: `{"jsonrpc":"2.0","id":2,"error":{"code":-32000.5,"message":"x"}}`},
		"a list that ends early":   {line: `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + twice},
		"a text that ends early":   {line: `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + twice + `, {"name":"x`},
		"half a pair":              {line: `{"jsonrpc":"2.0","id":2,"result":{"a":"x\ud83d"}}`, want: `{"jsonrpc":"2.0","id":2,"result":{"a":"x\ufffd"}}`, words: "text"},
		"a whole pair stays":       {line: `{"jsonrpc":"2.0","id":2,"result":{"a":"\ud83d\ude00\ude00 \\ud83d é"}}`, want: `{"jsonrpc":"2.0","id":2,"result":{"a":"\ud83d\ude00\ufffd \\ud83d é"}}`, words: "text"},
		"Latin-1":                  {line: "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"caf\xe9\"}}", want: `{"jsonrpc":"2.0","id":2,"result":{"a":"caf` + "\uFFFD" + `"}}`, words: "text"},
		"Latin-1 outside a string": {line: "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\xe9}}"},
		"names that become one":    {line: `{"jsonrpc":"2.0","id":2,"result":{"\ud800":1,"\udbff":2}}`},
		"text in a request":        {line: `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"\ud83d"}}`},
		"text in a notification":   {line: `{"jsonrpc":"2.0","method":"notifications/message","params":{"a":"\ud83d"}}`},

		"2.0":                     {line: `{"jsonrpc":"2.0","id":2.0,"result":{}}`, waiting: waiting("2"), want: `{"jsonrpc":"2.0","id":2,"result":{}}`, words: "id"},
		"2e0":                     {line: ` {"jsonrpc":"2.0","id":2e0,"result":{}}`, waiting: waiting("2"), want: `{"jsonrpc":"2.0","id":2,"result":{}}`, words: "id"},
		"an id in an array":       {line: `{"jsonrpc":"2.0","id":["2"],"error":{"code":1,"message":"no"}}`, waiting: waiting("2"), want: `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`, words: "id"},
		"2.5":                     {line: `{"jsonrpc":"2.0","id":2.5,"result":{}}`, waiting: waiting("2")},
		"nobody's 3.0":            {line: `{"jsonrpc":"2.0","id":3.0,"result":{}}`, waiting: waiting("2")},
		"true":                    {line: `{"jsonrpc":"2.0","id":true,"result":{}}`, waiting: waiting("1")},
		"an error under null":     {line: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`, waiting: waiting(`"a"`), want: `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}`, words: "id"},
		"an error without an id":  {line: `{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}`, waiting: waiting("7"), want: `{"id":7,"jsonrpc":"2.0","error":{"code":1,"message":"no"}}`, words: "id"},
		"one of two":              {line: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`, waiting: waiting("1", "2")},
		"none of two":             {line: `{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}`, waiting: waiting("1", "2")},
		"a result under null":     {line: `{"jsonrpc":"2.0","id":null,"result":{}}`, waiting: waiting("1")},
		"a result without an id":  {line: `{"jsonrpc":"2.0","result":{}}`, waiting: waiting("1")},
		"two ids":                 {line: `{"jsonrpc":"2.0","id":1.0,"id":2.0,"result":{}}`, waiting: waiting("2")},
		"text and an id":          {line: `{"jsonrpc":"2.0","id":2.0,"result":{"a":"\ud83d"}}`, waiting: waiting("2"), want: `{"jsonrpc":"2.0","id":2,"result":{"a":"\ufffd"}}`, words: "text id"},
		"an id that is a request": {line: `{"jsonrpc":"2.0","id":2.0,"method":"ping"}`, waiting: waiting("2")},

		"a bad entry":            {line: list(good, bad, good), want: list(good, good), words: "entry"},
		"the first":              {line: list(bad, good), want: list(good), words: "entry"},
		"the only one":           {line: list(bad), want: list(), words: "entry"},
		"several":                {line: list(good, twice, bad, twice, good), want: list(good, good), words: "entry"},
		"behind blanks":          {line: "\t " + list(twice, good), want: list(good), words: "entry"},
		"a control in a name":    {line: list(good, `{"a\u0000":1}`), want: list(good), words: "entry"},
		"a thousand":             {line: list(slices.Repeat([]string{twice}, 1000)...), want: list(), words: "entry"},
		"deeper than is read":    {line: list(good, `{"name":"e","x":`+deep(5000)+`}`, good), want: list(good, good), words: "entry"},
		"an empty list":          {line: `{"jsonrpc":"2.0","id":2,"result":{"tools":[ ],"prompts":[` + twice + `]}}`, want: `{"jsonrpc":"2.0","id":2,"result":{"tools":[ ],"prompts":[]}}`, words: "entry"},
		"two lists":              {line: `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + twice + `,` + good + `],"prompts":[` + good + ` ,` + twice + `]}}`, want: `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + good + `],"prompts":[` + good + `]}}`, words: "entry"},
		"a bad one and a text":   {line: list(good, twice, `{"name":"\ud83d"}`), want: list(good, `{"name":"\ufffd"}`), words: "text entry"},
		"a name in a text":       {line: `{"jsonrpc":"2.0","id":2,"result":{"a":"\"tools\":[","tools":[` + twice + `]}}`, want: `{"jsonrpc":"2.0","id":2,"result":{"a":"\"tools\":[","tools":[]}}`, words: "entry"},
		"a list that is cut":     {line: `{"jsonrpc":"2.0","id":2,"x":{"a":1,"a":2},"result":{"tools":[` + twice + `,"`},
		"a list without its end": {line: `{"jsonrpc":"2.0","id":2,"result":{"a":1,"a":1,"tools":[` + twice + `,`},
		"a bad member elsewhere": {line: `{"jsonrpc":"2.0","id":2,"result":{"tools":[{}],"x":{"a":1,"a":2}}}`},
		"a list elsewhere":       {line: `{"jsonrpc":"2.0","id":2,"result":{"rows":[` + twice + `],"tools":7}}`},
		"no list":                {line: `{"jsonrpc":"2.0","id":2,"result":{},"result":{}}`},

		"not JSON": {line: `{"jsonrpc":"2.0","id":2,"result":{]}`},
	} {
		t.Run(name, func(t *testing.T) {
			limits := frame.DefaultLimits()
			_, err := frame.Parse([]byte(c.line), limits)
			refusal, ok := errors.AsType[*frame.Refusal](err)
			if !ok {
				t.Fatalf("it is admitted as it is: %v", err)
			}
			f, words, ok := frame.RepairLine([]byte(c.line), limits, refusal, c.waiting.pending())
			if ok != (c.want != "") || ok && (string(f.Raw) != c.want || strings.Join(words, " ") != c.words) {
				t.Fatalf("%v %q by %q\nwant %q by %q", ok, f.Raw, words, c.want, c.words)
			}
			if !ok {
				return
			}
			if again, err := frame.Parse([]byte(c.want), limits); err != nil || again.Kind != frame.Response {
				t.Errorf("the repaired line is not admitted: %v", err)
			}
		})
	}
}

// A list of which every entry is bad costs as much for each as one with a single bad entry does.
func TestRepairOfAListIsLinear(t *testing.T) {
	slow.Test(t)
	took := func(n int) time.Duration {
		line := []byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":[` + strings.Repeat(`{"a":1,"a":2},`, n) + `1]}}`)
		_, err := frame.Parse(line, frame.DefaultLimits())
		refusal, _ := errors.AsType[*frame.Refusal](err)
		began := time.Now()
		if _, _, ok := frame.RepairLine(line, frame.DefaultLimits(), refusal, frame.Pending{}); !ok {
			t.Fatal("not repaired")
		}
		return time.Since(began)
	}
	took(10_000)
	if short, long := took(10_000), took(200_000); long > 200*short {
		t.Errorf("10,000 entries take %v, 200,000 take %v", short, long)
	}
}

// A line at the limit may grow by its repair.
func TestARepairMayBeLonger(t *testing.T) {
	line := "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"\xe9\xe9\"}}"
	limits := frame.Limits{MaxBytes: len(line), MaxDepth: 64}
	_, err := frame.Parse([]byte(line), limits)
	refusal, _ := errors.AsType[*frame.Refusal](err)
	if _, _, ok := frame.RepairLine([]byte(line), limits, refusal, frame.Pending{}); !ok {
		t.Error(err)
	}
}

// No id is guessed where no request is given.
func TestRepairWithoutRequests(t *testing.T) {
	line := []byte(`{"jsonrpc":"2.0","id":2.0,"result":{}}`)
	_, err := frame.Parse(line, frame.DefaultLimits())
	refusal, _ := errors.AsType[*frame.Refusal](err)
	if f, _, ok := frame.RepairLine(line, frame.DefaultLimits(), refusal, frame.Pending{}); ok {
		t.Errorf("repaired to %s", f.Raw)
	}
}

func TestLooseID(t *testing.T) {
	for want, tokens := range map[string][]string{
		"2":   {`2`, `"2"`, `2.0`, `20e-1`, `2E0`, `"02"`, `" 2"`, `"2\t"`, `"2.0"`, `"+2"`, `"\u0032"`},
		"-7":  {`-7`, `"-7"`, `"-07"`},
		"0":   {`0`, `"0"`, `-0`, `-0.0`, `"000"`},
		"2.5": {`2.5`},
		"0x2": {`"0x2"`}, "inf": {`"inf"`}, "1e400": {`1e400`}, "9007199254740993": {`"9007199254740993"`},
		"a-b": {`"a-b"`, `"A-B"`, `" a-b "`},
		"":    {`""`, `" "`, `null`, `"null"`, `"None"`, `true`, `{}`, `[2]`, ``},
	} {
		for _, token := range tokens {
			if got := frame.LooseID([]byte(token)); got != want {
				t.Errorf("%s: %q, want %q", token, got, want)
			}
		}
	}
}

func TestIsUnnamed(t *testing.T) {
	for line, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":null,"error":{}}`: true, `{"jsonrpc":"2.0","result":{}}`: true, `{"jsonrpc":"2.0","id":[2],"result":{}}`: true,
		`{"jsonrpc":"2.0","id":2,"error":{}}`: false, `{"jsonrpc":"2.0","id":null,"id":null,"error":{}}`: false, `{"jsonrpc":"2.0","id":null}`: false,
		`{"jsonrpc":"2.0","method":"m","error":{}}`: false, `{"error":{}}`: false, `{"jsonrpc":"2.0","error":{},"result":{}}`: false, `[]`: false,
	} {
		if got := frame.IsUnnamed([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestSplitArray(t *testing.T) {
	for line, want := range map[string][]string{
		`[]`: nil, `{}`: nil, ` [{"a":[1]} , 2]  `: {`{"a":[1]}`, `2`}, `[1] 2`: nil, `[1`: nil, `[1,]`: nil, `[{]`: nil, ``: nil,
	} {
		var got []string
		for _, e := range frame.SplitArray([]byte(line)) {
			got = append(got, string(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
	if frame.SplitArray([]byte(`[`+strings.Repeat(`1,`, 1000)+`1]`)) != nil {
		t.Error("more than a batch may have")
	}
	if frame.SplitArray([]byte(strings.Repeat(`[`, 100_000))) != nil {
		t.Error("arrays of arrays")
	}
}

// Results may be nested as deep as the field's trees are, requests may not.
func TestResultsMayBeDeeper(t *testing.T) {
	nested := strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500)
	admitted(t, `{"jsonrpc":"2.0","id":1,"result":{"a":`+nested+`}}`, frame.DefaultLimits())
	refused(t, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":`+nested+`}}`, frame.DefaultLimits())
	refused(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":`+nested+`}}`, frame.DefaultLimits())
	refused(t, `{"jsonrpc":"2.0","id":1,"result":{"a":`+strings.Repeat(nested, 2)+`}}`, frame.DefaultLimits())
}

// null is what some clients write for no params.
func TestParamsNull(t *testing.T) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`, `{"jsonrpc":"2.0","method":"x","params": null }`} {
		if f := admitted(t, line, frame.DefaultLimits()); f.Params != nil || string(f.Raw) != line {
			t.Errorf("%q, params %q", f.Raw, f.Params)
		}
	}
}

// Whatever is repaired is admitted as it then is, and is an answer; nothing else is repaired.
func FuzzRepair(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":2.0,"result":{"a":"\ud83d"}}`, "{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":{\"tools\":[{\"a\":\"\xff\"},{\"a\":1,\"a\":2}]}}",
		`{"jsonrpc":"2.0","error":{"code":1,"message":"\ud800"}}`, ` {"id":null,"jsonrpc":"2.0","error":{"code":1,"message":""}}`, call, ping,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		limits := frame.Limits{MaxBytes: 1 << 20, MaxDepth: 64, MaxResult: 128}
		before := string(line)
		_, err := frame.Parse(line, limits)
		refusal, _ := errors.AsType[*frame.Refusal](err)
		if refusal == nil {
			return
		}
		got, words, ok := frame.RepairLine(line, limits, refusal, waiting("2").pending())
		if string(line) != before {
			t.Fatal("the line was written to")
		}
		if !ok {
			return
		}
		limits.MaxBytes *= 4
		again, err := frame.Parse(got.Raw, limits)
		if err != nil || again.Kind != frame.Response || len(words) == 0 || fmt.Sprintf("%q", again.Raw) != fmt.Sprintf("%q", got.Raw) {
			t.Fatalf("%q became %q: %v", line, got.Raw, err)
		}
	})
}
