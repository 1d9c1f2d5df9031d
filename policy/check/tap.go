package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// TAP writes the run in version 14 of the Test Anything Protocol
// (testanything.org/tap-version-14-specification.html). A fixture without
// expectation is skipped.
func (r Run) TAP(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "TAP version 14\n1..%d\n", len(r.Results))
	for i, result := range r.Results {
		word, directive := "ok", ""
		switch {
		case result.Err != nil, result.Mismatch():
			word = "not ok"
		case result.Expected == nil:
			directive = " # SKIP no expectation"
		}
		fmt.Fprintf(out, "%s %d - %s%s\n", word, i+1, tapText(slashed(result.Path)), directive)
		if word != "ok" {
			tapDiagnostic(out, result)
		}
	}
	return out.Flush()
}

// tapDiagnostic writes the YAML block of a failure. Its texts are JSON strings,
// which YAML reads as they are.
func tapDiagnostic(out *bufio.Writer, r Result) {
	pair := func(key, value string) {
		// A valid string always marshals.
		quoted, _ := json.Marshal(visible(value))
		fmt.Fprintf(out, "  %s: %s\n", key, quoted)
	}
	fmt.Fprintln(out, "  ---")
	defer fmt.Fprintln(out, "  ...")
	pair("severity", "fail")
	if r.Err != nil {
		pair("message", r.Err.Error())
		return
	}
	pair("message", failure(r))
	pair("wanted", r.Expected.String())
	pair("found", r.Action.String())
	if r.Rule != nil {
		fmt.Fprintln(out, "  at:")
		pair("  file", slashed(r.Rule.Pos.File))
		fmt.Fprintf(out, "    line: %d\n    column: %d\n", r.Rule.Pos.Line, r.Rule.Pos.Column)
	}
}

// tapText escapes what would start a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(oneLine(s))
}
