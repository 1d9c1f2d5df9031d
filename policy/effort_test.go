package policy

import (
	"strconv"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy/internal/effort"
)

func laborious(t *testing.T) *Policy {
	t.Helper()
	p, err := Parse("p.toml", []byte(`
[[rule]]
action = "allow"
tool = "move"
args.from = "**/*a*b*c?d*/**"
args.to = "**/*a*b*c?d*/**"
[[rule]]
action = "allow"
tool = "*"
args.path = ["**/*", "**"]
[[rule]]
action = "deny"
sampling = "**passw?rd**"
[[rule]]
action = "allow"
sampling = "**"
[[rule]]
action = "allow"
tool = "*"
args.deep.a = "**"
args.deep.b = "**"
`), Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func listOf(n int, element string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

// Without a bound each of these takes between five seconds and a minute, and
// nothing else crosses the proxy meanwhile. The reason says that it was noticed
// on the way and not afterwards.
func TestNoCallTakesLong(t *testing.T) {
	slow.Test(t)
	p := laborious(t)
	long := func(element string) string {
		return listOf(16<<20/60_000, jsonText("/"+strings.Repeat(element, 60_000/len(element))))
	}
	wide := listOf(100, jsonText("/"+strings.Repeat("abcxd/a", 100_000/7)))
	for name, c := range map[string]struct {
		call   *Call
		reason string
	}{
		"two lists of long texts": {toolCall("move", `{"from":`+wide+`,"to":`+wide+`}`), effort.TooMuch},
		"marks to compose":        {toolCall("x", `{"path":`+long("e\u0301\u0323")+`}`), effort.TooMuch},
		"forms that expand":       {toolCall("x", `{"path":`+long("\ufdfa")+`}`), effort.TooMuch},
		"names to take apart":     {toolCall("x", `{"path":`+long("a:$. /")+`}`), effort.TooMuch},
		"numbers with exponents":  {toolCall("x", `{"path":`+listOf(maxAll, "1e399")+`}`), "arguments that can be read in too many ways"},
		"lists in lists": {
			toolCall("x", `{"deep":`+strings.Repeat("[", 55)+listOf(maxValues, `{"a":"x"}`)+strings.Repeat("]", 55)+`}`),
			"arguments with more values than the rules read",
		},
		"values without end": {
			toolCall("x", `{"path":`+listOf(maxValues+2, "1")+`}`), "arguments with more values than the rules read",
		},
		"a text without end": {
			&Call{Method: "sampling/createMessage", Subject: SamplingSubject, Names: []string{strings.Repeat("ab/c", 64<<20)}}, effort.TooMuch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := p.Decide(c.call); d.Action != Deny || d.Reason != c.reason {
				t.Errorf("%v, %q", d.Action, d.Reason)
			}
		})
	}
}

// What one frame brings is paid for together.
func TestABatchSharesItsEffort(t *testing.T) {
	slow.Test(t)
	p := laborious(t)
	texts := listOf(24, jsonText("/"+strings.Repeat("abcxd/a", 100_000/7)))
	one := *toolCall("move", `{"from":`+texts+`,"to":`+texts+`}`)
	if d := p.Decide(&one); d.Action != Allow {
		t.Fatalf("one alone: %v, %q", d.Action, d.Reason)
	}
	if d := p.DecideAll([]Call{one, one, one, one, one, one}); d.Action != Deny || d.Reason != effort.TooMuch {
		t.Errorf("six: %v, %q", d.Action, d.Reason)
	}
}

func TestLargeOrdinaryCallsAreJudged(t *testing.T) {
	slow.Test(t)
	p := laborious(t)
	var names []string
	for i := range 20_000 {
		names = append(names, jsonText("/projekte/資料/Straße "+strconv.Itoa(i)+".txt"))
	}
	for name, value := range map[string]string{
		"many names": "[" + strings.Join(names, ",") + "]",
		"base64":     jsonText(strings.Repeat("QUJD/+9x//8A", 80_000)),
		"vectors":    listOf(100_000, "0.123456789"),
		"listing":    listOf(100_000, jsonText("/srv/a.b/c.go")),
	} {
		t.Run(name, func(t *testing.T) {
			if d := p.Decide(toolCall("x", `{"path":`+value+`}`)); d.Action != Allow {
				t.Errorf("%v, %q", d.Action, d.Reason)
			}
		})
	}
}

// A list whose elements lack a member is a reading without it, at any depth.
func TestMembersMissingInNestedLists(t *testing.T) {
	p := laborious(t)
	for args, want := range map[string]Action{
		`{"deep":[[{"a":"1","b":"2"}]]}`:           Allow,
		`{"deep":[[{"a":"1","b":"2"}],[]]}`:        Deny,
		`{"deep":[[{"a":"1","b":"2"},{"a":"1"}]]}`: Deny,
		`{"deep":[[["x"],{"a":"1","b":"2"}]]}`:     Deny,
	} {
		if d := p.Decide(toolCall("x", args)); d.Action != want {
			t.Errorf("%s: %v", args, d.Action)
		}
	}
}
