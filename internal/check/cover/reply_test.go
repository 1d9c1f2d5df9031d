package cover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/google/go-cmp/cmp"
)

const answers = `[[rule]]
action = "redact"
on = "reply"
tool = "**"
find = ["card", "secret"]
`

func parsed(t *testing.T, src string) check.Fixture {
	t.Helper()
	fx, err := check.ParseFixture([]byte(src))
	if err != nil {
		t.Fatalf("%v in %s", err, src)
	}
	fx.Path = src
	return fx
}

// replied is a fixture about what came back to a call of the tool read.
func replied(t *testing.T, text, rest string) check.Fixture {
	t.Helper()
	return parsed(t, fmt.Sprintf(`{"method":"tools/call","params":{"name":"read"},"result":{"content":[{"type":"text","text":%s}]},%s}`, text, rest))
}

// What came back is carried out: an answer of which nothing can be taken out is withheld, and
// what the client gets must be what is expected.
func TestRepliesAreCarriedOut(t *testing.T) {
	covered := func(fx check.Fixture) (bool, error) {
		c, err := cover.Measure(parse(t, answers), "p.toml", []byte(answers), []check.Fixture{fx}, cover.Options{})
		return err == nil && c.Points[0].Covered, err
	}
	inNumber := parsed(t, `{"method":"tools/call","params":{"name":"read"},"result":{"content":[],"structuredContent":{"n":4539148803436467}},"expected":"deny"}`)
	if is, err := covered(inNumber); !is {
		t.Errorf("a reply that is withheld: %v", err)
	}
	const key = `"ghp_16C7e42F292c6912E7710c838347Ae178B4a"`
	for result, want := range map[string]string{
		`[clawai:withheld secret 1]`: "",
		`[clawai:withheld secret 2]`: "that is not the expected_result",
	} {
		_, err := covered(replied(t, key, fmt.Sprintf(`"expected":"redact","expected_result":{"content":[{"type":"text","text":%q}]}`, result)))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", result, err)
		}
	}
}

// Rules about what comes back are changed as well, and the fixtures about it are carried out
// to see whether one notices.
func TestMutateReplies(t *testing.T) {
	const src = `[[rule]]
action = "redact"
on = "reply"
tool = "**"
find = ["secret", "card"]

[[rule]]
action = "fence"
on = "reply"
tool = "fetch**"

[[rule]]
action = "deny"
on = "list"
tool = "drop"
server = "db"
`
	m := mutate(t, src, cover.Options{},
		replied(t, `"ghp_16C7e42F292c6912E7710c838347Ae178B4a"`, `"expected":"redact"`),
		parsed(t, `{"method":"tools/call","params":{"name":"fetch"},"result":{"content":[{"type":"text","text":"a"}]},"expected":"fence"}`),
		parsed(t, `{"method":"tools/list","server":"db","list":{"name":"drop"},"expected":"deny"}`))
	var got []string
	for _, o := range m.Outcomes {
		fate := "survives"
		switch {
		case o.Killed:
			fate = "killed"
		case o.Equivalent:
			fate = "changes nothing"
		}
		if o.Fixture != nil {
			fx := parsed(t, string(o.Fixture.Text))
			if fate += ", shown by " + fx.JudgedMessage().String(); fails(parse(t, src), fx) || !fails(o.Policy(), fx) {
				t.Errorf("%s would not be killed by %s", o.Name, o.Fixture.Text)
			}
		}
		got = append(got, fmt.Sprintf("%d %s: %s", o.Line, o.Name, fate))
	}
	want := []string{
		`1 redact reply of tool "**": drop the rule: killed`,
		`1 redact reply of tool "**": action to fence: killed`,
		`1 redact reply of tool "**": action to prompt: killed`,
		`1 redact reply of tool "**": tool "**" to "*": survives, shown by reply`,
		`1 redact reply of tool "**": find without "secret": killed`,
		`1 redact reply of tool "**": find without "card": survives, shown by reply`,
		`1 redact reply of tool "**": below the next rule, fence "fetch**": changes nothing`,
		`7 fence reply of tool "fetch**": drop the rule: killed`,
		`7 fence reply of tool "fetch**": action to warn: killed`,
		`7 fence reply of tool "fetch**": action to prompt: killed`,
		`7 fence reply of tool "fetch**": tool "fetch**" to "fetch*": survives, shown by reply`,
		`12 deny list of tool "drop": drop the rule: killed`,
		`12 deny list of tool "drop": action to prompt: killed`,
		`12 deny list of tool "drop": drop server: survives, shown by list`,
	}
	if diff := cmp.Diff(want, got); diff != "" || m.Undecided != 0 {
		t.Error(diff, m.Undecided)
	}
}
