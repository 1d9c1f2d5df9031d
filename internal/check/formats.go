package check

import (
	"io"
	"slices"
	"strings"
)

// Format is a format of reports for other programs. Commands write their own formats text and json.
type Format struct {
	Name string
	// Findings writes the findings of a tool; nil if the format can only hold tests.
	Findings func(w io.Writer, tool Tool, findings []Finding) error
	// Tests writes the results of a run of fixtures; nil if failed tests are written as findings.
	Tests func(w io.Writer, run Run) error
}

var formats []Format

// addFormat adds a format. The file of each format calls addFormat.
func addFormat(f Format) {
	at, _ := slices.BinarySearchFunc(formats, f.Name, func(g Format, name string) int { return strings.Compare(g.Name, name) })
	formats = slices.Insert(formats, at, f)
}

// FindFormat returns the format with this name; nil if there is none.
func FindFormat(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// FormatNames returns the possible values of --format: text, json, and the formats for findings. If
// tests is true, it also returns the formats that can only hold tests.
func FormatNames(tests bool) []string {
	names := []string{"text", "json"}
	for _, f := range formats {
		if tests || f.Findings != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// WriteTests writes the results of a run of fixtures in the format.
func (f *Format) WriteTests(w io.Writer, run Run) error {
	if f.Tests != nil {
		return f.Tests(w, run)
	}
	return f.Findings(w, run.describeTool(), run.Findings())
}
