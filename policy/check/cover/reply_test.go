package cover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/check"
	"github.com/clawai/clawai/policy/check/cover"
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
