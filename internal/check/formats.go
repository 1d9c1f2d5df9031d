package check

import (
	"io"
	"slices"
	"strings"
)

// Format is a form of report that other programs read. Commands write their own text and JSON.
type Format struct {
	Name string
	// Findings writes what a tool found; nil if the format holds only tests.
	Findings func(w io.Writer, tool Tool, findings []Finding) error
	// Tests writes a run of fixtures; nil if its failed tests are written as findings.
	Tests func(w io.Writer, run Run) error
}

var formats []Format

// addFormat adds a format. The file of each format calls it.
func addFormat(f Format) {
	at, _ := slices.BinarySearchFunc(formats, f.Name, func(g Format, name string) int { return strings.Compare(g.Name, name) })
	formats = slices.Insert(formats, at, f)
}

// FindFormat returns the format with this name, or nil.
func FindFormat(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// FormatNames returns the words of --format: text, json, and the formats that can hold findings
// or, if tests is true, tests.
func FormatNames(tests bool) []string {
	names := []string{"text", "json"}
	for _, f := range formats {
		if tests || f.Findings != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// WriteTests writes a run of fixtures in the format.
func (f *Format) WriteTests(w io.Writer, run Run) error {
	if f.Tests != nil {
		return f.Tests(w, run)
	}
	return f.Findings(w, run.describeTool(), run.Findings())
}
