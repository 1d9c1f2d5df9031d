package cover_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

const small = `# Reading.
[[rule]]
action = "deny"
tool = "*"
args.path = ["/a/secret", "/b/**"] # shut

[[rule]]
action = "prompt"
ask = "out-of-band"
tool = "read"
server = "files"

[[rule]]
action = "deny"
tool = "*"
`

// fixture is one call of the tool read.
func fixture(t *testing.T, expected, server, path string) check.Fixture {
	t.Helper()
	src := fmt.Sprintf(`{"server":%q,"method":"tools/call","params":{"name":"read","arguments":{"path":%q}},"expected":%q}`, server, path, expected)
	if path == "" {
		src = fmt.Sprintf(`{"server":%q,"method":"tools/call","params":{"name":"read"},"expected":%q}`, server, expected)
	}
	fx, err := check.ParseFixture([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	fx.Path = strings.Trim(server+path, "/")
	return fx
}

func parse(t *testing.T, src string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mutate(t *testing.T, src string, o cover.Options, fixtures ...check.Fixture) cover.Mutation {
	t.Helper()
	m, err := cover.Mutate(parse(t, src), "p.toml", []byte(src), fixtures, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every small change is tried, and each has the fate that it must have.
func TestMutate(t *testing.T) {
	m := mutate(t, small, cover.Options{},
		fixture(t, "prompt", "files", "/c"), fixture(t, "deny", "files", "/b/x"), fixture(t, "deny", "other", "/c"))
	var got []string
	for _, o := range m.Outcomes {
		fate := "survives"
		switch {
		case o.Killed:
			fate = "killed by " + o.By
		case o.Equivalent:
			fate = "changes nothing"
		}
		got = append(got, fmt.Sprintf("%d %s: %s", o.Line, o.Name, fate))
	}
	want := []string{
		`2 deny tool "*": drop the rule: killed by files/b/x`,
		`2 deny tool "*": action to allow: killed by files/b/x`,
		`2 deny tool "*": action to prompt: killed by files/b/x`,
		`2 deny tool "*": tool "*" to "**": changes nothing`,
		`2 deny tool "*": args.path without "/a/secret": survives`,
		`2 deny tool "*": args.path "/b/**" to "/b/*": survives`,
		`2 deny tool "*": args.path without "/b/**": killed by files/b/x`,
		`2 deny tool "*": drop args.path: killed by files/c`,
		`2 deny tool "*": below the next rule, prompt "read": killed by files/b/x`,
		`7 prompt tool "read": drop the rule: killed by files/c`,
		`7 prompt tool "read": action to allow: killed by files/c`,
		`7 prompt tool "read": action to deny: killed by files/c`,
		`7 prompt tool "read": drop server: killed by other/c`,
		`7 prompt tool "read": below the next rule, deny "*": killed by files/c`,
		`13 deny tool "*": drop the rule: changes nothing`,
		`13 deny tool "*": action to allow: killed by other/c`,
		`13 deny tool "*": action to prompt: killed by other/c`,
		`13 deny tool "*": tool "*" to "**": changes nothing`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if killed, counted, equivalent := m.Score(); killed != 13 || counted != 15 || equivalent != 3 {
		t.Errorf("score %d of %d, %d, %v", killed, counted, equivalent, m.Percent())
	}
}

// A comparison that was not carried to its end proves nothing.
func TestMutateTakesNoWorkForNoProof(t *testing.T) {
	const src = `[[rule]]
action = "deny"
tool = "run"
where.x = { regex = 'a' }
[[rule]]
action = "prompt"
tool = "run"
where.x = { one_of = ["a", "b"] }
[[rule]]
action = "deny"
tool = "*"
`
	for _, o := range mutate(t, src, cover.Options{Work: 1}, fixture(t, "deny", "none", "/c")).Outcomes {
		// The last rule says what holds without one.
		if last := o.Line == 9 && (o.Name == `deny tool "*": drop the rule` || o.Name == `deny tool "*": tool "*" to "**"`); o.Equivalent != last {
			t.Errorf("%d %s: changes nothing: %v", o.Line, o.Name, o.Equivalent)
		}
	}
}

// TestMutateFindsWitnessesOfLongLists demands a call that shows each change of a list of
// many globs, with the least of work for each: the time grows with the list, and not
// with its square.
func TestMutateFindsWitnessesOfLongLists(t *testing.T) {
	var globs []string
	for i := range 40 {
		globs = append(globs, fmt.Sprintf("\"**/.shut%d/**\"", i))
	}
	src := "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = [" + strings.Join(globs, ", ") + "]\n" +
		"[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/home/user/work/**\"\n"
	changes := 0
	for _, o := range mutate(t, src, cover.Options{Work: 1 << 10}, fixture(t, "allow", "", "/home/user/work/a")).Outcomes {
		if o.Line != 1 || !strings.Contains(o.Name, ".shut") {
			continue
		}
		changes++
		if o.Killed || o.Fixture == nil {
			t.Errorf("%s: %+v", o.Name, o.Fixture)
		}
	}
	if changes != 80 {
		t.Errorf("%d changes of 40 globs", changes)
	}
}

const typed = `[[rule]]
action = "allow"
tool = "get"
where.url = { host = ["a.test", "b.test"], public = true }
where.n.max = 5
[[rule]]
action = "deny"
tool = "*"
`

func TestMutatesConstraints(t *testing.T) {
	if _, err := policy.Parse("p.toml", []byte(typed), policy.Options{}); err != nil {
		t.Skip("this build has no typed constraints")
	}
	fx, err := check.ParseFixture([]byte(`{"method":"tools/call","params":{"name":"x"},"expected":"deny"}`))
	if err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, o := range mutate(t, typed, cover.Options{Work: 1}, fx).Outcomes {
		names.WriteString(o.Name + "\n")
	}
	for _, want := range []string{
		`where.url.host without "a.test"`, `where.url.host without "b.test"`, "drop where.url.host", "where.url.public to false",
		"drop where.url.public", "where.n.max 5 to 4", "where.n.max 5 to 6", "drop where.n.max",
	} {
		if !strings.Contains(names.String(), ": "+want+"\n") {
			t.Errorf("no mutant %q in\n%s", want, names.String())
		}
	}
}

// A suite that fails, or that expects nothing, measures nothing.
func TestASuiteMustPass(t *testing.T) {
	unexpecting := fixture(t, "deny", "files", "/c")
	unexpecting.Expected = nil
	for _, fixtures := range [][]check.Fixture{nil, {unexpecting}, {fixture(t, "allow", "files", "/c")}} {
		if _, err := cover.Mutate(parse(t, small), "p.toml", []byte(small), fixtures, cover.Options{}); err == nil {
			t.Errorf("%d fixtures are taken for a suite", len(fixtures))
		}
		if _, err := cover.Measure(parse(t, small), "p.toml", []byte(small), fixtures, cover.Options{}); err == nil {
			t.Errorf("%d fixtures are taken for a suite", len(fixtures))
		}
	}
}

// What tells a policy and its mutant apart becomes a fixture that kills it; a mutant
// that nothing tells apart is not counted.
func TestSurvivorsComeWithAFixture(t *testing.T) {
	weak := []check.Fixture{fixture(t, "prompt", "files", "/c"), fixture(t, "deny", "files", "/b/x"), fixture(t, "deny", "other", "/c")}
	m := mutate(t, small, cover.Options{}, weak...)
	left := m.Survivors()
	if len(left) != 2 {
		t.Fatalf("survivors %+v", left)
	}
	for _, o := range left {
		if o.Fixture == nil || o.Fixture.Name != "deny-read" {
			t.Fatalf("%s has the fixture %+v", o.Name, o.Fixture)
		}
		fx, err := check.ParseFixture(o.Fixture.Text)
		if err != nil || check.JudgeFixture(parse(t, small), fx, "").IsMismatch() {
			t.Errorf("fixture %s: %v", o.Fixture.Text, err)
		}
		weak = append(weak, fx)
	}
	again := mutate(t, small, cover.Options{}, weak...)
	if again.Percent() != 100 {
		t.Errorf("with it, %v %% are killed", again.Percent())
	}
	var text, doc bytes.Buffer
	if err := m.WriteText(&text, "p.toml"); err != nil || !strings.Contains(text.String(), "this one would: {") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := m.WriteJSON(&doc, "p.toml"); err != nil || !json.Valid(doc.Bytes()) || !strings.Contains(doc.String(), `"equivalent": 3`) {
		t.Errorf("%v\n%s", err, doc.String())
	}
}

func TestMeasure(t *testing.T) {
	c, err := cover.Measure(parse(t, small), "p.toml", []byte(small),
		[]check.Fixture{fixture(t, "prompt", "files", "/c"), fixture(t, "deny", "files", "/b/x")}, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Points {
		got = append(got, fmt.Sprintf("%d %s %s %v %s", p.Line, p.What, p.Way, p.Covered, p.By))
	}
	want := []string{
		`2 the rule matches true files/b/x`,
		`2 args.path "/a/secret" matches false `,
		`2 args.path "/b/**" matches true files/b/x`,
		`2 args.path ["/a/secret", "/b/**"] fails true files/c`,
		`7 the rule matches true files/c`,
		`7 server "files" fails false `,
		`13 the rule matches false `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if fx := c.Points[len(c.Points)-1].Fixture; fx == nil || !strings.Contains(string(fx.Text), `"expected": "deny"`) {
		t.Errorf("for the last rule this is to be added: %+v", fx)
	}
	var text, doc bytes.Buffer
	if err := c.WriteText(&text, "p.toml"); err != nil || !strings.Contains(text.String(), "p.toml:7: never fails: server \"files\"\n") ||
		!strings.HasSuffix(text.String(), "the fixtures exercise 4 of 7 points (57.1 %)\n") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := c.WriteJSON(&doc, "p.toml"); err != nil || !json.Valid(doc.Bytes()) {
		t.Errorf("%v\n%s", err, doc.String())
	}
}

// A constraint that takes settings is one condition: it is shown at work and
// dropped as a whole.
func TestSettingsOfAConstraint(t *testing.T) {
	const src = `[[rule]]
action = "allow"
tool = "read"
where.path = { sql = { mode = "read-only", dialect = "postgres" }, max_length = 40 }
`
	suite := []check.Fixture{fixture(t, "allow", "", "SELECT $$it's$$"), fixture(t, "deny", "", "DELETE FROM t")}
	c, err := cover.Measure(parse(t, src), "p.toml", []byte(src), suite, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Points {
		got = append(got, fmt.Sprintf("%s %s %v", p.What, p.Way, p.Covered))
	}
	want := []string{
		"the rule matches true",
		`where.path.sql { mode = "read-only", dialect = "postgres" } fails true`,
		"where.path.max_length 40 fails false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var dropped []string
	for _, o := range mutate(t, src, cover.Options{}, suite...).Outcomes {
		if o.Kind == "drop-condition" && o.Killed {
			dropped = append(dropped, o.Name)
		}
	}
	want = []string{`allow tool "read": drop where.path.sql.dialect`, `allow tool "read": drop where.path.sql`}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Error(diff)
	}
}

// A measurement that was stopped gives no points, because each missing fixture would be told as a fault.
func TestMeasureEndsWithItsReader(t *testing.T) {
	done := make(chan struct{})
	close(done)
	c, err := cover.Measure(parse(t, small), "p.toml", []byte(small), []check.Fixture{fixture(t, "deny", "files", "/a/secret")}, cover.Options{Done: done})
	if !errors.Is(err, cover.ErrStopped) || len(c.Points) != 0 {
		t.Errorf("%v, %+v", err, c)
	}
}
