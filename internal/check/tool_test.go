package check_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// hostileText is what an attacker would have a report say.
const hostileText = "a]]>b</failure>\r\n::error file=x::owned\x1b[2J\x00\u202e%0A\xff # SKIP\n  ...\nok 1 é"

func aRun() check.Run {
	deny, allow := policy.Deny, policy.Allow
	rule := &policy.Rule{Action: policy.Deny, Description: hostileText, Pos: policy.Position{File: "dir/my policy.toml", Line: 4, Column: 1}}
	return check.Run{
		Policy: "dir/my policy.toml", Revision: "0123456789ab", Version: "1.2.3",
		Start: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Duration: 1500 * time.Millisecond,
		Results: []check.Result{
			{Path: "fx/good.json", Action: policy.Deny, Expected: &deny, Rule: rule},
			{Path: "fx/bad #1, or: 50%.json", Action: policy.Deny, Expected: &allow, Rule: rule},
			{Path: "open.json", Action: policy.Deny, Reason: "no rule matches"},
			{Path: "fx/torn" + hostileText + ".json", Err: errors.New("torn: " + hostileText)},
		},
	}
}

func sampleFinding() check.Finding {
	return check.Finding{
		Code: "shadowed-rule", Severity: check.Warning,
		Pos:     policy.Position{File: "a b/policy.toml", Line: 3, Column: 2},
		EndLine: 4,
		Message: "the rule never decides: " + hostileText, Why: "an earlier one does", Fix: "remove it",
		Related: []check.Related{{Pos: policy.Position{File: "/abs/ü.toml"}, Message: "the earlier one"}},
	}
}

func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The schema is the one Microsoft's @microsoft/jest-sarif ships (MIT).
func sarifSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open("testdata/sarif-2.1.0-rtm.5.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// testsAs returns the writer of a run in a format.
func testsAs(format string, r check.Run) func(io.Writer) error {
	return func(w io.Writer) error { return check.FindFormat(format).WriteTests(w, r) }
}

// findingsAs returns the writer of findings in a format.
func findingsAs(format string, tool check.Tool, all ...check.Finding) func(io.Writer) error {
	return func(w io.Writer) error { return check.FindFormat(format).Findings(w, tool, all) }
}

// A format that only this test has is offered by commands, in its place, and written.
func TestAFormatIsAFile(t *testing.T) {
	before := map[bool][]string{true: check.FormatNames(true), false: check.FormatNames(false)}
	defer check.AddFormat(check.Format{Name: "dots", Findings: func(w io.Writer, _ check.Tool, all []check.Finding) error {
		_, err := io.WriteString(w, strings.Repeat(".", len(all)))
		return err
	}})()
	for tests, names := range before {
		if got, want := check.FormatNames(tests), slices.Insert(names, 2, "dots"); !slices.Equal(got, want) {
			t.Errorf("tests %t: %s", tests, got)
		}
	}
	if text := written(t, testsAs("dots", aRun())); text != ".." {
		t.Errorf("a run with two failed tests gives %q", text)
	}
	if check.FindFormat("text") != nil || check.FindFormat("xml") != nil {
		t.Error("text and unknown words are formats")
	}
}

func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	tool := check.Tool{Name: "clawai policy lint", Kinds: []check.FindingKind{{Code: "other", Summary: "s"}}}
	unknown := check.Finding{Code: "new", Severity: "dreadful", Pos: policy.Position{File: "p"}, Message: "m"}
	for name, write := range map[string]func(io.Writer) error{
		"run":      testsAs("sarif", aRun()),
		"findings": findingsAs("sarif", tool, sampleFinding(), unknown),
		"nothing":  findingsAs("sarif", check.Tool{Name: "x"}),
	} {
		t.Run(name, func(t *testing.T) {
			text := written(t, write)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
	if schema.Validate(map[string]any{"version": "2.1.0"}) == nil {
		t.Error("the schema refuses nothing")
	}
}

func TestSARIFSaysWhere(t *testing.T) {
	text := written(t, findingsAs("sarif", check.Tool{Name: "lint", Kinds: []check.FindingKind{{Code: "first", Summary: "s"}}}, sampleFinding()))
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleIndex                   int
				Level                       string
				Message                     struct{ Text string }
				Locations, RelatedLocations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	got := log.Runs[0].Results[0]
	at := got.Locations[0].PhysicalLocation
	if log.Runs[0].Tool.Driver.Rules[got.RuleIndex].ID != "shadowed-rule" || got.Level != "warning" ||
		at.ArtifactLocation.URI != "a%20b/policy.toml" || at.Region.StartLine != 3 || at.Region.EndLine != 4 ||
		got.RelatedLocations[0].PhysicalLocation.ArtifactLocation.URI != "file:///abs/%C3%BC.toml" {
		t.Errorf("%s", text)
	}
	for _, want := range []string{"never decides", "an earlier one does", "To fix it: remove it"} {
		if !strings.Contains(got.Message.Text, want) {
			t.Errorf("%q is not in %q", want, got.Message.Text)
		}
	}
}

func TestAnnotations(t *testing.T) {
	plain := check.Finding{Code: "c", Severity: check.Note, Pos: policy.Position{File: `d\a,b:c%.toml`, Line: 7}, Message: "100%\nsure"}
	text := written(t, findingsAs("github", check.Tool{}, plain, sampleFinding()))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines for two findings:\n%s", len(lines), text)
	}
	if want := `::notice file=d\a%2Cb%3Ac%25.toml,line=7,title=c::100%25%0Asure`; lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	if !strings.HasPrefix(lines[1], "::warning file=a b/policy.toml,line=3,col=2,endLine=4,title=shadowed-rule::the rule") {
		t.Errorf("got %s", lines[1])
	}
	if got := written(t, findingsAs("github", check.Tool{}, aRun().Findings()...)); strings.Count(got, "\n") != 2 || strings.Count("\n"+got, "\n::error file=fx/") != 2 {
		t.Errorf("a run gives\n%s", got)
	}
	unprintable(t, text)
}

func TestJUnit(t *testing.T) {
	text := written(t, testsAs("junit", aRun()))
	var doc struct {
		Suite struct {
			Name      string `xml:"name,attr"`
			Timestamp string `xml:"timestamp,attr"`
			Tests     int    `xml:"tests,attr"`
			Failures  int    `xml:"failures,attr"`
			Errors    int    `xml:"errors,attr"`
			Cases     []struct {
				Name    string    `xml:"name,attr"`
				Class   string    `xml:"classname,attr"`
				Skipped *struct{} `xml:"skipped"`
				Failure *string   `xml:"failure"`
				Error   *string   `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := doc.Suite
	if s.Name != "dir/my policy.toml" || s.Timestamp != "2026-01-02T03:04:05" || s.Tests != 4 || s.Failures != 1 || s.Errors != 1 {
		t.Errorf("suite %+v", s)
	}
	if len(s.Cases) != 4 || s.Cases[0].Name != "good.json" || s.Cases[0].Class != "fx" || s.Cases[2].Class != "fixtures" ||
		s.Cases[0].Failure != nil || s.Cases[1].Failure == nil || s.Cases[2].Skipped == nil || s.Cases[3].Error == nil {
		t.Fatalf("cases\n%s", text)
	}
	if got := *s.Cases[1].Failure; !strings.HasPrefix(got, "expected allow, got deny by dir/my policy.toml:4") || !strings.Contains(got, `</failure>`) {
		t.Errorf("failure %q", got)
	}
	unprintable(t, text)
}

// unprintable fails when a terminal or a log viewer could act on a report.
func unprintable(t testing.TB, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x202e }); i >= 0 {
		t.Errorf("control character in %q", text[max(0, i-20):i+1])
	}
}

// FuzzReports: whatever a fixture's path and error say, each form is read by its
// reader, says what was failed, and holds no more tests or findings than there
// are.
func FuzzReports(f *testing.F) {
	f.Add("fx/a.json", hostileText)
	f.Add("a\nok 2", "]]>")
	f.Add("\xff\xfe", "\ufffe\U0010ffff")
	schema := sarifSchema(f)
	f.Fuzz(func(t *testing.T, path, msg string) {
		r := check.Run{Policy: path, Revision: "r", Version: msg, Results: []check.Result{{Path: path, Err: errors.New(msg)}}}
		var suites struct {
			Cases []struct {
				Error *string `xml:"error"`
			} `xml:"testsuite>testcase"`
		}
		text := written(t, testsAs("junit", r))
		if err := xml.Unmarshal([]byte(text), &suites); err != nil || len(suites.Cases) != 1 || suites.Cases[0].Error == nil {
			t.Errorf("JUnit: %v\n%s", err, text)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, testsAs("sarif", r))))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Error(err)
		}
		text = written(t, findingsAs("github", check.Tool{}, r.Findings()...))
		if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "::error file=") {
			t.Errorf("annotations\n%s", text)
		}
		unprintable(t, text)
	})
}
