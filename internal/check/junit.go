package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"
)

// Elements of Ant's JUnit report, in the order that its schemas require. Jenkins, GitLab and other
// programs read this format. The schemas require system-out and system-err, even if they are empty.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string    `xml:"name,attr"`
		Class   string    `xml:"classname,attr"`
		Time    string    `xml:"time,attr"`
		Skipped *struct{} `xml:"skipped"`
		Error   *junitBad `xml:"error"`
		Failure *junitBad `xml:"failure"`
	}
	junitBad struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

func init() { addFormat(Format{Name: "junit", Tests: writeJUnit}) }

// writeJUnit writes a run as JUnit XML: one suite, with a test for each fixture. A fixture that
// expects nothing is skipped; a fixture that cannot be read is an error.
func writeJUnit(w io.Writer, r Run) error {
	s := Summarize(r.Results)
	suite := junitSuite{
		Package: "policy", Name: escapeInvisible(slashPath(r.Policy)), Hostname: "localhost",
		// The schema allows no time zone.
		Timestamp: r.Start.UTC().Format("2006-01-02T15:04:05"),
		Tests:     s.Fixtures, Failures: s.Mismatched, Errors: s.Unreadable,
		Time:       fmt.Sprintf("%.3f", r.Duration.Seconds()),
		Properties: []junitProperty{{"policy_revision", r.Revision}, {"clawai", escapeInvisible(r.Version)}},
	}
	for _, result := range r.Results {
		suite.Cases = append(suite.Cases, junitTest(result))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitTest(r Result) junitCase {
	dir, name := path.Split(escapeInvisible(slashPath(r.Path)))
	// Programs that read the report make a tree from the class name, split at its dots.
	class := strings.ReplaceAll(strings.Trim(dir, "/"), "/", ".")
	if class == "" {
		class = "fixtures"
	}
	test := junitCase{Name: name, Class: class, Time: "0"}
	switch {
	case r.Err != nil:
		text := escapeInvisible(r.Err.Error())
		test.Error = &junitBad{Message: text, Type: unreadable, Text: text}
	case r.Expected == nil:
		test.Skipped = &struct{}{}
	case r.IsMismatch():
		text := escapeInvisible(formatMismatch(r))
		test.Failure = &junitBad{Message: text, Type: mismatch, Text: text}
	}
	return test
}
